"""A log as lines that can be changed one by one, as records or as text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from tools.oracle.generate import Combination, compliant_log, line_of, line_of_mll, rules_of
from tools.oracle.values import RAW_VALUES

_TOKEN = ":::MLLOG "  # noqa: S105  (no password)
_RAW = "raw JSON "
_QUOTED_RAW = re.compile(f'"{_RAW}(\\d+);"')


class Line(NamedTuple):
    """A line of a log; ``record`` is what it says, or None for text that is no record; ``old`` is the format of v0.6.

    Text is Latin-1, as the official parser reads it, so that any byte survives.
    """

    text: str
    record: dict[str, Any] | None = None
    old: bool = False

    @property
    def key(self) -> str | None:
        return str(self.record["key"]) if self.record is not None else None


Log = list[Line]


class Mutant(NamedTuple):
    """A changed log, and in words what was changed."""

    description: str
    content: bytes


def raw(place: int) -> str:
    """A value that stands for one of ``RAW_VALUES``: the line of a record that has it holds this text unquoted."""
    return f"{_RAW}{place};"


def record_line(record: dict[str, Any], *, old: bool = False) -> Line:
    """A record as a line."""
    text = line_of_mll(record) if old else line_of(record)
    if _RAW in text:
        text = _QUOTED_RAW.sub(lambda match: RAW_VALUES[int(match[1])], text)
    return Line(text, record, old)


def generated(combination: Combination) -> Log:
    """The compliant log of a combination."""
    return [record_line(record, old=combination.round == "0.6") for record in compliant_log(combination)]


def smallest(combination: Combination, stated: dict[str, Any] | None = None) -> Log:
    """A compliant log with as few lines as have all keys of the rules: one evaluation that misses, one that reaches.

    Tensors whose absence is only warned of, hundreds in some logs, are left out but for one. ``stated`` are values that
    keys are to have.
    """
    spare = {key for key, rule in rules_of(combination).items() if rule.tensors and "count" in rule.warn_only}
    records = compliant_log(combination, 2, stated)
    seen: set[str] = set()
    kept = []
    for record in records:
        if record["key"] not in spare or record["key"] not in seen:
            kept.append(record_line(record, old=combination.round == "0.6"))
        seen.add(record["key"])
    return kept


def published(file: Path, having: tuple[str, ...] = ("",)) -> Log:
    """A real log; or only its lines that have one of some texts."""
    lines = file.read_bytes().decode("latin-1").split("\n")
    return [_parsed(line) for line in lines if any(text in line for text in having)]


def _parsed(text: str) -> Line:
    _, token, after = text.rpartition(_TOKEN)
    try:
        record = json.loads(after) if token else None
    except ValueError:
        return Line(text)
    return Line(text, record) if isinstance(record, dict) and "key" in record else Line(text)


def content(log: Log) -> bytes:
    """The log as a file."""
    return ("\n".join(line.text for line in log) + "\n").encode("latin-1", "replace")


def keys_of(log: Log) -> list[str]:
    """Each key that appears, once, in the order of the file."""
    return list(dict.fromkeys(line.key for line in log if line.key is not None))


def places_of(log: Log, key: str) -> list[int]:
    """Where the records of a key stand."""
    return [place for place, line in enumerate(log) if line.key == key]


def altered(log: Log, place: int, **fields: Any) -> Log:
    """The log with other fields in one record."""
    line = log[place]
    record = {**(line.record or {}), **fields}
    return [*log[:place], record_line(record, old=line.old), *log[place + 1 :]]


def moved(log: Log, place: int, to: int) -> Log:
    """The log with one line at another place among the rest."""
    rest = [*log[:place], *log[place + 1 :]]
    return [*rest[:to], log[place], *rest[to:]]


def show(value: Any) -> str:
    """A value in a description, shortened."""
    text = repr(value)
    return text if len(text) <= 70 else f"{text[:67]}..."
