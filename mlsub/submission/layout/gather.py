"""Many places with the same defect: one finding an area of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

#: Names shown of many.
SHOWN = 3
#: A name longer than this is shortened where several are listed.
_LONGEST = 80


def area(path: str) -> str:
    """The part of the tree a path belongs to: a benchmark's code, a system's results, or a folder at the top."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] in ("benchmarks", "results") and len(parts) > 2 else 1])


def gathered(
    rule: str, message: str, paths: Iterable[str], *, within: str | None = None, fix: str | None = None
) -> Iterator[Finding]:
    """One finding a path where an area has only that, otherwise one an area with how many there are, and the first.

    ``within`` is one area for them all.
    """
    areas: dict[str, list[str]] = {}
    for path in sorted(paths):
        areas.setdefault(within or area(path), []).append(path)
    for place, members in areas.items():
        if len(members) == 1:
            yield finding(rule, members[0], message, fix=fix)
        else:
            yield finding(rule, place, message, actual=named(members, place), fix=fix)


def named(names: list[str], below: str = "") -> str:
    """How many there are, and the first of them, without the part that all share."""
    short = [_short(name.removeprefix(f"{below}/") if below else name) for name in names[:SHOWN]]
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return f"{len(names)}: {', '.join([*short, *more])}" if len(names) > 1 else short[0]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
