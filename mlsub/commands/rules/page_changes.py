"""What a round changed, and the rows of its rules, as pages show them: with links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlsub.commands.rules.diff import Fact, KeyChange, RoundDiff
from mlsub.commands.rules.document_diff import MARKS
from mlsub.commands.rules.markdown import cell, code, link, prose, table
from mlsub.commands.rules.table import Row

#: Changes of one benchmark that a round's page lists; more are on the benchmark's own page.
LONGEST = 12


def key_link(key: str) -> str:
    """A key as a link to its page, from any folder of pages."""
    return link(code(key), f"../keys/{key}.md")


def benchmark_link(name: str) -> str:
    """A benchmark as a link to its page, from any folder of pages."""
    return link(code(name), f"../benchmarks/{name}.md")


def row_cells(row: Row) -> list[str]:
    """A key, how often it occurs, and what else is demanded."""
    return [key_link(row.key), prose(row.occurs), cell(row.constraints)]


def diff_body(diff: RoundDiff) -> Iterator[str]:
    """The changes of a round; of a benchmark with many only how many there are."""
    if diff.empty:
        yield "No rule changes."
    for fact in diff.facts:
        yield f"- {fact.name}: {prose(fact.new)} (before: {prose(fact.old)})"
    for of in diff.benchmarks_added:
        target = cell(of.targets["closed"]) or "no target"
        yield f"- new benchmark: {benchmark_link(of.name)}, {of.runs} runs; {target}"
    for name in diff.benchmarks_removed:
        yield f"- gone: {benchmark_link(name)}"
    if diff.common:
        yield from ("", "### For every log", "")
        yield from change_table((), diff.common, diff.divisions)
    if diff.benchmarks:
        beyond = "For single benchmarks, beyond that" if diff.common else "For single benchmarks"
        yield from ("", f"### {beyond}", "")
        yield from table(["benchmark", "", "key", "demand"], _of_benchmarks(diff))
    if diff.unchanged:
        beyond = "Nothing else changes" if diff.common else "Unchanged"
        yield from ("", f"{beyond}: {', '.join(map(benchmark_link, diff.unchanged))}.")


def _of_benchmarks(diff: RoundDiff) -> Iterator[list[str]]:
    for one in diff.benchmarks:
        found = list(_cells(one.facts, one.keys, diff.divisions))
        if len(found) > LONGEST:
            found = [["changed", f"{len(found)} demands", "see the benchmark's page"]]
        yield from ([benchmark_link(one.name), *cells] for cells in found)


def change_table(facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...]) -> Iterator[str]:
    """Changes as a table."""
    yield from table(["", "key", "demand"], _cells(facts, keys, divisions))


def _cells(facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...]) -> Iterator[list[str]]:
    """Changes as rows: what becomes of it, the key, and what is different."""
    for fact in facts:
        yield ["changed", prose(fact.name), cell((f"was: {fact.old}", f"now: {fact.new}"))]
    for change in keys:
        only = "" if change.divisions == divisions else f" ({', '.join(change.divisions)})"
        where = [change.where.words()] if change.where else []
        yield [MARKS[change.change], key_link(change.key) + only, cell([*where, *change.lines])]
