"""Figures and findings as facts: rounded, sorted, short, and free of the places of this machine."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

#: A name that a person can look up, and a value or a short list of values.
Facts = dict[str, Any]

#: Lists with more values than this become a count, the ends, and a sketch.
SHORT = 12
_DIGITS = 12
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
#: Names of a kind that may change; others stand as they are.
_KINDS = {"audit": "review"}


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


def sketch(value: Any) -> str:
    """A large value in a few words: how many values, the sum of its numbers, and how much text."""
    leaves = list(_leaves(rounded(value)))
    figures = [leaf for leaf in leaves if isinstance(leaf, int | float) and not isinstance(leaf, bool)]
    texts = [leaf for leaf in leaves if isinstance(leaf, str)]
    words = [f"{len(leaves)} values"]
    if figures:
        words.append(f"sum {rounded(math.fsum(figures))}")
    if texts:
        words.append(f"{sum(map(len, texts))} characters from {texts[0][:30]} to {texts[-1][:30]}")
    return ", ".join(words)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key in sorted(value):
            yield key
            yield from _leaves(value[key])
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def shortened(values: Sequence[Any]) -> Any:
    """A short list as it is; a long one as its ends and a sketch."""
    values = rounded(list(values))
    if len(values) <= SHORT:
        return values
    return {"count": len(values), "first": values[0], "last": values[-1], "all": sketch(values)}


def numbers(text: str | None) -> list[float]:
    """The numbers of a phrase, in order of size: what is left of it when its words change."""
    return sorted(rounded(float(found.replace(",", ""))) for found in _NUMBER.findall(text or ""))


def values(model: Mapping[str, Any] | None, *names: str) -> list[Any] | None:
    """Some values of a JSON object, in the order asked for."""
    return None if model is None else [rounded(model.get(name)) for name in names]


def flat(value: Any) -> list[Any]:
    """The numbers of a nested value, in its order."""
    if isinstance(value, bool | int | float):
        return [rounded(value)]
    below: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [figure for item in below for figure in flat(item)]


def finding_facts(findings: Iterable[Mapping[str, Any]]) -> Facts:
    """Rule, kind, severity and path of each finding, and the lines where it was found."""
    lines: dict[str, list[int | None]] = defaultdict(list)
    for found in findings:
        kind = _KINDS.get(found["kind"], found["kind"])
        lines[f"finding {found['rule']} {kind} {found['severity']} {found['path']}"].append(found.get("line"))
    return {name: shortened(sorted(found, key=lambda line: line or 0)) for name, found in lines.items()}


def dumps(facts: Facts) -> str:
    """Facts as JSON, sorted, one a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(rounded(facts[name]), sort_keys=True)}" for name in sorted(facts)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def difference(old: Facts, new: Facts) -> list[str]:
    """What changed, a line a fact: gone, new, or both values."""
    lines = [f"- {name}: {json.dumps(old[name])}" for name in sorted(old.keys() - new.keys())]
    lines += [f"+ {name}: {json.dumps(new[name])}" for name in sorted(new.keys() - old.keys())]
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            lines += [f"  {name}", f"    - {json.dumps(old[name])}", f"    + {json.dumps(new[name])}"]
    return lines
