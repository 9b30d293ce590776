"""Text that is not ASCII: the official parser reads logs as Latin-1, so a UTF-8 letter is two of its characters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.oracle.compare import disagrees, judge_log
from tools.oracle.generate import Combination, line_of
from tools.oracle.log import Line, Log, generated

ORGANISATION = "Soci\u00e9t\u00e9"


def _written(record: dict[str, object], how: str) -> Line:
    """A record as JSON with escapes, as raw UTF-8 or as raw Latin-1; lines hold Latin-1 text."""
    if how == "escaped":
        return Line(line_of(record))
    text = f":::MLLOG {json.dumps(record, ensure_ascii=False)}"
    return Line(text.encode("utf-8").decode("latin-1") if how == "utf-8" else text)


@pytest.mark.parametrize("second", ["escaped", "utf-8", "latin-1"])
@pytest.mark.parametrize("first", ["escaped", "utf-8", "latin-1"])
def test_a_name_logged_twice_is_the_same_for_both_or_for_none(first: str, second: str, tmp_path: Path):
    log = generated(Combination("1.0", "bert", "closed", None))
    place = log.first("submission_org")
    record = {**log.record(place), "value": ORGANISATION}
    _agree(log.replaced(place, _written(record, first), _written(record, second)), tmp_path)


@pytest.mark.parametrize(
    ("value", "how"),
    [(value, how) for value in ("\u00e9", "\u00e9\u00e9") for how in ("escaped", "utf-8", "latin-1")]
    + [("\u20ac", "escaped"), ("\u20ac", "utf-8")],
)
def test_a_text_has_one_length_for_both(value: str, how: str, tmp_path: Path):
    log = generated(Combination("1.0", "maskrcnn", "closed", None))
    place = log.first("opt_learning_rate_decay_steps")
    _agree(log.replaced(place, _written({**log.record(place), "value": value}, how)), tmp_path)


def _agree(log: Log, folder: Path) -> None:
    both = judge_log(log, "1.0", folder)
    assert not disagrees(both), both.describe()
