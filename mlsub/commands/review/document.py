"""A review as a document: of each organisation the verdict, what to ask, tables, and what is left to people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlsub.commands.review.hyperparameters import hyperparameters_tables
from mlsub.commands.review.model import Ask, Organisation, Rates, Review, ReviewedEntry
from mlsub.findings import Severity, Verdict
from mlsub.io.show import first_few, plural
from mlsub.present.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Lines,
    Section,
    Span,
    Table,
    Text,
    document,
    section,
    table_of,
)
from mlsub.present.entries import MEANINGS, rcp_words, verdict_column
from mlsub.present.findings import MEANINGS as SEVERITIES
from mlsub.present.findings import SUPPRESSED, facts_of, tally
from mlsub.review.disclosure import show_stated
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


def document_of(review: Review, detail: Detail | None = None, *, page: bool = False) -> Document:
    """Return the review as a document.

    Args:
        review: with the findings that were asked for.
        detail: how much of it.
        page: with everything, as Markdown and HTML have it.
    """
    found = review.organisations
    result = Text(_result(review))
    if detail == "quiet":
        return Document(TITLE, (result,), bare=True)
    full = detail == "full" or (page and detail is None)
    most = None if full else _MOST if len(found) == 1 else _MOST_OF_MANY
    alone, summary = len(found) == 1, detail == "summary"
    return document(
        TITLE,
        *(() if alone else (_overview(found), *_tables(found, full=full))),
        *(_organisation(one, most, full=full, summary=summary, alone=alone) for one in found),
        section("Could not be read", Items(review.unread)),
        result,
    )


def _result(review: Review) -> str:
    found = review.organisations
    counts = [sum(one.count(severity) for one in found) for severity in Severity]
    size = f"{plural(len(found), 'organisation')}, {plural(sum(len(one.entries) for one in found), 'entry', 'entries')}"
    words = ", ".join(plural(count, str(severity)) for count, severity in zip(counts, Severity, strict=True) if count)
    return f"{size}: {words or 'nothing to ask'}. None of it is an accusation."


def _overview(found: Sequence[Organisation]) -> Table:
    """One row an organisation."""
    rounds = [f"v{one.round}" if one.round else "-" for one in found]
    verdicts = [Span(one.official.value, MEANINGS[one.official]) for one in found]
    return table_of(
        (
            (Column("organisation", when_narrow="shorten"), [one.name for one in found]),
            (Column("round"), rounds),
            (Column("entries", number=True), [str(len(one.entries)) for one in found]),
            *((Column(f"{of}s", number=True), [str(one.count(of)) for one in found]) for of in Severity),
            (Column("verdict", when_narrow="keep"), verdicts),
        )
    )


def _tables(found: Sequence[Organisation], *, full: bool) -> tuple[Block | None, ...]:
    """What is compared over all organisations: names and disclosure."""
    return section("Names", names_table(found, full=full)), disclosure(found, full=full)


def _organisation(one: Organisation, most: int | None, *, full: bool, summary: bool, alone: bool) -> Section:
    rules = f", {one.usage} v{one.round}" if one.round else ""
    asked = [ask for ask in one.asks if ask.findings[0].suppressed is None]
    shown = () if summary else asked[:most]
    left = asked[len(shown) :]
    room = None if full else _ROOM - _EACH * len(shown) if alone else 0
    questions = (_question(number, ask, full=full) for number, ask in enumerate(shown, 1))
    more = Text(f"{'and ' if shown else ''}{_tally(left)} (-v shows all)") if left else None
    blocks: tuple[Block | None, ...] = (
        Text(_verdict(one)),
        section(f"Ask: {plural(len(asked), 'question')}", *questions, more),
        section("Entries", entries_table(one.entries)) if full else entries_table(one.entries),
        *(_tables((one,), full=full) if alone else ()),
        *hyperparameters_tables(one.entries, room),
        section("Notes", *(_question(number, ask, full=True) for number, ask in enumerate(one.notes, 1)))
        if full
        else Text(f"notes: {_tally(one.notes)} (-v shows them)")
        if one.notes
        else None,
        Text(f"Looked at and fine: {'; '.join(one.fine)}.") if one.fine and not summary else None,
        None if summary else _to_read(one, full=full),
    )
    return section((Span(one.name, "strong"), rules), *blocks, meaning=MEANINGS[one.official]) or Section(one.name)


def _verdict(one: Organisation) -> tuple[str | Span, ...]:
    word, _, rest = one.verdict.partition(":")
    return (Span(word, MEANINGS[one.official]), f":{rest}")


def _tally(asks: Sequence[Ask]) -> str:
    """How many defects there are of each rule, each once whatever its places."""
    return tally([ask.findings[0] for ask in asks])


def _question(number: int, ask: Ask, *, full: bool) -> Section:
    facts = dict(facts_of(ask.findings) if full else facts_of(ask.findings, _PLACES, _FILES))
    expected, found = facts.get("expected"), facts.get("found")
    if not full and isinstance(expected, str) and isinstance(found, str) and len(expected) <= _SHORT:
        facts["found"] = f"{found}; expected {expected}"
    facts["why"] = ask.why
    names = [name for name in (_FACTS if full else _USUAL) if facts.get(name)]
    title = (
        f"{number}. ",
        Span(str(ask.severity), SEVERITIES[ask.severity]),
        f": {ask.question} ",
        Span(f"[{ask.rule}]", "code"),
    )
    return Section(title, (Facts(tuple((_NAMES.get(name, name), facts[name]) for name in names)),))


def entries_table(entries: Sequence[ReviewedEntry]) -> Table:
    """One row an entry: minutes, scaling factor, how far above the limit of convergence, and runs left out."""
    return table_of(_entry_columns(entries), "system")


def _entry_columns(entries: Sequence[ReviewedEntry]) -> Iterator[tuple[Column, Sequence[Cell]]]:
    yield Column("#", number=True), [str(number) for number, _ in enumerate(entries, 1)]
    yield Column("system", when_narrow="shorten"), [entry.system for entry in entries]
    yield Column("benchmark", when_narrow="keep"), [entry.benchmark for entry in entries]
    yield Column("division", leave_out=2), [(entry.division or "-")[:20] for entry in entries]
    yield Column("runs", number=True), [f"{entry.runs - len(entry.left_out)}/{entry.runs}" for entry in entries]
    minutes = [entry.minutes for entry in entries]
    yield Column("minutes", number=True), ["-" if value is None else f"{value:.3f}" for value in minutes]
    if any(entry.score.scaling != 1 or entry.score.expected_scaling != 1 for entry in entries):
        yield Column("factor", number=True), [_factor(entry) for entry in entries]
    yield Column("RCP margin", when_narrow="keep"), [_margin(entry) for entry in entries]
    if any(entry.official is not Verdict.ACCEPTED for entry in entries):
        yield verdict_column(entries, leave_out=1)


def _margin(entry: ReviewedEntry) -> str:
    return rcp_words(entry.rcp) + ("" if entry.margin_percent is None else f" {entry.margin_percent:+.2f}%")


def names_table(found: Sequence[Organisation], *, full: bool) -> Table:
    """One row a name that should be written otherwise; with ``full`` also other forms, and those not known."""
    where: dict[tuple[str, str, str], dict[str, None]] = {}
    for one in found:
        for path, of in ((named.path, named.naming) for named in one.names):
            if of.how == "spelling" or (full and of.how != "right"):
                key = (of.field, of.written, of.wanted or "-")
                for who in [one.name] if len(found) > 1 else _entries_of(path, one):
                    where.setdefault(key, {})[who] = None
    who = "organisations" if len(found) > 1 else "entries"
    columns = Column("field", when_narrow="shorten"), Column("as written"), Column("as it should be"), Column(who)
    return Table(columns, tuple((*key, first_few(names, _WHO)) for key, names in where.items()))


def _entries_of(path: str, one: Organisation) -> list[str]:
    """The numbers of the entries of a system, by the path of its description; its name where it has none."""
    system = path.rpartition("/")[2].removesuffix(".json")
    return [str(number) for number, entry in enumerate(one.entries, 1) if entry.system == system] or [system]


#: What is disclosed, as a table calls it.
_DISCLOSED = {
    "batch_size": "batch",
    "micro_batch_size": "micro batch",
    "tensor": "TP",
    "pipeline": "PP",
    "context": "CP",
    "expert": "EP",
    "linear": "linear",
    "attention": "attention",
    "communication": "comm",
    "config_file": "config",
}


def disclosure(found: Sequence[Organisation], *, full: bool) -> Block | None:
    """One row an entry: batch, parallel sizes, precisions and configuration, as far as any entry discloses them."""
    rows = [(one, number, entry) for one in found for number, entry in enumerate(one.entries, 1)]
    told = [row for row in rows if any(getattr(row[2].disclosure, name) for name in [*_DISCLOSED][1:])]
    if not told:
        return Text("No entry discloses more than its batch size.") if rows else None
    told = rows if full else told
    stated = [name for name in _DISCLOSED if any(getattr(entry.disclosure, name) for *_, entry in told)]
    several = len(found) > 1
    cells = tuple(
        (
            *((f"{one.name} {number}", entry.benchmark) if several else (str(number),)),
            *(_disclosed(entry, name) for name in stated),
        )
        for one, number, entry in told
    )
    columns = map(Column, (*(("entry", "benchmark") if several else ("#",)), *(_DISCLOSED[name] for name in stated)))
    silent = [head for name, head in _DISCLOSED.items() if name not in stated]
    notes = [f"No entry discloses {', '.join(silent)}."] if silent else []
    if left := len(rows) - len(told):
        notes.append(f"{plural(left, 'entry discloses', 'entries disclose')} no more than the batch size.")
    return section("Disclosed", Table(tuple(columns), cells), Text(" ".join(notes)) if notes else None)


def _disclosed(entry: ReviewedEntry, name: str) -> str:
    """What an entry discloses; of its configuration where it lies in the benchmark's code, where that is there."""
    fact, places = getattr(entry.disclosure, name), entry.disclosure.config_places
    if fact is None or name != "config_file" or places is None:
        return show_stated(fact) if fact else ""
    inside = [path.removeprefix(f"benchmarks/{entry.benchmark}/") for path in places]
    return first_few(inside, 1) if inside else f"{show_stated(fact)}: not there"


