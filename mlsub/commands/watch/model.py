"""What a watch reports: the lines of ``--format jsonl``, and what text and the live view are made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec

from mlsub.commands.watch.source import Restart
from mlsub.findings import Effect, Finding, Kind, Says, Verdict
from mlsub.io.show import readable, show
from mlsub.present.envelope import parts_of
from mlsub.rules.catalogue import has_effect
from mlsub.submission.model import LogReport

#: Where a run stands; ``lost`` is a log that is no longer there, or ended without ``run_stop``.
Phase = Literal["waiting", "init", "run", "evaluating", "stopped", "lost"]
Reason = Literal["stopped", "idle", "interrupted"]
Count = Annotated[int, Says(minimum=0)]
Span = Annotated[float | None, Says("In ms after run_start; null where it is not known.")]
Path = Annotated[str, Says("The log, relative to the folder that all watched logs have in common; - for a pipe.")]
#: What is shown of a text that a log gives, and how many measures of one evaluation are.
WIDTH, _MAX_MEASURES = 80, 16
#: Beyond this a time in ms is nonsense: the year 5138.
BEYOND = 1e14


class WatchEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened; ``at_ms`` is when the watch saw it, in ms since the Unix epoch by its own clock."""

    at_ms: Count


class WatchedEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation; ``progress`` is how far the training had come, counted in ``unit``, as its reference is.

    ``value`` is the logged value, as text where it is neither a number nor an object of numbers; ``measure`` names what
    was measured where a benchmark logs its measures one by one. ``reached`` says that the target is reached, None where
    none is known.
    """

    line: Annotated[int, Says(minimum=1)]
    key: str
    value: float | str | dict[str, float]
    measure: str | None
    progress: float | None
    unit: str | None
    elapsed_ms: Span
    reached: bool | None


class RunSoFar(WatchEvent, frozen=True, kw_only=True, tag="run"):
    """What has happened so far in a run, the last evaluation included; written again with each change.

    ``usage`` and ``round`` name the rules, ``target`` the quality target in words; ``status`` is that of ``run_stop``,
    ``elapsed_ms`` the timed region by the log's clock. ``problem`` is why the log cannot be followed, or what is wrong
    before any record says so. With ``restart`` the file is another one than before, or was cut: what was reported of it
    no longer counts.
    """

    path: Path
    usage: str
    round: str
    phase: Phase
    benchmark: str | None = None
    division: str | None = None
    batch_size: float | None = None
    target: str | None = None
    status: str | None = None
    elapsed_ms: Span = None
    blocks: Count = 0
    epochs: Count = 0
    evaluation: WatchedEvaluation | None = None
    problem: str | None = None
    restart: Restart | None = None


class Found(WatchEvent, frozen=True, kw_only=True, tag="finding"):
    """A finding, each reported once; ``final`` where it was only certain at the end of the log."""

    path: Path
    finding: Finding
    final: bool


class Ended(WatchEvent, frozen=True, kw_only=True, tag="end"):
    """The verdict on one log, that of ``mlsub check`` on the same bytes; again where the log grows after that.

    ``minutes`` is the time to train; ``errors`` counts findings that reject or break a rule of the user's own,
    ``review`` review findings, ``warnings`` all others.
    """

    path: Path
    official: Literal["compliant", "noncompliant", "not-checked"]
    status: str | None
    minutes: float | None
    errors: Count
    warnings: Count
    review: Count


class Concluded(WatchEvent, frozen=True, kw_only=True, tag="verdict"):
    """The end of the watch, its last event; ``exit_status`` is that of ``mlsub check`` for the same logs.

    ``reason`` is why it ended: all runs stopped, nothing came for a while, or it was asked to.
    """

    official: Verdict
    exit_status: Annotated[int, Says(enum=[0, 1, 2])]
    reason: Reason
    logs: Count
    compliant: Count
    rules_file: Annotated[str | None, Says("The user's own rules in force besides; null without any.")] = None

    @property
    def counts(self) -> str:
        """How many logs are compliant; where that rejects, how many are not."""
        if self.official is Verdict.REJECTED:
            return f"{self.logs - self.compliant} of {self.logs} logs noncompliant"
        return f"{self.compliant} of {self.logs} logs compliant"


def counts_against(found: Finding) -> bool:
    """Return whether a finding makes the exit status 1: it rejects, or breaks a rule of the user's own."""
    return found.rejects or found.counts(None)


def ended(report: LogReport, at_ms: int) -> Ended:
    """Return the verdict that a report gives."""
    errors = sum(map(counts_against, report.findings))
    review = sum(found.kind is Kind.REVIEW for found in report.findings)
    unreadable = any(has_effect(found, Effect.UNREAD) for found in report.findings)
    return Ended(
        at_ms=at_ms,
        path=report.path,
        official="not-checked" if unreadable else "compliant" if report.compliant else "noncompliant",
        status=shown_text(report.status) if report.status is not None else None,
        minutes=report.minutes,
        errors=errors,
        warnings=len(report.findings) - errors - review,
        review=review,
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of ``--format jsonl``."""
    kinds = get_args(RunSoFar | Found | Ended | Concluded)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:mlsub:watch",
        "title": "One line of what mlsub watch --format jsonl writes",
        "description": "One event. Times of day (at_ms) are in ms since the Unix epoch.",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "$defs": parts_of(*kinds),
    }


def shown_text(value: Any) -> str:
    """Return a text of a log, shortened; any other value as it stands there."""
    if not isinstance(value, str):
        return show(value, WIDTH)
    short = readable(value[: 4 * WIDTH])
    return short if len(short) <= WIDTH and len(value) <= 4 * WIDTH else short[: WIDTH - 1] + "…"


def shown_value(value: Any) -> Any:
    """Return a logged value for a document: a finite number, an object of such, or the text of anything else."""
    if is_measure(value):
        return value
    if isinstance(value, dict) and 0 < len(value) <= _MAX_MEASURES and all(map(is_measure, value.values())):
        return {shown_text(name): measure for name, measure in value.items()}
    return shown_text(value)


def is_measure(value: Any) -> bool:
    """Return whether a value is a finite number, and not a truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def elapsed(start: float | None, stop: float | None) -> float | None:
    """Return the time between two times, in ms; None where one is not known or no time."""
    if start is None or stop is None or not (abs(start) < BEYOND and abs(stop) < BEYOND):
        return None
    return stop - start
