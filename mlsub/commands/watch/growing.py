"""A log that still grows, judged by the same code as a whole one."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from mlsub.commands.watch.blocks import Blocks
from mlsub.commands.watch.certain import certain_defects, certain_findings
from mlsub.commands.watch.source import UNFINISHED
from mlsub.divisions import DIVISIONS, Division, division_of
from mlsub.findings import Finding
from mlsub.io.show import readable
from mlsub.judge.defects import Defects
from mlsub.judge.log import LogTask, _Reading
from mlsub.judge.rules import LogRules
from mlsub.log.event import Event
from mlsub.log.reader import RawRecord, foreign_encoding, read_records
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding

See = Callable[[Event], None]
#: Bytes that tell a wide encoding, and what is shown of a name a log gives itself.
_HEAD, _NAME_WIDTH = 4, 200
#: Bytes kept of a line that has not ended; a record of ``run_stop`` is far shorter.
_MAX_LINE = 1 << 14


class GrowingLog:
    """Takes the bytes of one log as they come, in pieces of any size.

    Memory is bounded whatever the bytes are: by the reader's bound on a record, and by that on events held back until
    the log has named its benchmark.
    """

    def __init__(self, task: LogTask, round_: Round, see: See) -> None:
        """A log of which nothing is known; ``see`` is called with each event in the order of the log."""
        self._reading = _FedReading(task, round_, see)
        self._blocks = Blocks()
        self._records = _Records(self._reading.token)
        self._line = b""
        self._held = b""
        self._finished = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes; those of a line that has not ended wait for its end, unless it is a very long one."""
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._line = (data[end:] if end else self._line + data)[-_MAX_LINE:]
        ready, self._held = (self._held + data[:end], data[end:]) if end else (b"", self._held + data)
        if len(self._held) > UNFINISHED:
            ready, self._held = ready + self._held, b""
        self._read(ready)

    def forget_line(self) -> None:
        """The line that has not ended was taken away; see :class:`mlsub.commands.watch.source.Look`."""
        self._line = self._held = b""

    def _read(self, data: bytes) -> None:
        for piece in self._blocks.cut(data):
            self._reading.take(self._records.feed(piece), piece)

    def findings(self) -> list[Finding]:
        """What is wrong with the log whatever may follow."""
        return self._reading.certain()

    def unfinished(self) -> Event | None:
        """The event of the last line, where it is whole but for its end; it counts only once it has ended."""
        _, token, text = self._line.rpartition(self._reading.token)
        event = self._reading.decode(0, text) if token else None
        return event if isinstance(event, Event) else None

    def finish(self) -> None:
        """Nothing follows: the last line has ended."""
        if self._finished:
            return
        self._finished = True
        self._read(self._held)
        rest = self._blocks.rest()
        if rest:
            self._reading.take(self._records.feed(rest), rest)
        self._reading.take(self._records.finish(), b"")

    def report(self) -> LogReport:
        """The report that a file of the same bytes would get. Nothing can be fed after that, nor asked again."""
        self.finish()
        return self._reading.judged()

    @property
    def fold(self) -> RunFold:
        """The facts of the run so far."""
        return self._reading.fold

    @property
    def stopped_unseen(self) -> bool:
        """Whether there is a ``run_stop`` that the official parser does not see."""
        return "run_stop" in self._reading.defects.times

    def named(self, key: str) -> str | None:
        """What the log says of itself first under a key: ``submission_benchmark`` or ``submission_division``."""
        name = self.fold.identity.get(key)
        return readable(name[:_NAME_WIDTH]) if isinstance(name, str) else None


class _Records:
    """The reader of files, given its chunks one by one."""

    def __init__(self, token: bytes) -> None:
        self._pieces: deque[bytes] = deque()
        # Its generator asks for a chunk whenever it is asked for records, and takes an empty one for the end.
        self._batches = read_records(cast(BinaryIO, self), None, token)

    def read(self, _: int = -1) -> bytes:
        """The next piece, for the reader."""
        return self._pieces.popleft() if self._pieces else b""

    def feed(self, piece: bytes) -> list[RawRecord]:
        """The records that a piece, of at least one byte, completes."""
        self._pieces.append(piece)
        return next(self._batches)

    def finish(self) -> list[RawRecord]:
        """The record that no line end follows."""
        return next(self._batches)


class _SeenFold(RunFold):
    """A fold that shows each event to somebody else as well."""

    def __init__(self, see: See) -> None:
        super().__init__()
        self._see = see

    def add(self, event: Event) -> None:
        """Take the next event."""
        super().add(event)
        self._see(event)


