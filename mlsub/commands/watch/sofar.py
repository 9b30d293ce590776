"""One run as far as its log has come: events of the log in, news out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from mlsub.commands.watch.forecast import REACHED, TOO_EARLY, Forecast, all_of, forecast
from mlsub.commands.watch.growing import GrowingLog
from mlsub.commands.watch.news import Evaluated, Found, Identified, News, PhaseChanged, Warned
from mlsub.commands.watch.phase import Phase, PhaseOf
from mlsub.commands.watch.reference import number, position_of, reference_of
from mlsub.commands.watch.words import plain_value, text
from mlsub.convergence.target import Measures, Target, plan_of_log, target_of
from mlsub.convergence.units import unit_of_counts
from mlsub.findings import Finding
from mlsub.judge.log import LogTask
from mlsub.log.event import Event
from mlsub.rounds import Round
from mlsub.rules.aspects.course import Time
from mlsub.rules.values import Stated

#: Evaluations kept for the forecast, which looks at fewer.
_POINTS = 64
_EVALUATIONS = ("eval_accuracy", "eval_error")


class RunSoFar:
    """Follows one log from its first byte; a log that starts anew is another one.

    ``identity`` and ``evaluation`` are the last that were reported, ``known`` all findings that were; ``broken`` says
    why the log is no longer followed.
    """

    def __init__(self, task: LogTask, round_: Round) -> None:
        self.task = task
        self.round = round_
        self.log = GrowingLog(task, round_, self._see)
        self.phase = PhaseOf(self.log.fold)
        self.identity: Identified | None = None
        self.evaluation: Evaluated | None = None
        self.known: dict[tuple[str, int | None, str | None], Finding] = {}
        self.broken: str | None = None
        self._complete = False
        self._target: Target | None = None
        self._measures: Measures | None = None
        self._points: dict[str | None, deque[tuple[float, float]]] = {}
        self._reached = False
        self._overdue = False
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
            path = self.task.path
            try:
                step()
                new = filter(self.is_new, self.log.findings())
                self._news += [Found(at_ms=at_ms, path=path, finding=found, final=False) for found in new]
            except Exception as error:
                # A defect of ours: the watch goes on, and the verdict at the end is a rejection.
                self.broken = f"{type(error).__name__}: {error}"[:200]
                message = f"A rule failed to run, so the log cannot be followed: {self.broken}"
                self._news.append(Warned(at_ms=at_ms, path=path, rule="rule.crashed", message=message))
        return self._news

    def is_new(self, found: Finding) -> bool:
        """Note a finding; whether it has not been reported before."""
        key = (found.rule, found.line, found.expected)
        new = key not in self.known
        self.known.setdefault(key, found)
        return new

    def overdue(self, now_ms: int) -> list[News]:
        """That the init phase is over its limit, as soon as it is and ``init_stop`` has not come."""
        began, last = self.phase.init_start, self.phase.last
        if self._overdue or began is None or last is None:
            return []
        took = ((max(now_ms, last) if self.phase.is_live(now_ms) else last) - began) / 60_000
        limit = self._init_limit()
        if limit is None or not limit <= took < 1e6:
            return []
        self._overdue = True
        message = f"The init phase has lasted {took:.1f} minutes, and init_stop has to come within {limit:g}"
        return [Warned(at_ms=now_ms, path=self.task.path, rule="key.init_stop.time", message=message)]

    @property
    def stopped(self) -> bool:
        """Whether the log says that the run has ended, even where the official parser does not see it."""
        return self.phase.phase is Phase.STOPPED or self.log.stopped_unseen

    def phase_news(self, phase: Phase, at_ms: int) -> PhaseChanged:
        """That the run is in a phase, and how far it is."""
        counts = self.log.fold.counts
        return PhaseChanged(
            at_ms=at_ms,
            path=self.task.path,
            phase=phase.value,
            status=self.phase.status if phase is Phase.STOPPED else None,
            elapsed_ms=self.phase.timed(at_ms).by_log,
            blocks=counts["block_start"],
            epochs=counts["epoch_start"],
        )

    def _see(self, event: Event) -> None:
        changed = self.phase.see(event)
        if not self._complete:
            self._identify(event)
        if changed:
            self._news.append(self.phase_news(self.phase.phase, self._at_ms))
        key = event.key
        if key in _EVALUATIONS or (self._target is not None and key == self._target.key):
            self._evaluate(event)

    def _identify(self, event: Event) -> None:
        """Report what the log is once all is known that it says of itself, or with ``run_start`` what is."""
        benchmark, division = self._names()
        size = self.log.fold.hyperparameters.get("global_batch_size")
        self._complete = None not in (benchmark, division) and size is not None
        if not self._complete and (event.key != "run_start" or self.identity is not None):
            return
        stated = self._stated()
        self._target = target_of(self.round, division, benchmark, stated)
        self._measures = Measures(self._target, stated) if self._target is not None else None
        shown = plain_value(size)
        self.identity = Identified(
            at_ms=self._at_ms,
            path=self.task.path,
            benchmark=text(benchmark) if benchmark is not None else None,
            division=text(division) if division is not None else None,
            batch_size=shown if isinstance(shown, (int, float)) else None,
            target=self._target.words if self._target is not None else None,
            reference=reference_of(self.round, division, benchmark, size),
        )
        self._news.append(self.identity)

    def _names(self) -> tuple[str | None, str | None]:
        """Benchmark and division, as the log names them."""
        return self.log.named("submission_benchmark"), self.log.named("submission_division")

    def _stated(self) -> Stated:
        return Stated({**self.log.fold.identity, **self.log.fold.hyperparameters})

    def _init_limit(self) -> float | None:
        """The minutes within which ``init_stop`` has to come; None as long as that cannot be said."""
        benchmark, division = self._names()
        for compiled in plan_of_log(self.round, division, benchmark).keys:
            within = compiled.rule.within
            if compiled.rule.key == "init_stop" and within is not None and within.of == "init_start":
                return Time(compiled.rule).limit()(self._stated()) or None
        return None

    def _evaluate(self, event: Event) -> None:
        elapsed = self.phase.elapsed(event.time_ms)
        measure = self._measure(event, elapsed)
        benchmark, _ = self._names()
        progress = position_of(benchmark, event.metadata)
        counted = progress is not None and benchmark in self.round.benchmarks and self.identity is not None
        self.evaluation = Evaluated(
            at_ms=self._at_ms,
            path=self.task.path,
            line=event.line,
            key=text(event.key),
            value=plain_value(event.value),
            measure=text(measure) if measure is not None else None,
            progress=progress,
            unit=unit_of_counts([progress], str(benchmark), self.round, self._batch_size()) if counted else None,
            elapsed_ms=elapsed,
            reached=self._reached if self._target is not None else None,
            forecast=self._forecast(elapsed),
            by_reference_ms=self._by_reference(elapsed, progress),
        )
        self._news.append(self.evaluation)

    def _batch_size(self) -> float | None:
        return number(self.log.fold.hyperparameters.get("global_batch_size"))

    def _measure(self, event: Event, elapsed: float | None) -> object:
        """Read an evaluation of the target; the name of its measure where the log has one for each."""
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
        return at if at < 1e14 else None
