"""Which kinds of change each demand of the official checker is tried with, read off the changed logs themselves.

``python -m tests.differential.cells [TEXT]`` prints the matrix for the combinations whose names have the text: how
many cells each generator of changes fills. The demands are those of the official rule files, so that none is left out
because the rules here lack it.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.rules.model import Gathers
from tests.differential.asked import METADATA, TIME, VALUE, Path_, asked, literals, official_texts, paths_in
from tests.differential.boundary import edits, mutant
from tests.differential.edges import KINDS_OF_NUMBERS, KINDS_OF_TYPES
from tests.differential.generate import Combination, combinations, rules_of
from tests.differential.log import Log, content, generated, places_of, smallest
from tests.differential.mutate import mutants
from tests.differential.occurrences import KINDS as KINDS_OF_PLACES
from tests.differential.targeted import aimed

#: What lies closer to a number, relative to it, is just below or above it; what lies further away, up to ``_FAR``, is
#: far below or far above.
_NEAR, _FAR = 1e-6, 1.5
#: In the format of v0.6 a time is digits and points, no JSON.
TIMES_OF_06 = ("float", "huge")
#: What a double cannot count is huge.
_HUGE = 2**53


class Wanted(NamedTuple):
    """A cell: a key, a part of its record (empty for its place in the log), a number of a demand, a kind of change."""

    key: str
    part: str
    number: float | None
    kind: str


def wanted(combination: Combination, file: Path) -> frozenset[Wanted]:
    """Every cell that the official rule files ask for; a log is written to ``file`` to find out which these are."""
    log = smallest(combination)
    file.write_bytes(content(log))
    codes: dict[str, set[str]] = defaultdict(set)
    for config in asked(file, combination.round).configs:
        for key, text in official_texts(config).items():
            codes[key].update(text.codes)
    virtual = {rule.key for rule in rules_of(combination).values() if rule.gathers}
    found: set[Wanted] = set()
    for key, texts in codes.items():
        if key not in virtual:
            found |= {Wanted(key, "", None, kind) for kind in _kinds_of_places(log, key)}
        for path in {VALUE, *(path for code in texts for path in paths_in(code))}:
            kinds = TIMES_OF_06 if path == TIME and combination.round == "0.6" else KINDS_OF_TYPES
            found |= {Wanted(key, _dotted(path), None, kind) for kind in kinds}
        found |= {
            Wanted(key, _dotted(path), float(number), kind)
            for code in texts
            for path in set(paths_in(code)) - {METADATA, TIME}
            for number in literals(code)
            if isinstance(number, int | float) and not isinstance(number, bool)
            for kind in KINDS_OF_NUMBERS
        }
    return frozenset(found)


def _kinds_of_places(log: Log, key: str) -> Iterator[str]:
    """What a key can be tried with: only what is there can be missing, and few values have an equal of another type."""
    values = [(log[place].record or {})["value"] for place in places_of(log, key)]
    whole = any(isinstance(value, int | float) and value == int(value) for value in values)
    for kind in KINDS_OF_PLACES:
        if (kind != "missing" or values) and (kind != "twice, equal to Python" or whole):
            yield kind


def _dotted(path: Path_) -> str:
    return ".".join(map(str, path))


class Reader:
    """Reads changed logs, and says which cells they fill."""

    def __init__(self, combination: Combination, base: Log, cells: Iterable[Wanted]) -> None:
        self.old = content(base).decode("latin-1").split("\n")[:-1]
        self.records = {text: _record(text) for text in self.old}
        self.gathers = {rule.key: rule.gathers for rule in rules_of(combination).values() if rule.gathers}
        self.numbers: dict[tuple[str, str], set[float]] = defaultdict(set)
        for cell in cells:
            if cell.number is not None:
                self.numbers[cell.key, cell.part].add(cell.number)

    def filled(self, changed: bytes) -> Iterator[Wanted]:
        """The cells of one log."""
        new = changed.decode("latin-1").split("\n")[:-1]
        parsed = [self.records[text] if text in self.records else _record(text) for text in new]
        before = [self.records[text] for text in self.old]
        for key, kind in kinds_of_places(before, parsed):
            yield Wanted(key, "", None, kind)
        for text, record in zip(new, parsed, strict=True):
            if record is not None and text not in self.records:
                yield from self._of_record(record)

    def _of_record(self, record: dict[str, Any]) -> Iterator[Wanted]:
        for part, value in _parts(record):
            yield from self._of_part(record["key"], part, value)
        for key, gathers in self.gathers.items():
            if gathers.key == record["key"]:
                for part, value in _gathered(record, gathers):
                    yield from self._of_part(key, part, value)

    def _of_part(self, key: str, part: str, value: Any) -> Iterator[Wanted]:
        for kind in kinds_of_value(value):
            yield Wanted(key, part, None, kind)
        if isinstance(value, int | float) and not isinstance(value, bool):
            for number in self.numbers.get((key, part), ()):
                side = side_of(value, number)
                if side is not None:
                    yield Wanted(key, part, number, side)


def _record(text: str) -> dict[str, Any] | None:
    """What a line says, in either format; None where it cannot be read."""
    begin, _, rest = text.partition(" ")
    try:
        if begin == ":::MLLOG":
            found = json.loads(rest)
        else:
            seconds, key, fields = rest.split(" ", 2)
            found = {"key": key.removesuffix(":"), **json.loads(fields), "time_ms": _number(seconds)}
    except (ValueError, TypeError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("key"), str) else None


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _parts(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The parts of a record, one level deep."""
    for field in ("value", "metadata", "time_ms"):
        inner = record.get(field)
        yield field, inner
        parts = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
        yield from ((f"{field}.{name}", part) for name, part in parts)


