"""Findings that explain others: they come first, and the others are folded under them, but never lost."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from mlsub.findings import Finding, Severity
from mlsub.rules.catalogue import catalogue, find_causes, finding
from mlsub.rules.explain import rule_ids
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import check, run

DIVISION, KEY = "cross.division", "key.eval_accuracy.count"


def found(rule: str, path: str) -> Finding:
    """A finding of a rule, on a path."""
    return Finding(**{**{name: getattr(finding("cross.division", path), name) for name in _FIELDS}, "rule": rule})


_FIELDS = Finding.__struct_fields__


@pytest.mark.parametrize(
    ("cause", "path", "consequence", "below", "explained"),
    [
        (DIVISION, "A/r/s/b/result_0.txt", KEY, "A/r/s/b/result_0.txt", True),
        (DIVISION, "A/r/s/b/result_0.txt", KEY, "A/r/s/b/result_1.txt", False),
        (DIVISION, "A/r/s/b/result_0.txt", "rcp.too-fast", "A/r/s/b", False),
        ("cross.benchmark", "A/r/s/b/result_0.txt", "rcp.too-fast", "A/r/s/b", True),
        ("cross.platform", "A/r/s/b/result_0.txt", "cross.scale", "A/r/s/b/result_0.txt", True),
        ("cross.benchmark", "result_0.txt", "rcp.too-fast", ".", True),
        ("cross.round-rules", "A/r/s/b", KEY, "A/r/s/b/result_1.txt", True),
        ("cross.round-rules", ".", KEY, "result_1.txt", True),
        ("cross.round-rules", "A/r/s/b", KEY, "A/r/s/bc/result_1.txt", False),
        ("cross.round-rules", "A/r/s/b", "key.eval_accuracy.value", "A/r/s/b/result_1.txt", False),
        ("cross.round", "A/r/s/b", KEY, "A/r/s/b/result_1.txt", False),
    ],
)
def test_a_cause_explains_what_lies_in_its_entry(
    cause: str, path: str, consequence: str, below: str, explained: bool
) -> None:
    findings = [found(consequence, below), found(cause, path)]
    assert find_causes(findings) == ({findings[0]: findings[1]} if explained else {})


def test_a_note_explains_nothing() -> None:
    note = msgspec.structs.replace(found(DIVISION, "log"), severity=Severity.NOTE)
    assert not find_causes([note, found(KEY, "log")])


def test_what_explains_is_never_explained() -> None:
    causes = [found(rule, "log") for rule, info in catalogue().items() if info.explains]
    assert len(causes) >= 3
    assert not find_causes(causes)


def test_patterns_of_what_a_rule_explains_name_families_of_rules() -> None:
    from fnmatch import filter as matching

    families = {pattern.partition(".")[0] for info in catalogue().values() for pattern in info.explains}
    assert all(matching(rule_ids(), f"{family}.*") for family in families)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A package whose logs say open, with rules of Open that they break, in a folder and a description of Closed."""
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("submission_division", value="open"), *range(5))
    tree.edit(lambda log: log.drop("submission_org"), *range(3))
    return tree


def test_the_cause_stands_first_and_its_consequences_are_one_line(tree: Tree) -> None:
    text = run("check", tree.folder).stdout
    order = [
        text.index(rule) for rule in ("To fix: 3 findings", "[cross.division]", "explains:", "[entry.noncompliant")
    ]
    assert order == sorted(order)
    assert "explains: 1 finding in 3 places of key.* (-v shows them)" in text
    assert "[key.submission_org.count]" not in text
    assert "rejected: 1 of 1 entries rejected (key.submission_org.count, entry.noncompliant-runs)" in text


def test_all_detail_shows_consequences_below_their_cause(tree: Tree) -> None:
    text = run("check", "-v", tree.folder).stdout
    assert text.index("[cross.division]") < text.index("[entry.noncompliant") < text.index("[key.submission_org.count]")
    assert "-v shows" not in text


def test_machines_get_every_finding(tree: Tree) -> None:
    outcome = check(tree.folder)
    assert [len(outcome.of(rule)) for rule in ("cross.division", "key.submission_org.count")] == [5, 3]
    sarif = json.loads(run("check", "--format", "sarif", tree.folder).stdout)
    rules = [result["ruleId"] for result in sarif["runs"][0]["results"]]
    assert rules.index("cross.division") == 0
    assert "key.submission_org.count" in rules


@pytest.mark.parametrize("options", [("--ignore", "cross"), ("--only", "official")])
def test_without_their_cause_consequences_are_shown(options: tuple[str, ...], tree: Tree) -> None:
    assert "[key.submission_org.count]" in run("check", *options, tree.folder).stdout


def test_a_waived_cause_hides_nothing(tree: Tree) -> None:
    settings = tree.folder.parents[1] / "mlsub.toml"
    settings.write_text('[[waivers]]\nrule = "cross.division"\nreason = "known"\npath = "**"\n')
    text = run("check", "--config", settings, tree.folder).stdout
    assert "[key.submission_org.count]" in text


def test_all_places_of_a_cause_stand_together(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.entry().rename(tree.entry("bert"))
    text = run("check", tree.folder).stdout
    assert "[cross.benchmark]" in text
    assert "bert/result_{0..4}.txt" in text.partition("[cross.benchmark]")[2].partition("explains:")[0]
    assert "cross.benchmark 1" not in text
    assert " of entry.*" in text.partition("explains:")[2]


def test_a_run_that_is_not_explained_is_shown(tree: Tree) -> None:
    tree.edit(lambda log: log.put("submission_division", value="closed"), 0)
    text = run("check", tree.folder).stdout
    assert "explains: 1 finding in 2 places of key.*" in text
    assert "result_0.txt" in text.partition("[key.submission_org.count]")[2].partition("fix:")[0]
