"""What rounds demand: which rounds, benchmarks and rule ids there are, and the rules of one benchmark as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from mlsub.convergence import algorithm_of
from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks, Kind, Severity
from mlsub.io.data import group_by_key
from mlsub.present.envelope import Answer
from mlsub.present.explanation import explanation
from mlsub.rounds import Round, all_rounds, find_benchmark, find_round, find_usage, rounds_with, spans, usages
from mlsub.rules.aspects import ASPECTS, aspects_of
from mlsub.rules.aspects.base import DemandPart
from mlsub.rules.aspects.records import CountAspect, RepeatedAspect
from mlsub.rules.catalogue import find_rule
from mlsub.rules.engine import rule_id
from mlsub.rules.explain import all_demands, rule_ids
from mlsub.rules.load import entry_requirements, rules_for
from mlsub.rules.model import KeyRule, Occurs
from mlsub.systems.fields import fields


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


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
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
    rows: tuple[KeyRow, ...]
    at_least_one_of: tuple[tuple[str, ...], ...]


def rule_table(round_: Round, division: str, name: str) -> RuleTable:
    """Return everything demanded of the logs of a benchmark.

    Raises:
        KeyError: the round has no such benchmark.
    """
    needs = entry_requirements(round_.usage, round_.name, name, round_.overlay)
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    rows = [row_of(rule, division) for rule in rules.every]
    if round_.overlay is not None:
        own = rules_for(round_.usage, round_.name, division, name, round_.overlay, house=True)
        rows += [msgspec.structs.replace(row_of(rule, division), source=own.checker) for rule in own.rules]
    return RuleTable(
        **benchmark_fields(round_, division, name),
        runs=needs.runs,
        forgiven=needs.forgiven,
        checker=round_.checker,
        rows=tuple(rows),
        at_least_one_of=rules.alternatives,
    )


def benchmark_fields(round_: Round, division: str, name: str) -> dict[str, Any]:
    """Return the fields that the answers about one benchmark have in common."""
    return {
        "usage": round_.usage,
        "round": round_.name,
        "division": division,
        "benchmark": name,
        "title": entry_requirements(round_.usage, round_.name, name, round_.overlay).title,
        "targets": targets(round_, division, name),
    }


def targets(round_: Round, division: str, name: str) -> tuple[str, ...]:
    """Return the quality targets in words."""
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    reaching = (rule for rule in rules.every if rule.reaches)
    return tuple(
        dict.fromkeys(
            f"{rule.gathers.key if rule.gathers else rule.key} {', '.join(reach.words() for reach in rule.reaches)}"
            for rule in reaching
        )
    )


def condition_of(rule: KeyRule) -> Condition | None:
    """Return the condition that a rule hangs on, None for what always holds."""
    return Condition(*rule.where) if rule.where else None


def row_of(rule: KeyRule, division: str) -> KeyRow:
    """Return a rule as a row."""
    return KeyRow(
        where=condition_of(rule),
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
    """Return how often a key must appear, or "optional"."""
    return occurs.words() if occurs.is_required else "optional"


def parts(rule: KeyRule, division: str | None) -> tuple[DemandPart, ...]:
    """Return what is demanded of a key in a division, the number of records first: what can change one by one."""
    others = [aspect for aspect in aspects_of(rule) if not isinstance(aspect, (CountAspect, RepeatedAspect))]
    return (
        DemandPart(CountAspect.name, occurs_words(rule.occurs)),
        *(part for aspect in others for part in aspect.parts(division)),
    )


def describe(found: Iterable[DemandPart], warn_only: tuple[str, ...] = ()) -> list[str]:
    """Return parts as phrases, those of one aspect together."""
    groups = group_by_key((part.aspect, part.words) for part in found)
    phrases = [ASPECTS[aspect].phrase(words) for aspect, words in groups.items()]
    if warn_only:
        phrases.append(f"only a warning: {' and '.join(warn_only)}")
    return phrases


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


class RuleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A rule in one line; ``rounds`` are those that have it, null where it is of no round.

    ``room`` is the folder of mlsub/ whose ``rules.yaml`` has its words; ``rules`` has the demands on keys.
    """

    rule: str
    kind: Kind
    severity: Severity
    rounds: str | None
    room: str
    title: str


class EveryRule(Answer, frozen=True, kw_only=True):
    """Every rule: those of the catalogue, then the demands on the keys of logs."""

    SCHEMA: ClassVar[int] = 2

    rules: tuple[RuleFacts, ...]


