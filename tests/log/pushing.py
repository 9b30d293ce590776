"""Events pushed to folds, and records read, without a log around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsub.log.event import Defect, Event, RecordBatch, decode_all
from mlsub.log.events import EventTally, Fold, LogReader
from mlsub.log.reading import MENTIONED_BY_KEY, RcpReadingFold
from mlsub.log.run import Run, RunFold


def push(events: Iterable[Event], *folds: Fold, tally: EventTally | None = None) -> None:
    """Push events as the reader does: each to the folds that ask for its key."""
    made = RecordBatch()
    made.decoded = list(events)
    made.lines = [event.line for event in made.decoded]
    LogReader(folds, tally=tally).take(made)


def fold(events: Iterable[Event]) -> Run:
    """The run of some events."""
    tally = EventTally()
    folding = RunFold(tally)
    push(events, folding, tally=tally)
    return folding.finish()


def decoded(texts: Sequence[bytes], first: int = 1, *, joined: bool = False) -> RecordBatch:
    """Decode records that stand in lines from some on; joined as the reader does with objects."""
    made = RecordBatch(list(range(first, first + len(texts))), list(texts), b"\n".join(texts) if joined else b"")
    decode_all(made)
    for line, one in zip(made.lines, made.decoded, strict=True):
        if isinstance(one, Event):
            one.line = line
    return made


def take(reading: RcpReadingFold, line: int, text: bytes, event: Event | Defect) -> None:
    """Have one record read as the fold of a run does."""
    made = RecordBatch([line], [text], text)
    made.decoded, made.defects = [event], [0] if isinstance(event, Defect) else []
    take_all(reading, made)


def take_all(reading: RcpReadingFold, records: RecordBatch) -> None:
    """Have records read as the fold of a run does."""
    named = []
    for line, event in zip(records.lines, records.decoded, strict=True):
        if isinstance(event, Event) and isinstance(event.key, str) and event.key in MENTIONED_BY_KEY:
            event.line = line
            named.append(event)
    reading.take(records, named)
