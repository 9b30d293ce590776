"""The divisions: which families of rules bind a log or an entry, and why."""

from __future__ import annotations

from mlsub.divisions.closed import CLOSED
from mlsub.divisions.model import Division, DivisionName
from mlsub.divisions.open import OPEN

__all__ = ["CLOSED", "DIVISIONS", "OPEN", "Division", "DivisionName", "division_of", "rule_families"]

DIVISIONS = {division.name: division for division in (CLOSED, OPEN)}


def division_of(text: object) -> Division | None:
    """The division a log or a system description names, or None for any other spelling.

    Spelling counts: the official tools compare with exactly ``closed`` and ``open``.
    """
    return DIVISIONS.get(text) if isinstance(text, str) else None


def rule_families(text: object) -> tuple[str, ...]:
    """The families of rules for a log's ``submission_division``; those of every log where it is unknown."""
    division = division_of(text)
    return division.families if division else ("both",)
