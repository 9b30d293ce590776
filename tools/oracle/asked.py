"""What the installed official checker asks of a log: each expression, with the record and the state it is asked with.

The borders of a rule are found by asking its expression again with other values, so they do not depend on the rules
of mlsub: a rule that mlsub lacks, or states too wide, is tried as well.
"""

from __future__ import annotations

import ast
import copy
import math
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import yaml

from tools.oracle.log import raw
from tools.oracle.oracle import LOADER, OFFICIAL, evaluate, official
from tools.oracle.values import RAW_VALUES

#: Raw JSON texts up to so many characters are tried everywhere.
_LONGEST = 6000

Holds = Callable[[Any], bool]

#: No more turns are looked for in one demand; one with a tolerance has a turn at every multiple.
MOST_TURNS = 6


class Tried(NamedTuple):
    """A value to be tried, and which kind of value it is."""

    kind: str
    value: Any


#: What every part of a record is tried with, whatever it should hold.
TYPES: tuple[Tried, ...] = (
    *(Tried("bool", value) for value in (True, False)),
    *(Tried("int", value) for value in (0, 1, -1)),
    *(Tried("float", value) for value in (0.5, -0.0, 1.0)),
    *(Tried("numeric string", value) for value in ("1", "0.5", "1e3")),
    *(Tried("string", value) for value in ("", " ", "text", "None")),
    Tried("null", None),
    *(Tried("list", value) for value in ([], [1], [None])),
    *(Tried("object", value) for value in ({}, {"value": 1})),
    Tried("NaN", math.nan),
    *(Tried("Infinity", value) for value in (math.inf, -math.inf)),
    *(Tried("huge", value) for value in (2**53 + 1, 2**64, -(2**63) - 1, 1e308, 10**400)),
    *(Tried("raw", raw(place)) for place, text in enumerate(RAW_VALUES) if len(text) <= _LONGEST),
)
#: The same, shortened: for parts that no demand is known of.
FEW_TYPES = tuple({tried.kind: tried for tried in TYPES}.values())


def beside_number(number: float) -> Iterator[Tried]:
    """A number, what lies just beside it, and what looks like it."""
    yield Tried("at", number)
    if isinstance(number, bool):
        yield from (Tried("string", str(number).lower()), Tried("int", int(number)))
        return
    if not _is_real(number):
        return
    yield from (Tried("far below", number - 1), Tried("far above", number + 1))
    as_float = float(number)
    yield Tried("below", math.nextafter(as_float, -math.inf))
    yield Tried("above", math.nextafter(as_float, math.inf))
    yield from (Tried("below", number - 1e-9), Tried("above", number + 1e-9))
    yield from (Tried("below", number * (1 - 1e-9)), Tried("above", number * (1 + 1e-9)))
    yield Tried("float", as_float)
    if as_float.is_integer():
        yield Tried("int", int(number))
    yield from (Tried("numeric string", str(number)), Tried("list", [number]), Tried("object", {"value": number}))
    yield from (Tried("mirrored", -number), Tried("doubled", 2 * number), Tried("halved", number / 2))


def beside_text(text: str) -> Iterator[Tried]:
    """A text, and texts that people take for the same."""
    yield Tried("at", text)
    for other in (text.upper(), text.lower(), text.capitalize(), text.swapcase()):
        yield Tried("other case", other)
    yield from (Tried("space", f"{text} "), Tried("space", f" {text}"), Tried("space", f"{text}\n"))
    yield from (Tried("shorter", text[:-1]), Tried("longer", f"{text}s"), Tried("list", [text]))
    yield from (Tried("object", {text: text}), Tried("string", f'"{text}"'))


def beside(constant: Any) -> Iterator[Tried]:
    """What is near a constant of a demand."""
    if isinstance(constant, int | float):
        yield from beside_number(constant)
    elif isinstance(constant, str):
        yield from beside_text(constant)
    else:
        yield Tried("at", constant)


def neighbours(constant: Any) -> list[Any]:
    """A constant and what is nearest to it: the numbers on both sides, or the text in another case."""
    nearest = {tried.kind: tried.value for tried in reversed([*beside(constant)])}
    return [nearest[kind] for kind in ("at", "below", "above", "other case") if kind in nearest]


