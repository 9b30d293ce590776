"""All results of a site with what pages about many of them share: places in the data, benchmarks, and colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from mlsub.commands.site.history import History, Ideal, histories
from mlsub.commands.site.results import Result, RoundResults

#: Colours of the theme by vendor, and the one of what has none; further vendors get what is left.
_VENDORS = {"NVIDIA": 2, "Google": 0, "AMD": 5, "Intel": 1, "Graphcore": 3, "Huawei": 6, "Cerebras": 9}
_NONE, _LEFT = 7, (4, 8)
#: Colours of families, the most frequent first, and the shapes of marks that tell those apart that have one colour.
_FAMILIES = (2, 0, 5, 3, 1, 9, 4, 6, 8)
_SHAPES = ("circle", "diamond", "square", "triangle")
#: What those are called in legends whose description names no accelerator that is known.
NO_ACCELERATOR = "no known accelerator"
Key = tuple[int, str]


class Whole:
    """The rounds of a site, as pages over all of them read it."""

    def __init__(self, rounds: Sequence[RoundResults]) -> None:
        self.rounds = tuple(rounds)
        #: In the order of the data of the site (see :mod:`.dataset`).
        self.results = tuple(result for one in rounds for result in one.results)
        self._at = {result.slug: place for place, result in enumerate(self.results)}

    @cached_property
    def histories(self) -> tuple[History, ...]:
        """The benchmarks in the order of interest."""
        return histories(self.rounds)

    def in_order_of_age(self) -> list[Result]:
        """The results, those of older rounds first; rounds of one age as they come."""
        return [result for one in sorted(self.rounds, key=_came_out) for result in one.results]

    @cached_property
    def vendors(self) -> dict[str, Key]:
        """The colour and the shape of each vendor."""
        left = [name for name in _frequent(result.named.vendor for result in self.results) if name not in _VENDORS]
        keys = {name: (colour, _SHAPES[0]) for name, colour in _VENDORS.items()}
        return keys | {name: (_LEFT[at % len(_LEFT)], _SHAPES[at // len(_LEFT) % 4]) for at, name in enumerate(left)}

    @cached_property
    def families(self) -> dict[str, Key]:
        """The colour and the shape of each family of accelerators, the same on all pages."""
        names = _frequent(result.named.family for result in self.results)
        count = len(_FAMILIES)
        return {name: (_FAMILIES[at % count], _SHAPES[at // count % len(_SHAPES)]) for at, name in enumerate(names)}

    def at(self, results: Iterable[Result]) -> list[int]:
        """The places of results in the data of the site."""
        return [self._at[result.slug] for result in results]

    def ideal(self, lines: Iterable[Ideal]) -> list[dict[str, Any]]:
        """Lines of ideal scaling as charts get them."""
        return [{"at": self._at[one.through.slug], "most": one.most, "newest": one.newest} for one in lines]

    def keys(self, by: str, results: Iterable[Result]) -> list[tuple[str, int, str]]:
        """The legend of results by ``vendor`` or ``family``: name, colour and shape, the most frequent first."""
        keys = self.vendors if by == "vendor" else self.families
        found = [getattr(result.named, by) for result in results]
        legend = [(name, *keys[name]) for name in _frequent(found)]
        return [*legend, (NO_ACCELERATOR, _NONE, _SHAPES[0])] if None in found else legend


def _came_out(one: RoundResults) -> str:
    day = one.results[0].named.published if one.results else None
    return day.isoformat() if day else "9999"


def grouped(results: Iterable[Result], place: Callable[[Result], str | None]) -> dict[str, list[Result]]:
    """The results by the address of the page about what they share."""
    found: dict[str, list[Result]] = {}
    for result in results:
        href = place(result)
        if href is not None:
            found.setdefault(href, []).append(result)
    return found


def _frequent(names: Iterable[str | None]) -> list[str]:
    """Names, the most frequent first, of equals the first in the alphabet."""
    counts = Counter(name for name in names if name is not None)
    return sorted(counts, key=lambda name: (-counts[name], name))
