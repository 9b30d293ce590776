# Everything a fresh machine needs is Python (3.11 or newer) and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
ADAPTERS := $(VENV)/.adapters
BROWSER := $(VENV)/.browser
DOCS   := $(VENV)/.docs
SCREENSHOTS ?= build/screenshots
RELEASE := $(VENV)/.release
SUPPLY := $(VENV)/.supply
NPM    := tests/commands/site/npm
DIST   := dist
CLEAN  := build/wheel
SEED   ?= 0
# The borders end before their share of a million does, so that this many are asked for.
LOGS   ?= 1050000
ENTRIES ?= 100000
SCORES ?= 20000
PACKAGES ?= 10000
BENCH  ?=
HISTORY ?=
BUDGET ?= --seconds 600
FAULTS ?=
# A lock file for pip, as CI uses: LOCK=requirements/ci.txt. It has all extras but those of the adapters.
LOCK   ?=
NEWEST ?= python3.14

EXTRAS := db,dev,plot,rehearsal,report,tables
comma  := ,
LOCKED := browser,$(EXTRAS),docs,release,supply
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# What the lock has is there already.
EXTRA  := $(if $(LOCK),true,$(PIP) -e)

.PHONY: help install demo test test-fast test-long test-lowest test-newest expected test-adapters test-browser limits site-scripts lint format \
	docs dist lock licences sbom audit-dependencies bench bench-history bench-page bench-site parity parity-long fuzz fuzz-replay faults clean

help:
	@echo "make demo         train, check, score, pack, seal and verify a rehearsal submission"
	@echo "make test         run the tests"
	@echo "make test-fast    the tests that a change of one rule needs, in less than a minute"
	@echo "make test-long    all tests, with every try of every search"
	@echo "make test-lowest  a selection of them with the lowest versions of all packages that setup.cfg allows"
	@echo "make test-newest  the same with the newest versions, on NEWEST (python3.14)"
	@echo "make limits       measure time and memory with large and hostile input, and print a table of sizes"
	@echo "make expected     write the files of expected text anew; read the diff afterwards"
	@echo "make test-adapters  install PyTorch, Lightning, Transformers and Keras (6 GB), and test the adapters with them"
	@echo "make test-browser  test the results page and the documentation in headless Chromium, with pictures in $(SCREENSHOTS)"
	@echo "make site-scripts  put the libraries of npm into the site"
	@echo "make lint         ruff, mypy, import-linter, and the imports of the tests"
	@echo "make docs         build the documentation as a site that needs no network, in build/docs"
	@echo "make dist         build sdist and wheel in $(DIST), check them, and test the wheel in an environment of its own"
	@echo "make lock         write the lock file of CI, requirements/ci.txt, anew"
	@echo "make licences     write THIRD-PARTY.md anew: the licences of all that mlsub runs with"
	@echo "make sbom         write a software bill of materials, CycloneDX, in build"
	@echo "make audit-dependencies  look for known vulnerabilities of the locked packages"
	@echo "make bench        time mlsub beside a floor script and the official tools"
	@echo "make bench-history  the same, added to a history outside of the repository (HISTORY=FILE)"
	@echo "make bench-page   the same, written into docs/performance.md with its picture"
	@echo "make bench-site   measure the pages of a site: their size, and how soon a browser shows them"
	@echo "make parity       agreement with the recorded official verdicts, as a table"
	@echo "make parity-long  a long, seeded search for logs, entries, scores and packages on which mlsub and the official tools differ"
	@echo "make fuzz         attack all that reads foreign bytes, for ten minutes (BUDGET='--inputs 10000000'); goes on where it was stopped"
	@echo "make fuzz-replay  run the inputs of open findings again, and forget those that are fixed"
	@echo "make faults       put every command that writes through kills, errors, power cuts and a second process"

$(STAMP): setup.cfg pyproject.toml $(LOCK)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
ifeq ($(LOCK),)
	$(PIP) -e '.[$(EXTRAS)]'
else
	$(PIP) --require-hashes --no-deps -r $(LOCK)
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check --disable-pip-version-check
endif
	touch $@

