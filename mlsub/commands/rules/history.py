"""How demands went through the rounds: what holds since when, and which logs a demand binds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from mlsub.commands.rules.diff import Fact, KeyChange, keyed, round_diff
from mlsub.commands.rules.overview import BenchmarkLine, benchmark_line
from mlsub.commands.rules.table import Row, RuleTable, Section, is_common, rule_table
from mlsub.commands.rules.words import parts
from mlsub.divisions import DIVISIONS
from mlsub.rounds import Round
from mlsub.rounds.names import rounds_with
from mlsub.rules.load import rules_for


class Period(msgspec.Struct, frozen=True):
    """Rounds in a row in which an entry needs the same."""

    rounds: tuple[Round, ...]
    needs: BenchmarkLine


class Step(msgspec.Struct, frozen=True):
    """What a round changed for a benchmark, beyond what it changed for every log."""

    round: Round
    facts: tuple[Fact, ...]
    keys: tuple[KeyChange, ...]


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark through the rounds of one usage.

    ``newest`` are its own demands in the newest round, by division; ``since`` the first round in which a row has been
    what it is now, by division, condition and key.
    """

    usage: str
    name: str
    title: str
    rounds: tuple[Round, ...]
    periods: tuple[Period, ...]
    newest: tuple[RuleTable, ...]
    since: dict[tuple[str, str, str], str]
    steps: tuple[Step, ...]


def history(usage: str, name: str) -> History:
    """The history of one benchmark."""
    rounds = rounds_with(usage, name)
    newest = [_own(rule_table(rounds[-1], division, name)) for division in DIVISIONS]
    now = [(table, section, row) for table in newest for section in table.sections for row in section.rows]
    steps = []
    for before, after in pairwise(rounds):
        diff = round_diff(before, after, (name,))
        for of in diff.benchmarks:
            steps.append(Step(after, of.facts, of.keys))
    return History(
        usage=usage,
        name=name,
        title=newest[0].title,
        rounds=tuple(rounds),
        periods=tuple(_periods(rounds, name)),
        newest=tuple(newest),
        since={
            (table.division, _where(section), row.key): _since(rounds, table, section, row)
            for table, section, row in now
        },
        steps=tuple(steps),
    )


def _where(section: Section) -> str:
    return section.where.words() if section.where else ""


def _own(table: RuleTable) -> RuleTable:
    """The table without what holds for every benchmark."""
    sections = []
    for section in table.sections:
        rows = tuple(row for row in section.rows if not is_common(row.source))
        if rows:
            sections.append(Section(section.where, rows))
    return msgspec.structs.replace(table, sections=tuple(sections))


def _periods(rounds: Sequence[Round], name: str) -> list[Period]:
    found: list[Period] = []
    for round_ in rounds:
        needs = benchmark_line(round_, name)
        if found and found[-1].needs == needs:
            found[-1] = Period((*found[-1].rounds, round_), needs)
        else:
            found.append(Period((round_,), needs))
    return found


def _since(rounds: Sequence[Round], table: RuleTable, section: Section, row: Row) -> str:
    """The first round since which a row's demands have not changed."""
    first = rounds[-1].name
    wanted = None
    for round_ in reversed(rounds):
        rules = keyed(rules_for(round_.usage, round_.name, table.division, table.benchmark, round_.overlay))
        rule = rules.get((row.key, section.where))
        found = None if rule is None else (set(parts(rule, table.division)), rule.warn_only)
        wanted = found if wanted is None else wanted
        if found != wanted:
            break
        first = round_.name
    return first
