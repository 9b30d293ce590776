"""Read one log once, and judge it: a pure function of a file and a round, fit for another process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mlsub.convergence.algorithm import manner_of
from mlsub.divisions import division_of
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.show import readable, show
from mlsub.judge.defects import Defects
from mlsub.judge.rules import LogRules
from mlsub.log.event import Event, decode
from mlsub.log.mll import decode_mll
from mlsub.log.reader import TOKEN, TOKEN_MLL, RawRecord, foreign_encoding, open_log, read_records
from mlsub.log.reading import Crash, ReadingFold
from mlsub.log.report import LogReport
from mlsub.log.run import Run, RunFold
from mlsub.review.run import audit_run
from mlsub.rounds import Round, get_round
from mlsub.rules.catalogue import finding
from mlsub.rules.isolate import reviewed

#: Events held back until a log has said its division and benchmark, and their bytes. A log that takes longer is read
#: once more.
MAX_HELD = 50_000
MAX_HELD_BYTES = 32 << 20
#: What a report shows of a name a log gives itself.
_NAME_WIDTH = 200


class LogTask(msgspec.Struct, frozen=True):
    """One log to judge: where it is, what to call it, and the round whose rules hold.

    ``overlay`` is a file of the user's own rules that hold as well.
    """

    file: str
    path: str
    usage: str
    round: str
    overlay: str | None = None


def judge_log(task: LogTask) -> LogReport:
    """Read a log and judge it by the rules of its round, division and benchmark. Bad input never raises."""
    reading = _Reading(task, get_round(task.usage, task.round, task.overlay))
    try:
        reading.read()
        return reading.judged()
    except MlsubError as error:
        unreadable = finding("log.unreadable", task.path, f"The log cannot be read: {error}")
        return reading.report((unreadable,), compliant=False, undecodable=True)


class _Reading:
    """One pass over one log."""

    def __init__(self, task: LogTask, round_: Round) -> None:
        self.task = task
        self.round = round_
        old = round_.log_format == "mll"
        self.token, self.decode = (TOKEN_MLL, decode_mll) if old else (TOKEN, decode)
        self.fold = RunFold()
        self.reading = ReadingFold(manner_of(task.usage, task.round, task.overlay))
        self.defects = Defects(task.path)
        self.identity: dict[str, Any] = {}
        self.named: dict[str, int] = {}
        self.held: list[Event] | None = []
        self.held_bytes = 0
        self.judge: LogRules | None = None

    def read(self) -> None:
        """Go over the file."""
        for batch in self._batches():
            for line, text, hidden, too_long in batch:
                if too_long:
                    self.defects.too_long(line, hidden)
                    continue
                event = self.decode(line, text)
                if hidden:
                    self.defects.hidden(event)
                elif isinstance(event, Event):
                    self.reading.add(line, text, event)
                    self.defects.last_is_broken = False
                    self.fold.add(event)
                    if self.judge is not None:
                        self.judge.add(event)
                    else:
                        self._hold(event, len(text))
                else:
                    self.reading.add(line, text, None)
                    self.defects.add(event)

    def _batches(self, encoding: str | None = None) -> Iterator[list[RawRecord]]:
        with open_log(Path(self.task.file)) as stream:
            yield from read_records(stream, encoding, self.token)

    def _hold(self, event: Event, size: int) -> None:
        """Keep an event until the log has said what it is."""
        if self.held is not None:
            self.held.append(event)
            self.held_bytes += size
        if event.key in ("submission_division", "submission_benchmark"):
            self.identity.setdefault(event.key, event.value)
            self.named.setdefault(event.key, event.line)
            if len(self.identity) == 2 and self.held is not None:
                self._release(self.held)
        if self.held is not None and (len(self.held) > MAX_HELD or self.held_bytes > MAX_HELD_BYTES):
            self.held = None

    def _release(self, events: list[Event]) -> None:
        """Start judging: the rules are known now."""
        self.judge = self._new_judge()
        for event in events:
            self.judge.add(event)
        self.held = []

    def _new_judge(self) -> LogRules:
        division = division_of(self._name("submission_division"))
        return LogRules(self.round, division, self._name("submission_benchmark"))

    def _name(self, key: str) -> str | None:
        name = self.identity.get(key)
        return readable(name[:_NAME_WIDTH]) if isinstance(name, str) else None

    def judged(self) -> LogReport:
        """The report after the whole file was read."""
        if not self.fold.events and not self.defects.found:
            nothing = self._nothing_to_judge()
            return self.report((nothing, *self.defects.findings()), compliant=False, undecodable=False)
        if self.judge is None:
            if self.held is not None:
                self._release(self.held)
            else:
                self._read_again()
        assert self.judge is not None  # noqa: S101  (set by either branch above)
        spoiled, cut_off = frozenset(self.defects.spoiled_keys), self.defects.last_is_broken
        found = [*self.defects.findings(), *self.judge.findings(self.task.path, spoiled, cut_off=cut_off)]
        compliant = not self.defects.any and not any(f.rejects for f in found)
        report = self.report(tuple(found), compliant=compliant, undecodable=self.defects.any)
        return report if compliant else msgspec.structs.replace(report, crash=self._crash())

    def _crash(self) -> Crash | None:
        """Where the official compliance checker ends in a traceback, which no other run makes good."""
        if self.round.log_format == "mll" or self.judge is None:
            return None
        return self.defects.crash or self._unknown_name() or self.judge.crash()

    def _unknown_name(self) -> Crash | None:
        """A name whose rules the checker looks for in vain; without a division it looks for none."""
        if "submission_division" not in self.named:
            return None
        division, name = self.identity["submission_division"], self.identity.get("submission_benchmark")
        if division_of(division) is None:
            return Crash(self.named["submission_division"], f"no rules of division {show(division, _NAME_WIDTH)}")
        if "submission_benchmark" in self.named and name not in self.round.benchmarks:
            return Crash(self.named["submission_benchmark"], f"no rules of benchmark {show(name, _NAME_WIDTH)}")
        return None

    def _read_again(self) -> None:
        """A log that names itself too late to hold its events: go over it once more, knowing the rules."""
        self.judge = self._new_judge()
        for batch in self._batches():
            for line, text, hidden, too_long in batch:
                if not hidden and not too_long:
                    event = self.decode(line, text)
                    if isinstance(event, Event):
                        self.judge.add(event)

    def _nothing_to_judge(self) -> Finding:
        """Why there is no record: an empty file, a wide encoding (then its records are told all the same), or none."""
        path = self.task.path
        with open_log(Path(self.task.file)) as stream:
            head = stream.read(4)
        if not head:
            return finding("log.empty", path, "The log is empty")
        encoding = foreign_encoding(head)
        if encoding is None:
            message = f"The log holds no {self.token.decode().strip()} record"
            return finding("log.no-records", path, message, expected="at least one", actual="none")
        for batch in self._batches(encoding):
            for line, text, _, too_long in batch:
                if too_long:
                    self.defects.too_long(line, hidden=True)
                else:
                    self.defects.hidden(self.decode(line, text))
        return finding(
            "log.wide-encoding",
            path,
            f"The log is {encoding.upper()}; the official parser finds no record in it",
            actual=f"{self.defects.hidden_count} records for a reader that knows the encoding",
        )

    def report(self, findings: tuple[Finding, ...], *, compliant: bool, undecodable: bool) -> LogReport:
        """The report with what the run itself shows."""
        task = self.task
        run = msgspec.structs.replace(self.fold.finish(), reading=self.reading.finish())
        review = reviewed("runs", task.path, lambda: audit_run(run, task.path, task.usage, task.round))
        return LogReport(
            path=self.task.path,
            compliant=compliant,
            undecodable=undecodable,
            benchmark=self._name("submission_benchmark"),
            division=self._name("submission_division"),
            status=readable(run.status[:_NAME_WIDTH]) if isinstance(run.status, str) else None,
            minutes=self._minutes(run),
            run=run,
            findings=(*findings, *review),
        )

    def _minutes(self, run: Run) -> float | None:
        if run.minutes is not None:
            return run.minutes
        start = run.timeline.run_start
        stop = run.timeline.run_stop
        start = self.defects.times.get("run_start") if start is None else start
        stop = self.defects.times.get("run_stop") if stop is None else stop
        if start is None or stop is None or not abs(stop - start) < float("inf"):
            return None
        return (stop - start) / 60_000.0
