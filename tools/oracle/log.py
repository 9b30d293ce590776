"""A log as lines that can be changed one by one, as records or as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.rules.model import KeyRule
from tools.oracle.generate import Combination, compliant_log, line_of, line_of_mll, rules_of
from tools.oracle.values import RAW_VALUES, resolved_rule

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


class Log(list[Line]):
    """The lines of a log, named by their place; a change gives another log."""

    def content(self) -> bytes:
        """The log as a file."""
        return "".join(f"{line.text}\n" for line in self).encode("latin-1", "replace")

    def distinct_keys(self) -> list[str]:
        """Each key that appears, once, in the order of the file."""
        return list(dict.fromkeys(line.key for line in self if line.key is not None))

    def places(self, key: str) -> list[int]:
        """Where the records of a key stand."""
        return [place for place, line in enumerate(self) if line.key == key]

    def first(self, key: str) -> int:
        """Where the first record of a key stands; a LookupError where there is none."""
        return self.places(key)[0]

    def record(self, place: int) -> dict[str, Any]:
        """What a line says; nothing where it is no record."""
        return self[place].record or {}

    def metadata(self, place: int) -> dict[str, Any]:
        """The metadata of a record."""
        found: dict[str, Any] = self.record(place)["metadata"]
        return found

    def without(self, *keys: str) -> Log:
        """The log without any record of these keys."""
        return Log(line for line in self if line.key not in keys)

    def replaced(self, place: int, *lines: Line) -> Log:
        """The log with other lines, or none, in the place of one."""
        return Log([*self[:place], *lines, *self[place + 1 :]])

    def without_lines(self, places: list[int]) -> Log:
        """The log without the lines at some places."""
        return Log(line for place, line in enumerate(self) if place not in places)

    def inserted(self, to: int, *lines: Line) -> Log:
        """The log with more lines before the one at a place."""
        return Log([*self[:to], *lines, *self[to:]])

    def moved(self, place: int, to: int) -> Log:
        """The log with one line at another place among the rest."""
        return self.replaced(place).inserted(to, self[place])

    def like(self, place: int, **fields: Any) -> Line:
        """A line with the record at a place, but for some fields."""
        return record_line({**self.record(place), **fields}, old=self[place].old)

    def altered(self, places: int | Iterable[int], **fields: Any) -> Log:
        """The log with other fields in one record, or in several."""
        changed = Log(self)
        for place in [places] if isinstance(places, int) else places:
            changed[place] = self.like(place, **fields)
        return changed

    def stated(self) -> dict[str, Any]:
        """What the last record of each key says."""
        return {str(line.key): (line.record or {}).get("value") for line in self if line.key is not None}

    def rules(self, combination: Combination) -> dict[str, KeyRule]:
        """The rules of a combination, their formulas computed from what the log states."""
        values = self.stated()
        return {key: resolved_rule(rule, values) for key, rule in rules_of(combination).items()}

    def difference(self, after: Log) -> str:
        """In words, the first line in which a changed log is another, and from where on."""
        lines = zip_longest(self, after, fillvalue=Line(""))
        differing = [(number, old, new) for number, (old, new) in enumerate(lines, 1) if old.text != new.text]
        if not differing:
            return "nothing changed"
        number, old, new = differing[0]
        same = next((at for at, (one, other) in enumerate(zip(old.text, new.text, strict=False)) if one != other), 0)
        return f"line {number}, {old.key}: ...{show(new.text[max(0, same - 12) :])}"


class ChangedLog(NamedTuple):
    """A changed log, and in words what was changed."""

    description: str
    content: bytes


class Edit(NamedTuple):
    """One change of a log: the key and the demand, or border of one, that it is aimed at, and what it is in words.

    ``make`` raises a LookupError, TypeError, AttributeError or ValueError where the change cannot be made.
    """

    key: str
    aim: str
    words: str
    make: Callable[[Log], Log]


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
    return Log(record_line(record, old=combination.round == "0.6") for record in compliant_log(combination))


def smallest(combination: Combination, stated: dict[str, Any] | None = None) -> Log:
    """A compliant log with as few lines as have all keys of the rules: one evaluation that misses, one that reaches.

    Tensors whose absence is only warned of, hundreds in some logs, are left out but for one. ``stated`` are values that
    keys are to have.
    """
    spare = {key for key, rule in rules_of(combination).items() if rule.tensors and "count" in rule.warn_only}
    seen: set[str] = set()
    kept = Log()
    for record in compliant_log(combination, 2, stated):
        if record["key"] not in spare or record["key"] not in seen:
            kept.append(record_line(record, old=combination.round == "0.6"))
        seen.add(record["key"])
    return kept


def published(file: Path, having: tuple[str, ...] = ("",)) -> Log:
    """A real log; or only its lines that have one of some texts."""
    lines = file.read_bytes().decode("latin-1").split("\n")
    return Log(_parsed(line) for line in lines if any(text in line for text in having))


def _parsed(text: str) -> Line:
    _, token, after = text.rpartition(_TOKEN)
    try:
        record = json.loads(after) if token else None
    except ValueError:
        return Line(text)
    return Line(text, record) if isinstance(record, dict) and "key" in record else Line(text)


def show(value: Any) -> str:
    """A value in a description, shortened."""
    text = repr(value)
    return text if len(text) <= 70 else f"{text[:67]}..."
