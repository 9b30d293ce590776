"""How many entries are held against each other at most; the tests of compare say which belong together."""

from __future__ import annotations

from msgspec.structs import replace

from mlsub.submission.pairing import MOST, paired, pairs, without
from mlsub.submission.result import Result
from tests.commands.site.sites import result


def entries(round_name: str, count: int) -> list[Result]:
    """Entries of one benchmark, each on a system whose name differs from that in another round by a version alone."""
    one = result(round_name, ["bert", "ACME", "unknown", 8, 9.0]).result
    names = (f"rack{number}a_{round_name}" for number in range(count))
    return [replace(one, system=name, path=f"results/{name}/bert") for name in names]


def test_more_entries_than_anyone_submits_are_not_held_against_each_other() -> None:
    few = pairs(entries("4.0", 20), entries("4.1", 20))
    assert [one.system[:-3] for one, _ in few] == [other.system[:-3] for _, other in few]
    assert len(few) == 20
    assert pairs(entries("4.0", MOST + 1), entries("4.1", 1)) == []
    assert len(list(paired([*entries("4.0", 20), *entries("4.1", 20)]))) == 20
    assert [len(list(paired([*entries("4.0", count), *entries("4.1", 1)]))) for count in (MOST - 1, MOST)] == [1, 0]


def test_an_entry_goes_on_from_the_latest_round_before_that_has_its_partner() -> None:
    [old], [middle], [new] = (entries(name, 1) for name in ("4.0", "4.1", "5.0"))
    assert list(paired([old, middle, new])) == [(old, middle), (middle, new)]
    other = replace(middle, division_name="open")
    assert list(paired([new, other, old])) == [(old, new)]


def test_entries_that_are_alike_are_still_two() -> None:
    first, second = (replace(one) for one in entries("4.0", 1) * 2)
    assert first == second
    assert [one is second for one in without([first, second], [(first, first)], 0)] == [True]
