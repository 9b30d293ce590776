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
        return _WORST_FIRST.index(self)


#: To make it anew for each of ten thousand findings would be a tenth of a check with nothing changed.
_WORST_FIRST = tuple(Severity)


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


class Effect(StrEnum):
    """What else a finding of a rule does, or is about: ``effects`` of the rule in the ``rules.yaml`` of its room.

    Code asks for these by ``has_effect`` of mlsub/rules/catalogue.py, and never for an id or a message.
    """

    #: It may rest on an error of the moment, such as a disk that fails, so nothing that has it is cached.
    TRANSIENT = "transient"
    #: No waiver, baseline or ignored path covers it.
    UNWAIVABLE = "unwaivable"
    #: It says why nothing was checked, so no option leaves it out.
    UNCHECKED = "unchecked"
    #: What it is about cannot be read.
    UNREAD = "unread"

    #: The checker of logs enforces it, so it rejects in a round without a package checker, too.
    LOG_CHECKER = "log-checker"
    #: It is about a system description, and does not reject where the package checker reads none.
    DESCRIPTION = "description"
    #: It is about the package as files, not about what they say.
    LAYOUT = "layout"
    #: It is on one log, and rejects the entry even where that may have noncompliant runs.
    DECIDES = "decides"
    #: The file holds no run at all.
    NO_RUN = "no-run"
    #: The file holds no record, or nothing.
    NO_RECORDS = "no-records"
    #: Where the log ends with such a record, the rest of it may be missing.
    BREAKS_OFF = "breaks-off"
    #: An official tool ends with a traceback on it.
    CRASH = "crash"

    #: What single runs of its entry break by themselves is forgiven.
    FORGIVES = "forgives"
    #: More runs of its entry are noncompliant than are forgiven.
    UNFORGIVEN = "unforgiven"
    #: It speaks of the names of runs of one benchmark, so it is left out where they are of several.
    ONE_BENCHMARK = "one-benchmark"
    #: It is left out where another finding of its entry explains it.
    FOLLOWS = "follows"
    #: It says by which factor a score is scaled.
    SCALES = "scales"
    #: It explains a factor in scaling.json that is not the expected one.
    EXPLAINS_FACTOR = "explains-factor"
    #: Where no official tool looks, it is a note.
    MINOR = "minor"
    #: It says that runs are copies of others.
    COPIES = "copies"

    #: What was named does not exist.
    MISSING = "missing"
    #: No round is known; an option can say it.
    NO_ROUND = "no-round"
    #: The round is none that mlsub knows.
    UNKNOWN_ROUND = "unknown-round"
    #: Runs are missing.
    RUNS_MISSING = "runs-missing"
    #: Where the runs that are there converged, those that are missing explain it.
    NEEDS_RUNS = "needs-runs"
    #: An organisation lies in another folder, where no package checker looks.
    TOO_DEEP = "too-deep"
    #: Logs lie where no checker reads them.
    STRAY_LOGS = "stray-logs"
    #: A system has no description.
    UNDESCRIBED = "undescribed"
    #: Code is missing.
    NO_CODE = "no-code"
    #: It may come of what somebody has yet to fill in.
    UNFILLED = "unfilled"
    #: ``mlsub fix`` repairs it in some cases.
    REPAIRABLE = "repairable"
    #: What it found is the reason, and is said with it in one line.
    REASON = "reason"


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
