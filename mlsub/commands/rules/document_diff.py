"""What changes between rounds, and what that means for a submission, as documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsub.commands.rules.diff import BenchmarkDiff, Fact, KeyChange, RoundDiff
from mlsub.commands.rules.document import listed, name, one_line
from mlsub.commands.rules.submission import SubmissionDiff, Unmet
from mlsub.divisions import DIVISIONS
from mlsub.present.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Lines,
    Span,
    Table,
    Text,
    document,
    section,
)

_MARKS = {"added": Span("new", "good"), "removed": Span("gone", "bad"), "changed": Span("changed", "note")}
_CHANGES = (Column("", when_narrow="keep"), Column("", when_narrow="keep"), Column(""))
_ADDED = (
    Column("benchmark", when_narrow="keep"),
    Column("runs", number=True),
    Column("quality target (closed)"),
)
_UNMET = (Column("", when_narrow="keep"), Column(""))


def round_document(diff: RoundDiff) -> Document:
    """What changes from one round to another."""
    return document(_title(diff), *diff_blocks(diff))


def submission_document(diff: SubmissionDiff) -> Document:
    """The same, then what must be changed in a submission; the last line sums it up."""
    rules = diff.rules
    checked = f"{_count(diff.logs, 'log')} checked by {rules.old} and by {rules.new}"
    return document(
        _title(rules),
        *diff_blocks(rules),
        Facts((("submission", Span(diff.root, "path")), ("compared", checked if diff.logs else "no log to check"))),
        Items(
            tuple(
                f"{name} is not a benchmark of {rules.usage} {rules.new}; its logs were not compared"
                for name in diff.gone
            )
        ),
        section(f"To be changed for {rules.new}", _unmet(diff.unmet, diff.logs)),
        section(f"Not met in {rules.old} either", _unmet(diff.unmet_before, diff.logs)),
        Text(Span(_summary(diff), "bad" if diff.must_change else "good")),
    )


def _title(diff: RoundDiff) -> str:
    only = "" if len(diff.divisions) == len(DIVISIONS) else f", {', '.join(diff.divisions)} division"
    return f"Changes from {diff.usage} {diff.old} to {diff.new}{only}"


def diff_blocks(diff: RoundDiff, longest: int | None = None) -> list[Block | None]:
    """What changes for packages, benchmarks and logs; of a benchmark with more than ``longest`` changes how many."""
    if diff.empty:
        return [Text("No rule changes.")]
    added = tuple((name(of.name), str(of.runs), one_line(of.targets["closed"])) for of in diff.benchmarks_added)
    beyond = "Nothing else changes" if diff.common else "Unchanged"
    return [
        section("Every package", change_table(diff.facts, (), diff.divisions)),
        section("New benchmarks", Table(_ADDED, added)),
        _names("Benchmarks that are gone", diff.benchmarks_removed),
        section("Every log", change_table((), diff.common, diff.divisions)),
        *(section(of.name, _of_benchmark(of, diff.divisions, longest)) for of in diff.benchmarks),
        _names(beyond, diff.unchanged),
    ]


def _of_benchmark(of: BenchmarkDiff, divisions: tuple[str, ...], longest: int | None) -> Block:
    count = len(of.facts) + len(of.keys)
    if longest is not None and count > longest:
        return Text((f"{count} demands change; see ", name(of.name), "."))
    return change_table(of.facts, of.keys, divisions)


def _names(what: str, names: Sequence[str]) -> Text | None:
    return Text((f"{what}: ", *listed(map(name, names)))) if names else None


def change_table(facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...]) -> Table:
    """Changes: what becomes of it, the fact or key, and what is different."""
    rows: list[tuple[Cell, ...]] = [
        (_MARKS["changed"], fact.name, Lines((f"was: {fact.old}", f"now: {fact.new}"))) for fact in facts
    ]
    for change in keys:
        only = "" if change.divisions == divisions else f" ({', '.join(change.divisions)})"
        where = (change.where.words(),) if change.where else ()
        rows.append((_MARKS[change.change], (name(change.key), only), Lines((*where, *change.lines))))
    return Table(_CHANGES, tuple(rows), key=1)


def _unmet(found: Iterable[Unmet], logs: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for unmet in found:
        where = f"{unmet.logs} of {_count(logs, 'log')}" if unmet.logs else _count(unmet.places, "place")
        said: list[str | tuple[str | Span, ...]] = [(f"{unmet.message} ", Span(f"[{unmet.rule}]", "code"))]
        if unmet.expected:
            said.append(f"expected: {unmet.expected}")
        if not unmet.logs:
            said.append((f"{'in' if unmet.places == 1 else 'for example in'}: ", Span(unmet.example, "path")))
        if unmet.fix:
            said.append(f"fix: {unmet.fix}")
        rows.append((where, Lines(tuple(said))))
    return Table(_UNMET, tuple(rows))


def _summary(diff: SubmissionDiff) -> str:
    found = []
    if diff.unmet:
        found.append(f"{_count(len(diff.unmet), 'demand')} of {diff.rules.new} not met yet")
    if diff.unmet_before and not diff.accepted:
        found.append(f"{_count(len(diff.unmet_before), 'demand')} met in neither round")
    if diff.gone:
        found.append(f"{_count(len(diff.gone), 'benchmark')} gone")
    return "; ".join(found) or f"nothing has to change for {diff.rules.new}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
