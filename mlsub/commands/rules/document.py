"""The answers of ``mlsub rules`` as documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from mlsub.commands.rules.diff import BenchmarkDiff, Fact, KeyChange, RoundDiff
from mlsub.commands.rules.keys import KeyCheck, KeyLine, KeyList
from mlsub.commands.rules.submission import SubmissionDiff, Unmet
from mlsub.commands.rules.table import (
    BenchmarkLine,
    OfBenchmark,
    Overview,
    RoundLine,
    Row,
    RuleIds,
    RuleLine,
    RuleTable,
)
from mlsub.divisions import DIVISIONS
from mlsub.io.show import plural
from mlsub.present.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Findings,
    Items,
    Lines,
    Section,
    Span,
    Table,
    Text,
    Words,
    document,
    section,
)

_ROUNDS = (
    Column("usage", when_narrow="keep"),
    Column("round", when_narrow="keep"),
    Column("benchmarks, with the runs of an entry"),
)
_NEEDS = (Column("runs", number=True), Column("may fail", number=True))
_RULES = (Column("rule", when_narrow="keep"), Column("demand"))
_ROWS = (Column("key", when_narrow="keep"), Column("occurs"), Column("constraint"))
_KEYS = (Column("key", when_narrow="keep"), Column("log it"), Column("what"))


def name(text: str) -> Span:
    """The name of a key, a benchmark or a rule."""
    return Span(text, "name")


def listed(names: Iterable[Span]) -> tuple[Span | str, ...]:
    """Names with commas between them."""
    return tuple(word for one in names for word in (", ", one))[1:]


def one_line(targets: Iterable[str]) -> str:
    """Quality targets in one line."""
    return "; ".join(targets) or "none"


def overview_document(answer: Overview) -> Document:
    """Rounds and benchmarks."""
    if answer.view == "rounds":
        return _rounds(answer.rounds)
    return (_one_round if answer.view == "round" else _one_benchmark)(answer.rounds, answer.division)


def _rounds(lines: Sequence[RoundLine]) -> Document:
    rows = tuple(
        (line.usage, line.round, ", ".join(f"{of.name} {of.runs}" for of in line.benchmarks)) for line in lines
    )
    more = _more("mlsub rules list --round ROUND", ", or ", "mlsub rules list --benchmark BENCHMARK")
    return document("Rounds and their benchmarks", Table(_ROUNDS, rows, key=1), more)


def _one_round(lines: Sequence[RoundLine], division: str) -> Document:
    [line] = lines
    rows = tuple(
        (name(of.name), *_counts(of), Lines((one_line(of.targets[division]), of.title))) for of in line.benchmarks
    )
    columns = (Column("benchmark", when_narrow="keep"), *_NEEDS, Column(f"quality target ({division})"))
    return document(
        line.title,
        Facts((("benchmarks", str(len(rows))), _official(line.checker))),
        Table(columns, rows),
        _more(f"mlsub rules show BENCHMARK --round {line.round}{_usage(line.usage)}"),
    )


def _one_benchmark(lines: Sequence[RoundLine], division: str) -> Document:
    newest = lines[-1]
    [benchmark] = newest.benchmarks
    rows = tuple(
        (line.usage, line.round, *_counts(of), one_line(of.targets[division]))
        for line in lines
        for of in line.benchmarks
    )
    columns = (*_ROUNDS[:2], *_NEEDS, Column(f"quality target ({division})"))
    more = _more(f"mlsub rules show {benchmark.name} --round {newest.round}{_usage(newest.usage)}")
    return document(f"{benchmark.name}: {benchmark.title}", Table(columns, rows, key=1), more)


def _counts(benchmark: BenchmarkLine) -> tuple[str, str]:
    return str(benchmark.runs), str(benchmark.forgiven)


def needs_table(head: Column, needs: Iterable[tuple[Cell, BenchmarkLine]]) -> Table:
    """What entries need, with the quality targets of both divisions."""
    columns = (head, *_NEEDS, Column("quality target, Closed"), Column("quality target, Open"))
    rows = ((cell, *_counts(of), *(Lines(words or ("none",)) for words in of.targets.values())) for cell, of in needs)
    return Table(columns, tuple(rows))


def _official(checker: str) -> tuple[str, Cell]:
    return "official rules", Span(f"{checker}/", "code")


def _titled(what: str, answer: OfBenchmark) -> str:
    return f"{what} of {answer.benchmark}, {answer.usage} {answer.round}, {answer.division} division"


def ids_document(ids: RuleIds) -> Document:
    """The rule ids that a log and its package may run into."""
    return document(
        _titled("Rule ids", ids),
        section("Demands on the keys of a log", _rules(ids.rules)),
        section("Rules that are not about one key", _rules(ids.general)),
        _more("mlsub explain RULE"),
    )


def _rules(lines: Sequence[RuleLine]) -> Table:
    return Table(_RULES, tuple((name(line.id), line.demand) for line in lines))


def table_document(table: RuleTable) -> Document:
    """Everything demanded of a benchmark's logs, by official file, the benchmark's own first."""
    groups: dict[tuple[bool, str], list[Row]] = {}
    for row in table.rows:
        heading = row.source if row.where is None else f"{row.where.words()} ({row.source})"
        groups.setdefault((row.of_every_benchmark, heading), []).append(row)
    return document(
        _titled("Rules", table),
        Facts(
            (
                ("benchmark", table.title),
                ("runs", f"{table.runs} an entry, of which {table.forgiven or 'none'} may be noncompliant"),
                ("quality target", one_line(table.targets)),
                _official(table.checker),
            )
        ),
        *(
            section(f"{heading}, for every benchmark" if common else heading, rows_table(rows))
            for (common, heading), rows in sorted(groups.items(), key=lambda group: group[0][0])
        ),
        alternatives(table.at_least_one_of),
    )


def rows_table(rows: Iterable[Row], head: str = "", more: Callable[[Row], Cell] = str) -> Table:
    """Rows of rules; with ``head`` a further column, which ``more`` fills."""
    columns = (*_ROWS, Column(head)) if head else _ROWS
    cells = ((name(row.key), row.occurs, Lines(row.constraints), *([more(row)] if head else ())) for row in rows)
    return Table(columns, tuple(cells))


def alternatives(groups: Sequence[Sequence[str]]) -> Text | None:
    """Groups of keys of which one must appear."""
    said = ", ".join(" or ".join(group) for group in groups)
    return Text(f"One of each must appear: {said}") if said else None


def keys_document(keys: KeyList) -> Document:
    """What a training code must log and may log, in the order of a run."""
    kinds = tuple(Span(kind, "code") for kind in ("POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END"))
    return document(
        _titled("Keys", keys),
        Facts(
            (
                ("benchmark", keys.title),
                ("quality target", one_line(keys.targets)),
                ("order", "as a run logs the keys"),
            )
        ),
        *_steps(keys.keys),
        Text(("Events are ", kinds[0], " unless ", kinds[1], " or ", kinds[2], " is given.")),
    )


def check_document(checked: KeyCheck) -> Document:
    """What is wrong with a file of hyperparameters, then what the run has to log besides, and the answer."""
    keys, errors = plural(checked.keys, "key"), checked.errors
    answer = Span("accepted", "good"), f": {checked.file} has {keys}, none of which the rules would reject a run for"
    if errors:
        answer = (
            Span("rejected", "bad"),
            f": {plural(errors, 'error')} in {checked.file}; the rules would reject a run with it",
        )
    return document(
        _titled("Hyperparameters", checked),
        Findings(checked.findings) if checked.findings else None,
        Facts((("still to log before the clock starts", ", ".join(checked.still_to_log) or "nothing"),)),
        Text(answer),
    )


def _steps(keys: Sequence[KeyLine]) -> Iterator[Section | None]:
    groups: dict[tuple[str, str | None], list[tuple[Cell, ...]]] = {}
    for line in keys:
        need = f"must, {line.when.removeprefix('exactly ')}" if line.need == "must" else line.need
        groups.setdefault((line.step, line.where), []).append((name(line.key), need, Lines(tuple(_about(line)))))
    for (step, where), rows in groups.items():
        yield section(" ".join(filter(None, (step.capitalize(), where))), Table(_KEYS, tuple(rows)))


def _about(line: KeyLine) -> Iterator[Words]:
    yield line.description
    yield from line.value
    if line.metadata:
        yield f"metadata: {'; '.join(line.metadata)}"
    if line.event_type != "POINT_IN_TIME":
        yield Span(line.event_type, "code")
    if line.virtual:
        yield "no record of its own"


def _more(command: str, between: str = "", other: str = "") -> Text:
    return Text(("More: ", Span(command, "code"), between, Span(other, "code")))


def _usage(usage: str) -> str:
    return "" if usage == "training" else f" --usage {usage}"


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
    checked = f"{plural(diff.logs, 'log')} checked by {rules.old} and by {rules.new}"
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
        where = f"{unmet.logs} of {plural(logs, 'log')}" if unmet.logs else plural(unmet.places, "place")
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
        found.append(f"{plural(len(diff.unmet), 'demand')} of {diff.rules.new} not met yet")
    if diff.unmet_before and not diff.accepted:
        found.append(f"{plural(len(diff.unmet_before), 'demand')} met in neither round")
    if diff.gone:
        found.append(f"{plural(len(diff.gone), 'benchmark')} gone")
    return "; ".join(found) or f"nothing has to change for {diff.rules.new}"
