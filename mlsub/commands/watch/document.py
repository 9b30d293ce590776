"""News as lines of text and lines of JSON, and numbers as they stand in a line or a cell."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import msgspec

from mlsub.commands.watch import news
from mlsub.commands.watch.forecast import Forecast
from mlsub.commands.watch.news import number
from mlsub.convergence.curves import Plan
from mlsub.findings import Finding, Kind
from mlsub.io.show import plain, plural
from mlsub.present.document import Block, Column, Table, Text
from mlsub.present.terminal import put

if TYPE_CHECKING:
    from mlsub.commands.watch.sofar import LogSoFar

#: Beyond this a time in ms is nonsense.
_BEYOND = 1e14
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


class Outlet:
    """Shows what happens: one line for each change, and at the end a table of the logs where there are several.

    Args:
        stream: where to.
        jsonl: write an object for each event in plain ASCII instead; see :func:`mlsub.commands.watch.news.schema`.
    """

    def __init__(self, stream: IO[str], *, jsonl: bool = False) -> None:
        self._stream, self._jsonl = stream, jsonl
        self._phases: dict[str, str] = {}
        self._ends: dict[str, news.Ended] = {}

    def show(self, event: news.News) -> None:
        """Write a line. That a run evaluates, and goes on, is left out: its result has a line of its own."""
        if self._jsonl:  # Numbers that JSON does not have are null.
            self._stream.write(json.dumps(_finite(msgspec.to_builtins(event)), allow_nan=False) + "\n")
            self._stream.flush()
            return
        if isinstance(event, news.PhaseChanged):
            if event.phase == "evaluating" or self._phases.get(event.path) == event.phase == "run":
                return
            self._phases[event.path] = event.phase
        if isinstance(event, news.Ended):
            self._ends[event.path] = event
        if isinstance(event, news.Concluded):
            put(self._stream, *_verdict(event, [*self._ends.values()]))
        elif self._stream.isatty():
            put(self._stream, Text(line_of(event)))
        else:  # However long it is, each is one line for whoever reads them.
            self._stream.write(line_of(event) + "\n")
        self._stream.flush()

    def draw(self, logs: Sequence[LogSoFar], at_ms: int) -> None:
        """Show where the runs stand now; lines stay as they are."""

    def close(self) -> None:
        """End the show: nothing follows."""


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _verdict(event: news.Concluded, ends: Sequence[news.Ended]) -> Iterator[Block]:
    """The verdict on all logs, below a table of them where there are several."""
    if len(ends) > 1:
        minutes = ["-" if end.minutes is None else f"{end.minutes:.6f}" for end in ends]
        counts = [tuple(map(str, (end.errors, end.warnings, end.review))) for end in ends]
        rows = tuple(
            (end.path, end.official, took, *count) for end, took, count in zip(ends, minutes, counts, strict=True)
        )
        yield Table(_ENDS, rows)
    yield Text(line_of(event))


def line_of(event: news.News) -> str:
    """Return an event as one line, in plain characters."""
    words = _words(event)
    path = getattr(event, "path", None)
    return plain(f"{'standard input' if path == '-' else path}: {words}" if path is not None else words)


def _words(event: news.News) -> str:
    match event:
        case news.Watching():
            return f"watching, by the rules of {event.usage} v{event.round}"
        case news.Identified():
            return _identity(event)
        case news.PhaseChanged(phase="stopped"):
            words = f"stopped: {event.status}" if event.status else "stopped"
            return f"{words} after {duration(event.elapsed_ms)}" if event.elapsed_ms is not None else words
        case news.PhaseChanged():
            return _PHASES.get(event.phase, event.phase)
        case news.Evaluated():
            return _evaluation(event)
        case news.Found():
            return _finding(event.finding)
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
    words = ", ".join(parts)
    if event.target is not None:
        words += f"; target: {event.target}"
    if event.reference is not None:
        words += f"; reference: {reference_words(event.reference)}"
    return words


def reference_words(reference: Plan) -> str:
    """Return what a run is compared with."""
    if reference.mean is None or reference.minimum is None:
        return "no reference point covers the batch size"
    return f"mean {number(reference.mean)} {reference.unit}, accepted from {number(reference.minimum)}"


def _evaluation(event: news.Evaluated) -> str:
    """An evaluation, and what it means for the target."""
    what = f"{event.key} {event.measure}" if event.measure else event.key
    at = f" at {duration(event.elapsed_ms)}" if event.elapsed_ms is not None else ""
    progress = f", {number(event.progress)} {event.unit or ''}".rstrip() if event.progress is not None else ""
    words = f"{what} {value_words(event.value)}{at}{progress}"
    if event.reached is None:
        return words
    words += f"; target: {_forecast(event.forecast)}"
    if event.by_reference_ms is not None:
        words += f"; the reference at this pace: {duration(event.by_reference_ms)}"
    return words


def _forecast(forecast: Forecast) -> str:
    return _FORECASTS[forecast.state].format(duration(forecast.not_before_ms), duration(forecast.not_after_ms))


def _finding(found: Finding) -> str:
    label = found.severity.value if found.kind is Kind.OFFICIAL else f"{found.kind.value} {found.severity.value}"
    parts = [f"{label}: {found.message} [{found.rule}]"]
    facts = {"line": found.line, "expected": found.expected, "found": found.actual}
    return "; ".join([*parts, *(f"{name} {value}" for name, value in facts.items() if value is not None)])


def _end(event: news.Ended) -> str:
    """The verdict on one log."""
    counted = ((event.errors, "error"), (event.warnings, "warning"), (event.review, "review finding"))
    parts = [plural(count, what) for count, what in counted if count]
    if event.minutes is not None and event.official == "compliant":
        parts.insert(0, f"{event.minutes:.6f} minutes")
    words = event.official.replace("-", " ")
    return f"{words}: {', '.join(parts)}" if parts else words


def duration(milliseconds: float | None) -> str:
    """Return hours, minutes and seconds, below a minute with tenths, rounded down; ``-`` for none."""
    if milliseconds is None or not abs(milliseconds) < _BEYOND:
        return "-"
    sign = "-" if milliseconds < 0 else ""
    tenths = int(abs(milliseconds) / 100)
    if tenths < 600:
        return f"{sign}0:00:{tenths // 10:02d}.{tenths % 10}"
    seconds = tenths // 10
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def value_words(value: Any) -> str:
    """Return what :func:`mlsub.commands.watch.news.shown_value` gives, in a sentence."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {value_words(part)}" for name, part in value.items())
    return number(value) if news.is_measure(value) else str(value)
