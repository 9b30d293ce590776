"""Events as lines of text and lines of JSON, and numbers as they stand in a line or a cell."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import msgspec

from mlsub.commands.watch import model
from mlsub.findings import Finding, Kind
from mlsub.io.show import inert, plain, plural
from mlsub.present.document import Column, Table
from mlsub.present.terminal import put
from mlsub.submission.report import describe_own_files

if TYPE_CHECKING:
    from mlsub.commands.watch.sofar import LogSoFar

_RESTARTS = {
    "truncated": "the file was cut; starting over",
    "replaced": "the file was replaced by another; starting over",
    "rewritten": "the file was written anew; starting over",
}
_PHASES = {"lost": "lost: the log is gone, or ended without run_stop"}
_REASONS = {"stopped": "", "idle": ", because nothing more came", "interrupted": ", as far as they are"}
_ENDS = (
    Column("log", when_narrow="shorten"),
    Column("verdict", when_narrow="keep"),
    *(Column(name, number=True) for name in ("minutes", "errors", "warnings", "review")),
)


class Outlet:
    """Shows what happens: one line for each change, and at the end a table of the logs where there are several.

    Args:
        stream: where to.
        jsonl: write an object for each event in plain ASCII instead; see :func:`mlsub.commands.watch.model.schema`.
    """

    def __init__(self, stream: IO[str], *, jsonl: bool = False) -> None:
        self._stream, self._jsonl = stream, jsonl
        self.runs: dict[str, model.RunSoFar] = {}
        self._ends: dict[str, model.Ended] = {}

    def show(self, event: model.WatchEvent) -> None:
        """Write a line. That a run evaluates, and goes on, is left out: its result has a line of its own."""
        if self._jsonl:  # Numbers that JSON does not have are null.
            written = json.dumps(_finite(msgspec.to_builtins(event)), allow_nan=False)
            self._stream.write(inert(written, "jsonl") + "\n")
            self._stream.flush()
            return
        line = self.line(event)
        if isinstance(event, model.Ended):
            self._ends[event.path] = event
        if isinstance(event, model.Concluded) and len(self._ends) > 1:
            put(self._stream, _ends_table([*self._ends.values()]))
        if line is not None and self._stream.isatty():
            put(self._stream, line)
        elif line is not None:  # However long it is, each is one line for whoever reads them.
            self._stream.write(inert(line) + "\n")
        self._stream.flush()

    def line(self, event: model.WatchEvent) -> str | None:
        """Return an event as one line, None where nothing is new to a reader of the lines before."""
        line = line_of(event, self.runs.get(getattr(event, "path", "")))
        if isinstance(event, model.RunSoFar):
            self.runs[event.path] = event
        return line

    def draw(self, logs: Sequence[LogSoFar], at_ms: int) -> None:
        """Show where the runs stand now; lines stay as they are."""

    def close(self) -> None:
        """End the show: nothing follows."""


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _ends_table(ends: Sequence[model.Ended]) -> Table:
    """The verdicts on several logs."""
    rows = []
    for end in ends:
        minutes = "-" if end.minutes is None else f"{end.minutes:.6f}"
        rows.append((end.path, end.official, minutes, str(end.errors), str(end.warnings), str(end.review)))
    return Table(_ENDS, tuple(rows))


def line_of(event: model.WatchEvent, before: model.RunSoFar | None = None) -> str | None:
    """Return an event as one line, in plain characters; None where there is nothing to read.

    Args:
        event: what happened.
        before: what was known of the run when its last line was written, None where it had none.
    """
    match event:
        case model.RunSoFar():
            words = _run_words(event, before)
        case model.Found():
            words = _finding_words(event.finding)
        case model.Ended():
            words = _end_words(event)
        case model.Concluded():
            own = describe_own_files(None, event.rules_file)
            words = f"{event.official.value}{own}: no log came"
            if event.logs:
                words = f"{event.official.value}{own}: {event.counts}{_REASONS[event.reason]}"
        case _:
            raise AssertionError(event)
    path = getattr(event, "path", None)
    if words is None:
        return None
    return plain(f"{'standard input' if path == '-' else path}: {words}" if path is not None else words)


def _run_words(now: model.RunSoFar, before: model.RunSoFar | None) -> str | None:
    """What is new of a run."""
    if now.restart is not None:
        return _RESTARTS[now.restart]
    if before is None:
        return f"watching, by the rules of {now.usage} v{now.round}"
    if now.problem is not None and now.problem != before.problem:
        return f"warning: {now.problem}"
    if now.evaluation is not None and now.evaluation != before.evaluation:
        return _evaluation_words(now.evaluation)
    # That a run evaluates is left out.
    phases = ["run" if run.phase == "evaluating" else run.phase for run in (before, now)]
    news = []
    if (phases[1], now.status) != (phases[0], before.status):
        words = _PHASES.get(phases[1], phases[1])
        if now.phase == "stopped":
            words += f": {now.status}" if now.status else ""
            words += f" after {duration(now.elapsed_ms)}" if now.elapsed_ms is not None else ""
        news.append(words)
    if _identity(now) != _identity(before):
        news.append(_identity(now))
    return "; ".join(news) or None


def _identity(run: model.RunSoFar) -> str:
    """What a log says it is, and what it has to reach."""
    parts = [run.benchmark or "a benchmark not named", run.division or "a division not named"]
    if run.batch_size is not None:
        parts.append(f"batch size {number(run.batch_size)}")
    return ", ".join(parts) + (f"; target: {run.target}" if run.target is not None else "")


def _evaluation_words(one: model.WatchedEvaluation) -> str:
    what = f"{one.key} {one.measure}" if one.measure else one.key
    at = f" at {duration(one.elapsed_ms)}" if one.elapsed_ms is not None else ""
    progress = f", {number(one.progress)} {one.unit or ''}".rstrip() if one.progress is not None else ""
    return f"{what} {value_words(one.value)}{at}{progress}{'; target reached' if one.reached else ''}"


def _finding_words(found: Finding) -> str:
    label = found.severity.value if found.kind is Kind.OFFICIAL else f"{found.kind.value} {found.severity.value}"
    parts = [f"{label}: {found.message} [{found.rule}]"]
    facts = {"line": found.line, "expected": found.expected, "found": found.actual}
    return "; ".join([*parts, *(f"{name} {value}" for name, value in facts.items() if value is not None)])


def _end_words(event: model.Ended) -> str:
    """The verdict on one log."""
    counted = ((event.errors, "error"), (event.warnings, "warning"), (event.review, "review finding"))
    parts = [plural(count, what) for count, what in counted if count]
    if event.minutes is not None and event.official == "compliant":
        parts.insert(0, f"{event.minutes:.6f} minutes")
    words = event.official.replace("-", " ")
    return f"{words}: {', '.join(parts)}" if parts else words


def duration(milliseconds: float | None) -> str:
    """Return hours, minutes and seconds, below a minute with tenths, rounded down; ``-`` for none."""
    if milliseconds is None or not abs(milliseconds) < model.BEYOND:
        return "-"
    sign = "-" if milliseconds < 0 else ""
    tenths = int(abs(milliseconds) / 100)
    if tenths < 600:
        return f"{sign}0:00:{tenths // 10:02d}.{tenths % 10}"
    seconds = tenths // 10
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def value_words(value: Any) -> str:
    """Return what :func:`mlsub.commands.watch.model.shown_value` gives, in a sentence."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {value_words(part)}" for name, part in value.items())
    return number(value) if model.is_measure(value) else str(value)


def number(value: float) -> str:
    """Return a measure, a count or a mean with as many digits as help: whole numbers in full."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}" if abs(value) < 1e15 else f"{value:.4g}"
