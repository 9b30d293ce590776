"""What the user may not read is named, and the rest is still checked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import mlsub
from mlsub.commands.merge.run import read_sources
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from mlsub.submission.report import Report
from tools.support.make_tree import Tree, make_tree

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so it steps down for a moment; anybody else already may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def tree() -> Iterator[Tree]:
    """A tree in a folder that everybody may enter; pytest's own folders are for their owner only."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        made = make_tree(Path(name), benchmarks=["resnet", "bert"])
        assert mlsub.check(made.folder).official == Verdict.ACCEPTED  # and everything is imported now
        yield made
        for path in [Path(name), *Path(name).rglob("*")]:
            path.chmod(0o755)


def check(path: Path) -> Report:
    with as_nobody():
        return mlsub.check(path)


def errors(report: Report) -> set[tuple[str, str]]:
    return {(finding.rule, finding.path) for finding in report.findings if finding.rejects}


def test_a_log_that_may_not_be_read(tree: Tree) -> None:
    tree.log(2).chmod(0)
    report = check(tree.folder)
    assert errors(report) == {("log.unreadable", "results/rack1/resnet/result_2.txt")}
    assert [(entry.benchmark, entry.official, entry.compliant) for entry in report.entries] == [
        ("bert", "accepted", 10),
        ("resnet", "rejected", 4),
    ]


def test_a_single_log_that_may_not_be_read_was_not_checked(tree: Tree) -> None:
    tree.log(2).chmod(0)
    report = check(tree.log(2))
    assert (report.official, report.exit_status()) == ("not-checked", 2)
    assert "Permission denied" in report.findings[0].message


def test_a_description_that_may_not_be_read(tree: Tree) -> None:
    (tree.folder / "systems" / "rack1.json").chmod(0)
    report = check(tree.folder)
    assert errors(report) == {("system.unreadable", "systems/rack1.json")}
    assert (report.official, len(report.logs)) == ("rejected", 15)


@pytest.mark.parametrize("mode", [0o000, 0o644], ids=["not listed", "listed but not entered"])
@pytest.mark.parametrize("where", ["results/rack1/resnet", "results/rack1", "results", "systems", "."])
def test_a_folder_that_may_not_be_read_never_passes_and_never_raises(where: str, mode: int, tree: Tree) -> None:
    if where == "results":
        tree.describe(number_of_nodes="many")
    (tree.folder / where).chmod(mode)
    report = check(tree.folder)
    assert report.official != Verdict.ACCEPTED
    assert errors(report)
    assert "systems/rack1.json" not in {path for _, path in errors(report) if where == "results"}
    if where == "results/rack1/resnet":
        assert {entry.benchmark: entry.official for entry in report.entries}["bert"] == "accepted"


def test_a_closed_folder_is_told_once_and_named_where_it_lies(tree: Tree) -> None:
    code, results = tree.folder / "benchmarks" / "bert" / "implementations", tree.entry("bert")
    for folder in (code, results):
        folder.chmod(0o000)
    report = check(tree.folder)
    told = [(f.rule, f.path) for f in report.findings if f.rule in ("layout.not-listed", "tree.unreadable")]
    assert told == [("tree.unreadable", "results/rack1/bert"), ("layout.not-listed", "benchmarks/bert/implementations")]


def test_a_package_that_cannot_be_read_whole_is_not_merged(tree: Tree) -> None:
    other = make_tree(tree.folder.parent / "other").folder
    closed = tree.folder / "benchmarks" / "bert"
    closed.chmod(0o000)
    with as_nobody(), pytest.raises(MlsubError, match="cannot be listed whole: benchmarks/bert cannot be read"):
        read_sources([str(other), str(tree.folder)])


@pytest.mark.parametrize("mode", [0o000, 0o644], ids=["closed", "listed but not entered"])
def test_an_organisation_that_may_not_be_read_is_told_beside_others(tree: Tree, mode: int) -> None:
    closed = make_tree(tree.folder.parent.parent, org="CLOSED").folder
    closed.chmod(mode)
    report = check(tree.folder.parent)
    assert ("tree.unreadable", "CLOSED/results") in errors(report)
    assert {entry.organisation: entry.official for entry in report.entries} == {"ACME": "accepted"}
    assert report.official == Verdict.REJECTED


def test_a_folder_that_may_not_be_read_is_not_called_empty(tree: Tree) -> None:
    tree.folder.chmod(0)
    report = check(tree.folder)
    assert (report.official, report.exit_status()) == ("not-checked", 2)
    assert [(f.rule, f.message.rpartition("/")[2]) for f in report.findings] == [
        ("tree.unreadable", "ACME cannot be accessed: Permission denied")
    ]


@pytest.mark.parametrize("place", ["results/rack1/", ""])
def test_flags_that_may_not_be_read_reject_where_an_official_tool_opens_them(place: str, tree: Tree) -> None:
    other = make_tree(tree.folder.parent.parent, "v4.0")
    flags = other.folder / f"{place}package_checker_params"
    flags.write_text("seed-checker-bypass")
    flags.chmod(0)
    report = check(other.folder)
    assert errors(report) == {("official.crash", f"{place}package_checker_params")}
    assert "params.unreadable" in {found.rule for found in report.findings}