def turns(holds: Holds, near: Iterable[Any]) -> list[float]:
    """Pairs of neighbouring floats of which a demand allows one alone, found by halving between the numbers given."""
    numbers = {float(x) for x in near if isinstance(x, int | float) and _is_real(x)}
    around = {near for x in numbers for near in (x, x / 2, x * 2, x * 1.4, x * 3, x - 1, x + 1, -x)}
    around |= {math.nextafter(x, towards) for x in numbers for towards in (-math.inf, math.inf)}
    places = sorted({*filter(math.isfinite, around), -1e300, 0.0, 1e300})
    answers = [holds(place) for place in places]
    found: list[float] = []
    for number in range(len(places) - 1):
        if answers[number] is not answers[number + 1] and len(found) < 2 * MOST_TURNS:
            found += _halved(holds, places[number], places[number + 1], answers[number])
    return list(dict.fromkeys(found))


def _halved(holds: Holds, low: float, high: float, answer: bool) -> tuple[float, float]:
    first, last = _order(low), _order(high)
    while last - first > 1:
        middle = (first + last) // 2
        if holds(_float(middle)) is answer:
            first = middle
        else:
            last = middle
    return _float(first), _float(last)


def _order(number: float) -> int:
    """The place of a float among all floats."""
    bits = int.from_bytes(struct.pack("<d", number), "little", signed=True)
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _float(order: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", abs(order)))[0]
    return number if order >= 0 else -number


def _is_real(number: float) -> bool:
    """Whether the neighbours of a number can be computed."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


#: A part of a record: its field, and what lies deeper, as in ``("metadata", "epoch_num")`` or ``("value", 1)``.
Path_ = tuple[Any, ...]

VALUE: Path_ = ("value",)
METADATA: Path_ = ("metadata",)
TIME: Path_ = ("time_ms",)


class Question(NamedTuple):
    """One expression that the checker asks of one record. ``timestamp`` is in the unit of the round's parser."""

    key: str
    code: str
    content: dict[str, Any]
    timestamp: float
    state: dict[str, Any]

    def at(self, path: Path_) -> Any:
        """What the record holds there; a LookupError or TypeError where there is nothing."""
        return self.timestamp if path == TIME else _get(self.content, path)

    def holds(self, path: Path_, value: Any) -> bool:
        """The answer if the record held this value there; an expression that raises is not fulfilled."""
        content, timestamp = self.content, self.timestamp
        if path == TIME:
            timestamp = value
        else:
            content = copy.deepcopy(content)
            put(content, path, value)
        line = SimpleNamespace(key=self.key, value=content, timestamp=timestamp, lineno=0, full_string="")
        try:
            return bool(evaluate(self.code, self.state, {"ll": line, "v": content}))
        except Exception:
            return False

    def constants(self) -> list[Any]:
        """The values of all parts of the expression that do not depend on the record, without names of parts."""
        found, names = [], _names(self.code)
        for part in _parts(self.code):
            try:
                found.append(evaluate(part, self.state))
            except Exception:  # noqa: S112  (a part that cannot be computed has no value)
                continue
        return [value for value in found if isinstance(value, bool | int | float | str) and value not in names]


class Asked(NamedTuple):
    """What the checker asked of one log, and the rule files that it went through, the last first."""

    questions: tuple[Question, ...]
    configs: tuple[str, ...]


def asked(file: Path, round_id: str) -> Asked:
    """Check a log with the official checker, and write down each question."""
    questions: list[Question] = []

    def listen(code: str, state: dict[str, Any], names: dict[str, Any] | None = None) -> Any:
        if names is None:
            return evaluate(code, state)
        line = names["ll"]
        # A copy of the state, which the checker goes on to change.
        stated = {name: list(value) if isinstance(value, list) else value for name, value in state["s"].items()}
        kept = {**state, "s": stated, "enqueue_config": lambda config: None}
        questions.append(Question(line.key, code, line.value, line.timestamp, kept))
        return evaluate(code, state, names)

    answer = official(file, round_id, evaluating=listen)
    return Asked(tuple(questions), answer.configs)


def put(content: dict[str, Any], path: Path_, value: Any) -> None:
    """Set one part of a record; a LookupError or TypeError where the path leads nowhere."""
    _get(content, path[:-1])[path[-1]] = value


def _get(inner: Any, path: Path_) -> Any:
    for name in path:
        inner = inner[name]
    return inner


class Text(NamedTuple):
    """The official texts on one key: how often it must appear, and all code."""

    required: str
    codes: tuple[str, ...]


@lru_cache(maxsize=1024)
def official_texts(config: str) -> dict[str, Text]:
    """What a rule file says of each key, the last record of a key alone, as the checker reads it."""
    file = OFFICIAL / config
    content = yaml.load(file.read_text(), Loader=LOADER) if file.is_file() else []  # noqa: S506  (builds no objects)
    texts: dict[str, Text] = {}
    for record in content or []:
        if "KEY" in record:
            key = dict(record["KEY"])
            name, required = key.pop("NAME"), key.pop("REQ", "")
            codes = [code for part in key.values() for code in (part if isinstance(part, list) else [part])]
            texts[name] = Text(required.strip(), tuple(code.strip() for code in codes))
    return texts


@lru_cache(maxsize=1024)
def near_official(key: str) -> tuple[Any, ...]:
    """What stands in the expressions on a key, of whatever round and benchmark, and what is just beside it."""
    texts = (official_texts(str(file.relative_to(OFFICIAL))) for file in sorted(OFFICIAL.glob("*.0/*.yaml")))
    codes = dict.fromkeys(code for some in texts if key in some for code in some[key].codes)
    found = [tried.value for code in codes for literal in literals(code) for tried in beside(literal)]
    return tuple({repr(value): value for value in found}.values())


@lru_cache(maxsize=4096)
def paths_in(code: str) -> tuple[Path_, ...]:
    """The parts of a record that an expression or statement reads."""
    found: list[Path_] = []
    for node in _nodes(code):
        if isinstance(node, ast.Subscript):
            path = _subscripts(node)
            if path:
                found.append(path)
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
            within = _subscripts(node.comparators[0])
            if within and isinstance(node.ops[0], ast.In):
                found.append((*within, node.left.value))
        elif isinstance(node, ast.Attribute) and node.attr == "timestamp":
            found.append(TIME)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4096)
