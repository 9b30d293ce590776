"""Read one log once, and judge it: a pure function of a file and a round, fit for another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.convergence import dialect_of
from mlsub.findings import Effect, Finding
from mlsub.io import MlsubError
from mlsub.io.show import readable
from mlsub.judge.keys import suggest_keys_of
from mlsub.judge.rules import NAME_WIDTH, NamedRules, ReadAgain
from mlsub.log.event import Defect, Event, RecordBatch
from mlsub.log.events import ContainedReader, EventTally, Fold, LogReader, read_log
from mlsub.log.lengths import IntervalFold, Trace
from mlsub.log.reader import GZIP, UNPACK, RecordCutter, foreign_encoding
from mlsub.log.reading import Crash, RcpReadingFold
from mlsub.log.run import Run, RunFold
from mlsub.review.run import audit_run
from mlsub.rounds import Round
from mlsub.rules.aspects.records import AnyOfAspect, CountAspect
from mlsub.rules.catalogue import demanded_key, effects_of, finding, has_effect, isolated, reviewed
from mlsub.submission.model import LogReport

#: Bytes that tell a wide encoding.
_HEAD = 4
#: Findings of one rule in one log; what goes beyond is counted in the last of them.
MAX_FINDINGS_A_RULE = 20
#: Keys of broken records that are remembered, so as not to report them missing as well.
MAX_SPOILED_KEYS = 1000


def judge_log(file: str, path: str, round_: Round, *, trace: bool = False, intervals: bool = False) -> LogReport:
    """Read a log and judge it by the rules of its round, division and benchmark. Bad input never raises.

    Args:
        file: where it is.
        path: what the report calls it.
        round_: whose rules hold, and those of the user's own that it names.
        trace: whether the report is to have what forensics reads of it.
        intervals: whether it is to have its intervals.
    """

    def read_again(fold: Fold) -> None:
        read_log(file, LogReader([fold], log_format=round_.log_format))

    judge = LogJudge(path, round_, read_again=read_again, trace=trace, intervals=intervals)
    try:
        read_log(file, judge)
        return judge.report()
    except MlsubError as error:
        return judge.unreadable(error)


class LogJudge(LogReader):
    """Judges one log whose bytes are fed to it in pieces of any size; the report does not depend on their sizes.

    Memory is bounded whatever the bytes are: by the reader's bound on a record, and by that on events held back until
    the log has named its benchmark.

    Args:
        path: what the report calls the log.
        round_: whose rules hold.
        folds: take its events as well, after the facts of the run and before the rules.
        read_again: reads the log once more; None where it cannot be.
        trace: whether the report is to have what forensics reads of it.
        intervals: whether it is to have its intervals.
    """

    def __init__(
        self,
        path: str,
        round_: Round,
        folds: Sequence[Fold] = (),
        read_again: ReadAgain | None = None,
        *,
        trace: bool = False,
        intervals: bool = False,
    ) -> None:
        self._path = path
        self._round = round_
        tally = EventTally()
        self.run = RunFold(tally, RcpReadingFold(dialect_of(round_.usage, round_.name, round_.overlay)))
        self.defects = Defects(path, tally)
        self.rules = NamedRules(round_, tally, read_again)
        self._traced = trace
        self._trace = self._settings = self._private = ContainedReader(None)
        self._intervals = ContainedReader(IntervalFold() if intervals else None)
        if trace:
            from mlsub.log.private.places import PrivateReader
            from mlsub.log.settings import SettingsReader
            from mlsub.log.trace import TraceReader

            self._trace, self._settings = ContainedReader(TraceReader()), ContainedReader(SettingsReader())
            self._private = ContainedReader(PrivateReader())
        besides = [self._intervals] if intervals else []
        super().__init__([self.run, *folds, *besides, self.rules], log_format=round_.log_format, tally=tally)
        self.rules.on_named = self.ask_again
        self._head = b""
        self._wide: _WideLog | None = None

    def before_events(self, records: RecordBatch) -> None:
        """Look for the names of the log, which decide of its rules, and for what is private in records."""
        self._private.call("records", records)
        self.rules.look_ahead(records)

    def after_events(self, records: RecordBatch) -> None:
        """Have the records read as the convergence checker reads them, and as forensics does."""
        self.run.take(records)
        self._trace.call("take", records.decoded)

    def defect(self, defect: Defect) -> None:
        """Report a record that the official parser cannot use."""
        self.defects.add(defect)

    def hidden(self, event: Event | Defect) -> None:
        """Report a record that the official parser does not see."""
        self.defects.hidden(event)

    def too_long(self, line: int, hidden: bool) -> None:
        """Report a record beyond the bound on memory."""
        self.defects.too_long(line, hidden)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        super().feed(piece)
        self._take_free()
        self.run.system.feed(piece)
        if self._wide is not None:
            self._wide.feed(piece)
        elif len(self._head) < _HEAD:
            seen, self._head = self._head, (self._head + piece)[:_HEAD]
            encoding = foreign_encoding(self._head)
            if encoding is not None and len(self._head) == _HEAD:
                # Read in that one too: only at the end is it certain that the official parser finds nothing.
                self._wide = _WideLog(self._path, self, encoding)
                self._wide.feed(seen + piece)

    def close(self) -> None:
        """Nothing follows: the last line has ended."""
        super().close()
        self._take_free()
        if self._wide is not None:
            self._wide.close()

    def _take_free(self) -> None:
        """Read what stands between records, where somebody asks for that."""
        if self._traced and self.cutter.free:
            from mlsub.log.free_text import FreeText

            text = FreeText.of(self.cutter)
            self._private.call("free", text)
            self._settings.call("free", text)

    def report(self) -> LogReport:
        """The report on a log that was fed to its end.

        Raises:
            MlsubError: it has to be read once more, and cannot be.
        """
        if not self.tally.events and not self.defects.found:
            return self._report(tuple(self._nothing_to_judge()), compliant=False, undecodable=False)
        rules, defects = self.rules.rules_at_end(), self.defects
        spoiled = frozenset(defects.spoiled_keys)
        # Behind run_stop nothing is due, so that what is missing then was never logged.
        cut_off = defects.break_off and self.run.run_stop is None and "run_stop" not in spoiled
        found = list(rules.findings(self._path, spoiled, cut_off=cut_off))
        whole = rules.findings(self._path, spoiled, cut_off=False) if cut_off else ()
        missing = missing_keys(one for one in whole if one not in found)
        name = self._round.benchmark_in(self.rules.name("submission_benchmark") or "")
        if name is not None:
            of = (self.run.finish(), found, self._round, name)
            found, _ = isolated("run.misspelt-key", self._path, lambda: suggest_keys_of(*of), found)
        found = [*defects.findings(cut_off=defects.break_off, missing=missing), *found]
        compliant = not defects.any and not any(f.rejects for f in found)
        report = self._report(tuple(found), compliant=compliant, undecodable=defects.any)
        if compliant or self._round.log_format == "mll":
            return report
        # Where the official compliance checker ends in a traceback, which no other run makes good.
        crash: Crash | None = defects.crash or self.rules.unknown_name() or rules.crash()
        return msgspec.structs.replace(report, crash=crash)

    def unreadable(self, error: MlsubError) -> LogReport:
        """The report on a log that cannot be read, or not to its end."""
        found = finding("log.unreadable", self._path, f"The log cannot be read: {error}")
        report = self._report((found,), compliant=False, undecodable=True)
        return msgspec.structs.replace(report, trace=Trace(), intervals=None)

    def _nothing_to_judge(self) -> list[Finding]:
        """Why there is no record: an empty file, a wide encoding, or none."""
        path = self._path
        if not self._head:
            return [finding("log.empty", path)]
        encoding = foreign_encoding(self._head)
        if self._head.startswith(GZIP):
            message = "The log is compressed with gzip, in which no tool finds records"
            return [finding("log.no-records", path, message, actual="gzip", fix=UNPACK)]
        if encoding is None:
            message = f"The log has no {self.token.decode().strip()} records"
            return [finding("log.no-records", path, message, actual="none")]
        if self._wide is not None:
            self.defects = self._wide.defects
        message = f"The log is {encoding.upper()}; the official parser finds no record in it"
        actual = f"{self.defects.hidden_count} records for a reader that knows the encoding"
        name = encoding.upper()
        fix = f"Convert the file to UTF-8: iconv -f {name} -t UTF-8 FILE > NEW, and put NEW in its place."
        return [finding("log.wide-encoding", path, message, actual=actual, fix=fix)]

    def _report(self, findings: tuple[Finding, ...], *, compliant: bool, undecodable: bool) -> LogReport:
        """The report with what the run itself shows."""
        path, round_, run = self._path, self._round, self.run.finish()
        if private := self._private.finish():
            run = msgspec.structs.replace(run, private=private)
        review = reviewed("runs", path, audit_run, run, path, round_.usage, round_.name)
        trace = self._trace.finish() or Trace()
        if settings := self._settings.finish():
            trace = msgspec.structs.replace(trace, settings=settings)
        return LogReport(
            path=path,
            compliant=compliant,
            undecodable=undecodable,
            benchmark=self.rules.name("submission_benchmark"),
            division=self.rules.name("submission_division"),
            status=readable(run.status[:NAME_WIDTH]) if isinstance(run.status, str) else None,
            minutes=self._minutes(run),
            run=run,
            findings=(*findings, *([finding("log.gzip", path)] if path.endswith(".gz") else ()), *review),
            trace=trace,
            intervals=self._intervals.finish(),
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


class _WideLog:
    """The records of a log in a wide encoding, none of which the official parser sees."""

    def __init__(self, path: str, reader: LogReader, encoding: str) -> None:
        self.defects = Defects(path, EventTally())
        self._decode = reader.decode
        self._cutter = RecordCutter(reader.token, encoding)

    def feed(self, piece: bytes) -> None:
        self._take(self._cutter.feed(piece))

    def close(self) -> None:
        self._take(self._cutter.close())

    def _take(self, records: RecordBatch) -> None:
        for line, text, _, too_long in records:
            if too_long:
                self.defects.too_long(line, hidden=True)
            else:
                self.defects.hidden(self._decode(line, text))


class Defects:
    """Records the official parser cannot use or does not see."""

    def __init__(self, path: str, tally: EventTally) -> None:
        self.path = path
        self._tally = tally
        self.spoiled_keys: set[str] = set()
        self.times: dict[str, float] = {}
        self.hidden_count = 0
        #: The first record at which the official parser ends in a traceback.
        self.crash: Crash | None = None
        self.any = False
        #: How many events came before the last record that breaks off.
        self._broken_after: int | None = None
        self._found: dict[str, list[Finding]] = {}
        self._counts: dict[str, int] = {}

    def add(self, defect: Defect) -> None:
        """A record the official parser stops at."""
        self.any = True
        self._broken_after = self._tally.events if Effect.BREAKS_OFF in effects_of(defect.rule) else None
        if defect.key is not None and len(self.spoiled_keys) < MAX_SPOILED_KEYS:
            self.spoiled_keys.add(defect.key)
        if defect.event is not None:
            self._recover(defect.event)
        if defect.crash is not None and self.crash is None:
            self.crash = Crash(defect.line, defect.crash)
        self._put(defect.rule, defect.line, defect.reason)

    def too_long(self, line: int, hidden: bool) -> None:
        """A record beyond the bound on memory."""
        if hidden:
            self._put_hidden(line, "a record of more than 16 MiB")
            return
        self.any = True
        self._put("log.record-too-long", line, "more than 16 MiB")

    def hidden(self, event: Event | Defect) -> None:
        """A record that the official parser never sees."""
        record = event if isinstance(event, Event) else event.event
        if record is not None:
            self._recover(record)
        key = event.key if isinstance(event.key, str) else None
        self._put_hidden(event.line, f"key {key[:80]}" if key else "a record without a key")

    def _put_hidden(self, line: int, actual: str) -> None:
        self.hidden_count += 1
        self._put("log.hidden-record", line, actual)

    def _recover(self, event: Event) -> None:
        if event.key == "run_start":
            self.times.setdefault("run_start", event.time_ms)
        elif event.key == "run_stop":
            self.times["run_stop"] = event.time_ms

    def _put(self, rule: str, line: int, actual: str) -> None:
        self._counts[rule] = self._counts.get(rule, 0) + 1
        found = self._found.setdefault(rule, [])
        if len(found) < MAX_FINDINGS_A_RULE:
            found.append(finding(rule, self.path, line=line, actual=actual))

    @property
    def found(self) -> bool:
        """Whether there is anything to report."""
        return bool(self._found)

    @property
    def break_off(self) -> bool:
        """Whether the last record so far is one that breaks off: where nothing follows, the log was cut."""
        return self._broken_after == self._tally.events

    def findings(self, *, cut_off: bool, missing: Sequence[str] = ()) -> Iterator[Finding]:
        """The findings, bounded in number; the last of a rule says how many more there are.

        Args:
            cut_off: whether the last record is where the log was cut.
            missing: the keys that a log needs and that this one lacks because it was cut.
        """
        for rule, (*before, last) in self._found.items():
            more = self._counts[rule] - len(before) - 1
            yield from before
            breaks_off = has_effect(last, Effect.BREAKS_OFF)
            if breaks_off and cut_off and not more:
                last = msgspec.structs.replace(last, message=_CUT_OFF, fix=_COPY_AGAIN)
            if breaks_off and missing:
                last = msgspec.structs.replace(last, actual=f"{last.actual}; missing: {', '.join(missing)}")
            if more:
                last = msgspec.structs.replace(last, actual=f"{last.actual}; and {more} more like it after that")
            yield last


def missing_keys(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The keys that findings call missing."""
    keys = (demanded_key(found.rule, *_OF_ABSENCE) for found in findings if found.rejects)
    return tuple(key for key in keys if key is not None)


#: The demands that a log breaks by what it does not hold.
_OF_ABSENCE = (CountAspect.name, AnyOfAspect.name)
#: What the last record says where it is cut off.
_CUT_OFF = "The log ends with a record that cannot be decoded, so the rest is missing"
_COPY_AGAIN = "Copy the log again, or, if the job was killed, put another run in its place."
