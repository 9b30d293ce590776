"""What a detector found: a review finding, and the numbers it rests on."""

from __future__ import annotations

from typing import Any

import msgspec

from mlsub.findings import Finding
from mlsub.log.trace import Trace
from mlsub.review.runs.model import Entry
from mlsub.rules.catalogue import finding


class Observation(msgspec.Struct, frozen=True):
    """A finding about an entry, and its numbers, unrounded: times in ms where the name ends so, else minutes.

    ``entry`` is the entry's path.
    """

    entry: str
    finding: Finding
    numbers: dict[str, Any]


def observe(
    rule: str,
    entry: Entry,
    message: str,
    actual: str,
    *,
    expected: str | None = None,
    at: Trace | None = None,
    line: int | None = None,
    **numbers: Any,
) -> Observation:
    """An observation about an entry, or about one of its logs (``at``, ``line``)."""
    path = entry.path if at is None else at.path
    return Observation(entry.path, finding(rule, path, message, line=line, expected=expected, actual=actual), numbers)


def name_of(trace: Trace) -> str:
    """A log's file name."""
    return trace.path.rpartition("/")[2]


def listed(names: list[str], most: int = 6) -> str:
    """Names, the first few of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def seconds(ms: float) -> str:
    """A length of time for a message."""
    return f"{ms / 1000:,.1f} s" if abs(ms) < 600_000 else f"{ms / 60_000:,.1f} min"
