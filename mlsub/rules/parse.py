"""One key's demands, as written in a rule file, as a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from mlsub.findings import Blocks
from mlsub.rules.constraints import OPERATORS, Constraint, constraints_of
from mlsub.rules.model import Entry, Gathers, KeyRule, Occurs, Reach, Within

#: The words of a key's demands that are not constraints on its value.
DEMANDS = (
    *("occurs", "metadata", "first", "after", "not_after", "within", "reaches", "tensors", "warn_only"),
    *("gathers", "nested"),
)

#: The most that a pattern may stand for; models have some thousand tensors.
MAX_NAMES = 100_000
_MAX_GROUPS = 20
_GROUP = re.compile(r"\{([^{}]*)\}")


def parse_rule(key: str, demands: Any, blocks: Blocks, origin: str, benchmarks: tuple[str, ...]) -> KeyRule:
    """The rule.

    Args:
        key: the key of a log's records.
        demands: a mapping of the vocabulary, or the short form of an occurrence.
        blocks: which division a violation rules out.
        origin: the official file that says so.
        benchmarks: those of the round.

    Raises:
        ValueError: an unknown word, or text that is not a formula.
    """
    fields: dict[str, Any] = {"occurs": demands} if isinstance(demands, str) else dict(demands or {})
    taken = {name: fields.pop(name, None) for name in DEMANDS}
    if fields.pop("benchmark_of_round", False):
        fields["one_of"] = list(benchmarks)
    within, gathers, nested = taken["within"], taken["gathers"], taken["nested"]
    return KeyRule(
        key=key,
        blocks=blocks,
        origin=origin,
        occurs=_occurs(taken["occurs"]),
        value=_constraints(key, fields),
        metadata=_entries(key, taken["metadata"]),
        first_metadata=_entries(key, (taken["first"] or {}).get("metadata")),
        after=tuple(taken["after"] or ()),
        not_after=tuple(taken["not_after"] or ()),
        within=Within(within["of"], within["minutes"]) if within else None,
        reaches=_reaches(key, taken["reaches"] or {}),
        tensors=expand(taken["tensors"]) if taken["tensors"] else None,
        warn_only=tuple(taken["warn_only"] or ()),
        gathers=Gathers(**gathers) if gathers else None,
        nested=None if nested is None else str(nested).lower(),
    )


def _occurs(text: str | dict[str, Any] | None) -> Occurs:
    if text is None or text == "any":
        return Occurs()
    if text == "exactly_one":
        return Occurs(exactly_one=True)
    if text == "at_least_one":
        return Occurs(at_least=1)
    if isinstance(text, dict) and "at_least" in text:
        return Occurs(at_least=text["at_least"])
    if isinstance(text, dict) and len(text.get("once_where") or ()) == 1:
        [(key, value)] = text["once_where"].items()
        return Occurs(once_where=(key, value))
    raise ValueError(f"unknown occurrence {text!r}")


def _entries(key: str, metadata: Any) -> tuple[Entry, ...]:
    if not isinstance(metadata, dict):
        metadata = {name: {} for name in metadata or ()}
    entries = []
    for names, demand in metadata.items():
        fields = dict(demand or {})
        optional, when = bool(fields.pop("optional", False)), fields.pop("when", None)
        entries.append(Entry(tuple(names.split(" or ")), _constraints(key, fields), optional, when))
    return tuple(entries)


def _constraints(key: str, fields: dict[str, Any]) -> tuple[Constraint, ...]:
    unknown = sorted(set(fields) - OPERATORS)
    if unknown:
        raise ValueError(f"{key}: unknown operator {unknown[0]!r}")
    return constraints_of(fields)


def _reaches(key: str, target: dict[str, Any]) -> tuple[Reach, ...]:
    if not target:
        return ()
    if all(name in OPERATORS for name in target):
        return (Reach(None, _constraints(key, target)),)
    return tuple(Reach(field, _constraints(key, demand)) for field, demand in target.items())


def expand(patterns: Iterable[str]) -> tuple[str, ...]:
    """Every name that short patterns for long lists stand for, such as ``layer_{0..23}/{kernel,bias}``, sorted.

    ``{a,b}`` is one of the listed words (one may be empty), ``{0..3}`` a whole number of the closed range.

    Raises:
        ValueError: a range does not have two numbers, or there would be too many names.
    """
    names = tuple(islice((name for pattern in patterns for name in _expand(pattern)), MAX_NAMES + 1))
    if len(names) > MAX_NAMES:
        raise ValueError(f"more than {MAX_NAMES} names")
    return tuple(sorted(names))


def _expand(pattern: str, depth: int = 0) -> Iterator[str]:
    if depth > _MAX_GROUPS:
        raise ValueError(f"more than {_MAX_GROUPS} groups in one pattern")
    match = _GROUP.search(pattern)
    if match is None:
        yield pattern
        return
    for word in _words(match[1]):
        yield from _expand(pattern[: match.start()] + word + pattern[match.end() :], depth + 1)


def _words(group: str) -> Iterable[str]:
    low, dots, high = group.partition("..")
    if dots:
        return (str(number) for number in range(int(low), int(high) + 1))
    return group.split(",")
