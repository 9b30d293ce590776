"""The rules of one benchmark, round and division as a table."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.commands.rules.words import describe, occurs_words, parts, target_words
from mlsub.findings import Blocks
from mlsub.present.envelope import Answer
from mlsub.rounds import Round
from mlsub.rules.aspects import aspects_of
from mlsub.rules.load import benchmark, rules_for
from mlsub.rules.model import KeyRule, RuleSet
from mlsub.rules.phrases import rule_id


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One key: how often it must appear, what else is demanded, and the official file that says so.

    ``rules`` are the ids of the findings that may come of it.
    """

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


class Condition(msgspec.Struct, frozen=True):
    """Rules that hold only where a log gives a key this value."""

    key: str
    value: str

    def words(self) -> str:
        """The condition in words."""
        return f"where {self.key} is {self.value}"


class Section(msgspec.Struct, frozen=True):
    """Rows that belong together; ``where`` is None for those that always hold."""

    where: Condition | None
    rows: tuple[Row, ...]


class RuleTable(Answer, frozen=True, kw_only=True):
    """Everything demanded of the logs of one benchmark.

    ``runs`` is the number of result files of an entry, ``forgiven`` how many of them may be noncompliant, ``targets``
    the quality targets in words, ``at_least_one_of`` groups of keys of which one must appear.
    """

    SCHEMA: ClassVar[int] = 2

    usage: str
    round: str
    division: str
    benchmark: str
    title: str
    runs: int
    forgiven: int
    targets: tuple[str, ...]
    checker: str
    sections: tuple[Section, ...]
    at_least_one_of: tuple[tuple[str, ...], ...]


class CommonTable(msgspec.Struct, frozen=True):
    """What every log must hold."""

    rows: tuple[Row, ...]
    at_least_one_of: tuple[tuple[str, ...], ...]


def rule_table(round_: Round, division: str, name: str) -> RuleTable:
    """The table.

    Raises:
        KeyError: the round has no such benchmark.
    """
    needs = benchmark(round_.usage, round_.name, name, round_.overlay)
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    sections = [Section(None, tuple(_row(rule, division) for rule in rules.rules))]
    for variant in rules.variants:
        rows = tuple(_row(rule, division) for rule in variant.rules)
        sections.append(Section(Condition(variant.key, variant.value), rows))
    sections.append(Section(None, _house_rows(round_, division, name)))
    return RuleTable(
        usage=round_.usage,
        round=round_.name,
        division=division,
        benchmark=name,
        title=needs.title,
        runs=needs.runs,
        forgiven=needs.forgiven,
        targets=targets(rules),
        checker=round_.checker,
        sections=tuple(section for section in sections if section.rows),
        at_least_one_of=rules.alternatives,
    )


def _house_rows(round_: Round, division: str, name: str) -> tuple[Row, ...]:
    """What a rule file of the user's own demands beside."""
    if round_.overlay is None:
        return ()
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay, house=True)
    return tuple(msgspec.structs.replace(_row(rule, division), source=rules.checker) for rule in rules.rules)


def common_table(round_: Round, division: str) -> CommonTable:
    """What every log of a division must hold, whatever its benchmark."""
    rules = rules_for(round_.usage, round_.name, division, None, round_.overlay)
    return CommonTable(tuple(_row(rule, division) for rule in rules.rules), rules.alternatives)


def targets(rules: RuleSet) -> tuple[str, ...]:
    """The quality targets of a rule set, in words."""
    every = (*rules.rules, *(rule for variant in rules.variants for rule in variant.rules))
    return tuple(dict.fromkeys(words for rule in every if (words := target_words(rule))))


def is_common(source: str) -> bool:
    """Whether an official file holds rules of every benchmark."""
    return source.endswith("common.yaml")


def _row(rule: KeyRule, division: str) -> Row:
    return Row(
        key=rule.key,
        occurs=occurs_words(rule.occurs),
        required=rule.occurs.is_required,
        demands=tuple(describe(parts(rule, division)[1:])),
        warn_only=rule.warn_only,
        blocks=rule.blocks,
        source=rule.origin,
        rules=tuple(rule_id(rule.key, aspect.name) for aspect in aspects_of(rule)),
    )
