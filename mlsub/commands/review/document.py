"""A review as a document: of each organisation the verdict, what to ask, tables, and what is left to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlsub.commands.review.hyperparameters import hyperparameters_tables
from mlsub.commands.review.model import Ask, Organisation, Rates, Review, ReviewedEntry
from mlsub.findings import Severity, Verdict
from mlsub.io.show import first_few, plural
from mlsub.present import document as doc
from mlsub.present.entries import MEANINGS, EntryColumn, rcp_words, results_table, verdict_span
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


def document_of(review: Review, detail: Detail | None = None, *, page: bool = False) -> doc.Document:
    """Return the review as a document.

    Args:
        review: with the findings that were asked for.
        detail: how much of it.
        page: with everything, as Markdown and HTML have it.
    """
    found = review.organisations
    counts = [sum(one.count(severity) for one in found) for severity in Severity]
    size = f"{plural(len(found), 'organisation')}, {plural(sum(len(one.entries) for one in found), 'entry', 'entries')}"
    words = ", ".join(plural(count, str(severity)) for count, severity in zip(counts, Severity, strict=True) if count)
    result = doc.Text(f"{size}: {words or 'nothing to ask'}. None of it is an accusation.")
    if detail == "quiet":
        return doc.Document(TITLE, (result,), bare=True)
    full = detail == "full" or (page and detail is None)
    alone, summary = len(found) == 1, detail == "summary"
    return doc.document(
        TITLE,
        *(() if alone else (_overview(found), *_tables(found, full=full))),
        *(_organisation_section(one, full=full, summary=summary, alone=alone) for one in found),
        doc.section("Could not be read", doc.Items(review.unread)),
        result,
    )


def _overview(found: Sequence[Organisation]) -> doc.Table:
    """One row an organisation."""
    return doc.table_of(
        (
            (doc.Column("organisation", when_narrow="shorten"), [one.name for one in found]),
            (doc.Column("round"), [f"v{one.round}" if one.round else "-" for one in found]),
            (doc.Column("entries", number=True), [str(len(one.entries)) for one in found]),
            *((doc.Column(f"{of}s", number=True), [str(one.count(of)) for one in found]) for of in Severity),
            (doc.Column("verdict", when_narrow="keep"), [verdict_span(one.official) for one in found]),
        )
    )


def _tables(found: Sequence[Organisation], *, full: bool) -> tuple[doc.Block | None, ...]:
    """What is compared over all organisations: names and disclosure."""
    return doc.section("Names", _names_table(found, full=full)), _disclosure(found, full=full)


def _organisation_section(one: Organisation, *, full: bool, summary: bool, alone: bool) -> doc.Section:
    most = None if full else _MOST if alone else _MOST_OF_MANY
    asked = [ask for ask in one.asks if ask.findings[0].suppressed is None]
    shown = () if summary else asked[:most]
    left = asked[len(shown) :]
    questions = (_question_section(number, ask, full=full) for number, ask in enumerate(shown, 1))
    more = doc.Text(f"{'and ' if shown else ''}{_tally(left)} (-v shows all)") if left else None
    word, _, rest = one.verdict.partition(":")
    entries: doc.Block | None = _entries_table(one.entries)
    notes: doc.Block | None = doc.Text(f"notes: {_tally(one.notes)} (-v shows them)") if one.notes else None
    if full:
        entries = doc.section("Entries", entries)
        notes = doc.section(
            "Notes", *(_question_section(number, ask, full=True) for number, ask in enumerate(one.notes, 1))
        )
    blocks: tuple[doc.Block | None, ...] = (
        doc.Text((doc.Span(word, MEANINGS[one.official]), f":{rest}")),
        doc.section(f"Ask: {plural(len(asked), 'question')}", *questions, more),
        entries,
        *(_tables((one,), full=full) if alone else ()),
        *hyperparameters_tables(one.entries, None if full else _ROOM - _EACH * len(shown) if alone else 0),
        notes,
        doc.Text(f"Looked at and fine: {'; '.join(one.fine)}.") if one.fine and not summary else None,
        None if summary else _to_read(one, full=full),
    )
    title = (doc.Span(one.name, "strong"), f", {one.usage} v{one.round}" if one.round else "")
    return doc.section(title, *blocks, meaning=MEANINGS[one.official]) or doc.Section(one.name)


def _tally(asks: Sequence[Ask]) -> str:
    """How many defects there are of each rule, each once whatever its places."""
    return tally([ask.findings[0] for ask in asks])


def _question_section(number: int, ask: Ask, *, full: bool) -> doc.Section:
    facts = dict(facts_of(ask.findings) if full else facts_of(ask.findings, _PLACES, _FILES))
    expected, found = facts.get("expected"), facts.get("found")
    if not full and isinstance(expected, str) and isinstance(found, str) and len(expected) <= _SHORT:
        facts["found"] = f"{found}; expected {expected}"
    facts["why"] = ask.why
    names = [name for name in (_FACTS if full else _USUAL) if facts.get(name)]
    title = (
        f"{number}. ",
        doc.Span(str(ask.severity), SEVERITIES[ask.severity]),
        f": {ask.question} ",
        doc.Span(f"[{ask.rule}]", "code"),
    )
    return doc.Section(title, (doc.Facts(tuple((_NAMES.get(name, name), facts[name]) for name in names)),))


def _entries_table(entries: Sequence[ReviewedEntry]) -> doc.Table:
    """One row an entry: minutes, scaling factor, how far above the limit of convergence, and runs left out."""
    scaled = any(entry.score.scaling != 1 or entry.score.expected_scaling != 1 for entry in entries)
    rejected = any(entry.official is not Verdict.ACCEPTED for entry in entries)
    numbers = {entry.path: number for number, entry in enumerate(entries, 1)}
    columns: tuple[str | EntryColumn, ...] = (
        EntryColumn("#", number=True, value=lambda entry: numbers[entry.path]),
        *("system", "benchmark", "division"),
        EntryColumn("runs", number=True, value=lambda entry: f"{entry.runs - len(entry.left_out)}/{entry.runs}"),
        "minutes",
        *([EntryColumn("factor", number=True, value=_factor)] if scaled else []),
        EntryColumn("RCP margin", when_narrow="keep", value=_margin),
        *(["verdict"] if rejected else []),
    )
    return results_table(entries, columns)


def _margin(entry: ReviewedEntry) -> str:
    margin = "" if entry.margin_percent is None else f" {entry.margin_percent:+.2f}%"
    return f"{rcp_words(entry.rcp)}{margin}"


def _factor(entry: ReviewedEntry) -> doc.Cell:
    """The scaling factor, and the expected one where it is another: only a test that passes expects one."""
    score, factor = entry.score, f"{entry.score.scaling:.4f}"
    expects = entry.rcp.verdict == "pass" and not score.as_expected
    return doc.Lines((factor, f"({score.expected_scaling:.4f})")) if expects else factor


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


def _disclosure(found: Sequence[Organisation], *, full: bool) -> doc.Block | None:
    """One row an entry: batch, parallel sizes, precisions and configuration, as far as any entry discloses them."""
    rows = [(one, number, entry) for one in found for number, entry in enumerate(one.entries, 1)]
    told = [row for row in rows if any(getattr(row[2].disclosure, name) for name in [*_DISCLOSED][1:])]
    if not told:
        return doc.Text("No entry discloses more than its batch size.") if rows else None
    told = rows if full else told
    stated = [name for name in _DISCLOSED if any(getattr(entry.disclosure, name) for *_, entry in told)]
    several = len(found) > 1
    heads = [*(("entry", "benchmark") if several else ("#",)), *(_DISCLOSED[name] for name in stated)]
    cells = []
    for one, number, entry in told:
        entry_cells = (f"{one.name} {number}", entry.benchmark) if several else (str(number),)
        cells.append((*entry_cells, *(_disclosed(entry, name) for name in stated)))
    silent = [head for name, head in _DISCLOSED.items() if name not in stated]
    notes = [f"No entry discloses {', '.join(silent)}."] if silent else []
    if left := len(rows) - len(told):
        notes.append(f"{plural(left, 'entry discloses', 'entries disclose')} no more than the batch size.")
    table = doc.Table(tuple(map(doc.Column, heads)), tuple(cells))
    return doc.section("Disclosed", table, doc.Text(" ".join(notes)) if notes else None)


def _disclosed(entry: ReviewedEntry, name: str) -> str:
    """What an entry discloses; of its configuration where it lies in the benchmark's code, where that is there."""
    fact, places = getattr(entry.disclosure, name), entry.disclosure.config_places
    if fact is None or name != "config_file" or places is None:
        return show_stated(fact) if fact else ""
    inside = [path.removeprefix(f"benchmarks/{entry.benchmark}/") for path in places]
    return first_few(inside, 1) if inside else f"{show_stated(fact)}: not there"


def _to_read(one: Organisation, *, full: bool) -> doc.Block | None:
    if not one.to_read:
        return None
    if full:
        texts = [*one.to_read.values()]
        every = [text for text in texts[0] if len(texts) > 1 and all(text in of for of in texts)]
        own = {name: [text for text in of if text not in every] for name, of in one.to_read.items()}
        facts = tuple((name, "; ".join(of)) for name, of in {**own, "each": every}.items() if of)
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
