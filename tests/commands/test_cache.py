"""The cache: the same answers with and without it, nothing read twice, and no command that fails for its sake."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mlsub
from mlsub.log.events import LogReader, read_log
from mlsub.rounds import get_round
from mlsub.submission.find import PathKind, Place
from mlsub.workspace import ANY, Context
from mlsub.workspace.logs import Checked, package_job
from mlsub.workspace.schedule import run as run_jobs
from tests.workspace.changes import touched_back
from tools.support.effort import HUNG
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import REPOSITORY, Outcome, answer_schema, run

#: Commands that read logs, with what they are asked; CACHE is named by the test.
CALLS = {
    "check": "check v1.0",
    "check as JSON": "check v1.0 --format json",
    "check a package": "check v1.0/ACME -v",
    "check an entry": "check v1.0/ACME/results/rack1/resnet",
    "check a log": "check v1.0/ACME/results/rack1/resnet/result_1.txt",
    "score": "score v1.0 --format csv",
    "score a window": "score v1.0/ACME/results/rack1/resnet --window 3",
    "review": "review v1.0 --format json",
    "review beside": "review v1.0/ACME --against v1.0/Other --format json",
    "site": "site v1.0 -o site --force --format json",
    "audit": "audit claims.yaml --results .",
    "compare": "compare v1.0/ACME v1.0/Other --trainings",
    "compare packages": "compare v1.0/ACME v1.0/Other --packages",
    "rcp margin": "rcp margin v1.0/ACME",
    "status": "status v1.0/ACME",
    "watch": "watch v1.0/ACME/results/rack1/resnet --format jsonl --interval 0.1",
    "fix": "fix v1.0/ACME",
    "pack": "pack manifest.yaml -o new/ACME",
    "status of a manifest": "status manifest.yaml",
    "db build": "db build v1.0 -o new.duckdb --force --format json",
    "seal": "seal v1.0/ACME --dry-run --no-encryption",
}
CLAIMS = """claims_version: 1
source: {title: t, publisher: ACME}
results: {a: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet}}
claims: [{id: one, expr: minutes(a), stated: {value: 12, unit: minutes}}]
"""
MANIFEST = """organisation: ACME
round: "1.0"
systems: {rack1: v1.0/ACME/systems/rack1.json}
entries: [{system: rack1, benchmark: resnet, runs: v1.0/ACME/results/rack1/resnet}]
"""


def make_place(folder: Path) -> Tree:
    """A round of two packages, and claims about it."""
    tree = make_tree(folder)
    shutil.copytree(tree.folder, tree.folder.with_name("Other"))
    (folder / "claims.yaml").write_text(CLAIMS)
    (folder / "manifest.yaml").write_text(MANIFEST)
    return tree


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: None) -> Tree:
    """The same in the current folder, of files that are taken for old."""
    monkeypatch.chdir(tmp_path)
    return make_place(tmp_path)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the logs that are read."""
    found: list[str] = []

    def reading(file: Path | str, reader: LogReader) -> None:
        found.append(Path(file).name)
        read_log(file, reader)

    monkeypatch.setattr("mlsub.judge.log.read_log", reading)
    return found


def call(words: str, *options: str) -> Outcome:
    jobs = () if words.startswith("watch") else ("--jobs", "1")
    return run(*words.split(), *jobs, *options)


#: Calls that write much.
WRITE = ("site", "db build")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in WRITE else ()) for name in CALLS]
)
def test_the_answer_is_the_same_and_no_log_is_read_again(name: str, place: Tree, opened: list[str]) -> None:
    words = CALLS[name]
    without = call(words, "--no-cache")
    assert without[0] in (0, 1), without
    assert not Path("cache").exists()
    cold = call(words, "--cache-dir", "cache")
    assert opened
    assert any(Path("cache").iterdir())
    opened.clear()
    warm = call(words, "--cache-dir", "cache")
    assert opened == []
    if name != "watch":  # Its answer has the times of the day.
        assert without[:2] == cold[:2] == warm[:2]


