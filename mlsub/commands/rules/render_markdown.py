"""The answers as Markdown, to be pasted into an issue or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mlsub.commands.rules.diff import Fact, KeyChange, RoundDiff
from mlsub.commands.rules.document import Answer
from mlsub.commands.rules.keys import KeyList
from mlsub.commands.rules.markdown import cell, code, page, prose, table
from mlsub.commands.rules.overview import Overview, RuleIds
from mlsub.commands.rules.submission import SubmissionDiff, Unmet
from mlsub.commands.rules.table import Row, RuleTable
from mlsub.io.plain import plain

#: How a key is shown: as code, or as a link to its page.
Shown = Callable[[str], str]
_MARKS = {"added": "new", "removed": "gone", "changed": "changed"}


def render(answer: Answer) -> str:
    """The answer as Markdown, ending in a line feed."""
    return page(_RENDERERS[type(answer)](answer))


def overview(answer: Overview) -> Iterator[str]:
    """Rounds and benchmarks."""
    if answer.view == "rounds":
        yield from ("# Rounds", "")
        rows = [
            [line.usage, line.round, ", ".join(f"{code(of.name)} {of.runs}" for of in line.benchmarks)]
            for line in answer.rounds
        ]
        yield from table(["usage", "round", "benchmarks, with the runs of an entry"], rows)
        return
    one = answer.view == "round"
    first = answer.rounds[0]
    yield from (f"# {first.title}" if one else f"# {code(first.benchmarks[0].name)}", "")
    if not one:
        yield from (prose(first.benchmarks[0].title), "")
    yield from table(
        ["benchmark" if one else "round", "runs", "may fail", f"quality target, {answer.division}"],
        [
            [
                code(of.name) if one else f"{line.usage} {line.round}",
                str(of.runs),
                str(of.forgiven),
                cell(of.targets[answer.division]) or "none",
            ]
            for line in answer.rounds
            for of in line.benchmarks
        ],
    )


def rule_ids(ids: RuleIds) -> Iterator[str]:
    """The rule ids that a log and its package may run into."""
    yield from (f"# Rules for {code(ids.benchmark)}, {ids.usage} {ids.round}, {ids.division} division", "")
    yield from table(["rule", "demand"], [[code(line.id), cell([line.demand])] for line in ids.rules])
    yield from ("", "Rules that are not about one key:", "")
    yield from table(["rule", "says"], [[code(line.id), cell([line.demand])] for line in ids.general])


def rule_table(answer: RuleTable) -> Iterator[str]:
    """Everything demanded of a benchmark's logs."""
    yield from (f"# {code(answer.benchmark)}, {answer.usage} {answer.round}, {answer.division} division", "")
    yield from (f"{prose(answer.title)}.", "")
    yield f"- runs: {answer.runs} an entry, of which {answer.forgiven or 'none'} may be noncompliant"
    yield f"- quality target: {cell(answer.targets) or 'none'}"
    yield f"- official rules: {code(answer.checker)}"
    for section in answer.sections:
        yield ""
        if section.where:
            yield from (f"Where {code(section.where.key)} is {code(section.where.value)}:", "")
        yield from rows(section.rows, source=True)
    if answer.at_least_one_of:
        groups = ", ".join(" or ".join(map(code, group)) for group in answer.at_least_one_of)
        yield from ("", f"One of each must appear: {groups}.")


def rows(some: Sequence[Row], shown: Shown = code, *, source: bool = False) -> Iterator[str]:
    """Keys as a table."""
    heads = ["key", "occurs", "constraint", *(["source"] if source else [])]
    yield from table(heads, [[*row_cells(row, shown), *([code(row.source)] if source else [])] for row in some])


def row_cells(row: Row, shown: Shown = code) -> list[str]:
    """A key, how often it occurs, and what else is demanded."""
    demands = [*row.demands]
    if row.warn_only:
        demands.append(f"only a warning: {', '.join(row.warn_only)}")
    return [shown(row.key), prose(row.occurs), cell(demands)]


def key_list(keys: KeyList) -> Iterator[str]:
    """What a training code must log and may log."""
    yield from (f"# Keys of {code(keys.benchmark)}, {keys.usage} {keys.round}, {keys.division} division", "")
    yield from (f"{prose(keys.title)}. In the order in which a run logs them.", "")
    yield from (f"Quality target: {cell(keys.targets) or 'none'}.", "")
    for step, where in dict.fromkeys((line.step, line.where) for line in keys.keys):
        yield from (f"## {step.capitalize()}{f' {prose(where)}' if where else ''}", "")
        found = [
            [
                code(line.key),
                prose(line.need),
                line.when,
                "none of its own" if line.virtual else code(line.event_type),
                cell(line.value),
                cell(line.metadata),
                prose(line.description),
            ]
            for line in keys.keys
            if (line.step, line.where) == (step, where)
        ]
        yield from table(["key", "log it", "when", "event", "value", "metadata", "meaning"], found)
        yield ""


