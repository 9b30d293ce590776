"""A draft as a document: what is proposed, and what could not be matched."""

from __future__ import annotations

from mlsub.commands.audit.draft.model import Draft
from mlsub.present.document import Column, Document, Table, Text, document, section

_PROPOSED = tuple(Column(name) for name in ("claim", "stated", "expression", "logs"))
_UNMATCHED = tuple(Column(name) for name in ("claim", "stated", "text", "why"))


def document_of(draft: Draft) -> Document:
    """The document."""
    proposed = [
        (one.id, one.stated or "", one.expr or ", ".join(one.selectors.values()), one.verdict or "not looked up")
        for one in draft.claims
        if one.matched
    ]
    lost = [(one.id, one.stated or "", one.text, one.reason or "") for one in draft.claims if not one.matched]
    return document(
        f"Claims proposed from {draft.document}",
        section("Proposed", Table(_PROPOSED, tuple(proposed))),
        section("Not matched", Table(_UNMATCHED, tuple(lost))),
        Text(draft.summary),
    )
