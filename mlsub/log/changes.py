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


def hyperparameters(old: Sequence[Run], new: Sequence[Run]) -> tuple[Change, ...]:
    """Return what most runs of each side logged, where that differs; a note counts the runs that disagree.

    A key whose values no two runs share in most runs of either side is a measurement, not a hyperparameter.
    """
    before, after = _votes(old), _votes(new)
    changes = []
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if not _settled(was, len(old)) or not _settled(now, len(new)):
            continue
        one, other = _most(was), _most(now)
        if one is None or other is None or one[0] != other[0]:
            notes = [_dissent("old", was, len(old)), _dissent("new", now, len(new))]
            changes.append(
                Change(
                    name=readable(key)[:100],
                    old=_shown(one),
                    new=_shown(other),
                    note="; ".join(filter(None, notes)) or None,
                )
            )
    return tuple(changes)


def agreed_values(runs: Sequence[Run]) -> dict[str, str]:
    """Return what most runs logged of each key, as JSON, measurements left out; equal values are equal texts."""
    votes = _votes(runs)
    return {key: values.most_common(1)[0][0] for key, values in votes.items() if _settled(values, len(runs))}


def agreed(old: Sequence[Run], new: Sequence[Run]) -> int:
    """Return how many keys most runs of both sides logged with the same value."""
    before, after = agreed_values(old), agreed_values(new)
    return sum(after.get(key) == value for key, value in before.items())


def fields(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[Change, ...]:
    """Return the fields of two system descriptions that differ."""
    before, after = old or {}, new or {}
    return tuple(
        Change(name=name[:100], old=_field(before, name), new=_field(after, name))
        for name in dict.fromkeys((*before, *after))
        if name not in before or name not in after or _canonical(before[name]) != _canonical(after[name])
    )


def _field(content: Mapping[str, Any], name: str) -> str | None:
    if name not in content:
        return None
    value = content[name]
    return value[:500] if isinstance(value, str) else show(value, limit=500)


def _votes(runs: Sequence[Run]) -> dict[str, Counter[str]]:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        for key, value in run.hyperparameters.items():
            votes[key][_canonical(value)] += 1
    return votes


def _settled(votes: Counter[str] | None, runs: int) -> bool:
    """Whether runs agree on a value, as far as there are several of them."""
    return votes is None or runs < 3 or votes.most_common(1)[0][1] > 1


def _most(votes: Counter[str] | None) -> tuple[str, int] | None:
    return votes.most_common(1)[0] if votes else None


def _dissent(side: str, votes: Counter[str] | None, runs: int) -> str | None:
    most = _most(votes)
    if most is None or most[1] == runs:
        return None
    return f"{side}: {most[1]} of {runs} runs"


def _shown(most: tuple[str, int] | None) -> str | None:
    return None if most is None else show(json.loads(most[0]))


#: Made once, as for :func:`mlsub.io.show.show`.
_sorted = json.JSONEncoder(sort_keys=True).encode


def _canonical(value: Any) -> str:
    """A value as text that is the same for equal values: 1 and 1.0 are equal."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    try:
        return _sorted(value)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(show(value))
