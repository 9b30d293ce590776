"""The values of a system description on which the official result summarizer of a round ends with a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.rounds import Summarizer
from mlsub.systems.fields import fields
from mlsub.systems.lines import Lines


def crashes(content: dict[str, Any], lines: Lines, summarizer: Summarizer) -> dict[str, Finding]:
    """The fields that the summarizer cannot use, each with its finding."""
    counted = summarizer.counted
    if content.get("system_name") == summarizer.TPU:
        counted += summarizer.counted_of_tpu
    tests = (
        (counted, _is_counted, "a whole number"),
        (summarizer.joined, _is_joined, "text"),
        (summarizer.sorted, _is_sorted, "text"),
        (summarizer.searched, _is_searched, "text"),
        (summarizer.printed, _is_printed, "text that UTF-8 can hold"),
    )
    bad: dict[str, str] = {}
    for names, passes, expected in tests:
        for name in names:
            if name in content and not passes(content[name]):
                bad.setdefault(name, expected)
    if summarizer.bits is not None and bad.keys().isdisjoint(counted):
        bad |= dict.fromkeys(_too_large(content, summarizer.bits, counted), f"a count below 2^{summarizer.bits}")
    return {name: _crash(name, content[name], expected, lines) for name, expected in bad.items()}


def _crash(name: str, value: Any, expected: str, lines: Lines) -> Finding:
    message = f"The official result summarizer ends with a traceback on the field {name}"
    fix = f"Write {expected}, such as {show(fields().fields[name].example)}."
    source = "official result_summarizer"
    return lines.finding("official.crash", name, message, expected=expected, actual=show(value), fix=fix, source=source)


def _is_counted(value: Any) -> bool:
    try:
        int(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_joined(value: Any) -> bool:
    return isinstance(value, str) or not value


def _is_sorted(value: Any) -> bool:
    return not isinstance(value, (list, dict))


def _is_searched(value: Any) -> bool:
    """Whether a text can be looked for in it; where it is found, the value must be text itself."""
    return isinstance(value, str) or (isinstance(value, (list, dict)) and "TensorFlow" not in value)


def _is_printed(value: Any) -> bool:
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _too_large(content: dict[str, Any], bits: int, counted: tuple[str, ...]) -> Iterator[str]:
    """The larger factor of each product, of nodes and of what a node has, that is too large."""
    nodes, *others = counted
    for other in others:
        if nodes in content and other in content:
            factors = {name: int(content[name]) for name in (nodes, other)}
            # The largest numbers are read without a sign.
            if not -(1 << bits - 1) <= factors[nodes] * factors[other] < 1 << bits:
                yield max(factors, key=lambda name: abs(factors[name]))
