"""Which rounds, benchmarks and rule ids there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from mlsub.commands.rules.table import Condition, OfBenchmark, about, conditioned, targets
from mlsub.divisions import DIVISIONS
from mlsub.present.envelope import Answer
from mlsub.rounds import Round, names, usages
from mlsub.rules.aspects import aspects_of
from mlsub.rules.aspects.count import AnyOf
from mlsub.rules.catalogue import catalogue
from mlsub.rules.load import benchmark, rules_for
from mlsub.rules.model import KeyRule
from mlsub.rules.phrases import rule_id


class BenchmarkLine(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark of a round; ``targets`` are the quality targets in words, by division."""

    name: str
    title: str
    runs: int
    forgiven: int
    targets: dict[str, tuple[str, ...]]


class RoundLine(msgspec.Struct, frozen=True, kw_only=True):
    """A round; ``package`` says what it asks of whole packages, in words."""

    usage: str
    round: str
    title: str
    ruleset: str
    checker: str
    package: dict[str, str]
    benchmarks: tuple[BenchmarkLine, ...]


class Overview(Answer, frozen=True, kw_only=True):
    """Rounds: all of them, one with its benchmarks, or those of one benchmark. ``division`` is that of the targets."""

    SCHEMA: ClassVar[int] = 2

    view: str
    division: str
    rounds: tuple[RoundLine, ...]


class RuleLine(msgspec.Struct, frozen=True):
    """A rule id and what it demands."""

    id: str
    demand: str


class RuleIds(OfBenchmark, frozen=True, kw_only=True):
    """The rule ids of one benchmark's logs, and those that are not about one key."""

    SCHEMA: ClassVar[int] = 3

    rules: tuple[RuleLine, ...]
    general: tuple[RuleLine, ...]


def overview(
    division: str, round_: str | None, benchmark: str | None, usage: str | None, overlay: str | None
) -> Overview:
    """All rounds (of a usage), one with its benchmarks, or those of one benchmark, oldest first.

    Raises:
        MlsubError: an unknown name.
    """
    if benchmark:
        found, name = names.find_benchmark(benchmark, None, usage, overlay)
        lines = [round_line(other, (name,)) for other in names.rounds_with(found.usage, name, overlay)]
        return Overview(view="benchmark", division=division, rounds=tuple(lines))
    if round_:
        asked = names.find_round(names.find_usage(usage or "training"), round_, overlay)
        return Overview(view="round", division=division, rounds=(round_line(asked),))
    among = (names.find_usage(usage),) if usage else usages()
    rounds = [other for of in among for other in names.all_rounds(of, overlay)]
    return Overview(view="rounds", division=division, rounds=tuple(map(round_line, rounds)))


def round_line(round_: Round, only: tuple[str, ...] | None = None) -> RoundLine:
    """A round with its benchmarks, or with those asked for."""
    return RoundLine(
        usage=round_.usage,
        round=round_.name,
        title=round_.title,
        ruleset=round_.ruleset,
        checker=round_.checker,
        package=package_facts(round_),
        benchmarks=tuple(benchmark_line(round_, name) for name in only or round_.benchmarks),
    )


def benchmark_line(round_: Round, name: str) -> BenchmarkLine:
    """What an entry of the benchmark needs."""
    needs = benchmark(round_.usage, round_.name, name, round_.overlay)
    reached = {of: targets(round_, of, name) for of in DIVISIONS}
    return BenchmarkLine(name=name, title=needs.title, runs=needs.runs, forgiven=needs.forgiven, targets=reached)


_SEEDS = {
    "unchecked": "not checked",
    "optional": "none is needed, but once a run has logged one, every later run must; none may be used twice",
    "required": "every run needs one; none may be used twice",
}


def package_facts(round_: Round) -> dict[str, str]:
    """What a round asks of whole packages, in words (see mlsub/rounds/rounds.yaml)."""
    statuses = "not checked"
    if round_.statuses is not None:
        case = "letter by letter" if round_.statuses.case_counts else "in upper or lower case"
        statuses = f"{' | '.join(round_.statuses.one_of)}; {case}"
    scaling = "SYSTEM/strong/BENCHMARK, or weak" if round_.scaling_folders else "SYSTEM/BENCHMARK"
    return {
        "records of logs": ":::MLL, the format of v0.6" if round_.log_format == "mll" else ":::MLLOG",
        "package checker": "judges each entry" if round_.package_checker else "none: an entry is judged by its logs",
        "seeds of Closed entries": _SEEDS[round_.seeds],
        "empty benchmark folders": "ignored" if round_.empty_folder_ignored else "rejected as entries without runs",
        "system descriptions": "every field must be there" if round_.descriptions_checked else "not checked",
        "status in system descriptions": statuses,
        "result folders": f"results/{scaling}",
    }


def rule_ids_of(round_: Round, division: str, name: str) -> RuleIds:
    """Every rule id that a log of this benchmark, or the package around it, may run into."""
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    lines = [line for where, rule in conditioned(rules) for line in _lines(rule, division, where)]
    lines += [RuleLine(rule_id(group[0], AnyOf.name), AnyOf.words_of(group)) for group in rules.alternatives]
    general = [RuleLine(info.id, info.title) for info in catalogue().values() if not info.id.startswith("check.")]
    return RuleIds(**about(round_, division, name), rules=tuple(lines), general=tuple(general))


def _lines(rule: KeyRule, division: str, where: Condition | None) -> Iterator[RuleLine]:
    """One line an aspect of a key."""
    condition = f"{where.words()}: " if where else ""
    for aspect in aspects_of(rule):
        words = aspect.phrase(part.words for part in aspect.parts(division))
        warning = " (only a warning)" if aspect.name in rule.warn_only else ""
        yield RuleLine(rule_id(rule.key, aspect.name), f"{condition}{words}{warning}")
