"""One log as far as it has come: its bytes in, what they bring out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from mlsub.commands.watch.forecast import REACHED, TOO_EARLY, Forecast, all_of, forecast
from mlsub.commands.watch.news import (
    Evaluated,
    Found,
    Identified,
    News,
    Phase,
    PhaseChanged,
    Warned,
    shown_text,
    shown_value,
)
from mlsub.commands.watch.source import UNFINISHED
from mlsub.convergence.algorithm import algorithm_of, unit_of, unit_of_counts
from mlsub.convergence.curves import Plan, plan_of
from mlsub.convergence.target import Measures, Target, plan_of_log, target_of
from mlsub.convergence.verdict import paired_rule, progress_of
from mlsub.divisions import CLOSED, division_of
from mlsub.findings import Finding, Kind, Severity
from mlsub.io.errors import MlsubError
from mlsub.io.show import readable
from mlsub.judge.log import LogJudge, LogTask
from mlsub.judge.rules import NAME_WIDTH
from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.log.reading import usable_number
from mlsub.log.report import LogReport
from mlsub.log.run import Run
from mlsub.rounds import Round
from mlsub.rules.aspects.course import Time
from mlsub.rules.load import rules_for
from mlsub.rules.values import Stated

#: Bytes of a line that has not ended in which a record is looked for; a record of ``run_stop`` is far shorter.
_MAX_LINE = 1 << 14
#: Evaluations kept for the forecast, which looks at fewer.
_POINTS = 64
#: The clock of a log that is written now is at most so far behind the time of day, in ms, and so far ahead of it.
_LIVE_MS, _SKEW_MS = 3_600_000.0, 300_000.0
#: Beyond this a time in ms is nonsense: the year 5138.
_BEYOND = 1e14
_EVALUATIONS = ("eval_accuracy", "eval_error")
#: The phases that records begin at any time, and those that they begin only while the run lasts.
_BEGINS: dict[str, Phase] = {"run_start": "run", "run_stop": "stopped"}
_BEGINS_IN_RUN: dict[str, Phase] = {
    "eval_start": "evaluating",
    "eval_stop": "run",
    "block_start": "run",
    "epoch_start": "run",
}


class LogSoFar:
    """Follows one log from its first byte, by the code of ``mlsub check``; a log that starts anew is another one.

    ``identity`` and ``evaluation`` are the last that were reported, ``known`` all findings that were; ``broken`` says
    why the log is no longer followed. ``phase`` and ``status`` (of ``run_stop``) are as the last record leaves them,
    ``last_ms`` is its time.
    """

    def __init__(self, task: LogTask, round_: Round) -> None:
        self.task = task
        self.round = round_
        self.phase: Phase = "waiting"
        self.status: str | None = None
        self.last_ms: float | None = None
        self.identity: Identified | None = None
        self.evaluation: Evaluated | None = None
        self.known: dict[tuple[str, int | None, str | None], Finding] = {}
        self.broken: str | None = None
        self._judge = LogJudge(task, round_, [self])
        self._fold = self._judge.run
        self._held = b""
        self._closed = False
        self._complete = False
        self._target: Target | None = None
        self._measures: Measures | None = None
        self._points: dict[str | None, deque[tuple[float, float]]] = {}
        self._reached = False
        self._overdue = False
        self._news: list[News] = []
        self._at_ms = 0

    # Bytes

    def feed(self, data: bytes, at_ms: int) -> list[News]:
        """Take the next bytes at a time of day; return what they bring."""
        return self._take(lambda: self._feed(data), at_ms)

    def forget_line(self) -> None:
        """Drop the line that has not ended, which was taken away; see :class:`mlsub.commands.watch.source.Look`."""
        self._held = b""

    def finish(self, at_ms: int) -> list[News]:
        """End the last line, as nothing follows; return what it brings."""
        return self._take(self._close, at_ms)

    def silent(self, at_ms: int) -> list[News]:
        """Return the end of the run where a ``run_stop`` lacks only the end of its line, and nothing follows."""
        event = None if self.stopped else self._unfinished()
        if event is None or event.key != "run_stop":
            return []
        self._change_phase(event)
        return [self.phase_news(self.phase, at_ms)]

    def report(self) -> LogReport:
        """Return the report that a file of the same bytes would get. Nothing can be fed after that."""
        self._close()
        return self._judge.report()

    def _take(self, step: Callable[[], None], at_ms: int) -> list[News]:
        self._news, self._at_ms = [], at_ms
        if self.broken is None:
            path = self.task.path
            try:
                step()
                new = filter(self.is_new, self._certain())
                self._news += [Found(at_ms=at_ms, path=path, finding=found, final=False) for found in new]
            except Exception as error:
                # A defect of ours: the watch goes on, and the verdict at the end is a rejection.
                self.broken = f"{type(error).__name__}: {error}"[:200]
                message = f"A rule failed to run, so the log cannot be followed: {self.broken}"
                self._news.append(Warned(at_ms=at_ms, path=path, rule="rule.crashed", message=message))
        return self._news

    def _feed(self, data: bytes) -> None:
        """Judge whole lines; a line that has not ended waits for its end, unless it is a very long one."""
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        ready, self._held = (self._held + data[:end], data[end:]) if end else (b"", self._held + data)
        if len(self._held) > UNFINISHED:
            ready, self._held = ready + self._held[:-_MAX_LINE], self._held[-_MAX_LINE:]
        self._judge.feed(ready)

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            self._judge.feed(self._held)
            self._judge.close()

    def _unfinished(self) -> Event | None:
        """The event of the last line, where it is whole but for its end; it counts only once it has ended."""
        reader = self._judge
        _, token, text = self._held[-_MAX_LINE:].rpartition(reader.token)
        event = reader.decode(0, text) if token else None
        return event if isinstance(event, Event) else None

    # Findings

    def is_new(self, found: Finding) -> bool:
        """Note a finding; return whether it has not been reported before."""
        key = (found.rule, found.line, found.expected)
        new = key not in self.known
        self.known.setdefault(key, found)
        return new

    def _certain(self) -> Iterator[Finding]:
        """What is wrong with the log whatever may follow."""
        defects, rules = self._judge.defects, self._judge.rules.rules
        yield from defects.findings(cut_off=False)
        if rules is not None:
            yield from rules.certain(self.task.path, frozenset(defects.spoiled_keys))

    def overdue(self, now_ms: int) -> list[News]:
        """Return that the init phase is over its limit, once, as soon as it is and ``init_stop`` has not come."""
        began, last = self._init_start, self.last_ms
        if self._overdue or began is None or last is None:
            return []
        took = ((max(now_ms, last) if self._is_live(now_ms) else last) - began) / 60_000
        limit = self._init_limit()
        if limit is None or not limit <= took < 1e6:
            return []
        self._overdue = True
        message = f"The init phase has lasted {took:.1f} minutes, and init_stop has to come within {limit:g}"
        return [Warned(at_ms=now_ms, path=self.task.path, rule="key.init_stop.time", message=message)]

    def _init_limit(self) -> float | None:
        """The minutes within which ``init_stop`` has to come; None as long as that cannot be said."""
        for compiled in plan_of_log(self.round, self._named("division"), self._named("benchmark")).keys:
            within = compiled.rule.within
            if compiled.rule.key == "init_stop" and within is not None and within.of == "init_start":
                return Time(compiled.rule).limit()(self._stated()) or None
        return None

    # Phase and time

    @property
    def stopped(self) -> bool:
        """Whether the log says that the run has ended, even where the official parser does not see it."""
        return self.phase == "stopped" or "run_stop" in self._judge.defects.times

    @property
    def timed_ms(self) -> float | None:
        """How long the timed region has lasted by the log's own clock; None before it, or where a time is no time."""
        stop = self._fold.timed.stop
        return self._elapsed(self.last_ms if stop is None else stop)

    def running_ms(self, now_ms: float) -> float | None:
        """Return how long the timed region has lasted at a time of day; None unless the log is being written."""
        over = self._fold.timed.stop is not None or self.phase == "stopped"
        return None if over or not self._is_live(now_ms) else self._elapsed(now_ms)

    @property
    def initialising_ms(self) -> float | None:
        """How long the init phase has lasted by the log's own clock; None outside of it."""
        return _between(self._init_start, self.last_ms)

    @property
    def _init_start(self) -> float | None:
        over = self.phase != "init" or "init_stop" in self._fold.lines
        return None if over else self._fold.times.get("init_start")

    def _elapsed(self, at_ms: float | None) -> float | None:
        """From ``run_start`` to a time."""
        return _between(self._fold.timed.start, at_ms)

    def _is_live(self, now_ms: float) -> bool:
        """Whether the log is written at this time of day."""
        return self.last_ms is not None and -_SKEW_MS <= now_ms - self.last_ms <= _LIVE_MS

    def phase_news(self, phase: Phase, at_ms: int) -> PhaseChanged:
        """Return that the run is in a phase, and how far it is."""
        counts = self._fold.counts
        return PhaseChanged(
            at_ms=at_ms,
            path=self.task.path,
            phase=phase,
            status=self.status if phase == "stopped" else None,
            elapsed_ms=self.timed_ms,
            blocks=counts["block_start"],
            epochs=counts["epoch_start"],
        )

    # Events, each after the facts of the run have taken it

    def handler(self, key: str | None) -> Handler:
        """Return what takes the events of a key, as a fold of the judge."""
        return self._see

    def _see(self, event: Event) -> None:
        changed = self._change_phase(event)
        if not self._complete:
            self._identify(event)
        if changed:
            self._news.append(self.phase_news(self.phase, self._at_ms))
        key = event.key
        if key in _EVALUATIONS or (self._target is not None and key == self._target.key):
            self._evaluate(event)

    def _change_phase(self, event: Event) -> bool:
        """Whether an event changes the phase, or what is known of its end."""
        self.last_ms = event.time_ms
        before = (self.phase, self.status)
        key = event.key if isinstance(event.key, str) else ""
        if self.phase == "waiting":
            self.phase = "init"
        elif self.phase in ("run", "evaluating"):
            self.phase = _BEGINS_IN_RUN.get(key, self.phase)
        self.phase = _BEGINS.get(key, self.phase)
        if key == "run_stop":
            status = event.metadata.get("status") if isinstance(event.metadata, dict) else None
            self.status = shown_text(status) if status is not None else None
        return (self.phase, self.status) != before

    def _identify(self, event: Event) -> None:
        """Report what the log is once all is known that it says of itself, or with ``run_start`` what is."""
        benchmark, division = self._named("benchmark"), self._named("division")
        size = self._fold.hyperparameters.get("global_batch_size")
        self._complete = None not in (benchmark, division) and size is not None
        if not self._complete and (event.key != "run_start" or self.identity is not None):
            return
        stated = self._stated()
        self._target = target_of(self.round, division, benchmark, stated)
        self._measures = Measures(self._target, stated) if self._target is not None else None
        shown = shown_value(size)
        self.identity = Identified(
            at_ms=self._at_ms,
            path=self.task.path,
            benchmark=shown_text(benchmark) if benchmark is not None else None,
            division=shown_text(division) if division is not None else None,
            batch_size=shown if isinstance(shown, (int, float)) else None,
            target=self._target.words if self._target is not None else None,
            reference=_reference(self.round, division, benchmark, size),
        )
        self._news.append(self.identity)

    def _named(self, what: str) -> str | None:
        """The first ``submission_benchmark`` or ``submission_division`` of the log."""
        name = self._fold.identity.get(f"submission_{what}")
        return readable(name[:NAME_WIDTH]) if isinstance(name, str) else None

    def _stated(self) -> Stated:
        return Stated({**self._fold.identity, **self._fold.hyperparameters})

    def _evaluate(self, event: Event) -> None:
        elapsed = self._elapsed(event.time_ms)
        measure = self._measure(event, elapsed)
        benchmark = str(self._named("benchmark"))
        metadata = event.metadata if isinstance(event.metadata, dict) else {}
        progress = usable_number(metadata.get(unit_of(benchmark)))
        counted = progress is not None and benchmark in self.round.benchmarks and self.identity is not None
        size = usable_number(self._fold.hyperparameters.get("global_batch_size"))
        self.evaluation = Evaluated(
            at_ms=self._at_ms,
            path=self.task.path,
            line=event.line,
            key=shown_text(event.key),
            value=shown_value(event.value),
            measure=shown_text(measure) if measure is not None else None,
            progress=progress,
            unit=unit_of_counts([progress], benchmark, self.round, size) if counted else None,
            elapsed_ms=elapsed,
            reached=self._reached if self._target is not None else None,
            forecast=self._forecast(elapsed),
            by_reference_ms=self._by_reference(elapsed, progress),
        )
        self._news.append(self.evaluation)

    def _measure(self, event: Event, elapsed: float | None) -> object:
        """Read an evaluation of the target; return the name of its measure where the log has one for each."""
        if self._target is None or self._measures is None or event.key != self._target.key:
            return None
        measured = self._measures.read(event)
        self._reached = self._reached or measured.reached
        for name, value in measured.values.items():
            if elapsed is not None:
                self._points.setdefault(name, deque(maxlen=_POINTS)).append((elapsed, value))
        field = self._target.field
        return event.metadata.get(field) if field is not None and isinstance(event.metadata, dict) else None

    def _forecast(self, elapsed: float | None) -> Forecast:
        if self._reached:
            return REACHED
        if self._target is None or elapsed is None:
            return TOO_EARLY
        expected = all_of([forecast(self._points.get(band.name, ()), band) for band in self._target.bands])
        # Each measure was good enough, but not all of them at once.
        return Forecast("from", elapsed) if expected.state == "reached" else expected

    def _by_reference(self, elapsed: float | None, progress: float | None) -> float | None:
        """When the mean of the reference is reached at the pace so far, in ms after ``run_start``."""
        plan = self.identity.reference if self.identity is not None else None
        if self._reached or plan is None or plan.mean is None:
            return None
        if elapsed is None or elapsed <= 0 or progress is None or progress <= 0:
            return None
        at = elapsed / progress * plan.mean
        return at if at < _BEYOND else None


