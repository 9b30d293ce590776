"""News as lines for people: what happened, to which log, in plain characters."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.watch.forecast import Forecast
from mlsub.commands.watch.news import (
    Concluded,
    Ended,
    Evaluated,
    Found,
    Identified,
    News,
    PhaseChanged,
    Reference,
    Restarted,
    Warned,
    Watching,
)
from mlsub.commands.watch.phase import Phase
from mlsub.commands.watch.words import duration, number, value_words
from mlsub.convergence.table import Plan
from mlsub.findings import Finding, Kind
from mlsub.io.plain import plain

_RESTARTS = {
    "truncated": "the file was cut; starting over",
    "replaced": "the file was replaced by another; starting over",
    "rewritten": "the file was written anew; starting over",
}
_REASONS = {"stopped": "", "idle": ", for nothing more came", "interrupted": ", as far as they are"}
_FORECASTS = {
    "too-early": "too early to tell",
    "flat": "no nearer in the last evaluations",
    "far": "not in sight",
}


def line_of(news: News) -> str | None:
    """One line, or None for what has no words of its own."""
    said = _said(news)
    if said is None:
        return None
    path = getattr(news, "path", None)
    return plain(f"{'standard input' if path == '-' else path}: {said}" if path is not None else said)


def _said(news: News) -> str | None:
    if isinstance(news, Watching):
        return f"watching, by the rules of {news.usage} v{news.round}"
    if isinstance(news, Identified):
        return identity_words(news)
    if isinstance(news, PhaseChanged):
        return phase_words(news)
    if isinstance(news, Evaluated):
        return evaluation_words(news)
    if isinstance(news, Found):
        return finding_words(news.finding)
    if isinstance(news, Warned):
        return f"warning: {news.message}" + (f" [{news.rule}]" if news.rule else "")
    if isinstance(news, Restarted):
        return _RESTARTS[news.reason]
    if isinstance(news, Ended):
        return end_words(news)
    return verdict_words(news) if isinstance(news, Concluded) else None


def identity_words(news: Identified) -> str:
    """What a log says it is, and what it is held against."""
    parts = [news.benchmark or "a benchmark not named", news.division or "a division not named"]
    if news.batch_size is not None:
        parts.append(f"batch size {number(news.batch_size)}")
    said = ", ".join(parts)
    if news.target is not None:
        said += f"; target: {news.target}"
    if news.reference is not None:
        said += f"; reference: {reference_words(news.reference)}"
    return said


def reference_words(reference: Reference | Plan) -> str:
    """What a run is held against."""
    if reference.mean is None or reference.minimum is None:
        return "no reference point covers the batch size"
    return f"mean {number(reference.mean)} {reference.unit}, accepted from {number(reference.minimum)}"


def phase_words(news: PhaseChanged) -> str:
    """The phase of a run."""
    if news.phase == Phase.STOPPED:
        said = f"stopped: {news.status}" if news.status else "stopped"
        return f"{said} after {duration(news.elapsed_ms)}" if news.elapsed_ms is not None else said
    if news.phase == Phase.LOST:
        return "lost: the log is gone, or ended without run_stop"
    return "waiting for the file" if news.phase == Phase.WAITING else news.phase


def evaluation_words(news: Evaluated) -> str:
    """An evaluation, and what it means for the target."""
    what = f"{news.key} {news.measure}" if news.measure else news.key
    at = f" at {duration(news.elapsed_ms)}" if news.elapsed_ms is not None else ""
    progress = f", {number(news.progress)} {news.unit or ''}".rstrip() if news.progress is not None else ""
    said = f"{what} {value_words(news.value)}{at}{progress}"
    if news.reached is None:
        return said
    said += f"; target: {forecast_words(news.forecast)}"
    if news.by_reference_ms is not None:
        said += f"; the reference at this pace: {duration(news.by_reference_ms)}"
    return said


def forecast_words(forecast: Forecast) -> str:
    """When the target will be reached, in words."""
    if forecast.state == "reached":
        return "reached"
    if forecast.state == "from":
        return f"not before {duration(forecast.not_before_ms)}"
    if forecast.state == "between":
        return f"between {duration(forecast.not_before_ms)} and {duration(forecast.not_after_ms)}"
    return _FORECASTS[forecast.state]


def finding_words(found: Finding) -> str:
    """A finding in one line."""
    label = found.severity.value if found.kind is Kind.OFFICIAL else f"{found.kind.value} {found.severity.value}"
    parts = [f"{label}: {found.message} [{found.rule}]"]
    if found.line is not None:
        parts.append(f"line {found.line}")
    if found.expected is not None:
        parts.append(f"expected {found.expected}")
    if found.actual is not None:
        parts.append(f"found {found.actual}")
    return "; ".join(parts)


def end_words(news: Ended) -> str:
    """The verdict on one log."""
    counts = list(_counts(news))
    said = news.official.replace("-", " ")
    if news.minutes is not None and news.official == "compliant":
        counts.insert(0, f"{news.minutes:.6f} minutes")
    return f"{said}: {', '.join(counts)}" if counts else said


def _counts(news: Ended) -> Iterator[str]:
    for count, what in ((news.errors, "error"), (news.warnings, "warning"), (news.review, "review finding")):
        if count:
            yield f"{count} {what}{'s' if count > 1 else ''}"


def verdict_words(news: Concluded) -> str:
    """The verdict on all logs."""
    if not news.logs:
        return f"{news.official.value}: no log came"
    return f"{news.official.value}: {news.compliant} of {news.logs} logs compliant{_REASONS[news.reason]}"
