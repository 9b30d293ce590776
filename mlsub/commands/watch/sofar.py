"""One run as its log tells it so far: events of the log in, news out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from mlsub.commands.watch.forecast import TOO_EARLY, Forecast, all_of, forecast
from mlsub.commands.watch.growing import GrowingLog
from mlsub.commands.watch.news import Evaluated, Found, Identified, News, PhaseChanged, Reference, Warned
from mlsub.commands.watch.phase import LIVE_MS, SKEW_MS, Phase, PhaseOf
from mlsub.commands.watch.reference import position_of, reference_of
from mlsub.commands.watch.words import plain_value, text
from mlsub.convergence.algorithm import unit_words
from mlsub.convergence.table import Plan
from mlsub.convergence.target import Measures, Target, plan_of_log, target_of
from mlsub.findings import Finding
from mlsub.judge.log import LogTask
from mlsub.log.event import Event
from mlsub.rounds import Round
from mlsub.rules.aspects.course import Time
from mlsub.rules.values import Stated

#: Evaluations kept for the forecast, which looks at fewer.
_POINTS = 64
_EVALUATIONS = ("eval_accuracy", "eval_error")


class _Identity(msgspec.Struct, frozen=True):
    """What a log says of itself."""

    benchmark: str | None
    division: str | None
    batch_size: Any

    @property
    def complete(self) -> bool:
        return self.benchmark is not None and self.division is not None and self.batch_size is not None


class RunSoFar:
    """Follows one log from its first byte; a log that starts anew is another one."""

    def __init__(self, task: LogTask, round_: Round) -> None:
        self.task = task
        self.round = round_
        self.log = GrowingLog(task, round_, self._see)
        self.phase = PhaseOf()
        self.target: Target | None = None
        self.reference: Plan | None = None
        self._unit: str | None = None
        self.evaluation: Evaluated | None = None
        self.forecast = TOO_EARLY
        self.told: dict[tuple[str, int | None, str | None], Finding] = {}
        self.broken: str | None = None
        self._measures: Measures | None = None
        self._points: dict[str | None, deque[tuple[float, float]]] = {}
        self._reached = False
        self._identity: _Identity | None = None
        self._init_told = False
        self._news: list[News] = []
        self._at_ms = 0

    def feed(self, data: bytes, at_ms: int) -> list[News]:
        """Take the next bytes of the log at a time of day; what they bring."""
        return self._take(lambda: self.log.feed(data), at_ms)

    def finish(self, at_ms: int) -> list[News]:
        """Nothing follows; what the last line brings."""
        return self._take(self.log.finish, at_ms)

    def silent(self, at_ms: int) -> list[News]:
        """Nothing has followed for a while: a ``run_stop`` that lacks only the end of its line has stopped the run."""
        event = None if self.stopped else self.log.unfinished()
        if event is None or event.key != "run_stop":
            return []
        self.phase.see(event)
        return [self.phase_news(self.phase.phase, at_ms)]

    def _take(self, step: Callable[[], None], at_ms: int) -> list[News]:
        self._news, self._at_ms = [], at_ms
        if self.broken is None:
            try:
                step()
                for found in self.log.findings():
                    self._tell_finding(found)
            except Exception as error:
                # A defect of ours: the watch goes on, and the verdict at the end is a rejection.
                self.broken = f"{type(error).__name__}: {error}"[:200]
                message = f"A rule failed to run, so the log cannot be followed: {self.broken}"
                self._news.append(Warned(at_ms=at_ms, path=self.task.path, rule="rule.crashed", message=message))
        return self._news

    def is_new(self, found: Finding) -> bool:
        """Note a finding; whether it has not been told before."""
        key = (found.rule, found.line, found.expected)
        if key in self.told:
            return False
        self.told[key] = found
        return True

    def overdue(self, now_ms: int) -> list[News]:
        """That the init phase is over its limit, as soon as it is and ``init_stop`` has not come."""
        began = self.phase.init_start
        if self._init_told or began is None or self.phase.phase is not Phase.INIT:
            return []
        if "init_stop" in self.log.fold.lines:
            return []
        limit = self._init_limit()
        last = self.phase.last or began
        live = -SKEW_MS <= now_ms - last <= LIVE_MS
        took = ((max(now_ms, last) if live else last) - began) / 60_000
        if limit is None or not limit <= took < 1e6:
            return []
        self._init_told = True
        message = f"The init phase has lasted {took:.1f} minutes, and init_stop has to come within {limit:g}"
        return [Warned(at_ms=now_ms, path=self.task.path, rule="key.init_stop.time", message=message)]

    @property
    def stopped(self) -> bool:
        """Whether the log says that the run has ended, be it where the official parser does not see it."""
        return self.phase.phase is Phase.STOPPED or self.log.stopped_unseen

    def phase_news(self, phase: Phase, at_ms: int) -> PhaseChanged:
        """The phase of the run, told."""
        fold = self.log.fold
        return PhaseChanged(
            at_ms=at_ms,
            path=self.task.path,
            phase=phase.value,
            status=self.phase.status if phase is Phase.STOPPED else None,
            elapsed_ms=self.phase.timed(at_ms).by_log,
            blocks=fold.counts["block_start"],
            epochs=fold.counts["epoch_start"],
        )

    def _see(self, event: Event) -> None:
        changed = self.phase.see(event)
        if self._identity is None or not self._identity.complete:
            self._identify(event)
        if changed:
            self._news.append(self.phase_news(self.phase.phase, self._at_ms))
        key = event.key
        if key in _EVALUATIONS or (self.target is not None and key == self.target.key):
            self._evaluate(event)

    def _identify(self, event: Event) -> None:
        """Tell what the log is once all is known that it says of itself, or with ``run_start`` what is."""
        found = _Identity(
            self.log.named("submission_benchmark"),
            self.log.named("submission_division"),
            self.log.fold.hyperparameters.get("global_batch_size"),
        )
        if not found.complete and (event.key != "run_start" or self._identity is not None):
            return
        self._identity = found
        benchmark, division, size = found.benchmark, found.division, found.batch_size
        stated = self._stated()
        self.target = target_of(self.round, division, benchmark, stated)
        self._measures = Measures(self.target, stated) if self.target is not None else None
        self.reference = plan = reference_of(self.round, division, benchmark, size)
        self._unit = unit_words(str(benchmark), self.round) if benchmark in self.round.benchmarks else None
        against = Reference(plan.how, plan.unit, plan.mean, plan.stdev, plan.minimum) if plan is not None else None
        shown = plain_value(size)
        self._news.append(
            Identified(
                at_ms=self._at_ms,
                path=self.task.path,
                benchmark=text(benchmark) if benchmark is not None else None,
                division=text(division) if division is not None else None,
                batch_size=shown if isinstance(shown, (int, float)) else None,
                target=self.target.words if self.target is not None else None,
                reference=against,
            )
        )

    def _stated(self) -> Stated:
        stated = Stated()
        for key, value in (*self.log.fold.identity.items(), *self.log.fold.hyperparameters.items()):
            stated.state(key, value)
        return stated

    def _init_limit(self) -> float | None:
        """The minutes within which ``init_stop`` has to come; None as long as that cannot be said."""
        division, benchmark = self.log.named("submission_division"), self.log.named("submission_benchmark")
        for compiled in plan_of_log(self.round, division, benchmark).keys:
            within = compiled.rule.within
            if compiled.rule.key == "init_stop" and within is not None and within.of == "init_start":
                return Time(compiled.rule).limit()(self._stated()) or None
        return None

    def _evaluate(self, event: Event) -> None:
        elapsed = self.phase.elapsed(event.time_ms)
        measure = None
        if self._measures is not None and self.target is not None and event.key == self.target.key:
            measured = self._measures.read(event)
            self._reached = self._reached or measured.reached
            for name, value in measured.values.items():
                if elapsed is not None:
                    self._points.setdefault(name, deque(maxlen=_POINTS)).append((elapsed, value))
            if self.target.field is not None and isinstance(event.metadata, dict):
                measure = event.metadata.get(self.target.field)
        self.forecast = self._forecast(elapsed)
        progress = position_of(self.log.named("submission_benchmark"), event.metadata)
        self.evaluation = Evaluated(
            at_ms=self._at_ms,
            path=self.task.path,
            line=event.line,
            key=text(event.key),
            value=plain_value(event.value),
            measure=text(measure) if measure is not None else None,
            progress=progress,
            unit=self._unit if progress is not None else None,
            elapsed_ms=elapsed,
            reached=self._reached if self.target is not None else None,
            forecast=self.forecast,
            by_reference_ms=self._by_reference(elapsed, progress),
        )
        self._news.append(self.evaluation)

    def _forecast(self, elapsed: float | None) -> Forecast:
        if self._reached:
            return Forecast("reached")
        if self.target is None or elapsed is None:
            return TOO_EARLY
        bands = self.target.bands
        told = all_of([forecast(list(self._points.get(band.name, ())), band) for band in bands])
        # Each measure was good enough, but not all of them at once.
        return Forecast("from", elapsed) if told.state == "reached" else told

    def _by_reference(self, elapsed: float | None, progress: float | None) -> float | None:
        """When the mean of the reference is reached at the pace so far, in ms after ``run_start``."""
        mean = self.reference.mean if self.reference is not None else None
        if self._reached or mean is None or elapsed is None or elapsed <= 0 or progress is None or progress <= 0:
            return None
        at = elapsed / progress * mean
        return at if at < 1e14 else None

    def _tell_finding(self, found: Finding) -> None:
        if self.is_new(found):
            self._news.append(Found(at_ms=self._at_ms, path=self.task.path, finding=found, final=False))
