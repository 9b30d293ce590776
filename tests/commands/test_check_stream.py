"""``mlsub check`` writes text report by report: the same bytes, and the first before the last log is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.support.make_tree import make_tree, spoil
from tools.support.runner import run

#: Reads logs of the second round only once a file is there.
WAITING = """
import os, sys, time
import mlsub.workspace.reading
from mlsub.cli import main
real = mlsub.workspace.reading.judge_log
def waiting(file, *words, **asked):
    while "v1.1" in file and not os.path.exists("go"):
        time.sleep(0.02)
    return real(file, *words, **asked)
mlsub.workspace.reading.judge_log = waiting
main(sys.argv[1:])
"""


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    place = tmp_path / "rounds"
    make_tree(place, "v1.0")
    spoil(make_tree(place, "v1.0", org="OTHER"), 0, 1)
    make_tree(place, "v1.1")
    return place


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_first_round_is_there_before_the_last_is_read(jobs: str, rounds: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, "check", str(rounds), "--jobs", jobs],
        stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        first = process.stdout.readline()
        (tmp_path / "go").touch()
        rest = process.stdout.read()
    assert process.returncode == 1
    assert first == f"{rounds / 'v1.0'}\n"
    assert first + rest == run("check", rounds).stdout


WORDS = (
    *("", "--verbose", "--summary", "--quiet", "--strict", "--only review", "--ignore key", "../nothere"),
    *("--round 1.0 --color always", "--config ../mlsub.toml"),
)


@pytest.mark.parametrize("words", WORDS)
def test_the_text_is_the_same_where_it_waits_for_all(
    words: str, rounds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mlsub.toml").write_text("strict = true\n")
    monkeypatch.chdir(rounds)
    for paths in (("v1.0/ACME",), (".",), ("v1.1", "v1.0/OTHER"), ("v1.0/ACME/results/rack1/resnet/result_0.txt",)):
        alone = run("check", *paths, *words.split())
        # A file beside it wants all reports at once.
        beside = run("check", *paths, *words.split(), "-o", "../report.json", "--force")
        assert (alone.status, alone.stdout) == (beside.status, beside.stdout)


def test_a_file_of_rules_that_is_broken_is_a_report(rounds: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("common: 7\n")
    outcome = run("check", rounds, "--rules", rules)
    assert outcome.status == 2
    assert outcome.stdout == run("check", rounds, "--rules", rules, "-o", tmp_path / "report.json").stdout
