"""Changes to how often a key is logged and where: missing, twice, early, late, and again with another value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from tools.oracle.log import Log, altered, moved, places_of, show

#: Where a run passes from one phase to the next, and where records are late or early.
PHASES = ("init_start", "init_stop", "run_start", "eval_start", "eval_accuracy", "eval_error", "eval_stop", "run_stop")
#: What a second record may say instead.
OTHERS: dict[str, tuple[Any, ...]] = {
    "submission_division": ("closed", "open", "Closed", "OPEN", "", None, 1, ["closed"]),
    "submission_status": ("onprem", "cloud", "research", "preview", "Cloud", "", None, 1),
    "submission_org": ("Example", "example", "", None, 1, ["Example"]),
    "submission_platform": ("Example", "example", "", None, 1, {"a": 1}),
    "submission_benchmark": (
        *("resnet", "bert", "ssd", "maskrcnn", "unet3d", "dlrm_dcnv2", "gpt3", "minigo", "llama2_70b_lora", "flux1"),
        *("llama31_8b", "deepcam", "openfold", "stable_diffusion", "transformer", "RESNET", "", None, 1, ["bert"]),
    ),
    "opt_name": ("sgd", "lars", "lamb", "adam", "adamw", "AdamW", "", None),
}
#: No more other values are tried of one key.
_MOST_OTHERS = 24

Named = tuple[str, str, Callable[[Log], Log]]


class Anchors(NamedTuple):
    """Keys whose demands use what a key states."""

    users: tuple[str, ...]


def occurrences(key: str, value: Any, others: list[Any], anchors: Anchors) -> Iterator[Named]:
    """Each change as its kind, what it is in words, and the change."""
    yield "missing", f"no {key}", partial(_without, key)
    yield "missing", f"no first {key}", partial(_without_one, key, 0)
    yield "missing", f"no last {key}", partial(_without_one, key, -1)
    yield "twice", f"{key} twice", partial(_again, key, None, 1)
    yield "twice", f"{key} three times", partial(_again, key, None, 2)
    for how in ("float", "bool", "escaped", "int"):
        yield "twice, equal to Python", f"{key} twice, the second one as {how}", partial(_as, key, how)
    several = {
        repr(x): x
        for x in (*OTHERS.get(key, ()), *_alike(value), *others, value, None, "", 0, [value], {"value": value})
    }
    for other in list(several.values())[:_MOST_OTHERS]:
        for kind, before in (("contradicting before", True), ("contradicting after", False)):
            yield kind, f"{key} also {show(other)}, {kind[14:]}", partial(_contradicted, key, other, before)
        yield "contradicting late", f"{key} also {show(other)} at the end", partial(_at_end, key, other)
    yield "early", f"{key} first of all", partial(_to_line, key, 0)
    yield "late", f"{key} last of all", partial(_to_line, key, -1)
    yield "late", f"{key} also last of all", partial(_at_end, key, _SAME)
    for anchor in (*PHASES, *anchors.users):
        if anchor != key:
            late = "late" if anchor in anchors.users or anchor in ("run_stop", "run_start") else "moved"
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


class _Same:
    """Stands for the value that is there."""


_SAME = _Same()


def _first(log: Log, key: str) -> int:
    places = places_of(log, key)
    if not places:
        raise LookupError(key)
    return places[0]


def _without(key: str, log: Log) -> Log:
    _first(log, key)
    return [line for line in log if line.key != key]


def _without_one(key: str, which: int, log: Log) -> Log:
    _first(log, key)
    place = places_of(log, key)[which]
    return [*log[:place], *log[place + 1 :]]


def _again(key: str, _: None, times: int, log: Log) -> Log:
    place = _first(log, key)
    return [*log[:place], *[log[place]] * times, *log[place:]]


def _as(key: str, how: str, log: Log) -> Log:
    """The record once more, with a value that is another to JSON and the same to Python, or written differently."""
    place = _first(log, key)
    value = (log[place].record or {})["value"]
    if how == "escaped":
        if not isinstance(value, str) or not value:
            raise LookupError("no text")
        line = log[place]
        written = "".join(f"\\u{ord(char):04x}" for char in value)
        return [
            *log[: place + 1],
            line._replace(text=line.text.replace(json.dumps(value), f'"{written}"')),
            *log[place + 1 :],
        ]
    if not isinstance(value, bool | int | float):
        raise LookupError("no number")
    other = {"float": float, "int": int, "bool": bool}[how](value)
    return [*log[: place + 1], altered(log, place, value=other)[place], *log[place + 1 :]]


def _contradicted(key: str, other: Any, before: bool, log: Log) -> Log:
    place = _first(log, key)
    line = altered(log, place, value=other)[place]
    to = place if before else place + 1
    return [*log[:to], line, *log[to:]]


def _at_end(key: str, other: Any, log: Log) -> Log:
    place = _first(log, key)
    return [*log, log[place] if other is _SAME else altered(log, place, value=other)[place]]


def _to_line(key: str, to: int, log: Log) -> Log:
    return moved(log, _first(log, key), to if to >= 0 else len(log))


def _beside(key: str, anchor: str, which: int, behind: int, log: Log) -> Log:
    place = _first(log, key)
    rest = [*log[:place], *log[place + 1 :]]
    _first(rest, anchor)
    to = places_of(rest, anchor)[which] + behind
    return [*rest[:to], log[place], *rest[to:]]


def _copied(key: str, anchor: str, log: Log) -> Log:
    place, to = _first(log, key), _first(log, anchor) + 1
    return [*log[:to], log[place], *log[to:]]


def _shifted(key: str, step: int, log: Log) -> Log:
    place = _first(log, key)
    return moved(log, place, max(0, place + step))
