"""One log that is watched: its source, how far it has come, and its end."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.commands.watch import news
from mlsub.commands.watch.phase import Phase, Timed
from mlsub.commands.watch.reference import too_fast
from mlsub.commands.watch.sofar import RunSoFar
from mlsub.commands.watch.source import FileSource, Look, Source
from mlsub.commands.watch.words import number, text
from mlsub.findings import Finding, Kind, Severity
from mlsub.judge.log import LogTask
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.workspace import Settings
from mlsub.workspace.cache import Cache
from mlsub.workspace.logs import crashed, read_logs

#: A file last written so many seconds ago, by its own time, will hardly grow.
OLD_S = 60.0
#: Looks after which a file that is gone is not just being replaced.
_GONE_AFTER = 2


class Moment(msgspec.Struct, frozen=True):
    """One moment by both clocks, in seconds; see :class:`mlsub.commands.watch.outside.Clock`."""

    now: float
    steady: float

    @property
    def ms(self) -> int:
        """The time of day in ms since the Unix epoch."""
        return int(self.now * 1000)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Where one run stands at a moment: the last news of each kind, and what changes without any.

    ``official`` is its verdict once it has ended, ``quiet_s`` for how many seconds nothing has come; ``doomed`` says
    that it is certain not to be compliant.
    """

    path: str
    state: news.PhaseChanged
    timed: Timed
    initialising_ms: float | None
    identity: news.Identified | None
    evaluation: news.Evaluated | None
    findings: int
    doomed: bool
    official: str | None
    problem: str | None
    quiet_s: float


