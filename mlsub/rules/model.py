"""The rules of one round, division and benchmark, in the form the engine reads, and how rule files write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from mlsub.findings import Blocks
from mlsub.rules.constraints import OPERATORS, Constraint, constraints_of, operand_words


class Occurs(msgspec.Struct, frozen=True):
    """How often a key must appear.

    ``exactly_one`` allows repeats with the very same value, with a warning. ``once_where`` is (key, value): exactly
    once in a log that states this value, never in another.
    """

    exactly_one: bool = False
    at_least: int = 0
    once_where: tuple[str, str] | None = None

    @property
    def least(self) -> int:
        """The number of records that every log needs."""
        return 1 if self.exactly_one else self.at_least

    @property
    def is_required(self) -> bool:
        """Whether a log without the key breaks the rules, at least where another key has a certain value."""
        return bool(self.least or self.once_where)

    def words(self) -> str:
        """The demand in words, or "any number of times"."""
        if self.exactly_one:
            return "exactly once"
        if self.once_where:
            return "exactly once where {} is {}, otherwise never".format(*self.once_where)
        return (
            f"at least {'once' if self.at_least == 1 else f'{self.at_least} times'}"
            if self.at_least
            else "any number of times"
        )


class Within(msgspec.Struct, frozen=True):
    """A time limit: less than ``minutes`` (a number or a formula) after the earliest ``of`` so far."""

    of: str
    minutes: float | str

    def words(self) -> str:
        """The limit in words."""
        minutes = operand_words(self.minutes) if isinstance(self.minutes, str) else f"{self.minutes:g}"
        return f"less than {minutes} minutes after the first {self.of}"


class MetadataEntry(msgspec.Struct, frozen=True):
    """What the metadata of a record must say: one of ``names``, and constraints on what stands there.

    ``optional`` means that nothing is missing without; ``when`` names another entry without which nothing is asked.
    """

    names: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()
    optional: bool = False
    when: str | None = None

    def words(self) -> str:
        """The demand in words."""
        words = " and ".join([" or ".join(self.names), *(c.words() for c in self.constraints)])
        if self.when:
            words += f" where there is {self.when}"
        return f"{words}, if there" if self.optional else words


class Gathers(msgspec.Struct, frozen=True):
    """A virtual key: the records of ``key`` whose metadata has ``field``, one object for each value of ``by``."""

    key: str
    field: str
    by: str


class Reach(msgspec.Struct, frozen=True):
    """A quality target: at least one evaluation must hold all of these. ``field`` picks one of several measures."""

    field: str | None
    constraints: tuple[Constraint, ...]

    def words(self) -> str:
        """The target in words."""
        demand = " and ".join(c.words() for c in self.constraints)
        return f"{self.field} {demand}" if self.field else demand


class KeyRule(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one round demands of one key.

    ``blocks`` is the division a violation rules out, ``origin`` the official file the demand comes from,
    ``warn_only`` the aspects of which the official checker in force only warned, ``first_metadata`` what holds for the
    first record only, ``nested`` the way v0.6 nests its epochs and evaluations (see :mod:`mlsub.rules.nesting`),
    ``note`` what a reader of a violation has to know besides, ``where`` the (key, value) that a log must state for the
    rule to hold.
    """

    key: str
    blocks: Blocks
    origin: str
    occurs: Occurs = Occurs()
    value: tuple[Constraint, ...] = ()
    metadata: tuple[MetadataEntry, ...] = ()
    first_metadata: tuple[MetadataEntry, ...] = ()
    after: tuple[str, ...] = ()
    not_after: tuple[str, ...] = ()
    within: Within | None = None
    reaches: tuple[Reach, ...] = ()
    tensors: tuple[str, ...] | None = None
    warn_only: tuple[str, ...] = ()
    gathers: Gathers | None = None
    nested: str | None = None
    note: str | None = None
    where: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """What to call the key: a virtual one by what it is made of."""
        return f"{self.gathers.key} of one {self.gathers.by}" if self.gathers else self.key


class RuleSet(msgspec.Struct, frozen=True, kw_only=True):
    """The rules a log is checked against; ``variants`` are those that hang on what a log states.

    ``division`` and ``benchmark`` are None where the log names none that is known; ``checker`` is the place in the
    official checker that findings cite.
    """

    division: str | None
    benchmark: str | None = None
    rules: tuple[KeyRule, ...]
    variants: tuple[KeyRule, ...] = ()
    alternatives: tuple[tuple[str, ...], ...]
    checker: str

    @property
    def every(self) -> tuple[KeyRule, ...]:
        """The rules that always hold, and then those of variants."""
        return self.rules + self.variants


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
        occurs=_parse_occurs(taken["occurs"]),
        value=_parse_constraints(key, fields),
        metadata=_parse_metadata(key, taken["metadata"]),
        first_metadata=_parse_metadata(key, (taken["first"] or {}).get("metadata")),
        after=tuple(taken["after"] or ()),
        not_after=tuple(taken["not_after"] or ()),
        within=Within(within["of"], within["minutes"]) if within else None,
        reaches=_parse_targets(key, taken["reaches"] or {}),
        tensors=expand(taken["tensors"]) if taken["tensors"] else None,
        warn_only=tuple(taken["warn_only"] or ()),
        gathers=Gathers(**gathers) if gathers else None,
        nested=None if nested is None else str(nested).lower(),
    )


def _parse_occurs(text: str | dict[str, Any] | None) -> Occurs:
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


def _parse_metadata(key: str, metadata: Any) -> tuple[MetadataEntry, ...]:
    if not isinstance(metadata, dict):
        metadata = {name: {} for name in metadata or ()}
    entries = []
    for names, demand in metadata.items():
        fields = dict(demand or {})
        optional, when = bool(fields.pop("optional", False)), fields.pop("when", None)
        entries.append(MetadataEntry(tuple(names.split(" or ")), _parse_constraints(key, fields), optional, when))
    return tuple(entries)


def _parse_constraints(key: str, fields: dict[str, Any]) -> tuple[Constraint, ...]:
    unknown = sorted(set(fields) - OPERATORS)
    if unknown:
        raise ValueError(f"{key}: unknown operator {unknown[0]!r}")
    return constraints_of(fields)


def _parse_targets(key: str, target: dict[str, Any]) -> tuple[Reach, ...]:
    if not target:
        return ()
    if all(name in OPERATORS for name in target):
        return (Reach(None, _parse_constraints(key, target)),)
    return tuple(Reach(field, _parse_constraints(key, demand)) for field, demand in target.items())


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
    low, dots, high = match[1].partition("..")
    words = map(str, range(int(low), int(high) + 1)) if dots else match[1].split(",")
    for word in words:
        yield from _expand(pattern[: match.start()] + word + pattern[match.end() :], depth + 1)
