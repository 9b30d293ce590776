"""What is no part of the official verdict never changes it: a review rule that raises is a finding of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

import mlsub
from mlsub.findings import Kind, Verdict
from mlsub.io.data import load_yaml
from mlsub.rules.load import entry_requirements
from mlsub.score import energy_of
from mlsub.score.energy.score import Power
from mlsub.submission.model import Entry
from mlsub.submission.report import Report
from mlsub.workspace import Context, Request, check_paths
from tests.score.reports import make_score
from tools.support.make_tree import Tree, make_tree, spoil

REVIEWS = load_yaml(Path(__file__).with_name("reviews.yaml"))
#: The same of v5.0, which tests convergence by pruned points.
HULL = "mlsub.convergence.entry._compare_hull"
OVERLAY = 'title: ours\ncommon:\n  "1.0":\n    both:\n      seed: {occurs: at_least_one, above: 0}\n'


def _raises(*_: object, **__: object) -> NoReturn:
    raise ZeroDivisionError("inside a review rule")


def _raises_late(*_: object, **__: object) -> Iterator[Any]:
    yield from ()
    raise RecursionError("inside a review rule")


def _tree(folder: Path) -> Tree:
    tree = make_tree(folder)
    power = tree.entry() / "power" / "result_0"
    power.mkdir(parents=True)
    (power / "node_0.txt").write_text("")
    return tree


def _official(report: Report) -> tuple[Any, ...]:
    return (
        report.official,
        [entry.official for entry in report.entries],
        [log.official for log in report.logs],
        [system.official for system in report.systems],
        [finding for finding in report.findings if finding.kind is Kind.OFFICIAL],
    )


def _crashes(report: Report) -> list[tuple[bool, str | None]]:
    return [(f.rejects, f.actual) for f in report.findings if f.rule == "review.crashed"]


@pytest.mark.parametrize("fault", ["none", "two spoiled runs"])
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        (name, broken)
        for name in REVIEWS
        for broken in (_raises, _raises_late)
        if broken is _raises or name.rpartition(".")[2].lstrip("_").startswith("audit")
    ],
)
def test_a_review_rule_that_raises_changes_no_official_verdict(
    name: str, broken: Any, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = _tree(tmp_path)
    if fault != "none":
        spoil(tree, 0, 1)
    before = mlsub.check(tree.folder)
    assert before.official is (Verdict.ACCEPTED if fault == "none" else Verdict.REJECTED)
    monkeypatch.setattr(name, broken)
    after = mlsub.check(tree.folder)
    assert _official(after) == _official(before)
    crashes = _crashes(after)
    assert crashes and not any(rejects for rejects, _ in crashes)
    assert all("inside a review rule" in str(actual) for _, actual in crashes)


@pytest.fixture
def house(tmp_path: Path) -> tuple[Tree, Context]:
    """A tree, and settings with rules of the user's own."""
    overlay = tmp_path / "house.yaml"
    overlay.write_text(OVERLAY)
    return _tree(tmp_path), Context(Request(overlay=str(overlay)), jobs=1)


@pytest.mark.parametrize("step", ["handler", "finish"])
def test_a_rule_of_the_users_own_that_raises_changes_no_official_verdict(
    step: str, house: tuple[Tree, Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They run beside the official ones, event by event."""
    tree, settings = house
    [before] = check_paths([tree.folder], settings)
    real = mlsub.judge.rules.Judge

    class Broken(real):  # type: ignore[misc, valid-type]
        pass

    setattr(Broken, step, _raises)
    made: list[Any] = []
    monkeypatch.setattr(
        "mlsub.judge.rules.Judge", lambda plan: made.append(plan) or (Broken if len(made) % 2 == 0 else real)(plan)
    )
    [after] = check_paths([tree.folder], settings)
    assert made and _official(after) == _official(before)
    assert _crashes(after) == [(False, "ZeroDivisionError: inside a review rule")] * 5


def test_rules_of_the_users_own_that_cannot_be_compiled_change_no_official_verdict(
    house: tuple[Tree, Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mlsub.judge.rules.compiled_rules
    monkeypatch.setattr("mlsub.judge.rules.compiled_rules", lambda *of, house=False: _raises() if house else real(*of))
    [report] = check_paths([house[0].folder], house[1])
    assert report.official is Verdict.ACCEPTED
    assert len(_crashes(report)) == 5


def test_an_energy_of_weak_scaling_that_raises_is_told_at_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.score.energy.score.weak_energy", _raises)
    names = {"path": "results/rack1/weak/oc20", "organisation": "", "system": "rack1", "benchmark": "oc20"}
    weak = Entry(**names, folder=Path(), results=(), scaling_type="weak")
    _, [found] = energy_of(weak, entry_requirements("hpc", "3.0", "oc20"), Power((), frozenset(), ()), make_score(None))
    assert (found.rule, found.path) == ("review.crashed", weak.path)


def test_a_comparison_with_the_hull_that_raises_changes_no_official_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_tree(tmp_path, "v2.1")
    before = mlsub.check(tree.folder)
    monkeypatch.setattr(HULL, _raises)
    after = mlsub.check(tree.folder)
    assert _official(after) == _official(before)
    assert _crashes(after)
