"""A review as a document: of each organisation the verdict, what to ask, tables, and what is left to people."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mlsub.commands.review.hyperparameters import hyperparameters_tables
from mlsub.commands.review.model import Ask, Organisation, Rates, Review, ReviewedEntry
from mlsub.findings import Severity, Verdict
from mlsub.io.data import group_by_key
from mlsub.io.show import first_few, plural
from mlsub.present import document as doc
from mlsub.present.entries import MEANINGS, EntryColumn, rcp_words, results_table, verdict_span
from mlsub.present.findings import MEANINGS as SEVERITIES
from mlsub.present.findings import SUPPRESSED, facts_of, tally
from mlsub.review.disclosure import HEADS, show_stated
from mlsub.rules.catalogue import finding
from mlsub.submission.report import Detail

if TYPE_CHECKING:
    from mlsub.present.ci import CiReport

TITLE = "Review"
#: Questions in the usual text of one organisation, and of one of several; lines of places, and files in each.
_MOST, _MOST_OF_MANY, _PLACES, _FILES = 4, 3, 1, 1
#: Lines of questions and hyperparameters in the usual text, and of a question.
_ROOM, _EACH = 28, 5
#: Organisations or entries that have a name.
_WHO = 10
#: Facts of a question, in their order, and those that the usual text shows; an expectation longer than this is none.
_FACTS, _USUAL, _SHORT = ("expected", "found", "in", *SUPPRESSED.values(), "why", "source", "fix"), ("found", "in"), 40
_NAMES = {"fix": "would settle it"}
#: An entry, its number, and whose it is.
_Row: TypeAlias = tuple[Organisation, int, ReviewedEntry]


class _View(NamedTuple):
    """How much is shown: ``full`` are all questions, notes and places, ``every`` all hyperparameters as well.

    ``alone``: of one organisation. ``root`` is what files lie below, as a link from where the document is.
    """

    full: bool
    every: bool
    summary: bool
    alone: bool
    root: str


def document_of(
    review: Review, detail: Detail | None = None, *, page: bool = False, folder: Path | None = None
) -> doc.Document:
    """Return the review as a document.

    Args:
        review: with the findings that were asked for.
        detail: how much of it.
        page: with all questions, as Markdown and HTML have it.
        folder: where the page goes, from which its links to files lead; without it there are none.
    """
    found = review.organisations
    counts = [sum(one.count(severity) for one in found) for severity in Severity]
    size = f"{plural(len(found), 'organisation')}, {plural(sum(len(one.entries) for one in found), 'entry', 'entries')}"
    words = ", ".join(plural(count, str(severity)) for count, severity in zip(counts, Severity, strict=True) if count)
    result = doc.Text(f"{size}: {words or 'nothing to ask'}. None of it is an accusation.")
    if detail == "quiet":
        return doc.Document(TITLE, (result,), bare=True)
    every = detail == "full"
    root = re.sub(r"^(?!\.)", "./", os.path.relpath(review.root, folder)) if folder else ""
    view = _View(every or (page and detail is None), every, detail == "summary", len(found) == 1, root)
    # Trees to compare that have nothing in common but the root of the file system.
    apart = doc.Text(f"Paths are below {review.root}") if os.path.dirname(review.root) == review.root else None  # noqa: PTH120
    return doc.document(
        TITLE,
        apart,
        *(() if view.alone else _of_several(found, view)),
        *(_organisation_section(one, view) for one in found),
        doc.section("Could not be read", doc.Items(review.unread)),
        result,
    )


def _of_several(found: Sequence[Organisation], view: _View) -> Iterator[doc.Block | None]:
    """What is compared over all organisations: rules, then the entries of each benchmark, names and disclosure."""
    yield _overview(found)
    yield doc.section("Questions: in how many places", _matrix(found))
    by_benchmark = group_by_key((f"{row[2].benchmark_name}, v{row[0].round}", row) for row in _rows(found))
    for title, rows in sorted(by_benchmark.items()):
        yield doc.section(f"{title}: {plural(len(rows), 'entry', 'entries')}", _entries_table(rows, alone=False))
    yield from _tables(found, full=view.full)


def _rows(found: Sequence[Organisation]) -> list[_Row]:
    return [(one, number, entry) for one in found for number, entry in enumerate(one.entries, 1)]


def _anchor(one: Organisation, kind: str = "", number: int = 0) -> str:
    """The anchor of an organisation, or of a question (``q``) or note (``n``) to it."""
    return re.sub(r"[^\w.]+", "-", f"of {one.path}", flags=re.ASCII) + (f".{kind}{number}" if kind else "")


def _counted(asks: Sequence[Ask]) -> list[Ask]:
    """Return those that no waiver or baseline covers."""
    return [ask for ask in asks if ask.findings[0].suppressed is None]


def _overview(found: Sequence[Organisation]) -> doc.Table:
    """One row an organisation."""
    names = [doc.Span(one.name, link=f"#{_anchor(one)}") for one in found]
    return doc.table_of(
        (
            (doc.Column("organisation", when_narrow="shorten"), names),
            (doc.Column("round"), [f"v{one.round}" if one.round else "-" for one in found]),
            (doc.Column("entries", number=True), [str(len(one.entries)) for one in found]),
            *((doc.Column(f"{of}s", number=True), [str(one.count(of)) for one in found]) for of in Severity),
            (doc.Column("verdict", when_narrow="keep"), [verdict_span(one.official) for one in found]),
        )
    )


def _matrix(found: Sequence[Organisation]) -> doc.Table:
    """One row a rule: in how many places of each organisation it is, with a link to the first question."""
    first: dict[tuple[int, str], dict[int, int]] = {}
    places = Counter[tuple[str, int]]()
    for at, one in enumerate(found):
        for number, ask in enumerate(_counted(one.asks), 1):
            first.setdefault((ask.severity.rank, ask.rule), {}).setdefault(at, number)
            places[ask.rule, at] += len(ask.findings)
    shown = sorted({at for numbers in first.values() for at in numbers})
    rows = []
    for (rank, rule), numbers in sorted(first.items(), key=lambda row: (row[0][0], -len(row[1]), row[0][1])):
        severity = [*Severity][rank]
        links = {at: f"#{_anchor(found[at], 'q', number)}" for at, number in numbers.items()}
        cells = (doc.Span(f"{places[rule, at]:,}", link=links[at]) if at in links else "" for at in shown)
        head = (doc.Span(str(severity), SEVERITIES[severity]), " ", doc.Span(rule, "name"))
        rows.append((head, *cells))
    columns = (doc.Column("rule", when_narrow="keep"), *(doc.Column(found[at].path, number=True) for at in shown))
    return doc.Table(columns, tuple(rows), upright=True)


def _tables(found: Sequence[Organisation], *, full: bool) -> tuple[doc.Block | None, ...]:
    """What is compared over all organisations: names and disclosure."""
    return doc.section("Names", _names_table(found, full=full)), _disclosure(found, full=full)


def _organisation_section(one: Organisation, view: _View) -> doc.Section:
    most = None if view.full else _MOST if view.alone else _MOST_OF_MANY
    asked = _counted(one.asks)
    shown = () if view.summary else asked[:most]
    left = asked[len(shown) :]
    questions = (_question_section(one, number, ask, view) for number, ask in enumerate(shown, 1))
    more = doc.Text(f"{'and ' if shown else ''}{_tally(left)} (-v shows all)") if left else None
    word, _, rest = one.verdict.partition(":")
    entries: doc.Block | None = None
    if view.full or view.alone:
        entries = _entries_table(_rows([one]), alone=True)
    notes: doc.Block | None = doc.Text(f"notes: {_tally(one.notes)} (-v shows them)") if one.notes else None
    if view.full:
        entries = doc.section("Entries", entries)
        told = tuple(_question_section(one, number, ask, view, "n") for number, ask in enumerate(one.notes, 1))
        notes = doc.Section(f"Notes: {len(told)}", told, folded=True) if told else None
    room = None if view.full else _ROOM - _EACH * len(shown) if view.alone else 0
    blocks: tuple[doc.Block | None, ...] = (
        doc.Text((doc.Span(word, MEANINGS[one.official]), f":{rest}")),
        doc.section(f"Ask: {plural(len(asked), 'question')}", *questions, more),
        entries,
        _without_logs(one),
        *(_tables((one,), full=view.full) if view.alone else ()),
        *hyperparameters_tables(one.entries, room, every=view.every),
        notes,
        doc.Text(f"Looked at and fine: {'; '.join(one.fine)}.") if one.fine and not view.summary else None,
        None if view.summary else _to_read(one, full=view.full),
    )
    title = (doc.Span(one.name, "strong"), f", {one.usage} v{one.round}" if one.round else "")
    meaning = MEANINGS[one.official]
    return doc.section(title, *blocks, meaning=meaning, anchor=_anchor(one)) or doc.Section(one.name)


def _tally(asks: Sequence[Ask]) -> str:
    """How many defects there are of each rule, each once whatever its places."""
    return tally([ask.findings[0] for ask in asks])


def _question_section(one: Organisation, number: int, ask: Ask, view: _View, kind: str = "q") -> doc.Section:
    full = view.full
    facts = dict(facts_of(ask.findings, root=view.root) if full else facts_of(ask.findings, _PLACES, _FILES))
    expected, found = facts.get("expected"), facts.get("found")
    if not full and isinstance(expected, str) and isinstance(found, str) and len(expected) <= _SHORT:
        facts["found"] = f"{found}; expected {expected}"
    facts["why"], told = ask.why, ask.question.partition(" (")[2]
    names = [name for name in (_FACTS if full else _USUAL) if facts.get(name) and str(facts[name]) not in told]
    title = (
        f"{number}. ",
        doc.Span(str(ask.severity), SEVERITIES[ask.severity]),
        f": {ask.question} ",
        doc.Span(f"[{ask.rule}]", "code"),
    )
    shown = doc.Facts(tuple((_NAMES.get(name, name), facts[name]) for name in names))
    return doc.Section(title, (shown,), anchor=_anchor(one, kind, number))


def _entries_table(rows: Sequence[_Row], *, alone: bool) -> doc.Table:
    """One row an entry: its runs, minutes, scaling factor, how far above the limit of convergence, and the questions.

    ``alone``: of one organisation; otherwise of one benchmark.
    """
    entries = [entry for *_, entry in rows]
    scaled = any(entry.score.scaling != 1 or entry.score.expected_scaling != 1 for entry in entries)
    rejected = any(entry.official is not Verdict.ACCEPTED for entry in entries)
    of = {entry.path: (one, number) for one, number, entry in rows}
    names = {path: doc.Span(f"{one.name} {number}", link=f"#{_anchor(one)}") for path, (one, number) in of.items()}
    number = EntryColumn("#", number=True, value=lambda entry: of[entry.path][1])
    columns: tuple[str | EntryColumn, ...] = (
        number if alone else EntryColumn("entry", when_narrow="shorten", value=lambda entry: names[entry.path]),
        *(["system", "benchmark", "division"] if alone else ["system", "division"]),
        EntryColumn("runs", number=True, value=_runs),
        "minutes",
        *([EntryColumn("factor", number=True, leave_out=2, value=_factor)] if scaled else []),
        EntryColumn("RCP margin", when_narrow="keep", value=_margin),
        *(["verdict"] if rejected else []),
        *([] if alone else [EntryColumn("questions", value=lambda entry: _questions_on(of[entry.path][0], entry))]),
    )
    return results_table(entries, columns)


def _without_logs(one: Organisation) -> doc.Block | None:
    """What has no row in the table of entries."""
    folders = plural(len(one.without_logs), "folder has", "folders have")
    return doc.Text(f"{folders} no result log: {first_few(one.without_logs)}.") if one.without_logs else None


def _margin(entry: ReviewedEntry) -> str | None:
    margin = "" if entry.margin_percent is None else f" {entry.margin_percent:+.2f}%"
    return f"{rcp_words(entry.rcp)}{margin}" if entry.runs else None


def _runs(entry: ReviewedEntry) -> str:
    """How many runs are good, and of how many where not all are."""
    good = entry.runs - sum(run.why in ("noncompliant", "not converged") for run in entry.left_out)
    return str(good) if good == entry.runs else f"{good}/{entry.runs}"


def _questions_on(one: Organisation, entry: ReviewedEntry) -> doc.Cell:
    """The numbers of the questions with a place in an entry."""
    words: list[str | doc.Span] = []
    for number, ask in enumerate(_counted(one.asks), 1):
        if any(f"{found.path}/".startswith(f"{entry.path}/") for found in ask.findings):
            link = f"#{_anchor(one, 'q', number)}"
            words += [", "] * bool(words) + [doc.Span(str(number), SEVERITIES[ask.severity], link)]
    return tuple(words) or ""


def _factor(entry: ReviewedEntry) -> doc.Cell:
    """The scaling factor, and the expected one where it is another: only a test that passes expects one."""
    score = entry.score
    if entry.rcp.verdict != "pass" or score.as_expected:
        return f"{score.scaling:.4f}"
    both = score.scaling, score.expected_scaling
    digits = next((count for count in range(4, 12) if len({f"{one:.{count}f}" for one in both}) > 1), 4)
    return doc.Lines((f"{score.scaling:.{digits}f}", f"({score.expected_scaling:.{digits}f})"))


def _names_table(found: Sequence[Organisation], *, full: bool) -> doc.Table:
    """One row a name that should be written otherwise; with ``full`` also other forms, and those not known."""
    several = len(found) > 1
    where: dict[tuple[str, str, str], dict[str, None]] = {}
    for one in found:
        for name in one.names:
            of = name.naming
            if of.how == "spelling" or (full and of.how != "right"):
                # The numbers of the system's entries; its own name where it has none.
                system = name.path.rpartition("/")[2].removesuffix(".json")
                entries = [str(number) for number, entry in enumerate(one.entries, 1) if entry.system == system]
                known = where.setdefault((of.field, of.written, of.wanted or "-"), {})
                known.update(dict.fromkeys([one.name] if several else entries or [system]))
    heads = doc.Column("field", when_narrow="shorten"), doc.Column("as written"), doc.Column("as it should be")
    columns = (*heads, doc.Column("organisations" if several else "entries"))
    return doc.Table(columns, tuple((*key, first_few(names, _WHO)) for key, names in where.items()))


def _disclosure(found: Sequence[Organisation], *, full: bool) -> doc.Block | None:
    """One row an entry: batch, parallel sizes, precisions and configuration, as far as any entry discloses them."""
    rows = _rows(found)
    told = [row for row in rows if any(getattr(row[2].disclosure, name) for name in [*HEADS][2:])]
    if not told:
        return doc.Text("No entry discloses more than its batch size and accumulation.") if rows else None
    told = rows if full else told
    stated = [name for name in HEADS if any(getattr(entry.disclosure, name) for *_, entry in told)]
    several = len(found) > 1
    heads = [*(("entry", "benchmark") if several else ("#",)), *(HEADS[name] for name in stated)]
    cells = []
    for one, number, entry in told:
        entry_cells = (f"{one.name} {number}", entry.benchmark_name) if several else (str(number),)
        cells.append((*entry_cells, *(_disclosed(entry, name) for name in stated)))
    notes = []
    if any((fact := getattr(entry.disclosure, name)) and fact.printed for *_, entry in told for name in stated):
        notes.append("* from the log: no record states it.")
    silent = [head for name, head in HEADS.items() if name not in stated]
    notes += [f"No entry discloses {', '.join(silent)}."] if silent else []
    if left := len(rows) - len(told):
        notes.append(f"{plural(left, 'entry discloses', 'entries disclose')} no more than batch size and accumulation.")
    table = doc.Table(tuple(map(doc.Column, heads)), tuple(cells))
    return doc.section("Disclosed", table, doc.Text(" ".join(notes)) if notes else None)


def _disclosed(entry: ReviewedEntry, name: str) -> str:
    """What an entry discloses; of its configuration where it lies in the benchmark's code, where that is there."""
    fact, places = getattr(entry.disclosure, name), entry.disclosure.config_places
    if fact is None or name != "config_file" or places is None:
        return show_stated(fact) if fact else ""
    inside = [path.removeprefix(f"benchmarks/{entry.benchmark}/") for path in places]
    return f"{first_few(inside, 1)}{'*' * fact.printed}" if inside else f"{show_stated(fact)}: not there"


