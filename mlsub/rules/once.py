"""Keys of which nothing is counted while all is well, which is most of them."""

from __future__ import annotations

from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.rules.aspects.base import CompiledKey, KeyOutcome, LogSoFar, Passes
from mlsub.rules.aspects.quick import HasEntry


class Outcomes(dict[int, KeyOutcome]):
    """The outcomes of one log by the places of their rules."""

    __slots__ = ("log",)

    def __init__(self, log: LogSoFar) -> None:
        super().__init__()
        self.log = log

    def of(self, compiled: CompiledKey) -> KeyOutcome:
        """The outcome of a rule from now on."""
        out = self.get(compiled.place)
        if out is None:
            out = self[compiled.place] = KeyOutcome(compiled, self.log)
        return out


class Singles:
    """The first record of each key with one rule that asks for exactly one; what is wrong or comes again is counted."""

    __slots__ = ("_first", "_keys", "_outs")

    def __init__(self, keys: dict[str, tuple[CompiledKey, Passes]], outs: Outcomes) -> None:
        self._keys = keys
        self._outs = outs
        self._first: dict[str, Event] = {}

    def see(self, event: Event) -> None:
        """Take a record of one of the keys."""
        key = event.key
        compiled, passes = self._keys[key]
        first = self._first.setdefault(key, event)
        if first is event:
            try:
                if passes(event, self._outs.log):
                    return
            except Exception:  # noqa: S110  (the outcome says what is wrong)
                pass
        elif compiled.place not in self._outs:
            self._outs.of(compiled).passed(first)
        self._outs.of(compiled).see(event)


def any_number(compiled: CompiledKey, passes: Passes, outs: Outcomes) -> Handler:
    """Takes the records of a key of which there may be many; what is wrong is counted."""
    return _with_entry(compiled, passes, outs) if isinstance(passes, HasEntry) else _passing(compiled, passes, outs)


def _with_entry(compiled: CompiledKey, passes: HasEntry, outs: Outcomes) -> Handler:
    """The same as the general one without a call for what is asked of most records."""
    entry, other = passes.entry, passes.other

    def see(event: Event) -> None:
        try:
            if entry in event.metadata or other in event.metadata:
                return
        except TypeError:
            pass
        outs.of(compiled).see(event)

    return see


def _passing(compiled: CompiledKey, passes: Passes, outs: Outcomes) -> Handler:
    log = outs.log

    def see(event: Event) -> None:
        try:
            if passes(event, log):
                return
        except Exception:  # noqa: S110  (the outcome says what is wrong)
            pass
        outs.of(compiled).see(event)

    return see