def _gathered(record: dict[str, Any], gathers: Gathers) -> Iterator[tuple[str, Any]]:
    """What a record is to the virtual key that it is part of."""
    metadata = record.get("metadata")
    if isinstance(metadata, dict):
        yield f"value.{metadata.get(gathers.field)}", record.get("value")
        yield f"value.{gathers.by}", metadata.get(gathers.by)
    yield "value", record.get("value")


def kinds_of_value(value: Any) -> Iterator[str]:
    """The kinds of a value."""
    if value is None:
        yield "null"
    elif isinstance(value, bool):
        yield "bool"
    elif isinstance(value, str):
        yield "string" if isinstance(_number(value), str) else "numeric string"
    elif isinstance(value, list | dict):
        yield "list" if isinstance(value, list) else "object"
    elif isinstance(value, float) and not math.isfinite(value):
        yield "NaN" if math.isnan(value) else "Infinity"
    else:
        yield "int" if isinstance(value, int) else "float"
        if abs(value) > _HUGE:
            yield "huge"


def side_of(value: float, number: float) -> str | None:
    """Where a value lies beside a number; None where it is further away."""
    if value == number:
        return "at"
    distance = value - number if abs(value) <= 2 * _HUGE else math.inf
    if abs(distance) <= _NEAR * max(1.0, abs(number)) and abs(distance) < 1 / 2:
        return "below" if distance < 0 else "above"
    if abs(distance) <= _FAR:
        return "far below" if distance < 0 else "far above"
    return None


def kinds_of_places(before: list[Any], after: list[Any]) -> Iterator[tuple[str, str]]:
    """How the records of keys differ in number, place and agreement, as pairs of a key and a kind."""
    old, new = _by_key(before), _by_key(after)
    stop = max(new.get("run_stop", [len(after)]))
    for key in {*old, *new}:
        there, here = old.get(key, []), new.get(key, [])
        if not here:
            yield key, "missing"
            continue
        if here[0] == 0:
            yield key, "early"
        if here[-1] > stop or (key == "run_stop" and here[-1] == len(after) - 1):
            yield key, "late"
        if len(here) > max(1, len(there)):
            yield from ((key, kind) for kind in _agreement([after[p] for p in here], [before[p] for p in there]))


def _by_key(records: list[Any]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        if record is not None:
            places[record["key"]].append(place)
    return places


def _agreement(several: list[dict[str, Any]], first: list[dict[str, Any]]) -> Iterator[str]:
    """Whether records of one key say the same. Where the key is new, each of its records may be the right one."""
    values = [record.get("value") for record in several]
    right = [record.get("value") for record in first] or values[:1]
    if all(value in right for value in values):
        types = {type(value) for value in right}
        yield "twice" if all(type(value) in types for value in values) else "twice, equal to Python"
    if values[0] not in right or (not first and values[-1] != values[0]):
        yield "contradicting before"
    if values[-1] not in right:
        yield "contradicting after"


def boundary_contents(combination: Combination, file: Path) -> Iterator[bytes]:
    """Every log of the boundary phase."""
    log = smallest(combination)
    for edit in edits(combination, file):
        made = mutant(log, [edit], "cell")
        if made is not None:
            yield made.content


def filled(combination: Combination, base: Log, contents: Iterable[bytes], cells: frozenset[Wanted]) -> set[Wanted]:
    """Those of some cells that logs made of ``base`` fill."""
    reader = Reader(combination, base, cells)
    return {cell for changed in contents for cell in reader.filled(changed)} & cells


def main() -> None:
    """Print how many cells each generator fills, for each combination named."""
    text = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'combination':<42}{'cells':>7}{'aimed':>8}{'500 random':>12}{'boundary':>10}")
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "log.txt"
        for combination in combinations():
            if text in str(combination):
                cells, log = wanted(combination, file), generated(combination)
                one = filled(combination, log, (shot.mutant.content for shot in aimed(combination)), cells)
                some = mutants(log, combination, f"cells/{combination}", 500)
                other = filled(combination, log, (changed.content for changed in some), cells)
                every = filled(combination, smallest(combination), boundary_contents(combination, file), cells)
                shares = (f"{len(found) / len(cells):.1%}" for found in (one, other, every))
                print(f"{combination!s:<42}{len(cells):>7}{next(shares):>8}{next(shares):>12}{next(shares):>10}")


if __name__ == "__main__":
    main()