def _factor(entry: ReviewedEntry) -> Cell:
    """The scaling factor, and the expected one where it is another: only a test that passes expects one."""
    score, factor = entry.score, f"{entry.score.scaling:.4f}"
    expects = entry.rcp.verdict == "pass" and not score.as_expected
    return Lines((factor, f"({score.expected_scaling:.4f})")) if expects else factor


def _to_read(one: Organisation, *, full: bool) -> Block | None:
    if not one.to_read:
        return None
    if full:
        texts = [*one.to_read.values()]
        every = [text for text in texts[0] if len(texts) > 1 and all(text in of for of in texts)]
        own = {name: [text for text in of if text not in every] for name, of in one.to_read.items()}
        facts = tuple((name, "; ".join(of)) for name, of in {**own, "each": every}.items() if of)
        return section("Not for a program", Facts(facts))
    return Text(f"Not for a program: the code of {first_few(one.to_read)} beside the reference (-v says what).")


def rates_document(rates: Rates) -> Document:
    """Return how often each rule applies, as a table."""
    columns = [Column(name, number=True) for name in ("entries", "share", "findings")]
    rows = tuple(
        (one.rule, str(one.entries), f"{one.entries / one.of:.1%}" if one.of else "-", str(one.findings))
        for one in rates.rates
    )
    return document(
        "How often each rule applies",
        Text(f"{plural(rates.entries, 'entry', 'entries')}, {rates.logs:,} {'log' if rates.logs == 1 else 'logs'}"),
        Table((Column("rule", when_narrow="keep"), *columns), rows),
    )


def results_of(review: Review) -> CiReport:
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