def stated_in(code: str) -> frozenset[str]:
    """The names of the checker's state that an expression or statement uses."""
    return frozenset(name for name, _ in _stated(code))


@lru_cache(maxsize=4096)
def set_in(code: str) -> frozenset[str]:
    """The names of the checker's state that a statement sets."""
    return frozenset(name for name, is_set in _stated(code) if is_set)


def _stated(code: str) -> Iterator[tuple[str, bool]]:
    for node in _nodes(code):
        named = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "s"
        if named and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            yield str(node.slice.value), isinstance(node.ctx, ast.Store)


@lru_cache(maxsize=4096)
def literals(code: str) -> tuple[Any, ...]:
    """The numbers and texts that stand in an expression, without the names of parts of a record."""
    names = _names(code)
    constants = [node.value for node in _nodes(code) if isinstance(node, ast.Constant)]
    kept = [x for x in constants if isinstance(x, bool | int | float | str) and x not in names]
    return tuple({repr(value): value for value in kept}.values())


@lru_cache(maxsize=4096)
def _names(code: str) -> frozenset[str]:
    """Texts that name a part of a record or of the state."""
    parts = {name for path in paths_in(code) for name in path if isinstance(name, str)}
    return frozenset(parts) | stated_in(code)


def _subscripts(node: ast.AST) -> Path_ | None:
    """``v['metadata']['epoch_num']`` as a path; None for what is no part of the record."""
    path: list[Any] = []
    while isinstance(node, ast.Subscript):
        if not isinstance(node.slice, ast.Constant):
            return None
        path.insert(0, node.slice.value)
        node = node.value
    return tuple(path) if path and isinstance(node, ast.Name) and node.id == "v" else None


@lru_cache(maxsize=4096)
def _parts(code: str) -> tuple[str, ...]:
    """The parts of an expression that depend on the state and on constants alone."""
    free = [
        node
        for node in _nodes(code)
        if isinstance(node, ast.expr) and not {"v", "ll"} & {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    ]
    return tuple(dict.fromkeys(ast.unparse(node) for node in free))


def _nodes(code: str) -> Iterator[ast.AST]:
    try:
        yield from ast.walk(ast.parse(code))
    except SyntaxError:
        return