def test_a_command_starts_from_what_another_has_read(place: Tree, opened: list[str]) -> None:
    call("check v1.0", "--cache-dir", "cache")
    opened.clear()
    for name in ("check a package", "check an entry", "check a log", "score", "score a window", "audit", "rcp margin"):
        status, _, told = call(CALLS[name], "--cache-dir", "cache")
        assert status in (0, 1), told
        assert opened == [], name


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_change_is_seen_by_every_command(place: Tree, jobs: str) -> None:
    words = [CALLS[name] for name in ("check as JSON", "score", "review", "check an entry")]
    for one in words:
        run(*one.split(), "--cache-dir", "cache", "--jobs", jobs)
    for change in (lambda: touched_back(place.log(1)), (place.folder / "systems" / "rack1.json").unlink):
        change()
        changed = [run(*one.split(), "--cache-dir", "cache", "--jobs", jobs).stdout for one in words]
        assert changed == [run(*one.split(), "--no-cache").stdout for one in words]


def test_options_that_change_the_answer_are_told_apart(place: Tree) -> None:
    Path("house.yaml").write_text('title: Ours\ncommon:\n  "1.0":\n    both:\n      acme: {occurs: at_least_one}\n')
    calls = [
        "check v1.0/ACME --format json",
        "check v1.0/ACME --format json --round 1.1",
        "check v1.0/ACME --format json --rules house.yaml",
        "check v1.0/ACME --format json --rcp-points deadline",
        "check v1.0/ACME --format json --rcp-bert-train-samples",
        "check v1.0 --format json",
        "check v1.0/Other v1.0/ACME --format json",
    ]
    for _ in range(2):
        for words in calls:
            assert call(words, "--cache-dir", "cache")[:2] == call(words, "--no-cache")[:2], words
    Path("house.yaml").write_text(Path("house.yaml").read_text().replace("acme", "other"))
    assert call(calls[2], "--cache-dir", "cache") == call(calls[2], "--no-cache")


def test_verbose_says_what_was_reused_and_nothing_else_does(place: Tree) -> None:
    assert call("check v1.0", "--cache-dir", "cache")[2] == ""
    touched_back(place.log(1))
    assert call("check v1.0", "--cache-dir", "cache")[2] == ""
    touched_back(place.log(1))
    told = call("check v1.0 -v", "--cache-dir", "cache")[2]
    assert told == "mlsub check: cache: reused 1 of 2 packages, 4 of 5 logs\n"
    assert call("check v1.0 -v", "--no-cache")[2] == ""


def test_it_is_shown_and_cleared(place: Tree) -> None:
    call("check v1.0", "--cache-dir", "cache")
    Path("cache/packages/mine.txt").write_text("somebody's")
    shown = run("cache", "--cache-dir", "cache", "--format", "json").document
    answer_schema("cache").validate(shown)
    assert [(one["kind"], one["number"]) for one in shown["records"]] == [("packages", 2)]
    assert shown["bytes"] == sum(one["bytes"] for one in shown["records"]) > 0
    assert shown["limit"] == 500 << 20
    cleared = run("cache", "clear", "--cache-dir", "cache", "--format", "json").document
    assert (cleared["removed"], cleared["bytes"], cleared["records"]) == (2, 0, [])
    assert sorted(str(path) for path in Path("cache").rglob("*")) == ["cache/packages", "cache/packages/mine.txt"]
    assert run("cache", "clear", "--cache-dir", "cache").status == 0


