"""What the rules on quoting results say, in rows: the same for text, Markdown, HTML and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from mlsub.commands.audit.messaging.judge import Messaging
from mlsub.commands.audit.messaging.model import Remark
from mlsub.commands.audit.messaging.words import enumerated
from mlsub.findings import Severity
from mlsub.io.plain import plain

HEADING = "How results are quoted"
FOOTNOTES = "Footnotes"
HEADS = ("where", "rule", "finding")


def finding_rows(messaging: Messaging) -> list[tuple[str, str, str]]:
    """(where, rule, what) of each finding; ``where`` is the claim's id or the document with its line."""
    return [(plain(_where(remark)), _number(remark), plain(_words(remark))) for remark in messaging.checked.remarks]


def _where(remark: Remark) -> str:
    if remark.claim is not None:
        return remark.claim
    line = remark.finding.line
    return remark.document if line is None else f"{remark.document}:{line}"


def _number(remark: Remark) -> str:
    return remark.finding.rule.removeprefix("claim.").upper()


def _words(remark: Remark) -> str:
    finding = remark.finding
    return f"for information: {finding.message}" if finding.severity is Severity.INFO else finding.message


def closing_lines(messaging: Messaging) -> Iterator[str]:
    """What was applied, what could not be looked at, what is left to people, and where there is more."""
    checked = messaging.checked
    applied: dict[str, list[str]] = {}
    for document, text in checked.texts.items():
        applied.setdefault(f"{text.title} ({text.name})", []).append(document)
    for title, names in applied.items():
        yield plain(f"Held against: {title}, for {enumerated(names)}.")
    for (rule, reason), claims in _untold(messaging).items():
        whose = f" ({', '.join(claims)})" if claims else ""
        yield plain(f"Not looked at: {rule} {reason}{whose}.")
    if checked.by_hand:
        yield "By hand: " + "; ".join(f"{rule.number} {rule.title}" for rule in checked.by_hand) + "."
    if checked.remarks:
        first = checked.remarks[0].finding.rule
        yield f"mlsub explain {first} says why, and how it is mended; so of every rule here."


def _untold(messaging: Messaging) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for one in messaging.checked.untold:
        claims = found.setdefault((one.rule, one.reason), [])
        if one.claim is not None:
            claims.append(one.claim)
    return found


def footnote_rows(messaging: Messaging) -> list[tuple[str, str, str]]:
    """(claim, footnote, what is missing in it) of each claim that quotes results."""
    return [
        (plain(one.claim), plain(one.footnote), plain(enumerated(one.missing)) if one.missing else "nothing")
        for one in messaging.footnotes
    ]


def as_json(messaging: Messaging) -> dict[str, Any]:
    """Everything for machines; findings have the claim and the document they are about."""
    checked = messaging.checked
    return {
        "findings": [
            {"claim": one.claim, "document": one.document, **msgspec.to_builtins(one.finding)}
            for one in checked.remarks
        ],
        "messaging": {
            "rules": {
                name: {"name": text.name, "title": text.title, "source": text.source}
                for name, text in checked.texts.items()
            },
            "not_looked_at": [msgspec.to_builtins(one) for one in checked.untold],
            "by_hand": [{"rule": rule.id, "title": rule.title} for rule in checked.by_hand],
            "footnotes": [msgspec.to_builtins(one) for one in messaging.footnotes],
        },
    }
