"""What the installed official checker asks of a log: each expression, with the record and the state it is asked with.

The borders of a rule are found by asking its expression again with other values, so they do not depend on the rules
of mlsub: a rule that mlsub lacks, or states too wide, is tried as well.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import yaml

from tools.oracle.edges import beside
from tools.oracle.oracle import LOADER, OFFICIAL, official
from tools.oracle.shortcuts import evaluate

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
        questions.append(Question(line.key, code, line.value, line.timestamp, _kept(state)))
        return evaluate(code, state, names)

    answer = official(file, round_id, evaluating=listen)
    return Asked(tuple(questions), answer.configs)


def _kept(state: dict[str, Any]) -> dict[str, Any]:
    """The state as it is now: the checker goes on to change it."""
    stated = {name: list(value) if isinstance(value, list) else value for name, value in state["s"].items()}
    return {**state, "s": stated, "enqueue_config": lambda config: None}


def put(content: dict[str, Any], path: Path_, value: Any) -> None:
    """Set one part of a record; a LookupError or TypeError where the path leads nowhere."""
    inner: Any = content
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value


def _get(content: dict[str, Any], path: Path_) -> Any:
    inner: Any = content
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
