"""Logs drawn from the official rule files: for each key a record whose value passes the checks of it alone."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import yaml

from tests.differential.generate import CYCLE, HEAD, START_MS, TAIL, Combination, Record, usage_and_round
from tests.differential.official_values import beside, literals_in
from tests.differential.oracle import OFFICIAL
from tests.differential.shortcuts import evaluate

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_ENTRY = re.compile(r"""['"](\w+)['"] in v\[['"]metadata['"]\]|v\[['"]metadata['"]\]\[['"](\w+)['"]\]""")
#: Where a key of a run stands; hyperparameters stand where ``init_start`` does.
_ORDER = {key: place for place, key in enumerate((*HEAD, "", "init_stop", "run_start", *CYCLE, *TAIL[2:]))}
_CHECKS = ("CHECK", "FIRST_CHECK", "ATLEAST_ONE_CHECK")
_OTHERS: tuple[Any, ...] = (1, 0, 0.5, "x", [1, 2], True, 448, 1e-6, None)


def official_records(combination: Combination, rng: random.Random) -> list[Record]:
    """A log by the official rule files of a round, division and benchmark; empty where there are none."""
    careless = rng.randrange(2) == 0
    rules = [rule for rule in _rules(combination) if _is_there(rule, rng, careless=careless)]
    rules.sort(key=lambda rule: _ORDER.get(rule["NAME"], _ORDER[""]))
    chosen = [(rule["NAME"], *_content(rule, combination, rng, careless=careless)) for rule in rules]
    return [
        {"time_ms": START_MS + 1000 * place, "key": key, "value": value, "metadata": metadata}
        for place, (key, value, metadata) in enumerate(chosen)
    ]


def _is_there(rule: dict[str, Any], rng: random.Random, *, careless: bool) -> bool:
    """Whether a key is logged: what has to be there nearly always, anything else sometimes."""
    if rule.get("REQ", "").startswith(("EXACTLY_ONE", "AT_LEAST")):
        return not careless or rng.randrange(60) > 0
    return rng.randrange(4) == 0


@cache
def _rules(combination: Combination) -> tuple[dict[str, Any], ...]:
    """The rules in force, the last of each key."""
    usage, name = usage_and_round(combination.round)
    folder = OFFICIAL / f"{usage}_{name}.0"
    files = ("common", f"{combination.division}_common", combination.benchmark, f"closed_{combination.benchmark}")
    found: dict[str, dict[str, Any]] = {}
    for file in (folder / f"{part}.yaml" for part in (*files, f"{combination.division}_{combination.benchmark}")):
        for entry in (yaml.load(file.read_text(), Loader=_LOADER) or []) if file.exists() else []:  # noqa: S506
            if "KEY" in entry:
                rule = entry["KEY"]
                found[rule["NAME"]] = {**rule, "literals": literals_in(file).get(rule["NAME"], [])}
    return tuple(found.values())


def _content(
    rule: dict[str, Any], combination: Combination, rng: random.Random, *, careless: bool
) -> tuple[Any, dict[str, Any]]:
    """A value and metadata for a key."""
    tests = [text for part in _CHECKS for text in _texts(rule.get(part))]
    metadata: dict[str, Any] = {name: 1 for text in tests for found in _ENTRY.findall(text) for name in found if name}
    named = {"submission_benchmark": combination.benchmark, "submission_division": combination.division}
    if rule["NAME"] in named:
        return named[rule["NAME"]], metadata
    if rule["NAME"] == "run_stop":
        return None, {"status": "success"}
    candidates = [*combination.chosen, *rule["literals"], *_OTHERS]
    if careless and rng.randrange(8) == 0:
        return rng.choice([near for value in candidates for near in beside(value)]), metadata
    good = [value for value in candidates if _passes(tests, value, metadata)]
    return rng.choice(good or candidates), metadata


def _texts(part: Any) -> list[str]:
    return part if isinstance(part, list) else [part] if part else []


def _passes(tests: list[str], value: Any, metadata: Mapping[str, Any]) -> bool:
    """Whether the checks let a value pass; those that need the rest of the log say nothing."""
    scope = {"s": {}, "math": math, "is_integer": lambda x: abs(round(x) - x) < 0.00001}
    for text in tests:
        line = {"ll": SimpleNamespace(timestamp=START_MS), "v": {"value": value, "metadata": dict(metadata)}}
        try:
            if not evaluate(text.strip(), dict(scope), line):
                return False
        except KeyError:
            continue
        except Exception:
            return False
    return True
