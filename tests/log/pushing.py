"""Events pushed to folds without a log around them."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.log.event import Event
from mlsub.log.events import Fold, LogReader, Tally


def push(events: Iterable[Event], *folds: Fold, tally: Tally | None = None) -> None:
    """Push events as the reader does: each to the folds that ask for its key."""
    made = list(events)
    LogReader(folds, tally=tally).take([event.line for event in made], made)
