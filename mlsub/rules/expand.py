"""Short patterns for long lists of names: ``layer_{0..23}/{kernel,bias}``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_GROUP = re.compile(r"\{([^{}]*)\}")


def expand(patterns: Iterable[str]) -> tuple[str, ...]:
    """Every name the patterns stand for, sorted.

    ``{a,b}`` is one of the listed words (one may be empty), ``{0..3}`` a whole number of the closed range.
    """
    return tuple(sorted(name for pattern in patterns for name in _expand(pattern)))


def _expand(pattern: str) -> Iterator[str]:
    match = _GROUP.search(pattern)
    if match is None:
        yield pattern
        return
    for word in _words(match[1]):
        yield from _expand(pattern[: match.start()] + word + pattern[match.end() :])


def _words(group: str) -> list[str]:
    low, dots, high = group.partition("..")
    if dots:
        return [str(number) for number in range(int(low), int(high) + 1)]
    return group.split(",")
