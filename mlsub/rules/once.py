"""Keys of which a log must have one record each, which is most of them: nothing is counted while all is well."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.log.event import Event
from mlsub.rules.aspects.base import CompiledKey, KeyOutcome, LogSoFar
from mlsub.rules.constraints import Test, all_hold

#: Aspects of a rule that looks at nothing but the number and the value of its records.
_SIMPLE = {"count", "repeated", "value"}


def simple_keys(keys: Iterable[CompiledKey]) -> dict[str, tuple[CompiledKey, Test | None]]:
    """Of some rules, those of keys with one record that is judged for itself: each with the test of its value."""
    return {
        compiled.rule.key: (compiled, all_hold(compiled.rule.value) if compiled.rule.value else None)
        for compiled in keys
        if compiled.once
        and {aspect.name for aspect in compiled.aspects} <= _SIMPLE
        and not any(constraint.formulas() for constraint in compiled.rule.value)
    }


class Singles:
    """The first record of each such key; what is wrong or comes again goes to an outcome of the key."""

    __slots__ = ("_first", "_keys", "_log", "_outs")

    def __init__(
        self, keys: dict[str, tuple[CompiledKey, Test | None]], outs: dict[int, KeyOutcome], log: LogSoFar
    ) -> None:
        self._keys = keys
        self._outs = outs
        self._log = log
        self._first: dict[str, Event] = {}

    def see(self, event: Event) -> None:
        """Take a record of one of the keys."""
        key = event.key
        compiled, holds = self._keys[key]
        first = self._first.setdefault(key, event)
        if first is event:
            try:
                if holds is None or holds(event.value, self._log.stated):
                    return
            except Exception:  # noqa: S110  (the outcome says what is wrong)
                pass
        out = self._outs.get(compiled.place)
        if out is None:
            out = self._outs[compiled.place] = KeyOutcome(compiled, self._log)
            if first is not event:
                out.passed(first)
        out.see(event)
