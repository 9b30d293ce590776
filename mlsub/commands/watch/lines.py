"""News as lines for people: what happened, to which log, in plain characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.watch import news
from mlsub.commands.watch.forecast import Forecast
from mlsub.commands.watch.words import duration, number, value_words
from mlsub.convergence.table import Plan
from mlsub.findings import Finding, Kind
from mlsub.io.show import plain
from mlsub.present.document import Block, Column, Table, Text

_PHASES = {"waiting": "waiting for the file", "lost": "lost: the log is gone, or ended without run_stop"}
_RESTARTS = {
    "truncated": "the file was cut; starting over",
    "replaced": "the file was replaced by another; starting over",
    "rewritten": "the file was written anew; starting over",
}
_REASONS = {"stopped": "", "idle": ", because nothing more came", "interrupted": ", as far as they are"}
_FORECASTS = {
    "reached": "reached",
    "too-early": "too early to tell",
    "flat": "no nearer in the last evaluations",
    "far": "not in sight",
    "from": "not before {0}",
    "between": "between {0} and {1}",
}
_ENDS = (
    Column("log", when_narrow="shorten"),
    Column("verdict", when_narrow="keep"),
    *(Column(name, number=True) for name in ("minutes", "errors", "warnings", "review")),
)


def line_of(event: news.News) -> str:
    """One line."""
    said = _said(event)
    path = getattr(event, "path", None)
    return plain(f"{'standard input' if path == '-' else path}: {said}" if path is not None else said)


def verdict(event: news.Concluded, ends: Sequence[news.Ended]) -> Iterator[Block]:
    """The verdict on all logs, below a table of them where there are several."""
    if len(ends) > 1:
        minutes = ["-" if end.minutes is None else f"{end.minutes:.6f}" for end in ends]
        counts = [tuple(map(str, (end.errors, end.warnings, end.review))) for end in ends]
        rows = tuple(
            (end.path, end.official, took, *count) for end, took, count in zip(ends, minutes, counts, strict=True)
        )
        yield Table(_ENDS, rows)
    yield Text(line_of(event))


def _said(event: news.News) -> str:
    match event:
        case news.Watching():
            return f"watching, by the rules of {event.usage} v{event.round}"
        case news.Identified():
            return _identity(event)
        case news.PhaseChanged(phase="stopped"):
            said = f"stopped: {event.status}" if event.status else "stopped"
            return f"{said} after {duration(event.elapsed_ms)}" if event.elapsed_ms is not None else said
        case news.PhaseChanged():
            return _PHASES.get(event.phase, event.phase)
        case news.Evaluated():
            return evaluation_words(event)
        case news.Found():
            return finding_words(event.finding)
        case news.Warned():
            return f"warning: {event.message}" + (f" [{event.rule}]" if event.rule else "")
        case news.Restarted():
            return _RESTARTS[event.reason]
        case news.Ended():
            return _end(event)
        case news.Concluded():
            counts = event.counts if event.logs else "no log came"
            return f"{event.official.value}: {counts}{_REASONS[event.reason] if event.logs else ''}"
    raise AssertionError(event)


def _identity(event: news.Identified) -> str:
    """What a log says it is, and what it is compared with."""
    parts = [event.benchmark or "a benchmark not named", event.division or "a division not named"]
    if event.batch_size is not None:
        parts.append(f"batch size {number(event.batch_size)}")
    said = ", ".join(parts)
    if event.target is not None:
        said += f"; target: {event.target}"
    if event.reference is not None:
        said += f"; reference: {reference_words(event.reference)}"
    return said


def reference_words(reference: Plan) -> str:
    """What a run is compared with."""
    if reference.mean is None or reference.minimum is None:
        return "no reference point covers the batch size"
    return f"mean {number(reference.mean)} {reference.unit}, accepted from {number(reference.minimum)}"


def evaluation_words(event: news.Evaluated) -> str:
    """An evaluation, and what it means for the target."""
    what = f"{event.key} {event.measure}" if event.measure else event.key
    at = f" at {duration(event.elapsed_ms)}" if event.elapsed_ms is not None else ""
    progress = f", {number(event.progress)} {event.unit or ''}".rstrip() if event.progress is not None else ""
    said = f"{what} {value_words(event.value)}{at}{progress}"
    if event.reached is None:
        return said
    said += f"; target: {forecast_words(event.forecast)}"
    if event.by_reference_ms is not None:
        said += f"; the reference at this pace: {duration(event.by_reference_ms)}"
    return said


def forecast_words(forecast: Forecast) -> str:
    """When the target will be reached, in words."""
    return _FORECASTS[forecast.state].format(duration(forecast.not_before_ms), duration(forecast.not_after_ms))


def finding_words(found: Finding) -> str:
    """A finding in one line."""
    label = found.severity.value if found.kind is Kind.OFFICIAL else f"{found.kind.value} {found.severity.value}"
    parts = [f"{label}: {found.message} [{found.rule}]"]
    facts = {"line": found.line, "expected": found.expected, "found": found.actual}
    return "; ".join([*parts, *(f"{name} {value}" for name, value in facts.items() if value is not None)])


def _end(event: news.Ended) -> str:
    """The verdict on one log."""
    counted = ((event.errors, "error"), (event.warnings, "warning"), (event.review, "review finding"))
    parts = [f"{count} {what}{'s' * (count > 1)}" for count, what in counted if count]
    if event.minutes is not None and event.official == "compliant":
        parts.insert(0, f"{event.minutes:.6f} minutes")
    said = event.official.replace("-", " ")
    return f"{said}: {', '.join(parts)}" if parts else said
