# Everything a fresh machine needs is Python (3.11 or newer) and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DOCS   := $(VENV)/.docs
NPM    := tests/commands/site/npm
# A lock file for pip, as CI uses: LOCK=.ci/requirements.txt. It has all extras but those of the adapters.
LOCK   ?=
NEWEST ?= python3.14
# Parts of test-all, campaigns and supply: make test-all PART="lowest newest".
PART   ?=
# Files, folders or options for pytest: make test PATHS=tests/rules.
PATHS  ?=
MUTANTS ?=
BENCH  ?=
SEED   ?= 0
# Where training_rules.adoc and submission_rules.adoc lie.
RULES  ?=
SCREENSHOTS ?= build/screenshots

EXTRAS := db,dev,tables
# What the tests need that `make test` leaves to `make test-all`.
ALL    := dask,hooks,mcp,rehearsal
comma  := ,
LOCKED := browser,$(EXTRAS),$(ALL),docs,lint,release,supply
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# What the lock has is there already.
EXTRA  := $(if $(LOCK),true,$(PIP) -e)
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# Python keeps the bytecode of what it compiled, or each of the many processes of the tests compiles all anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test test-all lint format docs dist lock bench parity clauses campaigns mutants supply clean \
	browser-app suite adapters browser lowest newest long fuzz faults limits long-parity licences sbom audit

help:
	@echo "make install    set up $(VENV)"
	@echo "make demo       train, check, score, pack, seal and verify a rehearsal submission"
	@echo "make test       run the tests, and a quarter of the large tables; PATHS=tests/rules for some"
	@echo "make test-all   run all tests, also of the adapters (6 GB), in a browser, and with the lowest and newest packages;"
	@echo "                PART=suite for one of suite, adapters, browser, lowest, newest"
	@echo "make lint       run ruff, mypy, import-linter, and check the imports of the tests"
	@echo "make format     format the code"
	@echo "make docs       build the documentation in build/docs"
	@echo "make browser-app  build a page in build/app that checks in a browser"
	@echo "make dist       build sdist and wheel in dist, and test the wheel"
	@echo "make lock       renew the lock file of CI"
	@echo "make bench      time mlsub beside a floor script and the official tools; BENCH='--only check' for some cases"
	@echo "make parity     compare with the recorded official verdicts"
	@echo "make clauses    compare what is known of the written rules with their texts in RULES=DIR"
	@echo "make campaigns  test for hours: long, fuzz, faults, limits, long-parity; PART=fuzz for one"
	@echo "make mutants    change the source in 300 places, and say which changes no test notices"
	@echo "make supply     list licences, write a bill of materials, and look for known vulnerabilities; PART=sbom for one"
	@echo "make clean      remove all that was built"

$(STAMP): setup.cfg pyproject.toml $(LOCK)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
ifeq ($(LOCK),)
	$(PIP) -e '.[$(EXTRAS)]'
	# Python 3.11 comes with it, later ones do not; nothing here needs it.
	$(BIN)/python -m pip uninstall --quiet --yes setuptools
else
	$(PIP) --require-hashes --no-deps -r $(LOCK)
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check --disable-pip-version-check
endif
	touch $@

install: $(STAMP)

demo: $(STAMP)
	$(EXTRA) '.[rehearsal]'
	$(BIN)/mlsub demo submissions/rehearsal/training.yaml -o demo --force
	$(BIN)/mlsub watch demo/rehearsal-v1.0/Rehearsal/results/this-machine-closed/digits/result_0.txt --format text
	$(BIN)/mlsub check demo/rehearsal-v1.0
	$(BIN)/mlsub score demo/rehearsal-v1.0
	$(BIN)/mlsub pack submissions/rehearsal/submission.yaml -o demo/package/rehearsal-v1.0/Rehearsal --write --force
	rm -f demo/passphrase.txt && umask 077 && head -c 24 /dev/urandom | base64 > demo/passphrase.txt
	$(BIN)/mlsub seal demo/package/rehearsal-v1.0/Rehearsal -o demo/Rehearsal.tar.gz.age \
		--passphrase-file demo/passphrase.txt --force
	$(BIN)/mlsub verify demo/Rehearsal.tar.gz.age --passphrase-file demo/passphrase.txt

# The tests in a browser are a part of their own.
test: $(STAMP)
	$(PYTEST) --ignore-glob='*/test_browser*.py' $(PATHS)

test-all: $(or $(PART),suite adapters browser lowest newest)

suite: $(STAMP)
	$(EXTRA) '.[$(ALL)]'
	MLSUB_TESTS=all $(PYTEST) --ignore-glob='*/test_browser*.py' $(PATHS)

adapters: $(STAMP)
	$(PIP) -e '.[adapters]'
	MLSUB_TESTS=all KERAS_BACKEND=torch CUDA_VISIBLE_DEVICES= $(BIN)/python -m pytest -n 2 tests/emit/adapters

