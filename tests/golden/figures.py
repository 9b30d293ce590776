"""Answers as facts: a line a record, with the names of its fields, so that a changed value can be read in a diff."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

#: A name that a person can look up, and a record: a few values by their names.
Facts = dict[str, Any]

#: Lists with more values than this become their number, their ends and, of figures, their mean; words take less room.
SHORT, WORDS = 12, 60
_DIGITS = 12
#: What tells a record from others of its list, the first that it has.
_NAMES = ("path", "entry", "to", "id", "name", "key", "placeholder", "rule", "event", "kind")
#: What every answer has.
_ENVELOPE = ("schema", "mlsub", "command")
#: What people wrote into descriptions and logs, and what a schema accepts: texts that are values, not our words.
_VALUES = {"facts", "fields", "hyperparameters", "unsearched", "enum", "const", "pattern"}
#: Lists whose order is a fact.
_ORDERED = {"keys"}
#: Records within a record that have more values than this have a line of their own.
_INLINE = 8
_WORD = re.compile(r"[\w.:+/@%*#=~-]{1,120}")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")


def rounded(value: Any) -> Any:
    """A number to 12 significant digits, so that 2 and 2.0 are one; containers of them; anything else as it is."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        short = float(f"{value:.{_DIGITS}g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def digest(content: str) -> str:
    """A few characters that are others when the content is another."""
    return "#" + hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def shortened(values: Sequence[Any]) -> Any:
    """A short list as it is; of a long one the number and the ends, of figures the extremes and the mean."""
    values = rounded(list(values))
    if len(values) <= SHORT or (len(values) <= WORDS and all(isinstance(one, str) for one in values)):
        return values
    figures = [one for one in values if isinstance(one, int | float)]
    if len(figures) == len(values):
        told = f"{rounded(min(figures))} to {rounded(max(figures))}, mean {math.fsum(figures) / len(figures):.9g}"
        return f"{len(values)} figures: {told}, {digest(json.dumps(values))}"
    return {"count": len(values), "first": values[0], "last": values[-1], "all": digest(json.dumps(values))}


def columns(rows: Sequence[Sequence[Any]]) -> Any:
    """A short table as it is; of a long one the number of rows, and each column as a list."""
    if len(rows) <= SHORT or len({len(row) for row in rows}) > 1:
        return shortened(rows)
    return [len(rows), *(shortened(column) for column in zip(*rows, strict=True))]


class Reader:
    """Makes facts of answers: a line for each record, its plain values by their names.

    Args:
        published: whether the texts and values that people wrote are those of published packages: of these only digests
            are kept.
        omitted: names of values that are others each time.
    """

    def __init__(self, published: bool, omitted: Collection[str] = ()) -> None:
        self._omitted = {*_ENVELOPE, *omitted}
        self._published = published

    def facts(self, record: Mapping[str, Any], name: str = "answer") -> Facts:
        """The facts of an answer."""
        return self._record(record, name, _figures)

    def row(self, values: Mapping[str, Any] | Sequence[Any]) -> Any:
        """A row of a table: its texts are values, not our words."""
        if isinstance(values, Mapping):
            return {name: simple(value, self._people) for name, value in values.items() if value not in (None, "")}
        return simple(list(values), self._people)

    def _people(self, text: str) -> str:
        return digest(text) if self._published and not _WORD.fullmatch(text) else text

    def _record(self, record: Mapping[str, Any], name: str, text: Callable[[str], Any]) -> Facts:
        plain: dict[str, Any] = {}
        facts: Facts = {}
        for key, value in record.items():
            below = f"{name} {key}".removeprefix("answer ")
            if key in self._omitted:
                continue
            if key == "findings" and isinstance(value, list):
                facts |= finding_facts(value, "" if name == "answer" else name)
                continue
            values = key in _VALUES or (key == "description" and isinstance(value, Mapping))
            if values and isinstance(value, Mapping | list) and self._published:
                named = value.items() if isinstance(value, Mapping) else zip(_labels(value), value, strict=True)
                facts[below] = {str(label): digest(json.dumps(one, sort_keys=True)) for label, one in named}
                continue
            table = isinstance(value, list) and any(isinstance(one, list) for one in value)
            read = self._people if values or table else text
            value = simple(value, read)
            if isinstance(value, Mapping):
                inner = self._record(value, below, read)
                if len(inner.get(below, ())) <= _INLINE:
                    plain |= {f"{key}.{word}": one for word, one in inner.pop(below, {}).items()}
                facts |= inner
            elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
                labels = _labels(value)
                if key in _ORDERED:
                    plain[key] = labels
                for label, one in zip(labels, value, strict=True):
                    told = {word: part for word, part in one.items() if word not in _NAMES or part != label}
                    facts |= self._record(told, f"{below} {label}".strip(), read)
            elif value not in (None, [], ""):
                plain[key] = shortened(value) if isinstance(value, list) else value
        return {name: plain, **facts} if plain else facts


def simple(value: Any, text: Callable[[str], Any]) -> Any:
    """A value with its texts read; a fraction beside its decimals is one value."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return value.get("exact", value)
    if isinstance(value, list):
        read = [simple(one, text) for one in value]
        return [one for one in read if one is not None or None in value]
    return rounded(value)


def _figures(text: str) -> Any:
    """A word as it is; of a sentence, whose words may change, the numbers alone."""
    if _WORD.fullmatch(text):
        return text
    found = _NUMBER.findall(text)
    return f"… {' … '.join(found)} …" if found else None


def _labels(records: Sequence[Any]) -> list[str]:
    """What tells the records of a list apart: a name of theirs, or of the first object in them, or else a number."""
    found = []
    for one in records:
        inner = next((below for below in one.values() if isinstance(below, Mapping)), {})
        name = next((str(part[key]) for part in (one, inner) for key in _NAMES if isinstance(part.get(key), str)), "")
        name = name or " ".join(one[key] for key in ("usage", "round") if isinstance(one.get(key), str))
        where = one.get("where")
        found.append(f"{where} {name}" if isinstance(where, str) else name)
    alike = Counter(found)
    return [f"{name} {at}".strip() if alike[name] > 1 else name for at, name in enumerate(found)]


def finding_facts(findings: Iterable[Mapping[str, Any]], name: str = "") -> Facts:
    """Rule, kind, severity and path of each finding, and the lines where it was found."""
    lines: dict[str, list[int | None]] = defaultdict(list)
    for found in findings:
        where = f"{name} finding {found['rule']} {found['kind']} {found['severity']} {found.get('path')}"
        lines[where.strip()].append(found.get("line"))
    return {where: shortened(sorted(found, key=lambda line: line or 0)) for where, found in lines.items()}


def numbers_in(value: Any) -> Iterator[float]:
    """Every number in a nested value, in its order."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield rounded(value)
    below: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in below:
        yield from numbers_in(one)


def dumps(facts: Facts) -> str:
    """Facts as JSON, sorted, one a line."""
    lines = [f"{json.dumps(name)}: {_line(facts[name])}" for name in sorted(facts)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(rounded(value), ensure_ascii=False)


def difference(old: Facts, new: Facts) -> list[str]:
    """What changed, a line a fact: gone, new, or both values; of a record the fields that changed."""
    lines = [f"- {name}: {_line(old[name])}" for name in sorted(old.keys() - new.keys())]
    lines += [f"+ {name}: {_line(new[name])}" for name in sorted(new.keys() - old.keys())]
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        if before != after and isinstance(before, dict) and isinstance(after, dict):
            lines += [f"  {name}", *(f"    {line}" for line in difference(before, after))]
        elif before != after:
            lines += [f"  {name}", f"    - {_line(before)}", f"    + {_line(after)}"]
    return lines
