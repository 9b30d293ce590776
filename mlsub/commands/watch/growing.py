"""A log that still grows, judged by the same code as a whole one."""

from __future__ import annotations

from mlsub.commands.watch.source import UNFINISHED
from mlsub.findings import Finding
from mlsub.io.show import readable
from mlsub.judge.log import LogJudge, LogTask
from mlsub.judge.rules import NAME_WIDTH
from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.rounds import Round

#: Bytes of a line that has not ended in which a record is looked for; a record of ``run_stop`` is far shorter.
_MAX_LINE = 1 << 14


class GrowingLog:
    """Takes the bytes of one log as they come, in pieces of any size."""

    def __init__(self, task: LogTask, round_: Round, see: Handler) -> None:
        """A log of which nothing is known; ``see`` is called with each event in the order of the log."""
        self._see = see
        self._judge = LogJudge(task, round_, [self])
        self._task = task
        self._held = b""
        self._finished = False

    def handler(self, key: str | None) -> Handler:
        """What takes the events of a key, as a fold of the judge."""
        return self._see

    def feed(self, data: bytes) -> None:
        """Take the next bytes; those of a line that has not ended wait for its end, unless it is a very long one."""
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        ready, self._held = (self._held + data[:end], data[end:]) if end else (b"", self._held + data)
        if len(self._held) > UNFINISHED:
            ready, self._held = ready + self._held[:-_MAX_LINE], self._held[-_MAX_LINE:]
        self._judge.feed(ready)

    def forget_line(self) -> None:
        """The line that has not ended was taken away; see :class:`mlsub.commands.watch.source.Look`."""
        self._held = b""

    def findings(self) -> list[Finding]:
        """What is wrong with the log whatever may follow."""
        defects, rules = self._judge.defects, self._judge.rules.rules
        found = list(defects.findings(cut_off=False))
        if rules is not None:
            found += rules.certain(self._task.path, frozenset(defects.spoiled_keys))
        return found

    def unfinished(self) -> Event | None:
        """The event of the last line, where it is whole but for its end; it counts only once it has ended."""
        reader = self._judge.reader
        _, token, text = self._held[-_MAX_LINE:].rpartition(reader.token)
        event = reader.decode(0, text) if token else None
        return event if isinstance(event, Event) else None

    def finish(self) -> None:
        """Nothing follows: the last line has ended."""
        if not self._finished:
            self._finished = True
            self._judge.feed(self._held)
            self._judge.close()

    def report(self) -> LogReport:
        """The report that a file of the same bytes would get. Nothing can be fed after that, nor asked again."""
        self.finish()
        return self._judge.report()

    @property
    def fold(self) -> RunFold:
        """The facts of the run so far."""
        return self._judge.run

    @property
    def stopped_unseen(self) -> bool:
        """Whether there is a ``run_stop`` that the official parser does not see."""
        return "run_stop" in self._judge.defects.times

    def named(self, key: str) -> str | None:
        """What the log says of itself first under a key: ``submission_benchmark`` or ``submission_division``."""
        name = self.fold.identity.get(key)
        return readable(name[:NAME_WIDTH]) if isinstance(name, str) else None
