"""Bytes of one log in, events out: each is pushed by its key to the folds that ask for that key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from mlsub.log.event import DECODERS, Defect, Event, RecordBatch, decode_all
from mlsub.log.reader import TOKENS, RecordCutter, chunks, open_log, read_records

#: Keys whose handlers are remembered, and how long they may be; published logs have some hundred short ones.
_MAX_KEYS, _MAX_KEY = 1_000, 200
#: The clocks of processes differ by this much (ms). Each logs the two keys as it starts, and statistics when it likes.
SKEW_MS = 1_000
_AT_START, _AT_ANY_TIME = ("cache_clear", "init_start"), "tracked_stats"

Handler = Callable[[Event], None]


class Fold(Protocol):
    """Answers one question about a log: says which events it asks for, and takes them in file order."""

    def handler(self, key: str | None) -> Handler | None:
        """Return what takes the events of a key (None: of keys that are not text); None where nobody asks for them."""


class EventTally:
    """What a reader counts: bytes taken, the number of events, and their times (ms).

    ``latest`` is the largest time, for a handler that of the events before its own, ``first`` and ``last`` those of the
    first and the last event; the clock ran backwards ``steps`` times, first at ``step_line``, by ``worst_step`` ms at
    most: by more than those of processes differ, from ``before``, the last event that every process logs in its turn.
    ``others`` are the lines without a record; None until the log has ended.
    """

    __slots__ = ("before", "events", "fed", "first", "last", "latest", "others", "step_line", "steps", "worst_step")

    def __init__(self) -> None:
        self.fed = self.events = self.steps = self.step_line = 0
        self.first = self.worst_step = 0.0
        self.last = self.latest = -math.inf
        self.before: Event | None = None
        self.others: int | None = None

    def step_back(self, event: Event, before: Event) -> None:
        """Count a step of the clock backwards, except among processes that start."""
        if event.key == _AT_ANY_TIME or (event.key in _AT_START and before.key in _AT_START):
            return
        if not self.steps:
            self.step_line = event.line
        self.steps += 1
        self.worst_step = max(self.worst_step, before.time_ms - event.time_ms)


class _Handlers(dict[str, list[Handler]]):
    """The handlers of each key; the folds are asked for them when it first appears."""

    def __init__(self, folds: Sequence[Fold]) -> None:
        super().__init__()
        self._folds = folds

    def __missing__(self, key: Any) -> list[Handler]:
        name, handlers = key if isinstance(key, str) else None, []
        for fold in self._folds:
            handler = fold.handler(name)
            if handler is not None:
                handlers.append(handler)
        if name is not None and len(self) < _MAX_KEYS and len(name) <= _MAX_KEY:
            self[name] = handlers
        return handlers


class LogReader:
    """Reads one log that is fed to it in pieces of any size.

    An event that nobody asked for costs its decoding and one look-up.

    A subclass that needs more than events overrides :meth:`before_events`, :meth:`after_events`, :meth:`defect`,
    :meth:`hidden` and :meth:`too_long`.

    Args:
        folds: take the events.
        log_format: that of the round, ``mllog`` or ``mll``.
        tally: counts the events.
    """

    def __init__(self, folds: Sequence[Fold], *, log_format: str = "mllog", tally: EventTally | None = None) -> None:
        self.token, self.decode = TOKENS[log_format], DECODERS[log_format]
        self.tally = tally or EventTally()
        self.cutter = RecordCutter(self.token)
        #: Lines with a record, and the last of them.
        self._lines = self._last_line = 0
        self._handlers = _Handlers(folds)

    def before_events(self, records: RecordBatch) -> None:
        """Take records that the official parser sees, usable or not, before their events are pushed."""

    def after_events(self, records: RecordBatch) -> None:
        """Take the same records after that."""

    def defect(self, defect: Defect) -> None:
        """Take a record that the official parser cannot use."""

    def hidden(self, event: Event | Defect) -> None:
        """Take a record that the official parser does not see."""

    def too_long(self, line: int, hidden: bool) -> None:
        """Take the place of a record beyond the bound on memory."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        self.tally.fed += len(piece)
        self._push(self.cutter.feed(piece))

    def close(self) -> None:
        """Nothing follows: the last line has ended."""
        self._push(self.cutter.close())
        self.tally.others = self.cutter.line_count - self._lines

    def ask_again(self) -> None:
        """Ask the folds for their handlers anew, as what one of them asks for has changed."""
        self._handlers.clear()

    def _push(self, records: RecordBatch) -> None:
        lines, texts = records.lines, records.texts
        if lines:
            self._lines += len({*lines}) - (lines[0] == self._last_line)
            self._last_line = lines[-1]
        if not records.odd:
            self._take_visible(records)
            return
        start = 0
        for place in (*sorted(records.odd), len(lines)):
            self._take_visible(RecordBatch(lines[start:place], texts[start:place]))
            if place < len(lines):
                line, (hidden, too_long) = lines[place], records.odd[place]
                if too_long:
                    self.too_long(line, hidden)
                else:
                    self.hidden(self.decode(line, texts[place]))
            start = place + 1

    def _take_visible(self, records: RecordBatch) -> None:
        """Take records that the official parser sees."""
        if records.lines:
            decode_all(records, self.decode)
            self.before_events(records)
            self.take(records)
            self.after_events(records)

    def take(self, records: RecordBatch) -> None:
        """Take the next records, for whoever has decoded them already."""
        start = 0
        for place in records.defects:
            self._dispatch(records.lines[start:place], records.decoded[start:place])
            self.defect(cast("Defect", records.decoded[place]))
            start = place + 1
        if start:
            self._dispatch(records.lines[start:], records.decoded[start:])
        else:
            self._dispatch(records.lines, records.decoded)

    def _dispatch(self, lines: Sequence[int], events: Sequence[Any]) -> None:
        """Put their lines into events, and give each to those who ask for its key."""
        handlers, tally = self._handlers, self.tally
        before, latest = tally.before, tally.latest
        last = before.time_ms if before is not None else -math.inf
        if events and not tally.events:
            tally.first = events[0].time_ms
        for line, event in zip(lines, events, strict=True):
            event.line = line
            try:
                asked = handlers[event.key]
            except TypeError:  # A key that is a list or an object.
                asked = handlers.__missing__(None)
            for handle in asked:
                handle(event)
            time_ms = event.time_ms
            if time_ms > latest:
                latest = tally.latest = time_ms
            elif before is not None and last - time_ms >= SKEW_MS:
                tally.step_back(event, before)
            if event.key != _AT_ANY_TIME:
                before, last = event, time_ms
        if events:
            tally.before, tally.last = before, events[-1].time_ms
            tally.events += len(events)


