"""Short patterns for long lists of names: ``layer_{0..23}/{kernel,bias}``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

#: The most that a pattern may stand for; models have some thousand tensors.
MAX_NAMES = 100_000
_MAX_GROUPS = 20
_GROUP = re.compile(r"\{([^{}]*)\}")


def expand(patterns: Iterable[str]) -> tuple[str, ...]:
    """Every name the patterns stand for, sorted.

    ``{a,b}`` is one of the listed words (one may be empty), ``{0..3}`` a whole number of the closed range.

    Raises:
        ValueError: a range does not have two numbers, or there would be too many names.
    """
    names = tuple(islice((name for pattern in patterns for name in _expand(pattern)), MAX_NAMES + 1))
    if len(names) > MAX_NAMES:
        raise ValueError(f"more than {MAX_NAMES} names")
    return tuple(sorted(names))


def _expand(pattern: str, depth: int = 0) -> Iterator[str]:
    if depth > _MAX_GROUPS:
        raise ValueError(f"more than {_MAX_GROUPS} groups in one pattern")
    match = _GROUP.search(pattern)
    if match is None:
        yield pattern
        return
    for word in _words(match[1]):
        yield from _expand(pattern[: match.start()] + word + pattern[match.end() :], depth + 1)


def _words(group: str) -> Iterable[str]:
    low, dots, high = group.partition("..")
    if dots:
        return (str(number) for number in range(int(low), int(high) + 1))
    return group.split(",")
