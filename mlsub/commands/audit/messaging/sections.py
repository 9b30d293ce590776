"""What the rules on quoting results say, as sections of a document."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.audit.messaging.judge import Messaging
from mlsub.commands.audit.messaging.model import Remark
from mlsub.commands.audit.messaging.words import enumerated
from mlsub.findings import Severity
from mlsub.present.document import Column, Items, Section, Span, Table, Text, section

_FINDINGS = (Column("where"), Column("rule", when_narrow="keep"), Column("finding"))


def quoted(messaging: Messaging) -> Section | None:
    """The findings on how results are quoted: apart from the verdicts, with what was applied and what was not."""
    remarks = messaging.checked.remarks
    if not remarks and not messaging.footnotes:
        return None
    rows = tuple((_where(remark), _number(remark), _words(remark)) for remark in remarks)
    title = f"How results are quoted: {len(rows)} finding{'' if len(rows) == 1 else 's'}"
    return section(title, Table(_FINDINGS, rows), Items(tuple(_closing(messaging))))


def footnotes(messaging: Messaging) -> Section | None:
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
    line = remark.finding.line
    return remark.document if line is None else f"{remark.document}:{line}"


def _number(remark: Remark) -> str:
    return remark.finding.rule.removeprefix("claim.").upper()


def _words(remark: Remark) -> str:
    finding = remark.finding
    return f"for information: {finding.message}" if finding.severity is Severity.INFO else finding.message


def _closing(messaging: Messaging) -> Iterator[str]:
    """What was applied, what could not be checked, what is left to people, and where there is more."""
    checked = messaging.checked
    applied: dict[str, list[str]] = {}
    for document, text in checked.texts.items():
        applied.setdefault(f"{text.title} ({text.name})", []).append(document)
    for title, names in applied.items():
        yield f"Checked against: {title}, for {enumerated(names)}."
    for (rule, reason), claims in _unchecked(messaging).items():
        whose = f" ({', '.join(claims)})" if claims else ""
        yield f"Not checked: {rule} {reason}{whose}."
    if checked.by_hand:
        yield "By hand: " + "; ".join(f"{rule.number} {rule.title}" for rule in checked.by_hand) + "."
    if checked.remarks:
        yield f"mlsub explain {checked.remarks[0].finding.rule} explains this rule, and how to fix what it finds."


def _unchecked(messaging: Messaging) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for one in messaging.checked.untold:
        claims = found.setdefault((one.rule, one.reason), [])
        if one.claim is not None:
            claims.append(one.claim)
    return found
