"""Values that stand in the official rule files, so that what is tried does not only come from the rules here."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tools.oracle.oracle import OFFICIAL

#: libyaml where PyYAML was built with it; both loaders yield plain strings, lists and dicts.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
#: Names of entries of a record, which stand in every expression.
_ENTRIES = frozenset({"value", "metadata"})
#: The rule files of all rounds. (training_0.7.0_warn is of no round, and one of its files cannot be read.)
_FILES = sorted(OFFICIAL.glob("*.0/*.yaml"))


@lru_cache(maxsize=1024)
def near_official(key: str) -> tuple[Any, ...]:
    """The literals in the expressions on a key, of whatever round and benchmark, and what is just beside them."""
    found = [value for file in _FILES for literal in literals_in(file).get(key, ()) for value in beside(literal)]
    return tuple({repr(value): value for value in found}.values())


@lru_cache(maxsize=1024)
def literals_in(file: Path) -> dict[str, list[Any]]:
    """The literals in the expressions of one rule file, by key."""
    literals: dict[str, list[Any]] = {}
    for record in yaml.load(file.read_text(), Loader=_LOADER) or []:  # noqa: S506  (builds no objects)
        key = record.get("KEY", {})
        for part in ("CHECK", "FIRST_CHECK", "ATLEAST_ONE_CHECK"):
            texts = key.get(part, [])
            for text in texts if isinstance(texts, list) else [texts]:
                literals.setdefault(key["NAME"], []).extend(_constants(text))
    return literals


def _constants(text: str) -> Iterator[Any]:
    try:
        nodes = list(ast.walk(ast.parse(text.strip(), mode="eval")))
    except SyntaxError:
        return
    for node in nodes:
        if isinstance(node, ast.Constant) and node.value not in _ENTRIES:
            yield node.value


def beside(literal: Any) -> Iterator[Any]:
    """A literal, the nearest numbers to it, and others that look like it."""
    yield literal
    if isinstance(literal, int | float) and not isinstance(literal, bool):
        yield from (math.nextafter(literal, -math.inf), math.nextafter(literal, math.inf))
        yield from (literal + 1, literal - 1, 2 * literal, literal / 2, -literal, float(literal), str(literal))
    elif isinstance(literal, str):
        yield from (literal.upper(), literal.lower(), f"{literal} ", literal[:-1])