$(NPM)/node_modules/.package-lock.json: $(NPM)/package-lock.json
	npm ci --prefix $(NPM) --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# What a server needs: python3 -m http.server --bind 127.0.0.1 -d build/app
browser-app: $(STAMP) $(NPM)/node_modules/.package-lock.json
	$(EXTRA) '.[release]'
	$(BIN)/python -m tools.app.build build/app
	@echo "build/app/index.html"

# Chromium and npm themselves come from the system; .ci/run installs them.
browser: $(DOCS) $(NPM)/node_modules/.package-lock.json
	$(EXTRA) '.[browser,release]'
	# A file at a time in one process: what a file prepares, such as the page that checks, is built once.
	MLSUB_TESTS=all MLSUB_BROWSER=required MLSUB_SCREENSHOTS=$(SCREENSHOTS) $(BIN)/python -m pytest -n 2 --dist loadfile \
		$(wildcard tests/commands/site/test_browser*.py) tests/docs/test_browser.py tests/tools/test_browser_app.py

# What depends on other packages the most, in three minutes of one core; the versions of Python and of the packages differ.
SMOKE := tests/io tests/log tests/rules tests/present tests/convergence tests/emit tests/commands/db tests/commands/seal \
	tests/commands/rcp
# uv compiles nothing unless asked, and what Python compiles while a test runs may warn, which is an error there.
IN_OWN = $(EXTRA) '.[supply]' && $(BIN)/uv venv --quiet --clear --python $(1) build/$(2) && \
	$(BIN)/uv pip install --quiet --python build/$(2) --compile-bytecode $(3) -e '.[$(EXTRAS)]'
SMOKE_IN = MLSUB_TESTS=all build/$(1)/bin/python -m pytest -n auto --dist worksteal $(SMOKE)

build/lowest/.installed: $(STAMP)
	$(call IN_OWN,$(BIN)/python,lowest,--resolution lowest-direct)
	touch $@

lowest: build/lowest/.installed
	$(call SMOKE_IN,lowest)

newest: $(STAMP)
	$(call IN_OWN,$(NEWEST),newest,--upgrade)
	$(call SMOKE_IN,newest)

lint: $(STAMP)
	$(EXTRA) '.[lint]'
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.imports

format: $(STAMP)
	$(EXTRA) '.[lint]'
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
	test ! -d build/app || cp -R build/app build/docs/app
	@echo "build/docs/index.html"

# The wheel is made of the sdist, so what the sdist lacks the wheel lacks too.
dist: $(STAMP)
	$(EXTRA) '.[release]'
	rm -rf dist build/wheel
	$(BIN)/python -m tools.supply.build dist
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/wheel && bin/python $(CURDIR)/tools/smoke.py

# All of setup.cfg but the adapters, for every version of Python and every platform: the wheels of PyTorch differ from index to index.
lock: $(STAMP)
	$(EXTRA) '.[supply]'
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate --python-version 3.11 \
		--custom-compile-command 'make lock' $(foreach extra,$(subst $(comma), ,$(LOCKED)),--extra $(extra)) \
		setup.cfg --output-file .ci/requirements.txt

# For a quiet machine: half an hour.
bench: $(STAMP)
	$(BIN)/python -m tools.bench.run $(BENCH)

parity: $(STAMP)
	MLSUB_TESTS=long $(PYTEST) tests/differential/test_corpus.py tests/differential/test_mutants.py

clauses: $(STAMP)
	$(BIN)/python -m tools.clauses $(RULES)

# For a quiet machine: hours.
campaigns: $(or $(PART),long fuzz faults limits long-parity)

# All tests, with every try of every search.
long: $(STAMP)
	MLSUB_TESTS=long $(PYTEST) --hypothesis-seed=$(SEED)

fuzz: $(STAMP)
	$(BIN)/python -m tools.campaigns.fuzz --seconds 600 --seed $(SEED)

faults: $(STAMP)
	$(BIN)/python -m tools.campaigns.faults --kills 200

limits: $(STAMP)
	$(BIN)/python -m tools.campaigns.limits
	$(BIN)/python -m pytest tools/campaigns/limits/measured_*.py

long-parity: $(STAMP)
	$(BIN)/python -m tools.campaigns.parity --seed $(SEED)

# Two hours on two cores.
mutants: $(STAMP)
	$(EXTRA) '.[$(ALL)]'
	$(BIN)/python -m tools.mutation $(MUTANTS)

supply: $(or $(PART),licences sbom audit)

licences: $(STAMP)
	$(EXTRA) '.[supply]'
	mkdir -p build
	$(BIN)/python -m tools.supply.licences build/third-party.md

sbom: $(STAMP)
	$(EXTRA) '.[supply]'
	$(BIN)/python -m tools.supply.sbom build/mlsub.cdx.json

# Exit status 2 where the index has no advisories.
audit: $(STAMP)
	$(EXTRA) '.[supply]'
	$(BIN)/python -m tools.supply.audit

clean:
	rm -rf $(VENV) build demo dist *.egg-info
