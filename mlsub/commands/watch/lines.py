"""News as lines for people: what happened, to which log, in plain characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.watch.forecast import Forecast
from mlsub.commands.watch.news import (
    Concluded,
    Ended,
    Evaluated,
    Found,
    Identified,
    News,
    PhaseChanged,
    Restarted,
    Warned,
    Watching,
)
from mlsub.commands.watch.words import duration, number, value_words
from mlsub.convergence.table import Plan
from mlsub.findings import Finding, Kind
from mlsub.io.plain import plain
from mlsub.present.document import Column, Table, Text
from mlsub.present.text import lines as lines_of_block

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


def line_of(news: News) -> str:
    """One line."""
    said = _said(news)
    path = getattr(news, "path", None)
    return plain(f"{'standard input' if path == '-' else path}: {said}" if path is not None else said)


def verdict_lines(news: Concluded, ends: Sequence[Ended]) -> Iterator[str]:
    """The verdict on all logs, below a table of them where there are several."""
    if len(ends) > 1:
        minutes = ["-" if end.minutes is None else f"{end.minutes:.6f}" for end in ends]
        counts = [tuple(map(str, (end.errors, end.warnings, end.review))) for end in ends]
        rows = tuple(
            (end.path, end.official, took, *count) for end, took, count in zip(ends, minutes, counts, strict=True)
        )
        yield from lines_of_block(Table(_ENDS, rows))
    yield from lines_of_block(Text(line_of(news)))


def _said(news: News) -> str:
    match news:
        case Watching():
            return f"watching, by the rules of {news.usage} v{news.round}"
        case Identified():
            return _identity(news)
        case PhaseChanged(phase="stopped"):
            said = f"stopped: {news.status}" if news.status else "stopped"
            return f"{said} after {duration(news.elapsed_ms)}" if news.elapsed_ms is not None else said
        case PhaseChanged():
            return _PHASES.get(news.phase, news.phase)
        case Evaluated():
            return evaluation_words(news)
        case Found():
            return finding_words(news.finding)
        case Warned():
            return f"warning: {news.message}" + (f" [{news.rule}]" if news.rule else "")
        case Restarted():
            return _RESTARTS[news.reason]
        case Ended():
            return _end(news)
        case Concluded():
            counts = f"{news.compliant} of {news.logs} logs compliant" if news.logs else "no log came"
            return f"{news.official.value}: {counts}{_REASONS[news.reason] if news.logs else ''}"
    raise AssertionError(news)


def _identity(news: Identified) -> str:
    """What a log says it is, and what it is compared with."""
    parts = [news.benchmark or "a benchmark not named", news.division or "a division not named"]
    if news.batch_size is not None:
        parts.append(f"batch size {number(news.batch_size)}")
    said = ", ".join(parts)
    if news.target is not None:
        said += f"; target: {news.target}"
    if news.reference is not None:
        said += f"; reference: {reference_words(news.reference)}"
    return said


def reference_words(reference: Plan) -> str:
    """What a run is compared with."""
    if reference.mean is None or reference.minimum is None:
        return "no reference point covers the batch size"
    return f"mean {number(reference.mean)} {reference.unit}, accepted from {number(reference.minimum)}"


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
    return _FORECASTS[forecast.state].format(duration(forecast.not_before_ms), duration(forecast.not_after_ms))


def finding_words(found: Finding) -> str:
    """A finding in one line."""
    label = found.severity.value if found.kind is Kind.OFFICIAL else f"{found.kind.value} {found.severity.value}"
    parts = [f"{label}: {found.message} [{found.rule}]"]
    facts = {"line": found.line, "expected": found.expected, "found": found.actual}
    return "; ".join([*parts, *(f"{name} {value}" for name, value in facts.items() if value is not None)])


def _end(news: Ended) -> str:
    """The verdict on one log."""
    counted = ((news.errors, "error"), (news.warnings, "warning"), (news.review, "review finding"))
    parts = [f"{count} {what}{'s' * (count > 1)}" for count, what in counted if count]
    if news.minutes is not None and news.official == "compliant":
        parts.insert(0, f"{news.minutes:.6f} minutes")
    said = news.official.replace("-", " ")
    return f"{said}: {', '.join(parts)}" if parts else said
