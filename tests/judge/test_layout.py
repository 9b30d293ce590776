"""The audit of the tree as part of a check: where its findings are placed, and what it leaves to others."""

from __future__ import annotations

import os
from pathlib import Path

import mlsub
from mlsub.findings import Verdict
from mlsub.submission.report import Report
from tests.judge.test_package_rounds import make_round
from tools.support.make_tree import make_tree, snapshot
from tools.support.runner import call, check


def layout(report: Report) -> list[tuple[str, str]]:
    return [(f.rule, f.path) for f in report.findings if f.rule.startswith("layout.")]


def test_findings_name_paths_from_the_root_of_the_report(tmp_path: Path) -> None:
    for org in ("ACME", "Zeta"):
        folder = make_tree(tmp_path, org=org).folder
        (folder / "systems" / "rack1.json~").write_text("")
    (folder / "helper.sh").write_text("")
    (folder / "prepare.sh").write_text("")
    before = snapshot(tmp_path)
    assert layout(mlsub.check(tmp_path / "v1.0", jobs=1)) == [
        ("layout.stray", "ACME/systems/rack1.json~"),
        ("layout.top-level", "Zeta"),
        ("layout.stray", "Zeta/systems/rack1.json~"),
    ]
    alone = mlsub.check(folder, jobs=1)
    assert layout(alone) == [("layout.top-level", "."), ("layout.stray", "systems/rack1.json~")]
    assert alone.official is Verdict.ACCEPTED
    assert snapshot(tmp_path) == before


def test_a_part_of_a_tree_is_not_audited_as_a_package(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.entry() / ".result_0.txt.swp").write_text("")
    assert layout(mlsub.check(tree.entry(), jobs=1)) == []


def test_what_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for run in (0, 1):
        tree.log(run).unlink()
    tree.log(0).symlink_to("gone.txt")
    os.mkfifo(tree.log(1))
    (tree.folder / "results" / "rack9").symlink_to("rack8")
    report = mlsub.check(tree.folder, jobs=1)
    assert layout(report) == []
    assert [f.path for f in report.findings if f.rule == "log.unreadable"] == [
        "results/rack1/resnet/result_0.txt",
        "results/rack1/resnet/result_1.txt",
    ]


def test_pruned_throughput_logs_of_hpc_lie_where_the_rules_want_them(tmp_path: Path) -> None:
    for below in ("weak", "strong"):
        folder = make_round(tmp_path / below, "hpc-2.0", "oc20", below=below)
        pruned = folder / "results" / "rack1" / below / "oc20" / "pruned_results"
        pruned.mkdir()
        (pruned / "result_0.txt").write_text("")
        rules = [finding.rule for finding in mlsub.check(folder, jobs=1).findings]
        assert ("tree.stray-logs" in rules) is (below == "strong")


def test_a_rehearsal_needs_no_code(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "rehearsal-v1.0", benchmarks=["digits"])
    assert not (tree.folder / "benchmarks").exists()
    assert layout(mlsub.check(tree.folder, jobs=1)) == []


def test_names_that_could_steer_a_terminal_are_shown_as_text(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.folder / "benchmarks" / "a\x1b[31m\nb").write_text("")
    (tree.folder / "benchmarks" / os.fsdecode(b"\xff")).write_text("")
    done = call("check", tree.folder, "-v")
    assert (done.returncode, done.stderr) == (0, "")
    assert "    benchmarks/a\\x1b[31m\\nb\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert "    benchmarks/\\udcff\n" in done.stdout
    assert check(tree.folder).rules() == {"layout.name-unportable"}
