"""Where a result stands among those of its round: at its size by minutes, and per accelerator by chip-minutes."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence

import msgspec

from mlsub.divisions import CLOSED
from mlsub.submission.result import Result


class Standing(msgspec.Struct, frozen=True):
    """The place of a Closed result among the Closed ones of its round and benchmark; equals share the better place.

    ``at_size`` is its place by published minutes and how many there are with as many accelerators, ``per_accelerator``
    the same by chip-minutes (minutes times accelerators) among those of all sizes. ``faster`` and ``slower`` are the
    places in the list of the next ones with as many accelerators, None at either end.
    """

    at_size: tuple[int, int]
    per_accelerator: tuple[int, int]
    faster: int | None = None
    slower: int | None = None

    @property
    def words(self) -> str:
        """It in words, as pages have it."""
        (place, among), (each, of_all) = self.at_size, self.per_accelerator
        here = f"{ordinal(place)} of {among:,} at this size" if among > 1 else "The only one at this size"
        return f"{here}; {ordinal(each)} of {of_all:,} per accelerator" if of_all > 1 else here


def standings(results: Sequence[Result]) -> list[Standing | None]:
    """Return the standing of each result, in their order.

    Open results, weak scaling, and results without a time or without accelerators have none.
    """
    found: list[Standing | None] = [None] * len(results)
    ranked = [at for at, one in enumerate(results) if _is_ranked(one)]
    for group in _by_key(ranked, [(one.usage, one.round, one.benchmark_name, one.scaling_type) for one in results]):
        chips = sorted(results[at].chip_minutes or 0.0 for at in group)
        for same in _by_key(group, [one.accelerators_count for one in results]):
            order = sorted(same, key=lambda at: results[at].published_minutes or 0.0)
            minutes = [results[at].published_minutes or 0.0 for at in order]
            for place, at in enumerate(order):
                found[at] = Standing(
                    (1 + bisect_left(minutes, minutes[place]), len(order)),
                    (1 + bisect_left(chips, results[at].chip_minutes or 0.0), len(chips)),
                    order[place - 1] if place else None,
                    order[place + 1] if place + 1 < len(order) else None,
                )
    return found


def _is_ranked(one: Result) -> bool:
    return one.division_name == CLOSED.name and one.scaling_type != "weak" and one.chip_minutes is not None


def _by_key(places: Sequence[int], keys: Sequence[Hashable]) -> list[list[int]]:
    """Return places whose keys are the same together."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for at in places:
        found[keys[at]].append(at)
    return list(found.values())


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
