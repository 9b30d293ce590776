"""A log that breaks off is one defect: what should have followed is not reported missing piece by piece."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.support.judging import report_on
from tools.support.make_tree import make_log


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_log_cut_in_the_middle_of_a_record_has_one_finding(share: float, tmp_path: Path) -> None:
    log, lines = tmp_path / "result_0.txt", make_log().text().splitlines(keepends=True)
    kept = int(len(lines) * share)
    log.write_text("".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
    report = report_on(log, "training", "1.0")
    assert not report.compliant
    [finding] = [finding for finding in report.findings if finding.rejects]
    assert (finding.rule, finding.line) == ("log.record-undecodable", kept + 1)
    assert finding.message.startswith("The log ends with a record that cannot be decoded")


def test_a_broken_record_in_the_middle_hides_no_other_defect(tmp_path: Path) -> None:
    log, lines = tmp_path / "result_0.txt", make_log().text().splitlines(keepends=True)
    kept = [line for line in lines if '"cache_clear"' not in line]
    kept[3] = kept[3][:20] + "\n"
    log.write_text("".join(kept))
    report = report_on(log, "training", "1.0")
    assert {"log.record-undecodable", "key.cache_clear.count"} <= {f.rule for f in report.findings if f.rejects}
    assert all(not finding.message.startswith("The log ends") for finding in report.findings)