@pytest.mark.slow
def test_it_stays_within_its_bound(place: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("cache", "--cache-size", "3", "--format", "json").document["limit"] == 3 << 20
    monkeypatch.setattr("mlsub.workspace.cache.LIMIT", 40_000)
    for words in ("check v1.0", "review v1.0", "site v1.0 -o site --force"):
        call(words, "--cache-dir", "cache")
        assert 0 < run("cache", "--cache-dir", "cache", "--format", "json").document["bytes"] <= 40_000


def test_where_it_lies(place: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder(*options: str) -> str:
        return str(run("cache", "--format", "json", *options).document["folder"])

    assert folder("--cache-dir", "here") == str(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder() == str(tmp_path / "xdg" / "mlsub")
    assert call("check v1.0")[0] == 0
    assert (tmp_path / "xdg" / "mlsub" / "packages").is_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folder() == str(tmp_path / "home" / ".cache" / "mlsub")
    monkeypatch.setenv("MLSUB_CACHE_DIR", "ours")
    Path("mlsub.toml").write_text("cache = false\n")
    assert folder() == str(tmp_path / "ours")
    call("check v1.0")
    assert not Path("ours").exists()
    call("check v1.0", "--cache")
    assert Path("ours").exists()


def test_it_never_lies_in_what_is_checked(place: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in ("check v1.0", "review v1.0", "status v1.0/ACME", "compare v1.0/ACME v1.0/Other"):
        status, answer, told = call(words, "--cache-dir", "v1.0/ACME/cache")
        assert (status, answer) == (2, "")
        assert "The cache folder v1.0/ACME/cache lies in v1.0" in told
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "v1.0" / "ACME"))
    assert call("check v1.0") == call("check v1.0", "--no-cache")
    assert not (place.folder / "mlsub").exists()
    Path("file").write_text("")
    assert "file is not a folder" in call("check v1.0", "--cache-dir", "file")[2]


@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-1], lambda _: b"?" * 99])
def test_damage_costs_nothing_but_time(place: Tree, damage: Callable[[bytes], bytes]) -> None:
    for words in (CALLS["check as JSON"], CALLS["review"]):
        before = call(words, "--cache-dir", "cache")
        for record in Path("cache").rglob("*"):
            if record.is_file():
                record.write_bytes(damage(record.read_bytes()))
        assert call(words, "--cache-dir", "cache") == before
        assert call(words, "--cache-dir", "cache") == before


@pytest.mark.slow
def test_several_processes_share_it(tmp_path: Path) -> None:
    tree = make_place(tmp_path)
    program = """
import sys
from mlsub.workspace import cache
cache.SETTLED_NS = -10**18
from mlsub.cli import main
main()
"""
    words = ["check", str(tree.folder.parent), "--format", "json", "--jobs", "2"]
    cached = [*words, "--cache-dir", str(tmp_path / "cache")]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for _ in range(2):
        running = [
            subprocess.Popen([sys.executable, "-c", program, *cached], stdout=subprocess.PIPE, env=environment)
            for _ in range(3)
        ]
        answers = {process.communicate(timeout=HUNG)[0] for process in running}
        assert answers == {run(*words, "--no-cache").stdout.encode()}
    assert not list((tmp_path / "cache").rglob("*.part"))
    shown = run("cache", "--cache-dir", tmp_path / "cache", "--format", "json").document
    assert [(one["kind"], one["number"]) for one in shown["records"]] == [("packages", 2)]


def test_the_function_uses_no_cache(place: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert mlsub.check("v1.0").official == "accepted"
    assert not (tmp_path / "xdg").exists()


def test_nothing_is_read_outside_of_a_package(place: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of a package may depend on nothing else, or a change there would not be seen."""
    outside: list[str] = []
    watched = True

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if watched and event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, os.PathLike)):
            path = Path.cwd() / arguments[0]
            if path.is_relative_to(place.folder.parents[1]) and not path.is_relative_to(place.folder):
                outside.append(str(path))

    root = place.folder.parent
    package = Place(place.folder, PathKind.ORGANISATION, place.folder, listed=True)
    job = package_job(package, root, get_round("training", "1.0"), ANY, keep=False)
    sys.addaudithook(audit)
    try:
        [judged] = run_jobs([job], Context(jobs=1))
    finally:
        watched = False
    assert isinstance(judged, Checked)
    assert judged.report.logs
    assert outside == []
