"""What mlsub reads less of than the official tools do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.deviations.test_tables import described, official_rows, our_rows
from tools.oracle.compare import judge_log
from tools.oracle.entries import EntryCase, Place, tried
from tools.oracle.generate import Combination
from tools.oracle.log import generated
from tools.oracle.packages import accepted, build, log_of, official, ours, rejecting, speed_up
from tools.support.entry_logs import log_of as small_log

RETINANET = Combination("5.1", "retinanet", "open", None)
MIB = 1 << 20


@pytest.mark.slow
def test_a_record_longer_than_16_mib_is_not_read(tmp_path: Path) -> None:
    log = generated(RETINANET)
    both = judge_log(log.inserted(len(log), log.like(0, key="note", value="x" * 16 * MIB)), "5.1", tmp_path)
    assert (both.theirs.compliant, both.rejecting) == (True, ["log.record-too-long"])


def test_a_large_description_is_not_read_and_a_long_field_is_cut(tmp_path: Path) -> None:
    long = described(tmp_path / "long", hw_notes="x" * 3000)
    (row,) = our_rows(long)
    assert row.notes is not None and len(row.notes) == 2000
    assert official_rows(long)[0]["notes"] == "x" * 3000
    large = described(tmp_path / "large", hw_notes="x" * 4 * MIB)
    assert rejecting(ours(large)) == {"system.unreadable"}
    assert official(large).accepted


def test_flags_in_a_large_file_do_not_count(tmp_path: Path) -> None:
    package = build(tmp_path, RETINANET._replace(division="closed"))
    speed_up(package)
    params = package.system / "package_checker_params"
    params.write_text("\n" * 1000 + "rcp-bypass")
    assert (accepted(ours(package)), official(package).accepted) == (True, True)
    params.write_text("\n" * (1 << 16) + "rcp-bypass")
    assert (accepted(ours(package)), official(package).accepted) == (False, True)
    params.unlink()
    (package.folder / "package_checker_params").write_text("rcp-bypass --quiet\n" * 4000)
    assert (accepted(ours(package)), official(package).accepted) == (False, True)
    assert "official.crash" in rejecting(ours(package))


def test_more_seeds_than_can_be_compared_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small bound in place of 20,000."""
    monkeypatch.setattr("mlsub.log.run.MAX_SEEDS", 3)
    package = build(tmp_path, RETINANET._replace(division="closed"))
    for run, file in enumerate(package.logs):
        log = log_of(package.combination, run)
        more = (log.like(log.first("seed"), value=10_000 * (run + 1) + n) for n in range(20))
        file.write_bytes(log.inserted(len(log), *more).content())
    assert rejecting(ours(package)) == {"seed.too-many"}
    assert official(package).accepted


def test_more_ends_of_a_run_than_are_read_reject(tmp_path: Path) -> None:
    text = small_log("resnet", 1632, 100)
    stop = text.splitlines(keepends=True)[-1]
    for stops, passed in ((1000, True), (1001, False)):
        logs = (text + stop * (stops - 1), *[text] * 4)
        both = tried(EntryCase(Place("training", "2.1", "resnet"), logs, False, False, None, "by hand"), tmp_path)
        assert (both.passed, both.theirs.passed) == (passed, True)
