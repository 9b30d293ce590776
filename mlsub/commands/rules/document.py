"""The answers of ``mlsub rules`` as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlsub.commands.rules.diff import Fact, KeyChange, RoundDiff
from mlsub.commands.rules.keys import KeyCheck, KeyLine, KeyList
from mlsub.commands.rules.table import EveryRule, KeyRow, OfBenchmark, Overview, RuleTable
from mlsub.divisions import DIVISIONS
from mlsub.io.data import group_by_key
from mlsub.io.show import plural
from mlsub.present import document as doc


def name(text: str) -> doc.Span:
    """Return the name of a key, a benchmark or a rule."""
    return doc.Span(text, "name")


def listed(names: Iterable[doc.Span], between: str = ", ") -> tuple[doc.Span | str, ...]:
    """Return names with commas between them."""
    return tuple(word for one in names for word in (between, one))[1:]


def one_line(targets: Iterable[str]) -> str:
    """Return quality targets in one line."""
    return "; ".join(targets) or "none"


def _kept(head: str) -> doc.Column:
    """Return a column whose width never changes."""
    return doc.Column(head, when_narrow="keep")


def _more(*commands: str) -> doc.Text:
    """Return which commands say more."""
    return doc.Text(("More: ", *listed((doc.Span(command, "code") for command in commands), ", or ")))


def _official(checker: str) -> tuple[str, doc.Cell]:
    return "official rules", doc.Span(f"{checker}/", "code")


def overview_document(answer: Overview) -> doc.Document:
    """Show rounds and benchmarks: all, the benchmarks of a round, or the rounds of a benchmark."""
    if answer.view != "rounds":
        return _needs_document(answer)
    rows = tuple(
        (line.usage, line.round, ", ".join(f"{of.name} {of.runs}" for of in line.benchmarks)) for line in answer.rounds
    )
    columns = (_kept("usage"), _kept("round"), doc.Column("benchmarks, with the runs of an entry"))
    more = _more("mlsub rules list --round ROUND", "mlsub rules list --benchmark BENCHMARK")
    return doc.document("Rounds and their benchmarks", doc.Table(columns, rows, key=1), more)


def _needs_document(answer: Overview) -> doc.Document:
    """Show what entries need: of each benchmark of one round, or of one benchmark in each round."""
    newest, of_round = answer.rounds[-1], answer.view == "round"
    rows: list[tuple[doc.Cell, ...]] = []
    for line in answer.rounds:
        for of in line.benchmarks:
            needs, target = (str(of.runs), str(of.forgiven)), one_line(of.targets[answer.division])
            if of_round:
                rows.append((name(of.name), *needs, doc.Lines((target, of.title))))
            else:
                rows.append((line.usage, line.round, *needs, target))
    heads = (_kept("benchmark"),) if of_round else (_kept("usage"), _kept("round"))
    numbers = (doc.Column("runs", number=True), doc.Column("may fail", number=True))
    columns = (*heads, *numbers, doc.Column(f"quality target ({answer.division})"))
    usage = "" if newest.usage == "training" else f" --usage {newest.usage}"
    if of_round:
        what, title = "BENCHMARK", newest.title
    else:
        [benchmark] = newest.benchmarks
        what, title = benchmark.name, f"{benchmark.name}: {benchmark.title}"
    return doc.document(
        title,
        doc.Facts((("benchmarks", str(len(rows))), _official(newest.checker))) if of_round else None,
        doc.Table(columns, tuple(rows), key=len(heads) - 1),
        _more(f"mlsub rules show {what} --round {newest.round}{usage}"),
    )


def every_document(every: EveryRule) -> doc.Document:
    """Show every rule in a row, by the room of mlsub/ that it stands in."""
    heads = map(_kept, ("rule", "kind", "severity"))
    columns = (*heads, doc.Column("rounds", leave_out=1), doc.Column("what a finding says"))
    rooms = group_by_key(
        (of.room, (name(of.rule), of.kind.value, of.severity.value, of.rounds or "", of.title)) for of in every.rules
    )
    tables = (doc.section(f"mlsub/{room}", doc.Table(columns, tuple(rows))) for room, rows in rooms.items())
    return doc.document("Rules", *tables, _more("mlsub explain RULE"))


def _titled(what: str, answer: OfBenchmark) -> str:
    return f"{what} of {answer.benchmark}, {answer.usage} {answer.round}, {answer.division} division"


def table_document(table: RuleTable) -> doc.Document:
    """Show everything demanded of a benchmark's logs, by official file, the benchmark's own first."""
    groups: dict[tuple[bool, str], list[KeyRow]] = {}
    for row in table.rows:
        heading = row.source if row.where is None else f"{row.where.words()} ({row.source})"
        heading = f"{heading}, for every benchmark" if row.of_every_benchmark else heading
        groups.setdefault((row.of_every_benchmark, heading), []).append(row)
    facts: tuple[tuple[str, doc.Cell], ...] = (
        ("benchmark", table.title),
        ("runs", f"{table.runs} an entry, of which {table.forgiven or 'none'} may be noncompliant"),
        ("quality target", one_line(table.targets)),
        _official(table.checker),
    )
    return doc.document(
        _titled("Rules", table),
        doc.Facts(facts),
        *(
            doc.section(heading, rows_table(rows))
            for (_, heading), rows in sorted(groups.items(), key=lambda group: group[0][0])
        ),
        alternatives(table.at_least_one_of),
    )


def rows_table(rows: Iterable[KeyRow]) -> doc.Table:
    """Return rows of rules as a table."""
    columns = (_kept("key"), doc.Column("occurs"), doc.Column("constraint"))
    return doc.Table(columns, tuple((name(row.key), row.occurs, doc.Lines(row.constraints)) for row in rows))


def alternatives(groups: Sequence[Sequence[str]]) -> doc.Text | None:
    """Return groups of keys of which one must appear; None without any."""
    said = ", ".join(" or ".join(group) for group in groups)
    return doc.Text(f"One of each must appear: {said}") if said else None


def keys_document(keys: KeyList) -> doc.Document:
    """Show what a training code must log and may log, in the order of a run."""
    groups: dict[tuple[str, str | None], list[tuple[doc.Cell, ...]]] = {}
    for line in keys.keys:
        need = f"must, {line.when.removeprefix('exactly ')}" if line.need == "must" else line.need
        about = doc.Lines(tuple(_about_key(line)))
        groups.setdefault((line.step, line.where), []).append((name(line.key), need, about))
    columns = (_kept("key"), doc.Column("log it"), doc.Column("what"))
    kinds = tuple(doc.Span(kind, "code") for kind in ("POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END"))
    facts = (("benchmark", keys.title), ("quality target", one_line(keys.targets)), ("order", "as a run logs the keys"))
    return doc.document(
        _titled("Keys", keys),
        doc.Facts(facts),
        *(
            doc.section(" ".join(filter(None, (step.capitalize(), where))), doc.Table(columns, tuple(rows)))
            for (step, where), rows in groups.items()
        ),
        doc.Text(("Events are ", kinds[0], " unless ", kinds[1], " or ", kinds[2], " is given.")),
    )


def _about_key(line: KeyLine) -> Iterator[doc.Words]:
    yield line.description
    yield from line.value
    if line.metadata:
        yield f"metadata: {'; '.join(line.metadata)}"
    if line.event_type != "POINT_IN_TIME":
        yield doc.Span(line.event_type, "code")
    if line.virtual:
        yield "no record of its own"


def check_document(checked: KeyCheck) -> doc.Document:
    """Show what is wrong with a file of hyperparameters, then what the run has to log besides, and the answer."""
    answer: tuple[doc.Span, str]
    if checked.errors:
        found = f"{plural(checked.errors, 'error')} in {checked.file}"
        answer = doc.Span("rejected", "bad"), f": {found}; the rules would reject a run with it"
    else:
        found = f"{checked.file} has {plural(checked.keys, 'key')}"
        answer = doc.Span("accepted", "good"), f": {found}, none of which the rules would reject a run for"
    return doc.document(
        _titled("Hyperparameters", checked),
        doc.Findings(checked.findings),
        doc.Facts((("still to log before the clock starts", ", ".join(checked.still_to_log) or "nothing"),)),
        doc.Text(answer),
    )


def round_document(diff: RoundDiff) -> doc.Document:
    """Show what changes from one round to another."""
    only = "" if len(diff.divisions) == len(DIVISIONS) else f", {', '.join(diff.divisions)} division"
    return doc.document(f"Changes from {diff.usage} {diff.old} to {diff.new}{only}", *diff_blocks(diff))


def diff_blocks(diff: RoundDiff) -> list[doc.Block | None]:
    """Return what changes for packages, benchmarks and logs; of each benchmark in a section with its name."""
    if diff.empty:
        return [doc.Text("No rule changes.")]
    columns = (_kept("benchmark"), doc.Column("runs", number=True), doc.Column("quality target (closed)"))
    added = tuple((name(of.name), str(of.runs), one_line(of.targets["closed"])) for of in diff.benchmarks_added)
    clauses = tuple((_MARKS[of.change], of.section, of.words) for of in diff.clauses)
    return [
        doc.section("Every package", change_table(diff.facts, (), diff.divisions)),
        doc.section("New benchmarks", doc.Table(columns, added)),
        _name_list("Benchmarks that are gone", diff.benchmarks_removed),
        doc.section("Every log", change_table((), diff.common, diff.divisions)),
        *(doc.section(of.name, change_table(of.facts, of.keys, diff.divisions)) for of in diff.benchmarks),
        _name_list("Nothing else changes" if diff.common else "Unchanged", diff.unchanged),
        doc.section(CLAUSES_TITLE, doc.Table((_kept(""), doc.Column("section"), doc.Column("")), clauses)),
    ]


def _name_list(what: str, names: Sequence[str]) -> doc.Text | None:
    return doc.Text((f"{what}: ", *listed(map(name, names)))) if names else None


#: What stands above the clauses that change, and how a change is called.
CLAUSES_TITLE = "Clauses of the written rules"
_MARKS = {"new": doc.Span("new", "good"), "gone": doc.Span("gone", "bad"), "changed": doc.Span("changed", "note")}


def change_table(facts: Iterable[Fact], keys: Iterable[KeyChange], divisions: tuple[str, ...]) -> doc.Table:
    """Return changes as a table: what becomes of it, the fact or key, and what is different."""
    marks = {**_MARKS, "added": _MARKS["new"], "removed": _MARKS["gone"]}
    rows: list[tuple[doc.Cell, ...]] = [
        (marks["changed"], fact.name, doc.Lines((f"was: {fact.old}", f"now: {fact.new}"))) for fact in facts
    ]
    for change in keys:
        only = "" if change.divisions == divisions else f" ({', '.join(change.divisions)})"
        where = (change.where.words(),) if change.where else ()
        rows.append((marks[change.change], (name(change.key), only), doc.Lines((*where, *change.lines))))
    return doc.Table((_kept(""), _kept(""), doc.Column("")), tuple(rows), key=1)