class _FedReading(_Reading):
    """The pass over one log, with bytes that are given instead of read."""

    def __init__(self, task: LogTask, round_: Round, see: See) -> None:
        super().__init__(task, round_)
        self.fold = _SeenFold(see)
        self._batch: list[RawRecord] = []
        self._open: _Candidates | None = None
        self._wide: _WideLog | None = None
        self._head = b""

    def take(self, batch: list[RawRecord], piece: bytes) -> None:
        """Take the next records, and the bytes they end in."""
        self._batch = batch
        self.read()
        self._follow_encoding(piece)

    def certain(self) -> list[Finding]:
        """What is wrong whatever may follow."""
        found = certain_defects(self.defects)
        if self.judge is not None:
            spoiled = frozenset(self.defects.spoiled_keys)
            found += certain_findings(self.judge, self.round, self.task.path, spoiled)
        return found

    def _batches(self, encoding: str | None = None) -> Iterator[list[RawRecord]]:
        yield self._batch

    def _hold(self, event: Event, size: int) -> None:
        """Keep an event until the log has said what it is; beyond the bound judge it by all rules it may be under."""
        held = self.held
        super()._hold(event, size)
        if self.judge is not None or self.held is not None:
            return
        if self._open is None:
            self._open = _Candidates(self.round, held or [])
        else:
            self._open.add(event)
        if len(self.identity) == 2:
            self._read_again()

    def _read_again(self) -> None:
        """The log named itself too late to have held its events: of the judges that took them one is right."""
        if self._open is not None:
            division = division_of(self._name("submission_division"))
            self.judge = self._open.pick(division, self._name("submission_benchmark"))
            self._open = None

    def _follow_encoding(self, piece: bytes) -> None:
        """Read a log in a wide encoding in that one too: only at its end is it certain that nobody else can."""
        if self._wide is None and len(self._head) < _HEAD:
            seen, self._head = self._head, (self._head + piece)[:_HEAD]
            encoding = foreign_encoding(self._head)
            if encoding is not None and len(self._head) == _HEAD:
                self._wide = _WideLog(self, encoding)
                piece = seen + piece
        if self._wide is not None and piece:
            self._wide.feed(piece)

    def _nothing_to_judge(self) -> Finding:
        """Why there is no record, in the words for a file."""
        path = self.task.path
        if not self._head:
            return finding("log.empty", path, "The log is empty")
        encoding = foreign_encoding(self._head)
        if encoding is None:
            message = f"The log holds no {self.token.decode().strip()} record"
            return finding("log.no-records", path, message, expected="at least one", actual="none")
        if self._wide is not None:
            self._wide.finish()
            self.defects = self._wide.defects
        return finding(
            "log.wide-encoding",
            path,
            f"The log is {encoding.upper()}; the official parser finds no record in it",
            actual=f"{self.defects.hidden_count} records for a reader that knows the encoding",
        )


class _WideLog:
    """The records of a log in a wide encoding, none of which the official parser sees."""

    def __init__(self, reading: _FedReading, encoding: str) -> None:
        self.defects = Defects(reading.task.path)
        self._decode = reading.decode
        self._text = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._records = _Records(reading.token)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        text = self._text.decode(piece)
        if text:
            self._take(self._records.feed(text.encode("utf-8", "replace")))

    def finish(self) -> None:
        """The log has ended."""
        text = self._text.decode(b"", final=True)
        if text:
            self._take(self._records.feed(text.encode("utf-8", "replace")))
        self._take(self._records.finish())

    def _take(self, batch: list[RawRecord]) -> None:
        for line, text, _, too_long in batch:
            if too_long:
                self.defects.too_long(line, hidden=True)
            else:
                self.defects.hidden(self._decode(line, text))


class _Candidates:
    """A judge for each division and benchmark that a log may turn out to be of."""

    def __init__(self, round_: Round, events: list[Event]) -> None:
        self._benchmarks = round_.benchmarks
        self._judges = {
            (division, name): LogRules(round_, division_of(division), name)
            for division in (None, *DIVISIONS)
            for name in (None, *round_.benchmarks)
        }
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Take the next event."""
        for judge in self._judges.values():
            judge.add(event)

    def pick(self, division: Division | None, benchmark: str | None) -> LogRules:
        """The judge that has judged by the right rules all along."""
        known = benchmark if benchmark in self._benchmarks else None
        return self._judges[division.name if division else None, known]
