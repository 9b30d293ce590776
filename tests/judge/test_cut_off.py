"""A log that breaks off is one defect: what should have followed is not reported missing piece by piece."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.submission.model import LogReport
from tools.support.judging import report_on
from tools.support.make_tree import Tree, make_tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def judged(log: Path) -> LogReport:
    return report_on(log, "training", "1.0")


def errors(report: LogReport) -> list[str]:
    return [finding.rule for finding in report.findings if finding.rejects]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_log_cut_in_the_middle_of_a_record_has_one_finding(share: float, tree: Tree) -> None:
    lines = tree.log().read_text().splitlines(keepends=True)
    kept = int(len(lines) * share)
    tree.log().write_text("".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
    report = judged(tree.log())
    assert not report.compliant
    [finding] = [finding for finding in report.findings if finding.rejects]
    assert (finding.rule, finding.line) == ("log.record-undecodable", kept + 1)
    assert finding.message.startswith("The log ends with a record that cannot be decoded")


def test_a_log_cut_between_records_names_what_is_missing(tree: Tree) -> None:
    lines = tree.log().read_text().splitlines(keepends=True)
    tree.log().write_text("".join(line for line in lines if '"run_stop"' not in line))
    assert errors(judged(tree.log())) == ["key.run_stop.count"]


def test_a_broken_record_in_the_middle_hides_no_other_defect(tree: Tree) -> None:
    lines = tree.log().read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"cache_clear"' not in line]
    kept[3] = kept[3][:20] + "\n"
    tree.log().write_text("".join(kept))
    report = judged(tree.log())
    assert "log.record-undecodable" in errors(report)
    assert "key.cache_clear.count" in errors(report)
    assert all(not finding.message.startswith("The log ends") for finding in report.findings)
