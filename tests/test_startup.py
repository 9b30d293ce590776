"""A command imports what it needs and nothing else: start-up time is the first thing a user feels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlsub.cli import main
from tests.commands.tree import every
from tools.support.make_tree import make_log, make_tree

CASES = [
    (["--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "sklearn", "numpy"}),
    (["check", "--help"], {"rich", "jsonschema", "mlperf_logging", "sklearn", "numpy"}),
    (
        ["check", "LOG", "--round", "1.0", "--format", "json"],
        {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy", "tomllib", "mlsub.config.load"},
    ),
    (["check", "LOG", "--config", "SETTINGS"], {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy"}),
    (["check", "LOG", "--round", "1.0", "--format", "sarif"], {"rich", "jsonschema", "mlperf_logging", "numpy", "xml"}),
    (["rcp", "margin", "--help"], {"msgspec", "yaml", "rich", "numpy"}),
    (["rcp", "margin", "TREE"], {"rich", "numpy", "scipy", "jsonschema", "mlperf_logging"}),
    (["score", "TREE", "--format", "csv"], {"rich", "pyarrow", "openpyxl", "numpy", "pandas", "jsonschema"}),
    (["review", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["watch", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "subprocess", "numpy"}),
    (["site", "--help"], {"msgspec", "yaml", "rich", "jinja2", "jsonschema", "mlperf_logging", "numpy"}),
    (["audit", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "--packages", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "TREE", "TREE"], {"jsonschema", "mlperf_logging", "numpy", "scipy", "rich"}),
    (["merge", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["fix", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy", "difflib"}),
    (["redact", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["fix", "--truncate", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["check", "TREE", "--format", "json"], {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy"}),
    (
        ["check", "TREE"],
        {"rich", "jsonschema", "numpy", "statistics", "mlsub.score.energy.score", "secrets", "gzip", "hashlib"},
    ),
    (["db", "--help"], {"msgspec", "yaml", "rich", "duckdb", "pyarrow", "numpy"}),
    (["db", "query", "--help"], {"msgspec", "yaml", "rich", "duckdb", "pyarrow", "numpy"}),
    (["db", "tables"], {"duckdb", "pyarrow", "jsonschema", "numpy"}),
    (["seal", "--help"], {"msgspec", "yaml", "rich", "cryptography", "pyrage", "tarfile"}),
    (["status", "--help"], {"msgspec", "yaml", "rich", "cryptography", "pyrage", "numpy"}),
    (["status", "TREE"], {"rich", "jsonschema", "cryptography", "pyrage", "mlperf_logging"}),
    (["unseal", "--help"], {"msgspec", "yaml", "rich", "cryptography", "pyrage", "tarfile"}),
    (["verify", "--help"], {"msgspec", "yaml", "rich", "cryptography", "pyrage", "tarfile"}),
    (["seal", "TREE", "--no-encryption", "--dry-run"], {"rich", "jsonschema", "cryptography", "pyrage", "numpy"}),
    (
        ["check", "LOG", "--round", "1.0"],
        {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy", "concurrent.futures.process", "hashlib"},
    ),
    (["rules", "keys", "bert"], {"rich", "jsonschema", "mlperf_logging", "numpy", "mlsub.workspace"}),
    (["rules", "diff", "6.0", "6.1"], {"rich", "jsonschema", "mlperf_logging", "numpy", "mlsub.workspace"}),
    (["explain", "seed.shared"], {"rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["watch", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "subprocess", "numpy"}),
    (["watch", "LOG", "--round", "1.0"], {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy"}),
    (["system", "show", "ipu-pod16"], {"rich", "jsonschema", "mlperf_logging", "numpy"}),
]
PROBE = """
import json, sys
from mlsub.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("\\nMODULES " + json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize(("arguments", "unwanted"), CASES, ids=[" ".join(arguments) for arguments, _ in CASES])
def test_commands_do_not_import_what_they_do_not_need(arguments: list[str], unwanted: set[str], tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    # A log that has ended: else watch would wait for more.
    log.write_text(make_log("resnet").text())
    settings = tmp_path / "own.toml"
    settings.write_text('round = "1.0"\n[[waivers]]\nrule = "log.empty"\npath = "a"\nreason = "known"\n')
    named = {
        "LOG": str(log),
        "SETTINGS": str(settings),
        "TREE": str(make_tree(tmp_path).folder) if "TREE" in arguments else "",
    }
    arguments = [named.get(argument, argument) for argument in arguments]
    done = subprocess.run([sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout.rpartition("MODULES ")[2]))
    assert modules & unwanted == set()


def test_data_that_ship_are_read_as_yaml_once(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    call = [sys.executable, "-c", PROBE, "check", str(make_tree(tmp_path).folder)]
    runs = [subprocess.run(call, capture_output=True, text=True, check=True, env=environment) for _ in range(2)]
    first, second = (run.stdout.rpartition("MODULES ") for run in runs)
    assert first[0] == second[0]
    assert ("yaml" in json.loads(first[2]), "yaml" in json.loads(second[2])) == (True, False)


CLICK = "from mlsub.cli import main; main()"
STARTS = {"-m": ["-m", "mlsub"], "script": ["-c", "from mlsub.__main__ import main; main()"], "click": ["-c", CLICK]}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("words", [["--version"], ["--version", "check"], ["--color", "never", "--version"]], ids=str)
def test_all_ways_to_start_say_the_version(start: str, words: list[str]) -> None:
    import mlsub

    done = subprocess.run([sys.executable, *STARTS[start], *words], capture_output=True, text=True, check=True)
    assert done.stdout == f"mlsub, version {mlsub.__version__}\n"


def test_nothing_is_imported_to_say_the_version() -> None:
    probe = "import sys; before = set(sys.modules); from mlsub.__main__ import main; main(); after = set(sys.modules)"
    script = f"{probe}; print(*after - before)"
    done = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True)
    imported = set(done.stdout.splitlines()[1].split())
    assert imported <= {"__future__", "gc", "os", "mlsub", "mlsub.__main__", "mlsub.io"}


ENDS = {
    "a status": (["check", "nowhere"], 2),
    "an answer": (["rules", "list"], 0),
    "a wrong word": (["chek"], 2),
    "a full device": (["rules", "list"], 2),
    "the version on a full device": (["--version"], 2),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_process_ends_with_the_status_and_all_that_was_printed(end: str, tmp_path: Path) -> None:
    """The same whether it ends at once, or as a program that calls the command would."""
    words, status = ENDS[end]
    full = "device" in end
    answers = []
    for start in ("-m", "click"):
        with Path("/dev/full" if full else tmp_path / "out").open("w") as output:
            call = [sys.executable, *STARTS[start], *words]
            done = subprocess.run(call, stdout=output, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        answers.append(
            (done.returncode, done.stderr.replace("python -m mlsub", "-c"), full or (tmp_path / "out").read_text())
        )
    assert answers[0] == answers[1]
    assert answers[0][0] == status


def test_what_was_to_be_done_at_exit_is_done() -> None:
    script = "import atexit; atexit.register(print, 'done'); from mlsub.__main__ import main; main()"
    call, buffered = [sys.executable, "-c", script, "rules", "list"], {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=buffered)
    assert done.stdout.endswith("\ndone\n")


@pytest.mark.parametrize("words", sorted(words for words, _ in every()), ids=" ".join)
def test_help_is_for_people(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [*words, "--help"])
    assert done.exit_code == 0
    assert "\\b" not in done.output
    assert "Exit status" in done.output or len(words) == 0 or "COMMAND" in done.output
