"""The vocabulary of an answer: findings, and the words they are made of."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """How bad it is: only an official error can reject."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Kind(StrEnum):
    """Who says so: the official checker in force for the round, the user's own rules, or a careful reviewer."""

    OFFICIAL = "official"
    HOUSE = "house"
    REVIEW = "review"


class Blocks(StrEnum):
    """Which division the defect rules out."""

    NONE = "none"
    CLOSED = "closed"
    BOTH = "both"


class Verdict(StrEnum):
    """What the official tools of the round's day would say of an entry, a system description or a tree."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NOT_CHECKED = "not-checked"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One defect, in words a person can act on.

    ``path`` is relative to the report's root; ``line`` is the 1-based line of the file (lines end in LF) or None.
    ``message`` says what is wrong without naming the place, so that the same defect in ten logs reads the same.
    """

    rule: str
    severity: Severity
    kind: Kind
    blocks: Blocks
    path: str
    line: int | None
    message: str
    expected: str | None = None
    actual: str | None = None
    fix: str | None = None
    source: str

    @property
    def rejects(self) -> bool:
        """Whether this finding counts against the official verdict of the thing it is about."""
        return self.kind is Kind.OFFICIAL and self.severity is Severity.ERROR