install: $(STAMP)

demo: $(STAMP)
	$(BIN)/mlsub demo submissions/rehearsal/training.yaml -o demo --force
	$(BIN)/mlsub watch demo/rehearsal-v1.0/Rehearsal/results/this-machine-closed/verses/result_0.txt --format text
	$(BIN)/mlsub check demo/rehearsal-v1.0
	$(BIN)/mlsub score demo/rehearsal-v1.0
	$(BIN)/mlsub pack submissions/rehearsal/submission.yaml -o demo/package/rehearsal-v1.0/Rehearsal --write --force
	rm -f demo/passphrase.txt && umask 077 && head -c 24 /dev/urandom | base64 > demo/passphrase.txt
	$(BIN)/mlsub seal demo/package/rehearsal-v1.0/Rehearsal -o demo/Rehearsal.tar.gz.age \
		--passphrase-file demo/passphrase.txt --force
	$(BIN)/mlsub verify demo/Rehearsal.tar.gz.age --passphrase-file demo/passphrase.txt

# The tests in a browser are those of test-browser.
test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal --ignore-glob='*/test_browser*.py'

# What a change of one rule needs: rules and their words, the reader, verdicts, and the official checker on one
# combination of round, benchmark and division in ten.
FAST := tests/rules tests/log/test_decode.py tests/log/test_run.py tests/judge tests/commands/rules tests/commands/test_text.py tests/commands/test_rules.py \
	tests/differential/test_mutants.py tests/differential/test_coverage_gate.py

test-fast: $(STAMP)
	MLSUB_TESTS=fast $(BIN)/python -m pytest -n auto --dist worksteal $(FAST)

