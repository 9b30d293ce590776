"""One log as far as it has come, from its first byte to its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from mlsub.commands.watch import model
from mlsub.commands.watch.source import FileSource, NewBytes, Restart, Source
from mlsub.convergence import unit_of, unit_of_counts
from mlsub.convergence.target import MeasureReader, QualityTarget, plan_of_log, target_of
from mlsub.findings import Finding, Kind
from mlsub.io import MlsubError
from mlsub.io.show import readable
from mlsub.judge.log import LogJudge
from mlsub.judge.rules import NAME_WIDTH
from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.log.reading import usable_number
from mlsub.rounds import Round
from mlsub.rules.aspects.records import TimeAspect
from mlsub.rules.constraints import StatedValues
from mlsub.submission.model import LogReport
from mlsub.workspace.cache import Cache
from mlsub.workspace.places import Context, Request
from mlsub.workspace.reading import crashed
from mlsub.workspace.runs import read_runs

#: A file last written so many seconds ago, by its own time, will hardly grow.
OLD_S = 60.0
#: Looks after which a file that is gone is not just being replaced.
_GONE_AFTER = 2
#: Bytes of a line that has not ended in which a record is looked for; a record of ``run_stop`` is far shorter.
_MAX_LINE = 1 << 14
#: The clock of a log that is written now is at most so far behind the time of day, in ms, and so far ahead of it.
_LIVE_MS, _SKEW_MS = 3_600_000.0, 300_000.0
_EVALUATIONS = ("eval_accuracy", "eval_error")
#: The phases that records begin at any time, and those that they begin only while the run lasts.
_BEGINS: dict[str, model.Phase] = {"run_start": "run", "run_stop": "stopped"}
_BEGINS_IN_RUN: dict[str, model.Phase] = {
    **dict.fromkeys(("eval_stop", "block_start", "epoch_start"), "run"),
    "eval_start": "evaluating",
}


class LogSoFar:
    """Follows one log by the code of ``mlsub check``, and shows what each look at it brings.

    The bytes of a pipe are judged as they come; a file is judged anew at its end, so that the verdict is that of
    ``mlsub check`` on the bytes that are then in it, unless it is remembered of these. ``ended`` is the verdict
    once there is one; ``more`` says that there is more to read already. Times are in ms since the Unix epoch.

    Args:
        source: where the bytes come from.
        path: what the log is called.
        round_: whose rules hold.
        show: takes what is new.
        cache: remembers reports.
    """

    def __init__(
        self,
        source: Source,
        path: str,
        round_: Round,
        show: Callable[[model.WatchEvent], object],
        cache: Cache | None = None,
    ) -> None:
        self.source, self.path, self.round = source, path, round_
        self._unreadable: str | None = None
        self.more = False
        self._show, self._cache = show, cache
        self._closed = self._seen = False
        self._gone = self._grew_ms = self._at_ms = 0
        self._last_line = b""
        self._modified: float | None = None
        self._start_over()

    def _start_over(self) -> None:
        """Know nothing of the log but that it is watched."""
        self.ended: model.Ended | None = None
        #: As the last record leaves them, and its time.
        self._phase: model.Phase = "waiting"
        self._status: str | None = None
        self._last_ms: float | None = None
        self._known: dict[tuple[str, int | None, str | None], Finding] = {}
        self._broken: str | None = None
        self._judge = LogJudge(self.path, self.round, [self])
        self._run = self._judge.run
        self._complete = self._started = False
        self._overdue: str | None = None
        self._target: QualityTarget | None = None
        self._measures: MeasureReader | None = None
        self._reached = False
        self._evaluation: model.WatchedEvaluation | None = None

    # Bytes

    def begin(self, at_ms: int) -> None:
        """Show that the log is watched."""
        self._grew_ms = self._at_ms = at_ms
        self._show(self.so_far())

    def look(self, at_ms: int) -> None:
        """Show what is new since the last look."""
        self._at_ms = at_ms
        look = self.source.look()
        self.more = look.more
        if look.restart is not None:
            self._start_over()
            self._grew_ms = at_ms
            self._show(self.so_far(restart=look.restart))
        self._note_presence(look)
        if look.data or look.unfinished != self._last_line:
            self.ended, self._grew_ms = None, at_ms
        self._last_line = look.unfinished
        if look.data:
            self._take(lambda: self._judge.feed(look.data))
        self._modified = look.modified
        if look.state == "closed" and not self._closed:
            self._closed = True
            self._take(self._judge.close)
            if not self.stopped:
                self._show(self.so_far())
        self._look_at_init(at_ms)

    def _note_presence(self, look: NewBytes) -> None:
        """Show whether the file is there, when that changes."""
        news = look.problem is not None and look.problem != self._unreadable
        self._unreadable = look.problem
        if look.state == "absent":
            self._gone += 1
            news = self._seen and self._gone == _GONE_AFTER
        elif look.state == "there":
            news = self._lost
            self._gone, self._seen = 0, True
        if news:
            self._show(self.so_far())

    def _take(self, step: Callable[[], None]) -> None:
        """Judge what has come; a defect of ours ends that, and is a rejection in the end."""
        if self._broken is not None:
            return
        try:
            step()
            self._report(self._certain(), final=False)
        except Exception as error:
            self._broken = f"{type(error).__name__}: {error}"[:200]
            self._show(self.so_far())

    # Findings and the verdict

    def _report(self, findings: Iterable[Finding], *, final: bool) -> None:
        """Show those that were not shown before."""
        for found in findings:
            key = (found.rule, found.line, found.expected)
            if key not in self._known:
                self._known[key] = found
                self._show(model.Found(at_ms=self._at_ms, path=self.path, finding=found, final=final))

    def _certain(self) -> Iterable[Finding]:
        """What is wrong with the log whatever may follow."""
        defects, rules = self._judge.defects, self._judge.rules.rules
        yield from defects.findings(cut_off=False)
        if rules is not None:
            yield from rules.certain(self.path, frozenset(defects.spoiled_keys))

    def end_if_still(self, at_ms: int, still_s: float) -> None:
        """Show the end, where the log is over: the run has stopped and nothing followed, or the pipe has closed.

        Args:
            at_ms: the time of day.
            still_s: seconds without anything new after which nothing will come.
        """
        if self.ended is not None or not (self._closed or self._is_still(at_ms, still_s)):
            return
        event = None if self.stopped else self._unfinished()
        if event is not None and event.key == "run_stop":
            # It lacks only the end of its line, and nothing follows.
            self._change_phase(event)
            self._show(self.so_far())
        if self._closed or self.stopped:
            self.end(at_ms)

    def _is_still(self, at_ms: int, still_s: float) -> bool:
        if self.more or self._lost:
            return False
        old = self._modified is not None and at_ms / 1000 - self._modified >= OLD_S
        return old or self.quiet_s(at_ms) >= still_s

    def _unfinished(self) -> Event | None:
        """The event of the last line, where it is whole but for its end; it counts only once it has ended."""
        judge = self._judge
        _, token, text = (judge.cutter.unfinished + self._last_line)[-_MAX_LINE:].rpartition(judge.token)
        event = judge.decode(0, text) if token else None
        return event if isinstance(event, Event) else None

    def end(self, at_ms: int) -> None:
        """Show the verdict on the log as it is now, and what was not shown before."""
        self._at_ms = at_ms
        report = self.report()
        self._report(report.findings, final=True)
        self.ended = model.ended(report, at_ms)
        self._show(self.ended)

    def report(self) -> LogReport:
        """Return the report on the log as it is now."""
        if isinstance(self.source, FileSource):
            context = Context(Request(overlay=self.round.overlay), cache=self._cache, jobs=1)
            return read_runs([Path(self.source.path)], self.round, context)[0].at(self.path)
        try:
            if self._broken is None:
                self._judge.close()
                return self._judge.report()
        except MlsubError as error:
            return self._judge.unreadable(error)
        except Exception as error:
            self._broken = f"{type(error).__name__}: {error}"[:200]
        return crashed(self.path, self._broken)

    @property
    def exit_status(self) -> int:
        """That of ``mlsub check`` for this log alone."""
        if self.ended is None or self.ended.official == "not-checked":
            return 2
        return int(self.ended.official == "noncompliant" or self.ended.errors > 0)

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, review findings aside."""
        return [found for found in self._known.values() if found.kind is not Kind.REVIEW]

    # Phase and time

    @property
    def _lost(self) -> bool:
        return self._seen and self._gone >= _GONE_AFTER

    @property
    def stopped(self) -> bool:
        """Whether the log says that the run has ended, even where the official parser does not see it."""
        return self._phase == "stopped" or "run_stop" in self._judge.defects.times

    def so_far(self, restart: Restart | None = None) -> model.RunSoFar:
        """Return what has happened so far; ``restart`` is why all of it is forgotten just now."""
        benchmark, division = self._stated_name("benchmark"), self._stated_name("division")
        size = model.shown_value(self._run.hyperparameters.get("global_batch_size"))
        return model.RunSoFar(
            at_ms=self._at_ms,
            path=self.path,
            usage=self.round.usage,
            round=self.round.name,
            phase=self.phase,
            benchmark=model.shown_text(benchmark) if benchmark is not None else None,
            division=model.shown_text(division) if division is not None else None,
            batch_size=size if isinstance(size, (int, float)) else None,
            target=self._target.words if self._target is not None else None,
            status=self._status if self.phase == "stopped" else None,
            elapsed_ms=self.timed_ms,
            blocks=self._run.counts["block_start"],
            epochs=self._run.counts["epoch_start"],
            evaluation=self._evaluation,
            problem=self.problem,
            restart=restart,
        )

    @property
    def problem(self) -> str | None:
        """Why the log cannot be followed, or what is wrong before any record says so."""
        if self._unreadable is not None:
            return f"it cannot be read: {self._unreadable}"
        if self._broken is not None:
            return f"a rule failed to run, so the log cannot be followed: {self._broken}"
        return self._overdue if self._init_start is not None else None

    @property
    def phase(self) -> model.Phase:
        """The phase of the run, or that its log is lost."""
        return "lost" if self._lost or (self._closed and not self.stopped) else self._phase

    def quiet_s(self, at_ms: int) -> float:
        """Return for how many seconds nothing has come."""
        return (at_ms - self._grew_ms) / 1000

    @property
    def timed_ms(self) -> float | None:
        """How long the timed region has lasted by the log's own clock; None before it, or where a time is no time."""
        stop = self._run.run_stop
        return model.elapsed(self._run.run_start, self._last_ms if stop is None else stop)

    def running_ms(self, now_ms: float) -> float | None:
        """Return how long the timed region has lasted at a time of day; None unless the log is being written."""
        over = self._run.run_stop is not None or self._phase == "stopped"
        return None if over or not self._is_live(now_ms) else model.elapsed(self._run.run_start, now_ms)

    @property
    def initialising_ms(self) -> float | None:
        """How long the init phase has lasted by the log's own clock; None outside of it."""
        return model.elapsed(self._init_start, self._last_ms)

    @property
    def _init_start(self) -> float | None:
        over = self._phase != "init" or "init_stop" in self._run.lines
        return None if over else self._run.times.get("init_start")

    def _is_live(self, now_ms: float) -> bool:
        """Whether the log is written at this time of day."""
        return self._last_ms is not None and -_SKEW_MS <= now_ms - self._last_ms <= _LIVE_MS

    def _look_at_init(self, now_ms: int) -> None:
        """Show that the init phase is over its limit, once, as soon as it is and ``init_stop`` has not come."""
        began, last = self._init_start, self._last_ms
        if self._overdue is not None or began is None or last is None:
            return
        took = ((max(now_ms, last) if self._is_live(now_ms) else last) - began) / 60_000
        limit = self._init_limit()
        if limit is not None and limit <= took < 1e6:
            self._overdue = f"init_stop has not come in {took:.1f} minutes, and has to within {limit:g}"
            self._show(self.so_far())

    def _init_limit(self) -> float | None:
        """The minutes within which ``init_stop`` has to come; None as long as that cannot be said."""
        for compiled in plan_of_log(self.round, self._stated_name("division"), self._stated_name("benchmark")).keys:
            within = compiled.rule.within
            if compiled.rule.key == "init_stop" and within is not None and within.of == "init_start":
                return TimeAspect(compiled.rule).limit()(self._stated_values()) or None
        return None

    # Events, each after the facts of the run have taken it

    def handler(self, key: str | None) -> Handler:
        """Return what takes the events of a key, as a fold of the judge."""
        return self._see

    def _see(self, event: Event) -> None:
        news = self._change_phase(event)
        if not self._complete:
            news = self._identify(event) or news
        if event.key in _EVALUATIONS or (self._target is not None and event.key == self._target.key):
            self._evaluation = self._evaluate(event)
            news = True
        if news:
            self._show(self.so_far())

    def _change_phase(self, event: Event) -> bool:
        """Whether an event changes the phase, or what is known of its end."""
        self._last_ms = event.time_ms
        before = (self._phase, self._status)
        key = event.key if isinstance(event.key, str) else ""
        if self._phase == "waiting":
            self._phase = "init"
        elif self._phase in ("run", "evaluating"):
            self._phase = _BEGINS_IN_RUN.get(key, self._phase)
        self._phase = _BEGINS.get(key, self._phase)
        if key == "run_stop":
            status = event.metadata.get("status") if isinstance(event.metadata, dict) else None
            self._status = model.shown_text(status) if status is not None else None
        return (self._phase, self._status) != before

    def _identify(self, event: Event) -> bool:
        """Whether an event completes what the log says of itself, or begins the run with what is known of it."""
        benchmark, division = self._stated_name("benchmark"), self._stated_name("division")
        size = self._run.hyperparameters.get("global_batch_size")
        self._complete = None not in (benchmark, division) and size is not None
        if not self._complete and (event.key != "run_start" or self._started):
            return False
        self._started = True
        stated = self._stated_values()
        self._target = target_of(self.round, division, benchmark, stated)
        self._measures = MeasureReader(self._target, stated) if self._target is not None else None
        return True

    def _stated_name(self, what: str) -> str | None:
        """The first ``submission_benchmark`` or ``submission_division`` of the log."""
        name = self._run.identity.get(f"submission_{what}")
        return readable(name[:NAME_WIDTH]) if isinstance(name, str) else None

    def _stated_values(self) -> StatedValues:
        return StatedValues({**self._run.identity, **self._run.hyperparameters})

    def _evaluate(self, event: Event) -> model.WatchedEvaluation:
        metadata = event.metadata if isinstance(event.metadata, dict) else {}
        target, measure = self._target, None
        if target is not None and self._measures is not None and event.key == target.key:
            self._reached = self._measures.read(event).reached or self._reached
            measure = metadata.get(target.field)
        benchmark = str(self._stated_name("benchmark"))
        progress = usable_number(metadata.get(unit_of(benchmark)))
        counted = progress is not None and benchmark in self.round.benchmarks and self._started
        size = usable_number(self._run.hyperparameters.get("global_batch_size"))
        return model.WatchedEvaluation(
            line=event.line,
            key=model.shown_text(event.key),
            value=model.shown_value(event.value),
            measure=model.shown_text(measure) if measure is not None else None,
            progress=progress,
            unit=unit_of_counts([progress], benchmark, self.round, size) if counted else None,
            elapsed_ms=model.elapsed(self._run.run_start, event.time_ms),
            reached=self._reached if target is not None else None,
        )
