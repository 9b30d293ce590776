"""What changes between rounds: cases of each kind, and what must hold of any two rounds."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mlsub.commands.rules.diff import KeyChange, RoundDiff, key_changes, round_diff
from mlsub.rounds import all_rounds, get_round, usages


def diff(old: str, new: str, *benchmarks: str, usage: str = "training") -> RoundDiff:
    return round_diff(get_round(usage, old), get_round(usage, new), benchmarks or None)


def of(changes: tuple[KeyChange, ...], key: str) -> KeyChange:
    [change] = [change for change in changes if change.key == key]
    return change


@pytest.mark.parametrize("usage", usages())
def test_a_round_does_not_differ_from_itself(usage: str) -> None:
    for round_ in all_rounds(usage):
        found = round_diff(round_, round_)
        assert found.empty
        assert set(found.unchanged) == set(round_.benchmarks)


@pytest.mark.parametrize("usage", usages())
def test_the_way_back_is_the_way_there_the_other_way_round(usage: str) -> None:
    rounds = all_rounds(usage)
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    for old, new in pairwise(rounds):
        there, back = round_diff(old, new), round_diff(new, old)
        assert {(c.key, c.where, turned[c.change], c.new, c.old) for c in there.common} == {
            (c.key, c.where, c.change, c.old, c.new) for c in back.common
        }
        assert {line.name for line in there.benchmarks_added} == set(back.benchmarks_removed)
        assert {one.name for one in there.benchmarks} == {one.name for one in back.benchmarks}


def test_every_change_says_something() -> None:
    for usage in usages():
        rounds = all_rounds(usage)
        for old, new in pairwise(rounds):
            found = round_diff(old, new)
            for change in (*found.common, *(key for one in found.benchmarks for key in one.keys)):
                assert change.lines and all(change.lines), (old.name, new.name, change)
                assert change.divisions
                assert (change.old is None, change.new is None) != (True, True)


def test_a_warning_becomes_an_error() -> None:
    [one] = diff("1.1", "2.0", "resnet").benchmarks
    change = of(one.keys, "weights_initialization")
    assert change.lines == tuple(f"{of}: an error, no longer a mere warning" for of in ("count", "tensors"))


def test_a_target_is_told_of_the_benchmark_and_not_again_of_the_key() -> None:
    [one] = diff("0.7", "1.0", "ssd").benchmarks
    assert [fact.name for fact in one.facts] == ["quality target (open)"]
    assert one.keys == ()


def test_benchmarks_that_come_and_go() -> None:
    found = diff("4.0", "4.1")
    assert set(found.benchmarks_removed) == {"resnet", "unet3d"}
    assert found.benchmarks_added == ()
    assert "seeds of Closed entries" in [fact.name for fact in found.facts]


def test_nothing_and_nothing_is_no_change() -> None:
    assert key_changes({}, {}, "closed") == []