class ContainedReader:
    """A reader that has no part in the verdict: a defect of ours in it leaves out its fact, and nothing else."""

    def __init__(self, fold: Any) -> None:
        self._fold = fold

    def handler(self, key: str | None) -> Handler | None:
        """Return what takes the events of a key."""
        handler = self._fold.handler(key) if self._fold is not None else None
        return partial(self._take, handler) if handler is not None else None

    def call(self, name: str, given: Any) -> None:
        """Give the reader something else than an event, by one of its methods."""
        if self._fold is not None:
            self._take(getattr(self._fold, name), given)

    def _take(self, handler: Callable[[Any], None], given: Any) -> None:
        try:
            handler(given)
        except Exception:
            self._fold = None

    def finish(self) -> Any:
        """Return the fact; None where there is none."""
        try:
            return self._fold.finish() if self._fold is not None else None
        except Exception:
            return None


def read_log(file: Path | str, into: LogReader) -> None:
    """Feed a file, from its first byte to its end.

    Raises:
        MlsubError: the log cannot be read, or not to its end.
    """
    with open_log(file) as stream:
        for chunk in chunks(stream):
            into.feed(chunk)
    into.close()


def read_events(file: Path, log_format: str = "mllog") -> Iterator[Event]:
    """Yield the events that the official parser reads, in file order, for whoever needs only the first ones.

    Raises:
        MlsubError: the log cannot be read, or not to its end.
    """
    with open_log(file) as stream:
        for line, text, hidden, too_long in read_records(stream, TOKENS[log_format]):
            event = None if hidden or too_long else DECODERS[log_format](line, text)
            if isinstance(event, Event):
                yield event