def _between(start: float | None, stop: float | None) -> float | None:
    if start is None or stop is None or not (abs(start) < _BEYOND and abs(stop) < _BEYOND):
        return None
    took = stop - start
    return took if math.isfinite(took) else None


def _reference(round_: Round, division: str | None, benchmark: str | None, batch_size: Any) -> Plan | None:
    """What a run is compared with; None where no reference applies, or its batch size is not a number."""
    known = division_of(division)
    if known is None or not known.convergence or benchmark not in round_.benchmarks:
        return None
    if usable_number(batch_size) is None or batch_size <= 0:
        return None
    try:
        return plan_of(round_, str(benchmark), float(batch_size))
    except MlsubError:
        return None


def too_fast(run: Run, round_: Round, plan: Plan) -> float | None:
    """Return where a run that has ended converged, if that is faster than an entry may on average; in plan.unit."""
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None or plan.minimum is None:
        return None
    name = plan.benchmark
    paired = paired_rule(rules_for(round_.usage, round_.name, CLOSED.name, name, round_.overlay))
    [point] = progress_of([run], name, algorithm, paired).by_run
    return point if point is not None and point < plan.minimum else None


def counts_against(found: Finding) -> bool:
    """Return whether a finding makes the exit status 1: it rejects, or breaks a rule of the user's own."""
    return found.rejects or (found.kind is Kind.HOUSE and found.severity is Severity.ERROR)
