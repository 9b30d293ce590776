"""The seed check of a Closed entry, and what an auditor asks beyond it.

A seed is known by value, file and line of the source that logged it. No seeds at all pass; a run without one passes
only if it sorts, by file name as text, before the first run with one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.support.make_tree import Tree, make_log, make_tree
from tools.support.runner import Outcome, check

#: One seed record: value, file, lineno. None stands for a run without a seed.
Record = tuple[Any, Any, Any] | None

A, B, C, D, E = ((n, "train.py", 7) for n in (11, 12, 13, 14, 15))
Z: tuple[Any, Any, Any] = (11, "data.py", 9)


def _tree(above: Path, seeds: dict[str, list[Record] | Record], division: str = "closed") -> Tree:
    """A resnet entry whose result files, by name, log these seeds."""
    tree = make_tree(above, division=division)
    for file in tree.entry().iterdir():
        file.unlink()
    for run, (name, logged) in enumerate(seeds.items()):
        log = make_log(division=division, run=run)
        at = log.at("seed")
        template = log.records("seed")[0]
        log.drop("seed")
        for value, file, lineno in filter(None, logged if isinstance(logged, list) else [logged]):
            log.lines.insert(at, {**template, "value": value, "metadata": {"file": file, "lineno": lineno}})
        (tree.entry() / f"result_{name}.txt").write_text(log.text())
    return tree


def _runs(*seeds: list[Record] | Record) -> dict[str, list[Record] | Record]:
    return {str(run): seed for run, seed in enumerate(seeds)}


def _places(outcome: Outcome, rule: str) -> list[str]:
    return [Path(finding["path"]).name.removeprefix("result_").removesuffix(".txt") for finding in outcome.of(rule)]


# Seeds of the five runs; which runs get which finding, official and audit.
CASES: dict[str, tuple[dict[str, list[Record] | Record], dict[str, list[str]]]] = {
    "a seed each": (_runs(A, B, C, D, E), {}),
    "no seed at all": (_runs(None, None, None, None, None), {}),
    "only the last has one": (_runs(None, None, None, None, E), {}),
    "the first two have none": (_runs(None, None, C, D, E), {}),
    "the second has none": (_runs(A, None, C, D, E), {"seed.missing": ["1"]}),
    "the last has none": (_runs(A, B, C, D, None), {"seed.missing": ["4"]}),
    "only the first has one": (_runs(A, None, None, None, None), {"seed.missing": ["1", "2", "3", "4"]}),
    "the same twice": (_runs(A, A, C, D, E), {"seed.shared": ["1"]}),
    "the same twice, far apart": (_runs(A, B, C, D, A), {"seed.shared": ["4"]}),
    "the same in all": (_runs(A, A, A, A, A), {"seed.shared": ["1", "2", "3", "4"]}),
    "the same twice in one run": (_runs([A, A], B, C, D, E), {"seed.shared": ["0"]}),
    "two seeds each": (_runs([A, Z], [B], C, D, E), {}),
    "the same value from another file": (_runs(A, Z, C, D, E), {"seed.reused": ["1"]}),
    "the same value from another line": (_runs(A, (11, "train.py", 8), C, D, E), {"seed.reused": ["1"]}),
    "one of two shared": (_runs([A, B], [C, B], D, E, (16, "train.py", 7)), {"seed.shared": ["1"]}),
    "a number as text": (_runs(A, ("11", "train.py", 7), C, D, E), {"seed.shared": ["1"]}),
    "zero is a seed": (_runs((0, "train.py", 7), (0, "train.py", 7), C, D, E), {"seed.shared": ["1"]}),
    "a negative one too": (_runs((-1, "train.py", 7), B, C, D, E), {}),
    "no number": (_runs(("abc", "train.py", 7), B, C, D, E), {"seed.unusable": ["0"]}),
    "null": (_runs(A, (None, "train.py", 7), C, D, E), {"seed.unusable": ["1"]}),
    "a list": (_runs(A, ([1], "train.py", 7), C, D, E), {"seed.unusable": ["1"]}),
    "a source line that is a list": (_runs(A, (12, "train.py", [7]), C, D, E), {"seed.unusable": ["1"]}),
    # File names sort as text: result_10 comes before result_2.
    "10 before 2, without seed": ({"1": None, "10": None, "2": C, "3": D, "4": E}, {}),
    "10 before 2, with a seed": ({"0": None, "10": B, "2": None, "3": D, "4": E}, {"seed.missing": ["2"]}),
    "capitals before small letters": ({"B": A, "C": B, "D": C, "E": D, "a": None}, {"seed.missing": ["a"]}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_seeds_of_a_closed_entry(name: str, tmp_path: Path) -> None:
    seeds, wanted = CASES[name]
    outcome = check(_tree(tmp_path, seeds).folder)
    assert {rule: _places(outcome, rule) for rule in outcome.rules()} == wanted
    rejected = bool(set(wanted) - {"seed.reused"})
    assert outcome.status == int(rejected)
    assert outcome.report["entries"][0]["official"] == ("rejected" if rejected else "accepted")
    # Seeds say nothing about a single log: each stays compliant.
    assert outcome.report["entries"][0]["compliant"] == 5


@pytest.mark.parametrize("name", CASES)
def test_an_open_entry_needs_no_seeds(name: str, tmp_path: Path) -> None:
    seeds, _ = CASES[name]
    outcome = check(_tree(tmp_path, seeds, "open").folder)
    assert outcome.status == 0
    assert outcome.rules() <= {"seed.reused"}


def test_the_second_of_two_runs_is_named_with_line_and_owner(tmp_path: Path) -> None:
    tree = _tree(tmp_path, _runs(A, B, A, D, E))
    finding = check(tree.folder).of("seed.shared")[0]
    lines = tree.log(2).read_text().splitlines()
    assert '"key": "seed"' in lines[finding["line"] - 1]
    assert finding["actual"] == 'seed 11 of "train.py":7, as in results/rack1/resnet/result_0.txt'
    tree.log(4).write_bytes(tree.log(1).read_bytes())
    copied = check(tree.folder).of("seed.shared")[1]
    assert copied["message"] == "The log is a copy of another run's, with the same seed" != finding["message"]
    assert copied["fix"] == "Remove it, or put another run in its place." != finding["fix"]
    # The last of a list is logged first.
    several = check(_tree(tmp_path / "several", _runs([A, B, C], [C, A, B], D, E, Z)).folder).of("seed.shared")[0]
    assert several["actual"] == 'seed 12 of "train.py":7, as in results/rack1/resnet/result_0.txt, and 2 more'


@pytest.mark.parametrize("lacking", ["file", "lineno"])
def test_a_seed_without_its_source_line_cannot_be_used(lacking: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.records("seed")[0]["metadata"].pop(lacking), 2)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.errors()) == (1, {"seed.unusable"})
    assert _places(outcome, "seed.unusable") == ["2"]


def test_a_log_with_an_undecodable_record_fails_the_seed_check_and_is_not_called_forgiven(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.lines.append(":::MLLOG {"), 0)
    outcome = check(tree.folder)
    assert "entry.forgiven-runs" not in outcome.rules()
    assert _places(outcome, "seed.log-undecodable") == ["0"]
    assert outcome.status == 1


@pytest.mark.parametrize("division", ["close", "Closed", "CLOSED", "closed "])
def test_seeds_are_checked_only_where_the_description_says_exactly_closed(division: str, tmp_path: Path) -> None:
    tree = _tree(tmp_path, _runs(A, A, C, None, E))
    tree.describe(division=division)
    outcome = check(tree.folder)
    assert outcome.status == 0
    assert {"system.division", "seed.reused"} <= outcome.rules()
    assert check("--strict", tree.folder).status == 1


def test_entries_do_not_share_their_seeds(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    outcome = check(tree.folder)
    assert outcome.status == 0
    assert outcome.rules() == set()


FULL_OF_SEEDS = "mlsub.log.run.MAX_SEEDS"


def _crowded(*own: int) -> dict[str, list[Record] | Record]:
    """Five runs of six seeds, of which the last is ``own``."""
    return _runs(
        *([((run + 1) * 1000 + n, "train.py", 7) for n in range(5)] + [(own[run], "train.py", 7)] for run in range(5))
    )


def test_an_unusable_seed_behind_those_that_are_kept_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FULL_OF_SEEDS, 3)
    seeds = _crowded(1, 2, 3, 4, 5)
    seeds["2"] = [*seeds["2"], ("none", "train.py", 7)]  # type: ignore[misc, list-item]
    outcome = check(_tree(tmp_path, seeds).folder)
    assert _places(outcome, "seed.unusable") == ["2"]
    assert _places(outcome, "seed.shared") == []


@pytest.mark.slow
def test_a_seed_shared_behind_ten_thousand_others_is_found(tmp_path: Path) -> None:
    outcome = check(
        _tree(
            tmp_path,
            _runs(*([(n + run * 20_000, "train.py", 7) for n in range(100, 10_101)] + [A] for run in range(5))),
        ).folder
    )
    assert _places(outcome, "seed.shared") == ["1", "2", "3", "4"]
    assert outcome.status == 1


def test_more_seeds_than_can_be_compared_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _tree(tmp_path, _crowded(1, 2, 3, 4, 5)).folder
    monkeypatch.setattr(FULL_OF_SEEDS, 6)
    assert not check(folder).of("seed.too-many")
    monkeypatch.setattr(FULL_OF_SEEDS, 5)
    outcome = check(folder)
    assert outcome.of("seed.too-many")
    assert outcome.status == 1