class WatchedRun:
    """Follows one log; :meth:`look` gives what is new, :meth:`end` the verdict, which is in ``ended`` then.

    The bytes of a pipe are judged as they come; a file is judged anew at its end, so that the verdict is that of
    ``mlsub check`` on the bytes that are then in it, unless it is remembered of these.
    """

    def __init__(self, source: Source, task: LogTask, round_: Round, cache: Cache | None = None) -> None:
        self._cache = cache
        self.source = source
        self.task = task
        self.round = round_
        self.ended: news.Ended | None = None
        self.read_bytes = 0
        self.more = False
        self.closed = False
        self.grew_at: float | None = None
        self._sofar = RunSoFar(task, round_)
        self._modified: float | None = None
        self._gone = 0
        self._lost = False
        self._problem: str | None = None
        self._seen = False

    def begin(self, at: Moment) -> Iterator[news.News]:
        """That the log is watched."""
        self.grew_at = at.steady
        yield news.Watching(at_ms=at.ms, path=self.task.path, usage=self.round.usage, round=self.round.name)

    def look(self, at: Moment) -> Iterator[news.News]:
        """What is new since the last look."""
        look = self.source.look()
        self.more, self.read_bytes = look.more, len(look.data)
        if look.restart is not None:
            self._sofar = RunSoFar(self.task, self.round)
            self.ended, self.grew_at = None, at.steady
            yield news.Restarted(at_ms=at.ms, path=self.task.path, reason=look.restart)
        if look.cut:
            self._sofar.log.forget_line()
        yield from self._presence(look, at)
        if look.data:
            self.ended, self.grew_at = None, at.steady
            yield from self._sofar.feed(look.data, at.ms)
        self._modified = look.modified
        if look.state == "closed" and not self.closed:
            self.closed = True
            yield from self._sofar.finish(at.ms)
            if not self._sofar.stopped:
                yield self._sofar.phase_news(Phase.LOST, at.ms)
        yield from self._sofar.overdue(at.ms)

    def still(self, at: Moment, still_s: float) -> bool:
        """Whether nothing has come for a while, or will for all that can be seen."""
        if self.closed:
            return True
        if self.more or self._lost:
            return False
        old = self._modified is not None and at.now - self._modified >= OLD_S
        return old or self.quiet(at) >= still_s

    def settle(self, at: Moment, still_s: float) -> Iterator[news.News]:
        """The end, where the log is over: the run has stopped and nothing has followed, or the pipe has closed."""
        if self.ended is not None or not self.still(at, still_s):
            return
        yield from self._sofar.silent(at.ms)
        if self.closed or self._sofar.stopped:
            yield from self.end(at)

    def quiet(self, at: Moment) -> float:
        """For how many seconds nothing has come."""
        return at.steady - self.grew_at if self.grew_at is not None else 0.0

    def end(self, at: Moment) -> Iterator[news.News]:
        """The verdict on the log as it is now, and what was not reported before."""
        report, path = self._judged(), self.task.path
        for found in filter(self._sofar.is_new, report.findings):
            yield news.Found(at_ms=at.ms, path=path, finding=found, final=True)
        plan = self._sofar.identity.reference if self._sofar.identity is not None else None
        point = too_fast(report.run, self.round, plan) if plan is not None else None
        if plan is not None and point is not None:
            message = (
                f"The run converged at {number(point)} {plan.unit}, faster than the reference allows: the mean of "
                f"an entry must be {number(plan.minimum or 0.0)} or more"
            )
            yield news.Warned(at_ms=at.ms, path=path, rule="rcp.too-fast", message=message)
        errors = sum(map(counts_against, report.findings))
        review = sum(f.kind is Kind.REVIEW for f in report.findings)
        unreadable = any(f.rule == "log.unreadable" for f in report.findings)
        self.ended = news.Ended(
            at_ms=at.ms,
            path=path,
            official="not-checked" if unreadable else "compliant" if report.compliant else "noncompliant",
            status=text(report.status) if report.status is not None else None,
            minutes=report.minutes,
            errors=errors,
            warnings=len(report.findings) - errors - review,
            review=review,
        )
        yield self.ended

    @property
    def exit_status(self) -> int:
        """That of ``mlsub check`` for this log alone."""
        if self.ended is None or self.ended.official == "not-checked":
            return 2
        return int(self.ended.official == "noncompliant" or self.ended.errors > 0)

    def row(self, at: Moment) -> Row:
        """Where the run stands."""
        sofar = self._sofar
        lost = self._lost or (self.closed and not sofar.stopped)
        return Row(
            path=self.task.path,
            state=sofar.phase_news(Phase.LOST if lost else sofar.phase.phase, at.ms),
            timed=sofar.phase.timed(at.ms),
            initialising_ms=sofar.phase.initialising_ms,
            identity=sofar.identity,
            evaluation=sofar.evaluation,
            findings=sum(f.kind is not Kind.REVIEW for f in sofar.known.values()),
            doomed=any(map(counts_against, sofar.known.values())),
            official=self.ended.official if self.ended is not None else None,
            problem=self._problem,
            quiet_s=self.quiet(at),
        )

    def _presence(self, look: Look, at: Moment) -> Iterator[news.News]:
        """Whether the file is there, reported when that changes."""
        if look.problem is not None and look.problem != self._problem:
            yield news.Warned(at_ms=at.ms, path=self.task.path, message=f"It cannot be read: {look.problem}")
        self._problem = look.problem
        if look.state == "absent":
            self._gone += 1
            if not self._seen and self._gone == 1:
                yield self._sofar.phase_news(Phase.WAITING, at.ms)
            elif self._seen and self._gone == _GONE_AFTER:
                self._lost = True
                yield self._sofar.phase_news(Phase.LOST, at.ms)
            return
        if look.state == "there":
            self._gone, self._seen = 0, True
            if self._lost:
                self._lost = False
                yield self._sofar.phase_news(self._sofar.phase.phase, at.ms)

    def _judged(self) -> LogReport:
        if isinstance(self.source, FileSource):
            return read_logs([self.task], Settings(jobs=1, cache=self._cache))[0]
        problem = self._sofar.broken
        if problem is None:
            try:
                return self._sofar.log.report()
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"[:200]
        return crashed(self.task, problem)


def counts_against(found: Finding) -> bool:
    """Whether a finding makes the exit status 1: it rejects, or breaks a rule of the user's own."""
    return found.rejects or (found.kind is Kind.HOUSE and found.severity is Severity.ERROR)