def every_rule() -> EveryRule:
    """Return every rule that a finding may name, but those of rule files of the user's own."""
    found = []
    for rule in rule_ids():
        known, info = explanation(rule), find_rule(rule)
        demands = all_demands()[rule].demands if rule in all_demands() else ()
        rounds = group_by_key((of.usage, of.name) for demand in demands for of in demand.logs)
        words = [f"{usage} {spans(usage, {*names})}" for usage, names in rounds.items()]
        found.append(
            RuleFacts(
                rule=rule,
                kind=known.kind,
                severity=known.severity,
                rounds=", ".join(words) or None,
                room="rules" if info is None else info.room,
                title=known.title,
            )
        )
    return EveryRule(rules=tuple(found))


def overview(
    division: str, round_: str | None, benchmark: str | None, usage: str | None, overlay: str | None
) -> Overview:
    """Return all rounds (of a usage), one with its benchmarks, or those of one benchmark, oldest first.

    Raises:
        MlsubError: an unknown name.
    """
    if benchmark:
        found, name = find_benchmark(benchmark, None, usage, overlay)
        lines = [round_line(other, (name,)) for other in rounds_with(found.usage, name, overlay)]
        return Overview(view="benchmark", division=division, rounds=tuple(lines))
    if round_:
        asked = find_round(find_usage(usage or "training"), round_, overlay)
        return Overview(view="round", division=division, rounds=(round_line(asked),))
    among = (find_usage(usage),) if usage else usages()
    rounds = [other for of in among for other in all_rounds(of, overlay)]
    return Overview(view="rounds", division=division, rounds=tuple(map(round_line, rounds)))


def round_line(round_: Round, only: tuple[str, ...] | None = None) -> RoundLine:
    """Return a round with its benchmarks, or with those asked for."""
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
    """Return what an entry of the benchmark needs."""
    needs = entry_requirements(round_.usage, round_.name, name, round_.overlay)
    reached = {of: targets(round_, of, name) for of in DIVISIONS}
    return BenchmarkLine(name=name, title=needs.title, runs=needs.runs, forgiven=needs.forgiven, targets=reached)


_SEEDS = {
    "unchecked": "not checked",
    "optional": "none is needed, but once a run has logged one, every later run must; none may be used twice",
    "required": "every run needs one; none may be used twice",
}


def package_facts(round_: Round) -> dict[str, str]:
    """Return what a round asks of whole packages, in words (see mlsub/rounds/rounds.yaml)."""
    statuses = "not checked"
    if round_.statuses is not None:
        case = "letter by letter" if round_.statuses.case_counts else "in upper or lower case"
        statuses = f"{' | '.join(round_.statuses.one_of)}; {case}"
    test, required, convergence = algorithm_of(round_.usage, round_.name, round_.overlay), fields().required, "none"
    if test is not None:
        scaled = "faster results are scaled" if test.normalise else "faster results are not scaled"
        convergence = f"points pruned by: {test.pruning}; stdev of the runs: {test.stdev}; {scaled}"
    fed = msgspec.structs.asdict(round_.summarizer).items() if round_.summarizer is not None else ()
    summarized = [f"{how}: {', '.join(of) if isinstance(of, tuple) else of}" for how, of in fed if of]
    scaling = "SYSTEM/strong/BENCHMARK, or weak" if round_.scaling_folders else "SYSTEM/BENCHMARK"
    return {
        "records of logs": ":::MLL, the format of v0.6" if round_.log_format == "mll" else ":::MLLOG",
        "package checker": "judges each entry" if round_.package_checker else "none: an entry is judged by its logs",
        "another number of results": "rejected" if round_.run_count_demanded else "reported",
        "convergence test": convergence,
        "seeds of Closed entries": _SEEDS[round_.seeds],
        "empty benchmark folders": "ignored" if round_.empty_folder_ignored else "rejected as entries without runs",
        "package_checker_params": ", ".join(sorted({*round_.script_options, *round_.folder_flags})) or "not read",
        "power measurements": "names and numbers of files checked" if round_.power_checked else "not checked",
        "required in system descriptions": ", ".join(required) if round_.descriptions_checked else "nothing",
        "status in system descriptions": statuses,
        "read by the result summarizer": "; ".join(summarized) or "nothing",
        "result folders": f"results/{scaling}",
    }
