"""What a reader of a violation has to know beside the rule."""

from __future__ import annotations

from pathlib import Path

from tests.differential.generate import Combination
from tests.differential.log import content, generated, places_of, record_line
from tests.judging import report_on


def _late(round_name: str, minutes: float, folder: Path) -> list[str | None]:
    """The remedies of a gpt3 log whose initialisation took so long."""
    log = generated(Combination(round_name, "gpt3", "closed", None))
    start = (log[places_of(log, "init_start")[0]].record or {})["time_ms"]
    place = places_of(log, "init_stop")[0]
    log[place] = record_line({**(log[place].record or {}), "time_ms": start + minutes * 60_000})
    file = folder / "result_0.txt"
    file.write_bytes(content(log))
    report = report_on(file, "training", round_name)
    return [finding.fix for finding in report.findings if finding.rule == "key.init_stop.time"]


def test_gpt3_of_v30_is_told_that_the_written_rules_give_more_time(tmp_path: Path) -> None:
    (fix,) = _late("3.0", 45, tmp_path)
    assert "give gpt3 60 minutes; the official checker enforced 30" in str(fix)
    assert _late("3.0", 29, tmp_path) == []


def test_later_rounds_have_no_such_note(tmp_path: Path) -> None:
    (fix,) = _late("3.1", 45, tmp_path)
    assert "60 minutes" not in str(fix)