def _to_read(one: Organisation, *, full: bool) -> doc.Block | None:
    if not one.to_read:
        return None
    if full:
        texts = [*one.to_read.values()]
        every = [text for text in texts[0] if len(texts) > 1 and all(text in of for of in texts)]
        own = {name: [text for text in of if text not in every] for name, of in one.to_read.items()}
        facts = tuple((name, doc.Lines(tuple(of))) for name, of in {**own, "each": every}.items() if of)
        return doc.section("Not for a program", doc.Facts(facts))
    return doc.Text(f"Not for a program: the code of {first_few(one.to_read)} beside the reference (-v says what).")


def rates_document(rates: Rates) -> doc.Document:
    """Return how often each rule applies, as a table."""
    columns = [doc.Column(name, number=True) for name in ("entries", "share", "findings")]
    rows = tuple(
        (one.rule, str(one.entries), f"{one.entries / one.of:.1%}" if one.of else "-", str(one.findings))
        for one in rates.rates
    )
    return doc.document(
        "How often each rule applies",
        doc.Text(f"{plural(rates.entries, 'entry', 'entries')}, {rates.logs:,} {'log' if rates.logs == 1 else 'logs'}"),
        doc.Table((doc.Column("rule", when_narrow="keep"), *columns), rows),
    )


def ci_results(review: Review) -> CiReport:
    """Return a review as results for CI: a part for each organisation, whose errors and warnings count."""
    from mlsub.present.ci import CiReport, Outcome, part

    parts = [
        part(
            f"{one.path} (v{one.round})",
            [found for ask in (*one.asks, *one.notes) for found in ask.findings],
            lambda found: Outcome.COUNTS if found.severity is not Severity.NOTE else Outcome.BESIDE,
            root=review.root,
            verdict=one.official,
        )
        for one in review.organisations
    ]
    if review.unread:
        lost = [finding("check.failed", ".", line) for line in review.unread]
        parts.append(part("not read", lost, lambda _: Outcome.NOT_CHECKED, verdict=Verdict.NOT_CHECKED))
    return CiReport("review", tuple(parts))
