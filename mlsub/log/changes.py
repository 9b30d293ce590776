"""Compare what runs logged and what descriptions say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mlsub.io.show import readable, show
from mlsub.log.run import Run


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A value that differs; None where a side has none. ``note`` says what a reader has to know besides."""

    name: str
    old: Any
    new: Any
    note: str | None = None


def changed_hyperparameters(old: Sequence[Run], new: Sequence[Run]) -> tuple[Change, ...]:
    """Return what most runs of each side logged, where that differs; a note counts the runs that disagree.

    A key whose values no two runs share in most runs of either side is a measurement, not a hyperparameter.
    """
    before, after = _count_values(old), _count_values(new)
    changes = []
    for key in sorted(before.keys() | after.keys()):
        was, was_logged = _most_frequent(before.get(key), len(old))
        now, now_logged = _most_frequent(after.get(key), len(new))
        counts = ("old", was_logged, len(old)), ("new", now_logged, len(new))
        if was != now and all(_is_agreed(count, runs) for _, count, runs in counts):
            notes = [f"{side}: {count} of {runs} runs" for side, count, runs in counts if count < runs]
            changes.append(
                Change(
                    name=readable(key)[:100],
                    old=_show_value(was),
                    new=_show_value(now),
                    note="; ".join(notes) or None,
                )
            )
    return tuple(changes)


def agreed_values(runs: Sequence[Run]) -> dict[str, str]:
    """Return what most runs logged of each key, as JSON, measurements left out; equal values are equal texts."""
    most = {key: votes.most_common(1)[0] for key, votes in _count_values(runs).items()}
    return {key: value for key, (value, count) in most.items() if _is_agreed(count, len(runs))}


def count_agreed(old: Sequence[Run], new: Sequence[Run]) -> int:
    """Return how many keys most runs of both sides logged with the same value."""
    return len(agreed_values(old).items() & agreed_values(new).items())


def changed_fields(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[Change, ...]:
    """Return the fields of two system descriptions that differ."""
    before, after = old or {}, new or {}
    return tuple(
        Change(name=name[:100], old=_show_field(before, name), new=_show_field(after, name))
        for name in dict.fromkeys((*before, *after))
        if name not in before or name not in after or _canonical(before[name]) != _canonical(after[name])
    )


def _show_field(content: Mapping[str, Any], name: str) -> str | None:
    if name not in content:
        return None
    value = content[name]
    return value[:500] if isinstance(value, str) else show(value, limit=500)


def _count_values(runs: Sequence[Run]) -> dict[str, Counter[str]]:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        for key, value in run.hyperparameters.items():
            votes[key][_canonical(value)] += 1
    return votes


def _is_agreed(count: int, runs: int) -> bool:
    """Whether runs agree on a value that so many of them logged, as far as there are several."""
    return runs < 3 or count > 1


def _most_frequent(votes: Counter[str] | None, runs: int) -> tuple[str | None, int]:
    """The value that most runs logged and how many did; None, as all did, where none logged any."""
    return votes.most_common(1)[0] if votes else (None, runs)


def _show_value(value: str | None) -> str | None:
    return None if value is None else show(json.loads(value))


#: Made once, as for :func:`mlsub.io.show.show`.
_encode_sorted = json.JSONEncoder(sort_keys=True).encode


def _canonical(value: Any) -> str:
    """A value as text that is the same for equal values: 1 and 1.0 are equal."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    try:
        return _encode_sorted(value)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(show(value))
