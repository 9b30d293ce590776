"""The verdict line says what rejects, whatever PATH is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.support.make_tree import Tree, make_tree, spoil
from tools.support.runner import run


def _tree(tmp: Path, *change: Callable[[Tree], object]) -> Path:
    tree = make_tree(tmp)
    for one in change:
        one(tree)
    return tree.folder


def _forgiven_and_short(tmp: Path) -> Path:
    """Of two organisations one has a run that is forgiven, and the other one too few."""
    spoil(make_tree(tmp), 0)
    make_tree(tmp, org="Zeta").log(4).unlink()
    return tmp / "v1.0"


def _empty(tmp: Path) -> Path:
    make_tree(tmp)
    (tmp / "v1.0" / "Zeta").mkdir()
    return tmp / "v1.0"


GOOD = "5 of 5 logs compliant, 1 of 1 system descriptions accepted"
RUN_MISSING = (
    "rejected: 1 of 1 entries rejected (entry.run-count); 4 of 4 logs compliant, 1 of 1 system descriptions accepted"
)
#: What is checked, and the whole verdict line.
CASES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a clean package": (lambda tmp: _tree(tmp), f"accepted: 1 of 1 entries accepted, {GOOD}"),
    "a forgiven run": (
        lambda tmp: _tree(tmp, lambda tree: spoil(tree, 0)),
        "accepted: 1 of 1 entries accepted, 4 of 5 logs compliant, 1 of 1 system descriptions accepted",
    ),
    "a run is missing": (
        lambda tmp: _tree(tmp, lambda tree: tree.log(4).unlink()),
        RUN_MISSING,
    ),
    "the benchmark's folder alone": (
        lambda tmp: _tree(tmp, lambda tree: tree.log(4).unlink()) / "results" / "rack1" / "resnet",
        RUN_MISSING,
    ),
    "the system's folder": (
        lambda tmp: _tree(tmp, lambda tree: tree.log(4).unlink()) / "results" / "rack1",
        RUN_MISSING,
    ),
    "the description": (
        lambda tmp: _tree(tmp, lambda tree: tree.describe(cooling=None, framework=15)),
        "rejected: 1 of 1 system descriptions rejected (system.field-missing, system.field-not-text); "
        "1 of 1 entries accepted, 5 of 5 logs compliant",
    ),
    "a folder that is not a benchmark's": (
        lambda tmp: _tree(tmp, lambda tree: tree.entry("resnet50").mkdir()),
        f"rejected: 1 error in the package (tree.unknown-benchmark); 1 of 1 entries accepted, {GOOD}",
    ),
    "no description": (
        lambda tmp: _tree(tmp, lambda tree: tree.description().unlink()),
        "rejected: 1 of 1 entries rejected, 1 error in the package (tree.system-description-missing); "
        "5 of 5 logs compliant",
    ),
    "too many runs that do not comply": (
        lambda tmp: _tree(tmp, lambda tree: spoil(tree, 0, 1)),
        "rejected: 1 of 1 entries rejected (key.eval_accuracy.target, entry.noncompliant-runs); "
        "3 of 5 logs compliant, 1 of 1 system descriptions accepted",
    ),
    "a forgiven run beside what rejects": (
        lambda tmp: _tree(
            tmp, lambda tree: spoil(tree, 0), lambda tree: tree.edit(lambda log: log.put("seed", value=1003), 2)
        ),
        "rejected: 1 of 1 entries rejected (seed.shared); 4 of 5 logs compliant, 1 of 1 system descriptions accepted",
    ),
    "a log": (
        lambda tmp: _tree(tmp, lambda tree: spoil(tree, 0)) / "results" / "rack1" / "resnet" / "result_0.txt",
        "rejected: 1 of 1 logs noncompliant (key.eval_accuracy.target)",
    ),
    "one of two organisations": (
        _forgiven_and_short,
        "rejected: 1 of 2 organisations (Zeta): 1 of 2 entries rejected (entry.run-count); "
        "8 of 9 logs compliant, 2 of 2 system descriptions accepted",
    ),
    "an organisation without anything": (
        _empty,
        "rejected: 1 of 2 organisations (Zeta): 2 errors in the package (tree.results-missing, tree.systems-missing); "
        f"1 of 1 entries accepted, {GOOD}",
    ),
    "no round": (lambda tmp: make_tree(tmp, "somewhere").folder, "not-checked: nothing could be checked"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_line_says_what_rejects(name: str, tmp_path: Path) -> None:
    make, expected = CASES[name]
    folder = make(tmp_path)
    quiet, usual = run("check", "-q", folder), run("check", folder)
    assert " ".join(quiet.stdout.split()) == expected
    assert " ".join(usual.stdout.split()).endswith(f" {expected}")
    assert quiet.status == usual.status == {"accepted": 0, "rejected": 1, "not-checked": 2}[expected.partition(":")[0]]
    assert (quiet.stderr != "") is expected.startswith("not-checked")


def test_several_rounds_are_a_line_each(tmp_path: Path) -> None:
    good, bad = make_tree(tmp_path, division="open"), make_tree(tmp_path, "v1.1", division="open")
    bad.log(4).unlink()
    outcome = run("check", "--quiet", good.folder, bad.folder, tmp_path / "none")
    assert outcome.status == 2
    lines = " ".join(outcome.stdout.split()).split(" - ")
    assert [line.removeprefix("- ").split(": ")[:2] for line in lines] == [
        [str(good.folder), "accepted"], [str(bad.folder), "rejected"], [str(tmp_path), "not-checked"]
    ]  # fmt: skip
    assert "There is no" in outcome.stderr


def test_what_makes_an_accepted_package_end_with_1_is_said(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(cooling="TODO")
    rules = tmp_path / "house.yaml"
    rules.write_text('title: ours\ncommon:\n  "1.0":\n    both:\n      seed: {occurs: exactly_one, above: 1001}\n')
    end = "1 of 1 system descriptions accepted"
    for words, why in {
        ("--strict",): "; --fail-on warning counts 1 review finding",
        ("--rules", rules): "; against your own rules: 1 error",
        ("--rules", rules, "--strict"): "; against your own rules: 1 error, --fail-on warning counts 1 review finding",
        ("--rules", rules, "--ignore", "house", "--ignore", "system"): "",
        ("--strict", "--only", "official"): "",
        ("--strict", "--severity", "error"): "; --fail-on warning counts 1 review finding",
        ("--strict", "--ignore", "system.placeholder"): "",
    }.items():
        outcome = run("check", "-q", *words, tree.folder)
        assert (outcome.status, " ".join(outcome.stdout.split()).partition(end)[2]) == (int(bool(why)), why)


def test_runs_that_are_forgiven_are_not_to_be_fixed(tmp_path: Path) -> None:
    text = run("check", "-v", _forgiven_and_short(tmp_path)).stdout
    first, _, rest = text.partition("\nOfficial warnings: 2 findings\n")
    assert "To fix: 1 finding " in first
    assert "[key.eval_accuracy.target]" not in first
    assert "forgiven error: No eval_accuracy reaches the quality target" in rest


def test_formats_of_ci_count_what_rejects_and_not_what_is_forgiven(tmp_path: Path) -> None:
    results = run("check", "--format", "sarif", _forgiven_and_short(tmp_path)).document["runs"][0]["results"]
    outcomes = {one["ruleId"]: one["properties"]["outcome"] for one in results}
    assert outcomes["entry.run-count"] == "counts"
    assert "counts" not in {outcomes["key.eval_accuracy.target"], outcomes["entry.forgiven-runs"]}
