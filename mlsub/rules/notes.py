"""What is kept of the records of a key for the rules of other keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlsub.log.event import Event, clock
from mlsub.log.events import Handler
from mlsub.rules.aspects.base import CompiledKey, LogSoFar
from mlsub.rules.aspects.course import NO_START

#: Gives what keeps something of each record of a key of one log.
Note = Callable[[LogSoFar, str], Handler]


def notes_of(keys: Sequence[CompiledKey]) -> dict[str, tuple[Note, ...]]:
    """What the rules of a log ask of the records of each key, beside the rule of the key itself."""
    named = {name for compiled in keys for name in compiled.named}
    starts = {compiled.rule.within.of for compiled in keys if compiled.rule.within and not compiled.where}
    choices = _choices(keys)
    sequenced = {"run_start"} if any(compiled.rule.nested for compiled in keys) else set()
    gathered = {compiled.rule.gathers.key for compiled in keys if compiled.rule.gathers}
    looked_back_on = {name for compiled in keys for name in compiled.looked_back_on}

    def of(key: str) -> Iterator[Note]:
        yield _seen
        if key in starts:
            yield _started
        elif key in choices:
            yield _chosen(choices[key])
        if key in named:
            yield _stated
        if key in sequenced:
            yield _begun

    return {key: tuple(of(key)) for key in looked_back_on.union(named, choices, gathered)}


def _choices(keys: Sequence[CompiledKey]) -> dict[str, frozenset[str]]:
    """The values of keys that choose which rules apply, or how often a key must appear."""
    choices: dict[str, frozenset[str]] = {}
    for compiled in keys:
        where = compiled.where or compiled.rule.occurs.once_where
        if where is not None:
            choices[where[0]] = choices.get(where[0], frozenset()) | {where[1]}
    return choices


def _seen(log: LogSoFar, key: str) -> Handler:
    return lambda _: log.seen.add(key)


def _started(log: LogSoFar, key: str) -> Handler:
    starts = log.starts

    def see(event: Event) -> None:
        time = clock(event)
        if time < starts.get(key, NO_START):
            starts[key] = time

    return see


def _stated(log: LogSoFar, key: str) -> Handler:
    return lambda event: log.stated.state(key, event.value)


def _begun(log: LogSoFar, _: str) -> Handler:
    def see(event: Event) -> None:
        log.sequence.see(event, "true")

    return see


def _chosen(values: frozenset[str]) -> Note:
    def note(log: LogSoFar, key: str) -> Handler:
        def see(event: Event) -> None:
            if isinstance(event.value, str) and event.value in values:
                log.chosen.add((key, event.value))

        return see

    return note
