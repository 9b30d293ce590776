"""The answers as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mlsub.commands.rules.diff import Fact, KeyChange, RoundDiff
from mlsub.commands.rules.document import Answer
from mlsub.commands.rules.keys import KeyLine, KeyList
from mlsub.commands.rules.overview import Overview, RoundLine, RuleIds
from mlsub.commands.rules.submission import SubmissionDiff, Unmet
from mlsub.commands.rules.table import Row, RuleTable, is_common
from mlsub.divisions import DIVISIONS
from mlsub.io.plain import plain
from mlsub.present.columns import WIDTH, columns, wrapped

_KEY, _SHORT, _NEED, _ID = 42, 14, 22, 60
_MARKS = {"added": "new", "removed": "gone", "changed": "changed"}


def render(answer: Answer, width: int = WIDTH) -> str:
    """The answer as text, ending in a line feed."""
    return "\n".join(_RENDERERS[type(answer)](answer, width)) + "\n"


def overview(answer: Overview, width: int = WIDTH) -> Iterator[str]:
    """Rounds and benchmarks."""
    if answer.view == "rounds":
        yield from _rounds(answer.rounds, width)
    elif answer.view == "round":
        yield from _one_round(answer.rounds[0], answer.division, width)
    else:
        yield from _one_benchmark(answer.rounds, answer.division, width)


def _rounds(lines: Sequence[RoundLine], width: int) -> Iterator[str]:
    rows = [[line.usage, line.round, ", ".join(f"{of.name} {of.runs}" for of in line.benchmarks)] for line in lines]
    yield from columns(rows, ["usage", "round", "benchmarks, with the runs of an entry"], width=width)
    yield ""
    yield "More: mlsub rules list --round ROUND, or --benchmark BENCHMARK"


def _one_round(line: RoundLine, division: str, width: int) -> Iterator[str]:
    yield f"{line.title}: {_count(len(line.benchmarks), 'benchmark')}"
    yield f"official rules: {line.checker}/"
    yield ""
    rows = [
        [of.name, str(of.runs), str(of.forgiven), f"{_target(of.targets[division])}\n{of.title}"]
        for of in line.benchmarks
    ]
    yield from columns(rows, ["benchmark", "runs", "may fail", f"quality target ({division})"], width=width)
    yield ""
    yield f"More: mlsub rules show BENCHMARK --round {line.round}{_usage(line.usage)}"


def _one_benchmark(lines: Sequence[RoundLine], division: str, width: int) -> Iterator[str]:
    newest = lines[-1]
    name = newest.benchmarks[0].name
    yield f"{name}: {newest.benchmarks[0].title}"
    yield ""
    rows = [
        [line.usage, line.round, str(of.runs), str(of.forgiven), _target(of.targets[division])]
        for line in lines
        for of in line.benchmarks
    ]
    heads = ["usage", "round", "runs", "may fail", f"quality target ({division})"]
    yield from columns(rows, heads, width=width)
    yield ""
    yield f"More: mlsub rules show {name} --round {newest.round}{_usage(newest.usage)}"


def rule_ids(ids: RuleIds, width: int = WIDTH) -> Iterator[str]:
    """The rule ids that a log and its package may run into."""
    yield f"{ids.benchmark}, {ids.usage} {ids.round}, {ids.division}: demands on the keys of a log"
    yield ""
    yield from columns([[line.id, line.demand] for line in ids.rules], ["rule", "demand"], width=width, caps=[_ID])
    yield ""
    yield "Rules that are not about one key:"
    yield ""
    yield from columns([[line.id, line.demand] for line in ids.general], ["rule", "says"], width=width)
    yield ""
    yield "More: mlsub explain RULE"


def rule_table(table: RuleTable, width: int = WIDTH) -> Iterator[str]:
    """Everything demanded of a benchmark's logs, by official file, the benchmark's own first."""
    yield f"{table.benchmark}: {table.title}"
    yield f"{table.usage} {table.round}, {table.division} division"
    yield from _facts(
        [
            ("runs", f"{table.runs} an entry, of which {table.forgiven or 'none'} may be noncompliant"),
            ("target", _target(table.targets)),
            ("source", f"{table.checker}/"),
        ],
        width,
    )
    groups: dict[tuple[bool, str], list[Row]] = {}
    for section in table.sections:
        for row in section.rows:
            heading = row.source if section.where is None else f"{section.where.words()} ({row.source})"
            groups.setdefault((is_common(row.source), heading), []).append(row)
    for (common, heading), rows in sorted(groups.items(), key=lambda group: group[0][0]):
        yield ""
        yield f"{heading}, for every benchmark" if common else heading
        yield from columns(
            [[row.key, row.occurs, _demands(row)] for row in rows],
            ["key", "occurs", "constraint"],
            width=width,
            caps=[_KEY, _SHORT],
        )
    if table.at_least_one_of:
        yield ""
        groups_of_keys = ", ".join(" or ".join(group) for group in table.at_least_one_of)
        yield from wrapped(f"One of each must appear: {groups_of_keys}", width, 2)


def key_list(keys: KeyList, width: int = WIDTH) -> Iterator[str]:
    """What a training code must log and may log."""
    yield f"{keys.benchmark}: {keys.title}"
    yield f"{keys.usage} {keys.round}, {keys.division} division; in the order in which a run logs them"
    yield from _facts([("target", _target(keys.targets))], width)
    for step, where in dict.fromkeys((line.step, line.where) for line in keys.keys):
        yield ""
        yield step.capitalize() if where is None else f"{step.capitalize()} {where}"
        some = [line for line in keys.keys if (line.step, line.where) == (step, where)]
        rows = [[line.key, _need(line), _about(line)] for line in some]
        yield from columns(rows, ["key", "log it", "what"], width=width, caps=[_KEY, _NEED])
    yield ""
    yield "Events are POINT_IN_TIME, unless INTERVAL_START or INTERVAL_END is said."


def round_diff(diff: RoundDiff, width: int = WIDTH) -> Iterator[str]:
    """What changes from one round to another."""
    only = "" if len(diff.divisions) == len(DIVISIONS) else f", {', '.join(diff.divisions)} division"
    yield f"{diff.usage} {diff.old} -> {diff.new}{only}"
    if diff.empty:
        yield ""
        yield "No rule changes."
        return
    if diff.facts:
        yield ""
        yield "Every package"
        yield from _changes(diff.facts, (), diff, width)
    if diff.benchmarks_added:
        yield ""
        yield "New benchmarks"
        rows = [[of.name, f"{of.runs} runs", _target(of.targets["closed"])] for of in diff.benchmarks_added]
        yield from columns(rows, width=width, indent=2)
    if diff.benchmarks_removed:
        yield ""
        yield from wrapped(f"Benchmarks that are gone: {', '.join(diff.benchmarks_removed)}", width, 2)
    if diff.common:
        yield ""
        yield "Every log"
        yield from _changes((), diff.common, diff, width)
    for of in diff.benchmarks:
        yield ""
        yield of.name
        yield from _changes(of.facts, of.keys, diff, width)
    if diff.unchanged:
        yield ""
        beyond = "Nothing else changes" if diff.common else "Unchanged"
        yield from wrapped(f"{beyond}: {', '.join(diff.unchanged)}", width, 2)


def submission_diff(diff: SubmissionDiff, width: int = WIDTH) -> Iterator[str]:
    """What must be changed in a submission; the last line sums it up."""
    rules = diff.rules
    yield from round_diff(rules, width)
    yield ""
    judged = f"{_count(diff.logs, 'log')} judged by {rules.old} and by {rules.new}"
    yield f"{plain(diff.root)}: {judged if diff.logs else 'no log to judge'}"
    for name in diff.gone:
        yield f"  gone     {name} is no benchmark of {rules.usage} {rules.new}; its logs were not compared"
    if diff.unmet:
        yield ""
        yield f"To be changed for {rules.new}"
        yield from _unmet(diff.unmet, diff.logs, width)
    if diff.unmet_before:
        yield ""
        yield f"Not met in {rules.old} either"
        yield from _unmet(diff.unmet_before, diff.logs, width)
    yield ""
    yield _summary(diff)


def _summary(diff: SubmissionDiff) -> str:
    found = []
    if diff.unmet:
        found.append(f"{_count(len(diff.unmet), 'demand')} of {diff.rules.new} not met yet")
    if diff.unmet_before and not diff.accepted:
        found.append(f"{_count(len(diff.unmet_before), 'demand')} met in neither round")
    if diff.gone:
        found.append(f"{_count(len(diff.gone), 'benchmark')} gone")
    return f"{'; '.join(found) or f'nothing must be changed for {diff.rules.new}'}"


def _unmet(found: Iterable[Unmet], logs: int, width: int) -> Iterator[str]:
    rows = []
    for unmet in found:
        where = f"{unmet.logs} of {_count(logs, 'log')}" if unmet.logs else _count(unmet.places, "place")
        said = [f"{unmet.message} [{unmet.rule}]", f"expected: {unmet.expected}" if unmet.expected else ""]
        said.append("" if unmet.logs else f"{'in' if unmet.places == 1 else 'for example in'}: {unmet.example}")
        rows.append([where, "\n".join(plain(line) for line in said if line)])
    yield from columns(rows, width=width, indent=2)


def _changes(facts: Iterable[Fact], keys: Iterable[KeyChange], diff: RoundDiff, width: int) -> Iterator[str]:
    rows = [["changed", fact.name, f"was: {fact.old}\nnow: {fact.new}"] for fact in facts]
    for change in keys:
        only = "" if change.divisions == diff.divisions else f" ({', '.join(change.divisions)})"
        where = f"{change.where.words()}\n" if change.where else ""
        rows.append([_MARKS[change.change], change.key + only, where + "\n".join(change.lines)])
    yield from columns(rows, width=width, caps=[8, _KEY], indent=2)


def _facts(facts: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    yield from columns([[f"{name}:", text] for name, text in facts], width=width)


def _demands(row: Row) -> str:
    lines = list(row.demands)
    if row.warn_only:
        lines.append(f"only a warning: {', '.join(row.warn_only)}")
    return "\n".join(lines)


def _need(line: KeyLine) -> str:
    if line.need == "must":
        return f"must, {line.when.removeprefix('exactly ')}"
    return line.need


def _about(line: KeyLine) -> str:
    lines = [line.description, *line.value]
    if line.metadata:
        lines.append(f"metadata: {'; '.join(line.metadata)}")
    if line.event_type != "POINT_IN_TIME":
        lines.append(line.event_type)
    if line.virtual:
        lines.append("no record of its own")
    return "\n".join(lines)


def _target(targets: Sequence[str]) -> str:
    return "; ".join(targets) or "none"


def _usage(usage: str) -> str:
    return "" if usage == "training" else f" --usage {usage}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


_RENDERERS: dict[type, Callable[[Any, int], Iterator[str]]] = {
    Overview: overview,
    RuleIds: rule_ids,
    RuleTable: rule_table,
    KeyList: key_list,
    RoundDiff: round_diff,
    SubmissionDiff: submission_diff,
}