def round_diff(diff: RoundDiff) -> Iterator[str]:
    """What changes from one round to another."""
    only = f", {diff.divisions[0]} division" if len(diff.divisions) == 1 else ""
    yield from (f"# {diff.usage} {diff.old} to {diff.new}{only}", "")
    yield from diff_body(diff)


def diff_body(
    diff: RoundDiff, shown: Shown = code, benchmark: Shown = code, *, level: str = "##", longest: int = 10_000
) -> Iterator[str]:
    """The changes, without a title; of a benchmark with more than ``longest`` only how many there are."""
    if diff.empty:
        yield "No rule changes."
    for fact in diff.facts:
        yield f"- {fact.name}: {prose(fact.new)} (before: {prose(fact.old)})"
    for of in diff.benchmarks_added:
        yield f"- new benchmark: {benchmark(of.name)}, {of.runs} runs; {cell(of.targets['closed']) or 'no target'}"
    for name in diff.benchmarks_removed:
        yield f"- gone: {benchmark(name)}"
    if diff.common:
        yield from ("", f"{level} For every log", "")
        yield from change_table((), diff.common, diff.divisions, shown)
    if diff.benchmarks:
        beyond = "For single benchmarks, beyond that" if diff.common else "For single benchmarks"
        yield from ("", f"{level} {beyond}", "")
        found = []
        for one in diff.benchmarks:
            cells = list(change_cells(one.facts, one.keys, diff.divisions, shown))
            if len(cells) > longest:
                cells = [["changed", f"{len(cells)} demands", "see the benchmark's page"]]
            found += [[benchmark(one.name), *some] for some in cells]
        yield from table(["benchmark", "", "key", "demand"], found)
    if diff.unchanged:
        beyond = "Nothing else changes" if diff.common else "Unchanged"
        yield from ("", f"{beyond}: {', '.join(map(benchmark, diff.unchanged))}.")


def change_table(
    facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...], shown: Shown = code
) -> Iterator[str]:
    """Changes as a table."""
    yield from table(["", "key", "demand"], change_cells(facts, keys, divisions, shown))


def change_cells(
    facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...], shown: Shown = code
) -> Iterator[list[str]]:
    """Changes as rows: what becomes of it, the key, and what is different."""
    for fact in facts:
        yield ["changed", prose(fact.name), cell((f"was: {fact.old}", f"now: {fact.new}"))]
    for change in keys:
        only = "" if change.divisions == divisions else f" ({', '.join(change.divisions)})"
        where = [change.where.words()] if change.where else []
        yield [_MARKS[change.change], shown(change.key) + only, cell([*where, *change.lines])]


def submission_diff(diff: SubmissionDiff) -> Iterator[str]:
    """What must be changed in a submission."""
    rules = diff.rules
    yield from (f"# To be changed from {rules.usage} {rules.old} to {rules.new}", "")
    yield from (f"{diff.logs} logs of `{plain(diff.root).replace('`', '')}`, judged by both rounds.", "")
    for name in diff.gone:
        yield f"- gone: {code(name)} is no benchmark of {rules.usage} {rules.new}; its logs were not compared"
    if not diff.must_change:
        yield "Nothing must be changed."
    yield ""
    yield from _unmet(diff.unmet, diff.logs)
    if diff.unmet_before:
        yield from ("", f"Not met in {rules.old} either:", "")
        yield from _unmet(diff.unmet_before, diff.logs)
    yield from ("", "## What changes in the rules", "")
    yield from diff_body(rules, level="###")


def _unmet(found: Sequence[Unmet], logs: int) -> Iterator[str]:
    if found:
        yield from table(
            ["where", "not met", "expected", "rule"],
            [
                [
                    f"{unmet.logs} of {logs} logs" if unmet.logs else prose(plain(unmet.example)),
                    prose(plain(unmet.message)),
                    prose(plain(unmet.expected or "")),
                    code(unmet.rule),
                ]
                for unmet in found
            ],
        )


_RENDERERS: dict[type, Callable[[Any], Iterator[str]]] = {
    Overview: overview,
    RuleIds: rule_ids,
    RuleTable: rule_table,
    KeyList: key_list,
    RoundDiff: round_diff,
    SubmissionDiff: submission_diff,
}
