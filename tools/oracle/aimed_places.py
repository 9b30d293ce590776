"""Changes to how often a key is logged and where: missing, twice, early, late, and again with another value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tools.oracle.log import Log, show
from tools.oracle.values import CHOICES, PHASES

#: No more other values are tried of one key.
_MOST_OTHERS = 48


def occurrences(
    key: str, value: Any, others: list[Any], users: Sequence[str]
) -> Iterator[tuple[str, str, Callable[[Log], Log]]]:
    """Each change as its kind, what it is in words, and the change; ``users`` use what the key states."""
    for kind, words, change in _CHANGES:
        yield kind, words.format(key), partial(change, key)
    several = (*CHOICES.get(key, ()), *_alike(value), *others, value, None, "", 0, [value], {"value": value})
    for other in list({repr(x): x for x in several}.values())[:_MOST_OTHERS]:
        for where, step in (("before", 0), ("after", 1)):
            words = f"{key} also {show(other)}, {where}"
            yield f"contradicting {where}", words, partial(_again, key, step, value=other)
        yield "contradicting late", f"{key} also {show(other)} at the end", partial(_at_end, key, value=other)
    for anchor in (*PHASES, *users):
        if anchor != key:
            late = "late" if anchor in users or anchor in ("run_stop", "run_start") else "moved"
            yield late, f"{key} behind the first {anchor}", partial(_beside, key, anchor, 0, 1)
            yield late, f"{key} behind the last {anchor}", partial(_beside, key, anchor, -1, 1)
            yield "moved", f"{key} before the first {anchor}", partial(_beside, key, anchor, 0, 0)
            yield "again elsewhere", f"{key} also behind the first {anchor}", partial(_copied, key, anchor)
    for step in (-2, -1, 1, 2):
        yield "reordered", f"{key} {step:+} lines", partial(_shifted, key, step)


def _alike(value: Any) -> tuple[Any, ...]:
    """Other values that are as good wherever any of their kind is, so that only the contradiction is wrong."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value + 1, value * 2, value / 2)
    return (f"{value} 2",) if isinstance(value, str) else ()


def _again(key: str, step: int, log: Log, **fields: Any) -> Log:
    """The first record once more, before or after it, with other fields."""
    place = log.first(key)
    return log.inserted(place + step, log.like(place, **fields) if fields else log[place])


def _at_end(key: str, log: Log, **fields: Any) -> Log:
    place = log.first(key)
    return log.inserted(len(log), log.like(place, **fields) if fields else log[place])


def _as(convert: Callable[[Any], Any], key: str, log: Log) -> Log:
    """The record once more, with a value that is another to JSON and the same to Python."""
    value = log.record(log.first(key))["value"]
    if not isinstance(value, bool | int | float):
        raise LookupError("no number")
    return _again(key, 1, log, value=convert(value))


def _escaped(key: str, log: Log) -> Log:
    """The record once more, its text written in another way."""
    place = log.first(key)
    value, line = log.record(place)["value"], log[place]
    if not isinstance(value, str) or not value:
        raise LookupError("no text")
    written = "".join(f"\\u{ord(char):04x}" for char in value)
    return log.inserted(place + 1, line._replace(text=line.text.replace(json.dumps(value), f'"{written}"')))


def _beside(key: str, anchor: str, which: int, behind: int, log: Log) -> Log:
    place = log.first(key)
    rest = log.replaced(place)
    return rest.inserted(rest.places(anchor)[which] + behind, log[place])


def _copied(key: str, anchor: str, log: Log) -> Log:
    return log.inserted(log.first(anchor) + 1, log[log.first(key)])


def _shifted(key: str, step: int, log: Log) -> Log:
    place = log.first(key)
    return log.moved(place, max(0, place + step))


def _dropped(key: str, log: Log) -> Log:
    log.first(key)
    return log.without(key)


#: What is done to any key, by its kind and in words.
_CHANGES: tuple[tuple[str, str, Callable[[str, Log], Log]], ...] = (
    ("missing", "no {}", _dropped),
    ("missing", "no first {}", lambda key, log: log.replaced(log.first(key))),
    ("missing", "no last {}", lambda key, log: log.replaced(log.places(key)[-1])),
    ("twice", "{} twice", lambda key, log: _again(key, 0, log)),
    ("twice", "{} three times", lambda key, log: _again(key, 0, _again(key, 0, log))),
    ("twice, equal to Python", "{} twice, the second one as float", partial(_as, float)),
    ("twice, equal to Python", "{} twice, the second one as bool", partial(_as, bool)),
    ("twice, equal to Python", "{} twice, the second one as int", partial(_as, int)),
    ("twice, equal to Python", "{} twice, the second one escaped", _escaped),
    ("early", "{} first of all", lambda key, log: log.moved(log.first(key), 0)),
    ("late", "{} last of all", lambda key, log: log.moved(log.first(key), len(log))),
    ("late", "{} also last of all", lambda key, log: _at_end(key, log)),
)
