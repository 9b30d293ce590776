"""The answers of ``mlsub rules`` as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlsub.commands.rules.diff import BenchmarkDiff, Fact, KeyChange, RoundDiff
from mlsub.commands.rules.keys import KeyCheck, KeyLine, KeyList
from mlsub.commands.rules.table import (
    BenchmarkLine,
    EveryRule,
    KeyRow,
    OfBenchmark,
    Overview,
    RoundLine,
    RuleTable,
)
from mlsub.divisions import DIVISIONS
from mlsub.io.show import plural
from mlsub.present import document as doc

_ROUNDS = (
    doc.Column("usage", when_narrow="keep"),
    doc.Column("round", when_narrow="keep"),
    doc.Column("benchmarks, with the runs of an entry"),
)
_NEEDS = (doc.Column("runs", number=True), doc.Column("may fail", number=True))
_ROWS = (doc.Column("key", when_narrow="keep"), doc.Column("occurs"), doc.Column("constraint"))
_KEYS = (doc.Column("key", when_narrow="keep"), doc.Column("log it"), doc.Column("what"))


def name(text: str) -> doc.Span:
    """The name of a key, a benchmark or a rule."""
    return doc.Span(text, "name")


def listed(names: Iterable[doc.Span]) -> tuple[doc.Span | str, ...]:
    """Names with commas between them."""
    return tuple(word for one in names for word in (", ", one))[1:]


def one_line(targets: Iterable[str]) -> str:
    """Quality targets in one line."""
    return "; ".join(targets) or "none"


def overview_document(answer: Overview) -> doc.Document:
    """Rounds and benchmarks."""
    if answer.view == "rounds":
        return _rounds(answer.rounds)
    return (_one_round if answer.view == "round" else _one_benchmark)(answer.rounds, answer.division)


def _rounds(lines: Sequence[RoundLine]) -> doc.Document:
    rows = tuple(
        (line.usage, line.round, ", ".join(f"{of.name} {of.runs}" for of in line.benchmarks)) for line in lines
    )
    more = _more("mlsub rules list --round ROUND", ", or ", "mlsub rules list --benchmark BENCHMARK")
    return doc.document("Rounds and their benchmarks", doc.Table(_ROUNDS, rows, key=1), more)


def _one_round(lines: Sequence[RoundLine], division: str) -> doc.Document:
    [line] = lines
    rows = tuple(
        (name(of.name), *_counts(of), doc.Lines((one_line(of.targets[division]), of.title))) for of in line.benchmarks
    )
    columns = (doc.Column("benchmark", when_narrow="keep"), *_NEEDS, doc.Column(f"quality target ({division})"))
    return doc.document(
        line.title,
        doc.Facts((("benchmarks", str(len(rows))), _official(line.checker))),
        doc.Table(columns, rows),
        _more(f"mlsub rules show BENCHMARK --round {line.round}{_usage(line.usage)}"),
    )


def _one_benchmark(lines: Sequence[RoundLine], division: str) -> doc.Document:
    newest = lines[-1]
    [benchmark] = newest.benchmarks
    rows = tuple(
        (line.usage, line.round, *_counts(of), one_line(of.targets[division]))
        for line in lines
        for of in line.benchmarks
    )
    columns = (*_ROUNDS[:2], *_NEEDS, doc.Column(f"quality target ({division})"))
    more = _more(f"mlsub rules show {benchmark.name} --round {newest.round}{_usage(newest.usage)}")
    return doc.document(f"{benchmark.name}: {benchmark.title}", doc.Table(columns, rows, key=1), more)


def _counts(benchmark: BenchmarkLine) -> tuple[str, str]:
    return str(benchmark.runs), str(benchmark.forgiven)


def _official(checker: str) -> tuple[str, doc.Cell]:
    return "official rules", doc.Span(f"{checker}/", "code")


def _titled(what: str, answer: OfBenchmark) -> str:
    return f"{what} of {answer.benchmark}, {answer.usage} {answer.round}, {answer.division} division"


def every_document(every: EveryRule) -> doc.Document:
    """Every rule in a row, by the room of mlsub/ that it stands in."""
    columns = (
        doc.Column("rule", when_narrow="keep"),
        doc.Column("kind", when_narrow="keep"),
        doc.Column("severity", when_narrow="keep"),
        doc.Column("rounds", leave_out=1),
        doc.Column("what a finding says"),
    )
    rooms: dict[str, list[tuple[doc.Cell, ...]]] = {}
    for of in every.rules:
        row = (name(of.rule), of.kind.value, of.severity.value, of.rounds or "", of.title)
        rooms.setdefault(of.room, []).append(row)
    tables = (doc.section(f"mlsub/{room}", doc.Table(columns, tuple(rows))) for room, rows in rooms.items())
    return doc.document("Rules", *tables, _more("mlsub explain RULE"))


def table_document(table: RuleTable) -> doc.Document:
    """Everything demanded of a benchmark's logs, by official file, the benchmark's own first."""
    groups: dict[tuple[bool, str], list[KeyRow]] = {}
    for row in table.rows:
        heading = row.source if row.where is None else f"{row.where.words()} ({row.source})"
        groups.setdefault((row.of_every_benchmark, heading), []).append(row)
    return doc.document(
        _titled("Rules", table),
        doc.Facts(
            (
                ("benchmark", table.title),
                ("runs", f"{table.runs} an entry, of which {table.forgiven or 'none'} may be noncompliant"),
                ("quality target", one_line(table.targets)),
                _official(table.checker),
            )
        ),
        *(
            doc.section(f"{heading}, for every benchmark" if common else heading, rows_table(rows))
            for (common, heading), rows in sorted(groups.items(), key=lambda group: group[0][0])
        ),
        alternatives(table.at_least_one_of),
    )


def rows_table(rows: Iterable[KeyRow]) -> doc.Table:
    """Rows of rules."""
    return doc.Table(_ROWS, tuple((name(row.key), row.occurs, doc.Lines(row.constraints)) for row in rows))


def alternatives(groups: Sequence[Sequence[str]]) -> doc.Text | None:
    """Groups of keys of which one must appear."""
    said = ", ".join(" or ".join(group) for group in groups)
    return doc.Text(f"One of each must appear: {said}") if said else None


def keys_document(keys: KeyList) -> doc.Document:
    """What a training code must log and may log, in the order of a run."""
    kinds = tuple(doc.Span(kind, "code") for kind in ("POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END"))
    return doc.document(
        _titled("Keys", keys),
        doc.Facts(
            (
                ("benchmark", keys.title),
                ("quality target", one_line(keys.targets)),
                ("order", "as a run logs the keys"),
            )
        ),
        *_steps(keys.keys),
        doc.Text(("Events are ", kinds[0], " unless ", kinds[1], " or ", kinds[2], " is given.")),
    )


def check_document(checked: KeyCheck) -> doc.Document:
    """What is wrong with a file of hyperparameters, then what the run has to log besides, and the answer."""
    keys, errors = plural(checked.keys, "key"), checked.errors
    answer = (
        doc.Span("accepted", "good"),
        f": {checked.file} has {keys}, none of which the rules would reject a run for",
    )
    if errors:
        answer = (
            doc.Span("rejected", "bad"),
            f": {plural(errors, 'error')} in {checked.file}; the rules would reject a run with it",
        )
    return doc.document(
        _titled("Hyperparameters", checked),
        doc.Findings(checked.findings) if checked.findings else None,
        doc.Facts((("still to log before the clock starts", ", ".join(checked.still_to_log) or "nothing"),)),
        doc.Text(answer),
    )


def _steps(keys: Sequence[KeyLine]) -> Iterator[doc.Section | None]:
    groups: dict[tuple[str, str | None], list[tuple[doc.Cell, ...]]] = {}
    for line in keys:
        need = f"must, {line.when.removeprefix('exactly ')}" if line.need == "must" else line.need
        groups.setdefault((line.step, line.where), []).append((name(line.key), need, doc.Lines(tuple(_about(line)))))
    for (step, where), rows in groups.items():
        yield doc.section(" ".join(filter(None, (step.capitalize(), where))), doc.Table(_KEYS, tuple(rows)))


def _about(line: KeyLine) -> Iterator[doc.Words]:
    yield line.description
    yield from line.value
    if line.metadata:
        yield f"metadata: {'; '.join(line.metadata)}"
    if line.event_type != "POINT_IN_TIME":
        yield doc.Span(line.event_type, "code")
    if line.virtual:
        yield "no record of its own"


def _more(command: str, between: str = "", other: str = "") -> doc.Text:
    return doc.Text(("More: ", doc.Span(command, "code"), between, doc.Span(other, "code")))


def _usage(usage: str) -> str:
    return "" if usage == "training" else f" --usage {usage}"


_MARKS = {"added": doc.Span("new", "good"), "removed": doc.Span("gone", "bad"), "changed": doc.Span("changed", "note")}
_CHANGES = (doc.Column("", when_narrow="keep"), doc.Column("", when_narrow="keep"), doc.Column(""))
_ADDED = (
    doc.Column("benchmark", when_narrow="keep"),
    doc.Column("runs", number=True),
    doc.Column("quality target (closed)"),
)


def round_document(diff: RoundDiff) -> doc.Document:
    """What changes from one round to another."""
    return doc.document(_title(diff), *diff_blocks(diff))


def _title(diff: RoundDiff) -> str:
    only = "" if len(diff.divisions) == len(DIVISIONS) else f", {', '.join(diff.divisions)} division"
    return f"Changes from {diff.usage} {diff.old} to {diff.new}{only}"


def diff_blocks(diff: RoundDiff, longest: int | None = None) -> list[doc.Block | None]:
    """What changes for packages, benchmarks and logs; of a benchmark with more than ``longest`` changes how many."""
    if diff.empty:
        return [doc.Text("No rule changes.")]
    added = tuple((name(of.name), str(of.runs), one_line(of.targets["closed"])) for of in diff.benchmarks_added)
    beyond = "Nothing else changes" if diff.common else "Unchanged"
    return [
        doc.section("Every package", change_table(diff.facts, (), diff.divisions)),
        doc.section("New benchmarks", doc.Table(_ADDED, added)),
        _names("Benchmarks that are gone", diff.benchmarks_removed),
        doc.section("Every log", change_table((), diff.common, diff.divisions)),
        *(doc.section(of.name, _of_benchmark(of, diff.divisions, longest)) for of in diff.benchmarks),
        _names(beyond, diff.unchanged),
    ]


def _of_benchmark(of: BenchmarkDiff, divisions: tuple[str, ...], longest: int | None) -> doc.Block:
    count = len(of.facts) + len(of.keys)
    if longest is not None and count > longest:
        return doc.Text((f"{count} demands change; see ", name(of.name), "."))
    return change_table(of.facts, of.keys, divisions)


def _names(what: str, names: Sequence[str]) -> doc.Text | None:
    return doc.Text((f"{what}: ", *listed(map(name, names)))) if names else None


def change_table(facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...]) -> doc.Table:
    """Changes: what becomes of it, the fact or key, and what is different."""
    rows: list[tuple[doc.Cell, ...]] = [
        (_MARKS["changed"], fact.name, doc.Lines((f"was: {fact.old}", f"now: {fact.new}"))) for fact in facts
    ]
    for change in keys:
        only = "" if change.divisions == divisions else f" ({', '.join(change.divisions)})"
        where = (change.where.words(),) if change.where else ()
        rows.append((_MARKS[change.change], (name(change.key), only), doc.Lines((*where, *change.lines))))
    return doc.Table(_CHANGES, tuple(rows), key=1)
