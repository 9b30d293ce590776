"""A review as a document: of each organisation the verdict, what to ask, tables, and what is left to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlsub.commands.review.model import Ask, Organisation, Rates, Review, ReviewedEntry
from mlsub.findings import Severity, Verdict
from mlsub.io.show import first_few, plural, show
from mlsub.present.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Section,
    Span,
    Table,
    Text,
    document,
    section,
)
from mlsub.present.entries import MEANINGS
from mlsub.present.findings import MEANINGS as SEVERITIES
from mlsub.present.findings import facts_of, tally
from mlsub.review.disclosure import Fact
from mlsub.rules.catalogue import finding
from mlsub.submission.report import SCALING_TOLERANCE, Detail

if TYPE_CHECKING:
    from mlsub.present.ci import CiReport

TITLE = "Review"
#: Questions in the usual text of one organisation, and of one of several; lines of places of each.
_MOST, _MOST_OF_MANY, _PLACES = 5, 3, 2
#: Facts of a question that the usual text shows.
_SHORT = ("found", "in")
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
    sections = (_organisation(one, most, full=full, summary=detail == "summary") for one in found)
    return document(
        TITLE,
        _overview(found) if len(found) > 1 else None,
        *sections,
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
    columns = [Column(f"{severity}s", number=True) for severity in Severity]
    rows: list[tuple[Cell, ...]] = [
        (
            one.name,
            f"v{one.round}" if one.round else "-",
            str(len(one.entries)),
            *(str(one.count(severity)) for severity in Severity),
            Span(one.official.value, MEANINGS[one.official]),
        )
        for one in found
    ]
    first = Column("organisation", when_narrow="shorten"), Column("round"), Column("entries", number=True)
    return Table((*first, *columns, Column("verdict", when_narrow="keep")), tuple(rows))


def _organisation(one: Organisation, most: int | None, *, full: bool, summary: bool) -> Section:
    rules = f", {one.usage} v{one.round}" if one.round else ""
    asked = [ask for ask in one.asks if ask.findings[0].suppressed is None]
    shown = () if summary else asked[:most]
    left = asked[len(shown) :]
    questions = (_question(number, ask, full=full) for number, ask in enumerate(shown, 1))
    more = Text(f"{'and ' if shown else ''}{_tally(left)} (-v shows all)") if left else None
    blocks: tuple[Block | None, ...] = (
        Text(_verdict(one)),
        section(f"Ask: {plural(len(asked), 'question')}", *questions, more),
        entries_table(one.entries),
        section("Names", names_table((one,), full=full)),
        section("Disclosed", disclosure_table(one.entries, full=full)),
        section("Hyperparameters", hyperparameters_table(one.entries)) if full else None,
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
    facts = dict(facts_of(ask.findings, None if full else _PLACES))
    if ask.why:
        facts = {**{k: v for k, v in facts.items() if k != "fix"}, "why": ask.why, "fix": facts.get("fix", "")}
    names = [name for name in facts if facts[name] and (full or name in _SHORT)]
    title = (
        f"{number}. ",
        Span(str(ask.severity), SEVERITIES[ask.severity]),
        f": {ask.question} ",
        Span(f"[{ask.rule}]", "code"),
    )
    return Section(title, (Facts(tuple((_NAMES.get(name, name), facts[name]) for name in names)),))


def entries_table(entries: Sequence[ReviewedEntry]) -> Table:
    """One row an entry: minutes, scaling factor, how far above the limit of convergence, and runs left out."""
    scaled = any(entry.scaling != 1 or entry.expected_scaling != 1 for entry in entries)
    columns = (
        Column("system", when_narrow="shorten"),
        Column("benchmark", when_narrow="keep"),
        Column("division", leave_out=2),
        Column("runs", number=True, leave_out=1),
        Column("left out", number=True),
        Column("minutes", number=True),
        *[Column("factor", number=True)] * scaled,
        Column("RCP", when_narrow="keep"),
        Column("margin", number=True),
        Column("verdict", when_narrow="keep"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            entry.system,
            entry.benchmark,
            (entry.division or "-")[:20],
            str(entry.runs),
            str(len(entry.left_out)),
            "-" if entry.minutes is None else f"{entry.minutes:.3f}",
            *[_factor(entry)] * scaled,
            entry.rcp,
            "-" if entry.margin_percent is None else f"{entry.margin_percent:+.2f} %",
            Span(entry.official.value, MEANINGS[entry.official]),
        )
        for entry in entries
    ]
    return Table(columns, tuple(rows))


def names_table(found: Sequence[Organisation], *, full: bool) -> Table:
    """One row a name of a system that should be written otherwise, or each: as it is, and as it should be."""
    columns = Column("field", when_narrow="shorten"), Column("as written"), Column("as it should be")
    names = (named.naming for one in found for named in one.names)
    rows: dict[tuple[Cell, ...], None] = {
        (of.field, of.written, "" if of.how == "right" else of.wanted or "not known"): None
        for of in names
        if full or of.how == "spelling"
    }
    return Table(columns, tuple(rows))


#: What is disclosed beside the batch size, as a table calls it.
_DISCLOSED = {
    "batch_size": "batch",
    "micro_batch_size": "micro",
    "tensor": "TP",
    "pipeline": "PP",
    "context": "CP",
    "expert": "EP",
    "linear": "linear",
    "attention": "attention",
    "communication": "comm.",
    "config_file": "config",
}


def disclosure_table(entries: Sequence[ReviewedEntry], *, full: bool) -> Table:
    """One row an entry that discloses more than its batch size: batch, parallel sizes, precisions and configuration."""
    shown = [one for one in entries if full or one.disclosure.linear or one.disclosure.tensor]
    stated = [name for name in _DISCLOSED if any(getattr(one.disclosure, name) for one in shown)]
    columns = [Column(_DISCLOSED[name], when_narrow="fold", leave_out=int(name == "config_file")) for name in stated]
    rows: list[tuple[Cell, ...]] = [
        (one.system, one.benchmark, *(_stated(getattr(one.disclosure, name)) for name in stated)) for one in shown
    ]
    first = Column("system", when_narrow="shorten"), Column("benchmark", when_narrow="keep")
    return Table((*first, *columns), tuple(rows if stated else ()))


def hyperparameters_table(entries: Sequence[ReviewedEntry]) -> Table:
    """One row a hyperparameter of the reference that the first run of an entry does not have just so."""
    names = ("system", "benchmark", "hyperparameter", "value", "reference")
    rows: list[tuple[Cell, ...]] = [
        (one.system, one.benchmark, of.name, of.value, of.reference)
        for one in entries
        for of in one.hyperparameters
        if of.value is not None and of.value.removesuffix(".0") != of.reference.removesuffix(".0")
    ]
    return Table(
        tuple(Column(name, when_narrow="shorten" if name == "system" else "fold") for name in names), tuple(rows)
    )


def _stated(fact: Fact | None) -> str:
    return "-" if fact is None else show(fact.value, 60).strip('"') + (" *" if fact.also else "")


def _factor(entry: ReviewedEntry) -> str:
    same = abs(entry.scaling - entry.expected_scaling) <= SCALING_TOLERANCE * entry.expected_scaling
    return f"{entry.scaling:.4f}" + ("" if same else f" ({entry.expected_scaling:.4f})")


def _to_read(one: Organisation, *, full: bool) -> Block | None:
    if not one.to_read:
        return None
    if full:
        return section("Not for a program", Facts(tuple((name, "; ".join(of)) for name, of in one.to_read.items())))
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
