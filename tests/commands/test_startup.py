"""A command imports what it needs and nothing else: start-up time is the first thing a user feels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mlsub.cli import main
from mlsub.commands import HEADINGS
from tests.commands.calls import calls
from tests.commands.tree import every, leaves
from tools.support.make_tree import make_tree

#: What no help needs, and no start.
HEAVY = {
    *("msgspec", "yaml", "rich", "jsonschema", "jinja2", "numpy", "sklearn", "mlperf_logging", "duckdb", "pyarrow"),
    *("cryptography", "pyrage", "tarfile", "subprocess", "difflib"),
}
PROBE = """
import json, sys
from mlsub.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("\\nMODULES " + json.dumps(sorted(sys.modules)))
"""
#: One process that has imported the program calls each line in a copy of itself.
PROBES = """
import json, os, sys
from mlsub.cli import main
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for line in json.loads(sys.argv[1]):
    if os.fork() == 0:
        status = 0
        try:
            main(line)
        except SystemExit as end:
            status = end.code or 0
        print(json.dumps([status, sorted(sys.modules)]), file=answers, flush=True)
        os._exit(0)
    os.wait()
"""


def imported(lines: list[list[str]], folder: Path) -> list[set[str]]:
    """The modules that are there after each call."""
    done = subprocess.run(
        [sys.executable, "-c", PROBES, json.dumps(lines)], capture_output=True, text=True, check=True, cwd=folder
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [status in (0, 1) for status, _ in answers] == [True] * len(lines), done.stderr
    return [set(modules) for _, modules in answers]


def test_no_help_imports_what_it_does_not_need(tmp_path: Path) -> None:
    lines = [[*words, "--help"] for words, _ in every()]
    found = {" ".join(line): modules & HEAVY for line, modules in zip(lines, imported(lines, tmp_path), strict=True)}
    assert {line: modules for line, modules in found.items() if modules} == {}


def test_commands_do_not_import_what_they_do_not_need(place: Path, tmp_path: Path) -> None:
    asked = [call for call in calls().values() if call.without]
    modules = imported([call.line(tmp_path / "new") for call in asked], place)
    found = {call.words: call.without & one for call, one in zip(asked, modules, strict=True)}
    assert {line: modules for line, modules in found.items() if modules} == {}


def test_a_check_imports_a_part_of_the_house(place: Path, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    [modules] = imported([["check", str(tree.folder), "--no-cache"]], place)
    assert len([name for name in modules if name == "mlsub" or name.startswith("mlsub.")]) <= 90


def test_settings_are_read_without_what_only_their_schema_needs(place: Path, tmp_path: Path) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text('round = "1.0"\n[[waivers]]\nrule = "log.empty"\npath = "a"\nreason = "known"\n')
    log = ["check", "v1.0/ACME/results/rack1/resnet/result_0.txt"]
    plain, read = imported([[*log, "--round", "1.0"], [*log, "--config", str(settings)]], place)
    usual = {"rich", "jsonschema", "mlperf_logging", "numpy", "scipy"}
    assert plain & {*usual, "tomllib", "mlsub.config.load", "concurrent.futures.process", "hashlib"} == set()
    assert read & usual == set()


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


@pytest.mark.parametrize("words", sorted(leaves()))
def test_many_options_stand_under_headings(words: str) -> None:
    command = leaves()[words]
    options = [one for one in command.get_params(click.Context(command)) if isinstance(one, click.Option)]
    shown = {next(flag for flag in one.opts if flag.startswith("--")) for one in options if not one.hidden}
    listed: dict[str, str] = {}
    heading = ""
    for line in CliRunner().invoke(main, [*words.split(), "--help"]).stdout.splitlines():
        if found := re.match(r"(\w[\w ]*):$", line):
            heading = found[1]
        elif heading and (found := re.match(r"  (?:-\w, )?(--[\w-]+)", line)):
            assert listed.setdefault(found[1], heading) == heading
    assert set(listed) == shown
    if len(shown) > 12:
        expected = {f"--{name}": heading for heading, names in HEADINGS.items() for name in names}
        assert listed == {name: expected.get(name, "Options") for name in listed}
    else:
        assert set(listed.values()) == {"Options"}


def test_every_option_with_a_heading_is_one() -> None:
    known = {
        flag for command in leaves().values() for one in command.get_params(click.Context(command)) for flag in one.opts
    }
    assert {f"--{name}" for names in HEADINGS.values() for name in names} <= known
