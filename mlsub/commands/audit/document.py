"""An audit of claims as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mlsub.commands.audit.facts import SHORT
from mlsub.commands.audit.messaging.words import enumerated
from mlsub.commands.audit.quoting import Quoting, Remark
from mlsub.commands.audit.verdict import AGAINST, Audit, ClaimVerdict
from mlsub.commands.audit.words import (
    INPUT_HEADS,
    RESULT_HEADS,
    Entry,
    basis_words,
    entries,
    input_rows,
    result_rows,
    shares,
    summary,
    title,
)
from mlsub.findings import Severity
from mlsub.present.document import (
    Column,
    Document,
    Facts,
    Items,
    Lines,
    Meaning,
    Section,
    Span,
    Table,
    Tally,
    Text,
    document,
    section,
)

_NUMBERS = (*SHORT.values(), "value", "+/-")
_FINDINGS = (Column("where"), Column("rule", when_narrow="keep"), Column("finding"))


def document_of(audit: Audit, *, with_footnotes: bool = False) -> Document:
    """The document; ``with_footnotes`` adds the footnote of each claim."""
    return document(
        f"Claims of {title(audit)}",
        *map(_claim, entries(audit)),
        section("Results, in minutes", _table(RESULT_HEADS, result_rows(audit))),
        section("Inputs", _table(INPUT_HEADS, input_rows(audit))),
        _quoted(audit.messaging),
        _footnotes(audit.messaging) if with_footnotes else None,
        Text(basis_words(audit)),
        Tally(summary(audit), shares(audit)),
    )


def _claim(entry: Entry) -> Section:
    meaning: Meaning = "bad" if entry.verdict in AGAINST else "good" if entry.verdict is ClaimVerdict.HOLDS else "note"
    facts = tuple(
        (label, Lines(tuple(text for _, text in group))) for label, group in groupby(entry.rows, key=lambda row: row[0])
    )
    blocks = (Text(entry.text), Facts(facts))
    return Section(f"{entry.id}: {entry.headline}", blocks, meaning=meaning, anchor=entry.id, kind=entry.verdict.value)


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(tuple(Column(head, number=head in _NUMBERS) for head in heads), tuple(rows))


def _quoted(messaging: Quoting) -> Section | None:
    """The findings on how results are quoted: apart from the verdicts, with what was applied and what was not."""
    remarks = messaging.findings
    if not remarks and not messaging.footnotes:
        return None
    rows = tuple((_where(one), one.rule.removeprefix("claim.").upper(), _words(one)) for one in remarks)
    title = f"How results are quoted: {len(rows)} finding{'' if len(rows) == 1 else 's'}"
    return section(title, Table(_FINDINGS, rows), Items(tuple(_closing(messaging))))


def _footnotes(messaging: Quoting) -> Section | None:
    """The footnote of each claim that quotes results, and what is missing in it."""
    written = (
        section(
            one.claim,
            Text(one.footnote),
            Text(("missing: ", Span(enumerated(one.missing), "note")) if one.missing else "Nothing is missing."),
        )
        for one in messaging.footnotes
    )
    return section("Footnotes, with what is missing in [brackets]", *written)


def _where(remark: Remark) -> str:
    """The claim's id, or the document with its line."""
    if remark.claim is not None:
        return remark.claim
    return remark.document if remark.line is None else f"{remark.document}:{remark.line}"


def _words(remark: Remark) -> str:
    return f"for information: {remark.message}" if remark.severity is Severity.INFO else remark.message


def _closing(messaging: Quoting) -> Iterator[str]:
    """What was applied, what could not be checked, what is left to people, and where there is more."""
    applied: dict[str, list[str]] = {}
    for name, text in messaging.rules.items():
        applied.setdefault(f"{text.title} ({text.name})", []).append(name)
    for applied_text, names in applied.items():
        yield f"Checked against: {applied_text}, for {enumerated(names)}."
    for (rule, reason), claims in _unchecked(messaging).items():
        whose = f" ({', '.join(claims)})" if claims else ""
        yield f"Not checked: {rule} {reason}{whose}."
    if messaging.by_hand:
        yield "By hand: " + "; ".join(f"{rule.number} {rule.title}" for rule in messaging.by_hand) + "."
    if messaging.findings:
        yield f"mlsub explain {messaging.findings[0].rule} explains this rule, and how to fix what it finds."


def _unchecked(messaging: Quoting) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for one in messaging.not_looked_at:
        claims = found.setdefault((one.rule, one.reason), [])
        if one.claim is not None:
            claims.append(one.claim)
    return found
