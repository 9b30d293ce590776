"""The rules of one benchmark, round and division as a table, and a key's demands in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import msgspec

from mlsub.findings import Blocks
from mlsub.present.envelope import Answer
from mlsub.rounds import Round
from mlsub.rules.aspects import ASPECTS, aspects_of
from mlsub.rules.aspects.base import Part
from mlsub.rules.aspects.count import Count, Repeated
from mlsub.rules.load import benchmark, rules_for
from mlsub.rules.model import KeyRule, Occurs, RuleSet
from mlsub.rules.phrases import rule_id


class OfBenchmark(Answer, frozen=True, kw_only=True):
    """What the answers about one benchmark have in common; ``targets`` are the quality targets in words."""

    usage: str
    round: str
    division: str
    benchmark: str
    title: str
    targets: tuple[str, ...]


class Condition(msgspec.Struct, frozen=True):
    """Rules that hold only where a log gives a key this value."""

    key: str
    value: str

    def words(self) -> str:
        """The condition in words."""
        return f"where {self.key} is {self.value}"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One key: how often it must appear, what else is demanded, and the official file that says so.

    ``where`` is None for what always holds; ``rules`` are the ids of the findings that may come of it.
    """

    where: Condition | None
    key: str
    occurs: str
    required: bool
    demands: tuple[str, ...]
    warn_only: tuple[str, ...]
    blocks: Blocks
    source: str
    rules: tuple[str, ...]

    @property
    def constraints(self) -> tuple[str, ...]:
        """The demands, and which of them are only warnings."""
        warned = (f"only a warning: {', '.join(self.warn_only)}",) if self.warn_only else ()
        return (*self.demands, *warned)

    @property
    def of_every_benchmark(self) -> bool:
        """Whether its official file holds rules of every benchmark."""
        return self.source.endswith("common.yaml")


class RuleTable(OfBenchmark, frozen=True, kw_only=True):
    """Everything demanded of the logs of one benchmark.

    ``runs`` is the number of result files of an entry, ``forgiven`` how many of them may be noncompliant,
    ``at_least_one_of`` groups of keys of which one must appear.
    """

    SCHEMA: ClassVar[int] = 4

    runs: int
    forgiven: int
    checker: str
    rows: tuple[Row, ...]
    at_least_one_of: tuple[tuple[str, ...], ...]


def rule_table(round_: Round, division: str, name: str) -> RuleTable:
    """The table.

    Raises:
        KeyError: the round has no such benchmark.
    """
    needs = benchmark(round_.usage, round_.name, name, round_.overlay)
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    rows = [row_of(rule, division, where) for where, rule in conditioned(rules)]
    if round_.overlay is not None:
        own = rules_for(round_.usage, round_.name, division, name, round_.overlay, house=True)
        rows += [msgspec.structs.replace(row_of(rule, division), source=own.checker) for rule in own.rules]
    return RuleTable(
        **about(round_, division, name),
        runs=needs.runs,
        forgiven=needs.forgiven,
        checker=round_.checker,
        rows=tuple(rows),
        at_least_one_of=rules.alternatives,
    )


def about(round_: Round, division: str, name: str) -> dict[str, Any]:
    """The fields that the answers about one benchmark have in common."""
    return {
        "usage": round_.usage,
        "round": round_.name,
        "division": division,
        "benchmark": name,
        "title": benchmark(round_.usage, round_.name, name, round_.overlay).title,
        "targets": targets(round_, division, name),
    }


def targets(round_: Round, division: str, name: str) -> tuple[str, ...]:
    """The quality targets in words."""
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    reaching = (rule for _, rule in conditioned(rules) if rule.reaches)
    return tuple(
        dict.fromkeys(
            f"{rule.gathers.key if rule.gathers else rule.key} {', '.join(reach.words() for reach in rule.reaches)}"
            for rule in reaching
        )
    )


def conditioned(rules: RuleSet) -> Iterator[tuple[Condition | None, KeyRule]]:
    """Every rule with the condition that it hangs on, those that always hold first."""
    yield from ((None, rule) for rule in rules.rules)
    for variant in rules.variants:
        where = Condition(variant.key, variant.value)
        yield from ((where, rule) for rule in variant.rules)


def row_of(rule: KeyRule, division: str, where: Condition | None = None) -> Row:
    """A rule as a row."""
    return Row(
        where=where,
        key=rule.key,
        occurs=occurs_words(rule.occurs),
        required=rule.occurs.is_required,
        demands=tuple(describe(parts(rule, division)[1:])),
        warn_only=rule.warn_only,
        blocks=rule.blocks,
        source=rule.origin,
        rules=tuple(rule_id(rule.key, aspect.name) for aspect in aspects_of(rule)),
    )


def occurs_words(occurs: Occurs) -> str:
    """How often a key must appear, or "optional"."""
    return occurs.words() if occurs.is_required else "optional"


def parts(rule: KeyRule, division: str | None) -> tuple[Part, ...]:
    """Everything that is demanded of a key in a division, the number of records first: what can change one by one."""
    others = [aspect for aspect in aspects_of(rule) if not isinstance(aspect, (Count, Repeated))]
    return (
        Part(Count.name, occurs_words(rule.occurs)),
        *(part for aspect in others for part in aspect.parts(division)),
    )


def describe(found: Iterable[Part], warn_only: tuple[str, ...] = ()) -> list[str]:
    """Parts as phrases, those of one aspect together."""
    groups: dict[str, list[str]] = {}
    for part in found:
        groups.setdefault(part.aspect, []).append(part.words)
    phrases = [ASPECTS[aspect].phrase(words) for aspect, words in groups.items()]
    if warn_only:
        phrases.append(f"only a warning: {' and '.join(warn_only)}")
    return phrases
