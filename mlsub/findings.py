"""The vocabulary of an answer: findings, and the words they are made of."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import msgspec


def Says(description: str | None = None, **words: Any) -> msgspec.Meta:  # noqa: N802  (reads like the types beside it)
    """What the JSON Schema of a field says beside its type, in its own words. Nothing is checked by it in Python."""
    return msgspec.Meta(description=description, extra_json_schema=words or None)


class Severity(StrEnum):
    """How bad it is: an error, what a reviewer will ask, or worth knowing. Only an official error can reject."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """How many severities are worse."""
        return list(Severity).index(self)


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
    """What the official tools in force for the round would say of an entry, a system description or a tree."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NOT_CHECKED = "not-checked"


class Suppression(msgspec.Struct, frozen=True, kw_only=True):
    """Why a finding no longer counts for ``--fail-on`` and for rules of your own. The official verdict is not affected.

    ``source`` is the settings file and the waiver in it, or the baseline; ``until`` the last day of a waiver.
    """

    by: Annotated[str, Says(enum=["waiver", "baseline"])]
    reason: str
    source: str
    until: Annotated[str | None, Says("A day, or null where it never ends.")] = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One defect, in words a person can act on.

    ``path`` is relative to the report's root; ``line`` is the 1-based line of the file (lines end in LF) or None.
    ``message`` says what is wrong without naming the place, so that the same defect in ten logs reads the same.
    """

    rule: Annotated[str, Says("Stable; mlsub explain knows it.", pattern=r"^[a-z]+(\.[A-Za-z0-9_-]+)+$")]
    severity: Severity
    kind: Kind
    blocks: Blocks
    path: str
    line: Annotated[int | None, Says(minimum=1)]
    message: Annotated[str, Says(minLength=1)]
    expected: str | None = None
    actual: str | None = None
    fix: str | None = None
    source: Annotated[str, Says("Who demands it.", minLength=1)]
    suppressed: Annotated[Suppression | None, Says("By a waiver or the baseline; null where it counts.")] = None

    @property
    def defect(self) -> tuple[object, ...]:
        """What findings of the same defect in several places have in common."""
        return (self.rule, self.message, self.expected, self.fix, self.severity, self.source, self.suppressed)

    def counts(self, fail_on: Severity | None) -> bool:
        """Whether it makes the exit status 1 beside the official verdict: a review finding from ``fail_on`` on."""
        if self.kind is Kind.HOUSE:
            return self.severity is Severity.ERROR
        return self.kind is Kind.REVIEW and fail_on is not None and self.severity.rank <= fail_on.rank

    @property
    def rejects(self) -> bool:
        """Whether this finding counts against the official verdict of the thing it is about."""
        return self.kind is Kind.OFFICIAL and self.severity is Severity.ERROR

    @property
    def transient(self) -> bool:
        """Whether it may rest on an error of the moment, such as a disk that fails, so that it is never cached."""
        return self.rule.endswith(".unreadable") or self.rule in _TRANSIENT


#: Rules that may fail only here and now, besides all that end in ``.unreadable``.
_TRANSIENT = frozenset(("layout.not-listed", "review.crashed", "rule.crashed", "score.scaling-file"))
