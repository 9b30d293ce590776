"""Which entries of two rounds, or of two packages, belong together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from mlsub.io.data import group_by_key
from mlsub.submission.result import Result

#: Entries of one benchmark and organisation that are compared by name; published ones are far fewer, and each is held
#: against each.
MOST = 200


Pair = tuple[Result, Result]
K = TypeVar("K")
T = TypeVar("T")


def side_by_side(ours: Iterable[T], theirs: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[list[T], list[T]]]:
    """Return what either side has of each key: ours, and theirs beside it."""
    found: dict[K, tuple[list[T], list[T]]] = {}
    for at, side in enumerate((ours, theirs)):
        for one in side:
            found.setdefault(key(one), ([], []))[at].append(one)
    return found


def paired(entries: Sequence[Result]) -> Iterator[Pair]:
    """Yield each entry that goes on from one of the round before at hand, behind that one.

    Of more than :data:`MOST` entries of a benchmark and an organisation none is.
    """
    groups = group_by_key(((one.usage, one.organisation_name, one.benchmark_name), one) for one in entries)
    for group in groups.values():
        for entry in group if len(group) <= MOST else ():
            earlier = [one for one in group if one.age < entry.age]
            for age in sorted({one.age for one in earlier}, reverse=True):
                before = partner(entry, [one for one in earlier if one.age == age])
                if before is not None:
                    yield before, entry
                    break


def pairs(ours: Sequence[Result], theirs: Sequence[Result]) -> list[Pair]:
    """Return the entries of one benchmark that belong together, each in one pair at most.

    First those of the same system, then those that are each other's partner: of more than :data:`MOST` on a side none.
    """
    names = [Counter((one.system, one.scaling_type) for one in side) for side in (ours, theirs)]
    named = {(other.system, other.scaling_type): other for other in theirs}
    once = {name for name in named if names[0][name] == names[1][name] == 1}
    found = [(one, named[name]) for one in ours if (name := (one.system, one.scaling_type)) in once]
    left, rest = without(ours, found, 0), without(theirs, found, 1)
    while max(len(left), len(rest)) <= MOST and (
        new := [
            (one, other) for other in rest if (one := partner(other, left)) is not None and partner(one, rest) is other
        ]
    ):
        found += new
        left, rest = without(left, new, 0), without(rest, new, 1)
    return found


def without(entries: Sequence[Result], found: Sequence[Pair], side: int) -> list[Result]:
    """Return the entries of a side that no pair has."""
    taken = {id(pair[side]) for pair in found}
    return [one for one in entries if id(one) not in taken]


def partner(entry: Result, others: Sequence[Result]) -> Result | None:
    """Return the entry with the same division, as many accelerators, and the same or the nearest name of a system.

    Args:
        entry: what is looked for on the other side.
        others: entries of its benchmark and organisation there.
    """
    kind = entry.division_name, entry.scaling_type
    alike = [one for one in others if (one.division_name, one.scaling_type) == kind and _as_many(one, entry)]
    same = [one for one in alike if entry.accelerators_count and _accelerators(one) == _accelerators(entry)]
    systems = {one.system: one for one in same or alike}
    name = entry.system if entry.system in systems else _alike(entry.system, list(systems))
    if name is not None:
        return systems[name]
    return same[0] if len(same) == 1 else None


def _as_many(one: Result, other: Result) -> bool:
    """Whether two systems have as many accelerators, or a description does not say, so that names tell sizes apart."""
    counts = one.accelerators_count, other.accelerators_count
    return not all(counts) or counts[0] == counts[1]


def _accelerators(entry: Result) -> tuple[str | None, int | None]:
    return entry.accelerator_name or entry.accelerator_model_name, entry.accelerators_count


def _alike(name: str, others: Sequence[str]) -> str | None:
    """The other name that this one goes on from, or that differs in versions alone: numbers tell sizes apart."""
    longer = [other for other in others if _goes_on(name, other) or _goes_on(other, name)]
    if longer:
        return max(longer, key=lambda other: (len(other), other))
    return next((other for other in sorted(others) if _bare(other) == _bare(name)), None)


def _goes_on(name: str, start: str) -> bool:
    return name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()


def _bare(name: str) -> str:
    return re.sub(r"(?<!\d)\d++\.\d++(?:\.\d++)*+", "", name)
