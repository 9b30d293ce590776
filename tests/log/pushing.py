"""Events pushed to folds without a log around them."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.log.event import ALONE, Batch, Event
from mlsub.log.events import Fold, LogReader, Tally
from mlsub.log.reading import ReadingFold


def push(events: Iterable[Event], *folds: Fold, tally: Tally | None = None) -> None:
    """Push events as the reader does: each to the folds that ask for its key."""
    made = list(events)
    LogReader(folds, tally=tally).take(Batch([event.line for event in made], [], b"", [*made], []))


def take(reading: ReadingFold, batch: Batch) -> None:
    """Have records read as the fold of a run does."""
    named = []
    for line, event in zip(batch.lines, batch.decoded, strict=True):
        if isinstance(event, Event) and isinstance(event.key, str) and event.key in ALONE:
            event.line = line
            named.append(event)
    reading.take(batch, named)
