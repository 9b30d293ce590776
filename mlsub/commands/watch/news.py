"""What the watch has to tell, each as one event. Their fields are those of the JSON lines."""

from __future__ import annotations

from typing import Any

import msgspec

from mlsub.commands.watch.forecast import Forecast
from mlsub.findings import Finding, Verdict


class News(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened; ``at_ms`` is when it was seen, in ms since the Unix epoch by the watch's clock."""

    at_ms: int


class RunNews(News, frozen=True, kw_only=True):
    """Something that happened to one log; ``path`` is what findings call it."""

    path: str


class Watching(RunNews, frozen=True, kw_only=True, tag="watching"):
    """A log is watched from now on, by the rules of a round."""

    usage: str
    round: str


class Reference(msgspec.Struct, frozen=True):
    """What an entry of this batch size is held against, in ``unit``: accepted from ``minimum`` on.

    ``how`` is ``exact``, ``interpolated``, ``smaller-batch`` or ``missing``.
    """

    how: str
    unit: str
    mean: float | None
    stdev: float | None
    minimum: float | None


class Identified(RunNews, frozen=True, kw_only=True, tag="identity"):
    """A log has said what it is. ``target`` is the quality target in words."""

    benchmark: str | None
    division: str | None
    batch_size: float | None
    target: str | None
    reference: Reference | None


class PhaseChanged(RunNews, frozen=True, kw_only=True, tag="phase"):
    """A run is in another phase; ``status`` is that of ``run_stop``; ``elapsed_ms`` the timed region by the log."""

    phase: str
    status: str | None = None
    elapsed_ms: float | None = None
    blocks: int = 0
    epochs: int = 0


class Evaluated(RunNews, frozen=True, kw_only=True, tag="evaluation"):
    """An evaluation. ``progress`` is how far the training had come, counted in ``unit``, as the reference is.

    ``value`` is the logged value, as text where it is neither a number nor an object of numbers; ``measure`` names what
    was measured where a benchmark logs its measures one by one. ``reached`` says that the target is reached, None where
    none is known. ``forecast`` is read off the curve of evaluations; ``by_reference_ms`` is when the mean of the
    reference would be reached at the pace so far, in ms after ``run_start``.
    """

    line: int
    key: str
    value: Any
    measure: str | None
    progress: float | None
    unit: str | None
    elapsed_ms: float | None
    reached: bool | None
    forecast: Forecast
    by_reference_ms: float | None


class Found(RunNews, frozen=True, kw_only=True, tag="finding"):
    """A finding; ``final`` where it was only certain at the end, of the report of ``mlsub check``."""

    finding: Finding
    final: bool


class Warned(News, frozen=True, kw_only=True, tag="warning"):
    """Something to know that is no part of the verdict; ``rule`` is the rule it is about, ``path`` the log, if any."""

    message: str
    path: str | None = None
    rule: str | None = None


class Restarted(RunNews, frozen=True, kw_only=True, tag="restart"):
    """The file is another one than before, or was cut: what was told of it counts no longer."""

    reason: str


class Ended(RunNews, frozen=True, kw_only=True, tag="end"):
    """The verdict on one log: ``compliant``, ``noncompliant`` or ``not-checked``.

    ``minutes`` is the time to train; ``errors`` and ``warnings`` count the findings, review findings apart.
    """

    official: str
    status: str | None
    minutes: float | None
    errors: int
    warnings: int
    review: int


class Concluded(News, frozen=True, kw_only=True, tag="verdict"):
    """The end of the watch; ``exit_status`` is that of ``mlsub check`` for the same logs.

    ``reason`` is why it ended: ``stopped``, ``idle`` or ``interrupted``.
    """

    official: Verdict
    exit_status: int
    reason: str
    logs: int
    compliant: int
