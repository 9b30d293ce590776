"""``make test`` tries a part of the large tables, and each row is of one; what is a gate is always tried."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import pytest

from tests.rules import test_coverage_gate, test_files
from tools.support import sample
from tools.support.sample import PARTS, in_part, part, part_of, rows


def test_each_row_is_of_one_part_and_no_part_is_small() -> None:
    names = [
        f"test[{round_}.{minor}-{benchmark}-closed]"
        for round_ in range(6)
        for minor in range(5)
        for benchmark in "abcdef"
    ]
    parts = Counter(number for name in names for number in range(PARTS) if in_part(name, number))
    assert parts.total() == len(names)
    assert min(parts.values()) > len(names) / PARTS / 2


def test_the_part_is_that_of_the_commit_unless_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [part_of(commit) for commit in ("", "fatal", "f00d", "f00e")] == [0, 0, 1, 2]
    monkeypatch.setenv(sample.VARIABLE, "3")
    assert part.__wrapped__() == 3
    for wrong in ("4", "-1", "x", "٣"):
        monkeypatch.setenv(sample.VARIABLE, wrong)
        with pytest.raises(ValueError, match=r"it may be a number from 0 to 3"):
            part.__wrapped__()


def test_the_rows_of_a_table_within_a_test_are_tried_in_as_many_turns_as_there_are_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample, "ALL", False)
    found = [row for turn in range(PARTS) for row in rows(range(10), turn)]
    assert sorted(found) == list(range(10))
    monkeypatch.setattr(sample, "ALL", True)
    assert rows(range(10)) == list(range(10))


@pytest.mark.parametrize("gate", [test_coverage_gate, test_files], ids=lambda gate: gate.__name__)
def test_a_gate_is_never_left_out(gate: ModuleType) -> None:
    """An official rule that is invented has to fail in every run."""
    tests = [value for name, value in vars(gate).items() if name.startswith("test_")]
    left = {mark.name for test in (gate, *tests) for mark in getattr(test, "pytestmark", ())}
    assert len(tests) > 3
    assert not left & {"slow", "product", "long"}
