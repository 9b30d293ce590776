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
from tests.make_tree import make_tree

CASES = [
    (
        ["--version"],
        {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "sklearn", "numpy", "mlsub.commands.settings"},
    ),
    (["--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "sklearn", "numpy"}),
    (["check", "--help"], {"rich", "jsonschema", "mlperf_logging", "sklearn", "numpy"}),
    (
        ["check", "LOG", "--round", "1.0", "--format", "json"],
        {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy", "tomllib", "mlsub.config.load"},
    ),
    (["check", "LOG", "--config", "SETTINGS"], {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy"}),
    (["check", "LOG", "--round", "1.0", "--format", "sarif"], {"rich", "jsonschema", "mlperf_logging", "numpy", "xml"}),
    (["rcp", "margin", "--help"], {"msgspec", "yaml", "rich", "matplotlib", "numpy"}),
    (["rcp", "plot", "--help"], {"msgspec", "yaml", "rich", "matplotlib", "numpy"}),
    (["inspect", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["watch", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "subprocess", "numpy"}),
    (["site", "--help"], {"msgspec", "yaml", "rich", "jinja2", "jsonschema", "mlperf_logging", "numpy"}),
    (["audit", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "--packages", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "TREE", "TREE"], {"jsonschema", "mlperf_logging", "numpy", "scipy", "rich"}),
    (["merge", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["compare", "TREE", "TREE"], {"jsonschema", "mlperf_logging", "numpy", "scipy", "rich"}),
    (["fix", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy", "difflib"}),
    (["redact", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["fix", "--truncate", "--help"], {"msgspec", "yaml", "rich", "jsonschema", "mlperf_logging", "numpy"}),
    (["check", "TREE", "--format", "json"], {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy", "matplotlib"}),
    (["check", "TREE"], {"rich", "jsonschema", "numpy", "statistics", "mlsub.score.energy.score", "mlsub.io.output"}),
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
        {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy", "concurrent.futures.process"},
    ),
    (["explain", "seed.shared"], {"rich", "jsonschema", "mlperf_logging", "numpy"}),
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
    log.write_text(':::MLLOG {"time_ms": 1, "key": "run_start", "value": null, "metadata": {}}\n')
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


@pytest.mark.parametrize("start", [["-m", "mlsub"], ["-c", "from mlsub.cli import main; main()"]])
def test_both_ways_to_start_tell_the_version(start: list[str]) -> None:
    import mlsub

    done = subprocess.run([sys.executable, *start, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"mlsub, version {mlsub.__version__}\n"


@pytest.mark.parametrize("words", sorted(words for words, _ in every()), ids=" ".join)
def test_help_is_for_people(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [*words, "--help"])
    assert done.exit_code == 0
    assert "\\b" not in done.output
    assert "Exit status" in done.output or len(words) == 0 or "COMMAND" in done.output
