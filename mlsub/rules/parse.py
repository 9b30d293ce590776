"""One key's demands, as written in a rule file, as a rule."""

from __future__ import annotations

from typing import Any

from mlsub.findings import Blocks
from mlsub.rules.constraints import OPERATORS, Constraint, constraints_of
from mlsub.rules.expand import expand
from mlsub.rules.model import Entry, Gathers, KeyRule, Occurs, Reach, Within

#: The words of a key's demands that are no constraints on its value.
DEMANDS = (
    *("occurs", "metadata", "first", "after", "not_after", "within", "reaches", "tensors", "warn_only"),
    *("gathers", "nested"),
)


def parse_rule(key: str, demands: Any, blocks: Blocks, origin: str, benchmarks: tuple[str, ...]) -> KeyRule:
    """The rule.

    Args:
        key: the key of a log's records.
        demands: a mapping of the vocabulary, or the short form of an occurrence.
        blocks: which division a violation rules out.
        origin: the official file that says so.
        benchmarks: those of the round.

    Raises:
        ValueError: a word that is not of the vocabulary, or a formula that is none.
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
