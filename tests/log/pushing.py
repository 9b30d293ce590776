"""Events pushed to folds without a log around them."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.log.event import Event
from mlsub.log.events import Fold, LogReader, Tally


def push(events: Iterable[Event], *folds: Fold, tally: Tally | None = None) -> None:
    """Push events as the reader does: each to the folds that ask for its key."""
    reader = LogReader(folds, tally=tally)
    made = list(events)
    decoded = iter(made)
    reader.decode = lambda *_: next(decoded)
    reader.push([(event.line, b"", False, False) for event in made])
