"""One watched log, from its first byte to its verdict."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.watch import news
from mlsub.commands.watch.sofar import LogSoFar, counts_against, too_fast
from mlsub.commands.watch.source import FileSource, Look, Source
from mlsub.findings import Finding, Kind
from mlsub.judge.log import LogTask
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.workspace.cache import Cache
from mlsub.workspace.logs import crashed, read_logs
from mlsub.workspace.places import Settings

#: A file last written so many seconds ago, by its own time, will hardly grow.
OLD_S = 60.0
#: Looks after which a file that is gone is not just being replaced.
_GONE_AFTER = 2


class WatchedLog:
    """Follows one log; :meth:`look` gives what is new, :meth:`end` the verdict, which is in ``ended`` then.

    The bytes of a pipe are judged as they come; a file is judged anew at its end, so that the verdict is that of
    ``mlsub check`` on the bytes that are then in it, unless it is remembered of these. ``sofar`` is what is known of
    it, ``problem`` why it cannot be read; ``more`` says that there is more to read already. Times are in ms since the
    Unix epoch.
    """

    def __init__(self, source: Source, task: LogTask, round_: Round, cache: Cache | None = None) -> None:
        self.source = source
        self.task = task
        self.round = round_
        self.sofar = LogSoFar(task, round_)
        self.ended: news.Ended | None = None
        self.problem: str | None = None
        self.more = False
        self._cache = cache
        self._closed = False
        self._grew_ms = 0
        self._modified: float | None = None
        self._gone = 0
        self._seen = False

    def begin(self, at_ms: int) -> Iterator[news.News]:
        """Report that the log is watched."""
        self._grew_ms = at_ms
        yield news.Watching(at_ms=at_ms, path=self.task.path, usage=self.round.usage, round=self.round.name)

    def look(self, at_ms: int) -> Iterator[news.News]:
        """Report what is new since the last look."""
        look = self.source.look()
        self.more = look.more
        if look.restart is not None:
            self.sofar = LogSoFar(self.task, self.round)
            self.ended, self._grew_ms = None, at_ms
            yield news.Restarted(at_ms=at_ms, path=self.task.path, reason=look.restart)
        if look.cut:
            self.sofar.forget_line()
        yield from self._presence(look, at_ms)
        if look.data:
            self.ended, self._grew_ms = None, at_ms
            yield from self.sofar.feed(look.data, at_ms)
        self._modified = look.modified
        if look.state == "closed" and not self._closed:
            self._closed = True
            yield from self.sofar.finish(at_ms)
            if not self.sofar.stopped:
                yield self.sofar.phase_news("lost", at_ms)
        yield from self.sofar.overdue(at_ms)

    def _presence(self, look: Look, at_ms: int) -> Iterator[news.News]:
        """Report whether the file is there, when that changes."""
        if look.problem is not None and look.problem != self.problem:
            yield news.Warned(at_ms=at_ms, path=self.task.path, message=f"It cannot be read: {look.problem}")
        self.problem = look.problem
        if look.state == "absent":
            self._gone += 1
            if self._gone == (_GONE_AFTER if self._seen else 1):
                yield self.sofar.phase_news("lost" if self._seen else "waiting", at_ms)
        elif look.state == "there":
            was_lost = self._lost
            self._gone, self._seen = 0, True
            if was_lost:
                yield self.sofar.phase_news(self.sofar.phase, at_ms)

    @property
    def _lost(self) -> bool:
        return self._seen and self._gone >= _GONE_AFTER

    def end_if_still(self, at_ms: int, still_s: float) -> Iterator[news.News]:
        """Report the end, where the log is over: the run has stopped and nothing followed, or the pipe has closed.

        Args:
            at_ms: the time of day.
            still_s: seconds without anything new after which nothing will come.
        """
        if self.ended is not None or not (self._closed or self._is_still(at_ms, still_s)):
            return
        yield from self.sofar.silent(at_ms)
        if self._closed or self.sofar.stopped:
            yield from self.end(at_ms)

    def _is_still(self, at_ms: int, still_s: float) -> bool:
        if self.more or self._lost:
            return False
        old = self._modified is not None and at_ms / 1000 - self._modified >= OLD_S
        return old or self.quiet_s(at_ms) >= still_s

    def end(self, at_ms: int) -> Iterator[news.News]:
        """Report the verdict on the log as it is now, and what was not reported before."""
        report, path = self._report(), self.task.path
        for found in filter(self.sofar.is_new, report.findings):
            yield news.Found(at_ms=at_ms, path=path, finding=found, final=True)
        plan = self.sofar.identity.reference if self.sofar.identity is not None else None
        point = too_fast(report.run, self.round, plan) if plan is not None else None
        if plan is not None and point is not None:
            message = (
                f"The run converged at {news.number(point)} {plan.unit}, faster than the reference allows: the mean of "
                f"an entry must be {news.number(plan.minimum or 0.0)} or more"
            )
            yield news.Warned(at_ms=at_ms, path=path, rule="rcp.too-fast", message=message)
        errors = sum(map(counts_against, report.findings))
        review = sum(found.kind is Kind.REVIEW for found in report.findings)
        unreadable = any(found.rule == "log.unreadable" for found in report.findings)
        self.ended = news.Ended(
            at_ms=at_ms,
            path=path,
            official="not-checked" if unreadable else "compliant" if report.compliant else "noncompliant",
            status=news.shown_text(report.status) if report.status is not None else None,
            minutes=report.minutes,
            errors=errors,
            warnings=len(report.findings) - errors - review,
            review=review,
        )
        yield self.ended

    def _report(self) -> LogReport:
        if isinstance(self.source, FileSource):
            return read_logs([self.task], Settings(jobs=1, cache=self._cache))[0]
        problem = self.sofar.broken
        if problem is None:
            try:
                return self.sofar.report()
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"[:200]
        return crashed(self.task, problem)

    @property
    def exit_status(self) -> int:
        """That of ``mlsub check`` for this log alone."""
        if self.ended is None or self.ended.official == "not-checked":
            return 2
        return int(self.ended.official == "noncompliant" or self.ended.errors > 0)

    @property
    def phase(self) -> news.Phase:
        """The phase of the run, or that its log is lost."""
        lost = self._lost or (self._closed and not self.sofar.stopped)
        return "lost" if lost else self.sofar.phase

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, review findings aside."""
        return [found for found in self.sofar.known.values() if found.kind is not Kind.REVIEW]

    def quiet_s(self, at_ms: int) -> float:
        """Return for how many seconds nothing has come."""
        return (at_ms - self._grew_ms) / 1000