test-long: $(STAMP)
	MLSUB_TESTS=long $(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-seed=$(SEED)

$(SUPPLY): $(STAMP)
	$(EXTRA) '.[supply]'
	touch $@

# What depends on other packages the most, in three minutes of one core; the versions of Python and of the packages differ.
SMOKE := tests/io tests/log tests/rules tests/present tests/convergence tests/emit tests/commands/db tests/commands/seal \
	tests/commands/rcp
# uv compiles nothing unless asked, and what Python compiles while a test runs may warn, which is an error there.
IN_OWN = $(BIN)/uv venv --quiet --clear --python $(1) build/$(2) && \
	$(BIN)/uv pip install --quiet --python build/$(2) --compile-bytecode $(3) -e '.[$(EXTRAS)]' && \
	build/$(2)/bin/python -m pytest -n auto --dist worksteal $(SMOKE)

test-lowest: $(SUPPLY)
	$(call IN_OWN,$(BIN)/python,lowest,--resolution lowest-direct)

test-newest: $(SUPPLY)
	$(call IN_OWN,$(NEWEST),newest,--upgrade)

# Some minutes, on a machine with little else to do: what is measured, time and memory, decides here and in no other test.
limits: $(STAMP)
	$(BIN)/python -m tests.limits
	$(BIN)/python -m pytest tests/limits/measured_*.py

expected: $(STAMP)
	$(BIN)/python -m pytest -n auto --update-expected

$(ADAPTERS): $(STAMP)
	$(PIP) -e '.[adapters]'
	touch $@

test-adapters: $(ADAPTERS)
	KERAS_BACKEND=torch CUDA_VISIBLE_DEVICES= $(BIN)/python -m pytest -n 2 tests/emit/adapters

$(BROWSER): $(STAMP)
	$(EXTRA) '.[browser]'
	touch $@

$(NPM)/node_modules/.package-lock.json: $(NPM)/package-lock.json
	npm ci --prefix $(NPM) --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# The libraries of the charts, as npm has them.
site-scripts: $(NPM)/node_modules/.package-lock.json
	cp $(NPM)/node_modules/d3/dist/d3.min.js $(NPM)/node_modules/@observablehq/plot/dist/plot.umd.min.js mlsub/commands/site/static
	npm --prefix $(NPM) run --silent parquet > mlsub/commands/site/static/parquet.min.js

# Chromium and npm themselves come from the system; .ci/run installs them.
test-browser: $(BROWSER) $(DOCS) $(NPM)/node_modules/.package-lock.json
	MLSUB_BROWSER=required MLSUB_SCREENSHOTS=$(SCREENSHOTS) $(BIN)/python -m pytest \
		$(wildcard tests/commands/site/test_browser*.py) tests/docs/test_browser.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(DOCS): $(STAMP)
	$(EXTRA) '.[docs]' || { \
		echo "The documentation needs MkDocs with Material, which could not be installed: pip install '.[docs]'"; exit 1; }
	touch $@

docs: $(DOCS)
	rm -rf build/pages build/docs
	$(BIN)/python -m docs.reference build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/docs/index.html"

# All of setup.cfg but the adapters, for every version of Python and every platform: the wheels of PyTorch differ from index to index.
lock: $(SUPPLY)
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate --python-version 3.11 \
		--custom-compile-command 'make lock' $(foreach extra,$(subst $(comma), ,$(LOCKED)),--extra $(extra)) \
		setup.cfg --output-file requirements/ci.txt

licences: $(SUPPLY)
	$(BIN)/python -m tests.supply.licences --write

sbom: $(SUPPLY)
	$(BIN)/python -m tests.supply.sbom build/mlsub.cdx.json

# Exit status 2 where the index has no advisories.
audit-dependencies: $(SUPPLY)
	$(BIN)/python -m tests.supply.audit

$(RELEASE): $(STAMP)
	$(EXTRA) '.[release]'
	touch $@

# The wheel is made of the sdist, so what the sdist lacks the wheel lacks too.
dist: $(RELEASE)
	rm -rf $(DIST) $(CLEAN)
	$(BIN)/python -m tests.supply.build $(DIST)
	$(BIN)/twine check --strict $(DIST)/*
	$(PYTHON) -m venv $(CLEAN)
	$(CLEAN)/bin/python -m pip install --quiet --disable-pip-version-check $(DIST)/*.whl
	cd $(CLEAN) && bin/python $(CURDIR)/tests/smoke.py

# A quiet machine, half an hour. BENCH may hold options: `make bench BENCH='--only "check, package" --pairs 9'`.
bench: $(STAMP)
	$(BIN)/python bench/run.py $(BENCH)

# A line a case at the end of HISTORY, by default in the data folder of the user.
bench-history: $(STAMP)
	$(BIN)/python bench/run.py --history $(HISTORY) $(BENCH)
	$(BIN)/python bench/history.py $(HISTORY)

bench-page: $(STAMP)
	$(BIN)/python bench/run.py --page --history $(HISTORY) $(BENCH)

# Some minutes; needs Chromium and ../shared/corpus.
bench-site: $(STAMP)
	$(BIN)/python bench/site_pages.py

parity: $(STAMP)
	$(BIN)/python bench/parity.py

# Both cores; progress in build/parity, so each goes on where it was stopped.
parity-long: $(STAMP)
	mkdir -p build/parity
	$(BIN)/python bench/parity_long.py --logs $(LOGS) --state build/parity/logs.json
	$(BIN)/python -m tests.differential.entries --entries $(ENTRIES) --state build/parity/entries.json
	$(BIN)/python -m tests.differential.scores --scores $(SCORES) --state build/parity/scores.json
	$(BIN)/python -m tests.differential.package_search --packages $(PACKAGES) --state build/parity/packages.json

# Both cores; progress in build/fuzz. BUDGET may hold any option: `make fuzz BUDGET='--inputs 1000000 --only logs --only yaml'`.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz run --seed $(SEED) $(BUDGET)

fuzz-replay: $(STAMP)
	$(BIN)/python -m tests.fuzz replay --seed $(SEED)

# About 40 minutes on a quiet machine; needs Linux and a C compiler. FAULTS may hold options: `make faults FAULTS='--only pack'`.
faults: $(STAMP)
	$(BIN)/python -m tests.faults --kills 200 --seed $(SEED) $(FAULTS)

clean:
	rm -rf $(VENV) build demo dist *.egg-info
