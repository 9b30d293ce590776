"""Check the events of one log against a rule set, in one pass and with bounded memory.

A rule set is compiled once into tests; each log gets fresh counters. What comes out is not yet findings but
:class:`Outcome`, the bare facts of what failed; :mod:`mlsub.rules.phrases` makes findings of them.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from mlsub.log.event import Event
from mlsub.rules.aspects.base import KeyOutcome, LogSoFar
from mlsub.rules.aspects.content import metadata_expected
from mlsub.rules.aspects.course import NO_START
from mlsub.rules.compiled import Plan
from mlsub.rules.values import Gatherer


class Outcome(msgspec.Struct, frozen=True):
    """What a rule set saw in one log: the outcome of each rule that applied, and the keys that appeared."""

    keys: tuple[KeyOutcome, ...]
    missing_groups: tuple[tuple[str, ...], ...]
    seen: frozenset[str]


class Judge:
    """Takes the events of one log in file order; :meth:`finish` says how each rule fared."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._log = LogSoFar()
        self._keys = [KeyOutcome(compiled) for compiled in plan.keys]
        self._variants = [(key, value, [KeyOutcome(c) for c in keys]) for key, value, keys in plan.variants]
        where = [out.rule.occurs.once_where for out in self._keys if out.rule.occurs.once_where]
        self._choices = frozenset([*((key, value) for key, value, _ in plan.variants), *where])
        self._choice_keys = frozenset(key for key, _ in self._choices)
        self._chosen: set[tuple[str, str]] = set()
        self._by_key: dict[str, list[KeyOutcome]] = {}
        self._gatherers: list[tuple[KeyOutcome, Gatherer]] = []
        for out in (*self._keys, *(out for _, _, outs in self._variants for out in outs)):
            # Of a virtual key too: a log may really hold it, and the official checker then judges that as well.
            self._by_key.setdefault(out.rule.key, []).append(out)
            if out.rule.gathers is not None:
                self._gatherers.append((out, Gatherer(out.rule.gathers)))
        gathered = [gatherer.gathers.key for _, gatherer in self._gatherers]
        self._watched = frozenset((*self._by_key, *plan.looked_back_on, *gathered))
        self._looked_at_closely = frozenset((*plan.starts, *self._choice_keys, *plan.named, *gathered, "run_start"))

    def wants(self, key: str) -> bool:
        """Whether a rule looks at the events of a key."""
        return key in self._watched

    def add(self, event: Event) -> None:
        """Take the next event."""
        key = event.key
        if not isinstance(key, str) or key not in self._watched:
            return
        log = self._log
        for out in self._by_key.get(key, ()):
            out.see(event, log)
        log.seen.add(key)
        if key in self._looked_at_closely:
            self._look_back_on(event)

    def _look_back_on(self, event: Event) -> None:
        """Keep what other rules will ask of this record."""
        key, log = event.key, self._log
        if key in self._plan.starts:
            log.starts[key] = min(log.starts.get(key, NO_START), event.time_ms)
        elif key in self._choice_keys and isinstance(event.value, str) and (key, event.value) in self._choices:
            self._chosen.add((key, event.value))
        if key in self._plan.named:
            log.stated.state(key, event.value)
        for _, gatherer in self._gatherers:
            if gatherer.gathers.key == key:
                gatherer.see(event)
        if key == "run_start":
            log.sequence.see(event, "true")

    def in_trouble(self, key: str) -> bool:
        """Whether a record of this key broke a demand, or was one too many; variants not chosen count here too."""
        return any(out.failures or (out.rule.occurs.exactly_one and out.count > 1) for out in self._by_key.get(key, ()))

    def reached(self) -> bool:
        """Whether every quality target has been reached so far; False without any."""
        targets = [out for out in self.finish().keys if out.rule.reaches]
        return bool(targets) and all(out.reached for out in targets)

    def finish(self) -> Outcome:
        """How each rule that applies has fared so far; more events may follow."""
        gathered = {id(out): self._gathered(out, gatherer) for out, gatherer in self._gatherers}
        for out in self._keys:
            where = out.rule.occurs.once_where
            if where is not None:
                out.wanted = 1 if where in self._chosen else 0
        seen = frozenset(self._log.seen)
        missing = tuple(group for group in self._plan.alternatives if not any(key in seen for key in group))
        return Outcome(tuple(gathered.get(id(out), out) for out in self._applying()), missing, seen)

    def certain(self) -> Outcome:
        """The outcome without the end of the log.

        Measures that belong together are not yet put together, and how often a key must appear where another one has
        some value is open until that other one has been logged.
        """
        outs = [out if out.wanted is None else replace(out, wanted=None) for out in self._applying()]
        return Outcome(tuple(outs), (), frozenset(self._log.seen))

    def _applying(self) -> list[KeyOutcome]:
        """The outcomes of all rules that apply, those of the variants that the log has chosen included."""
        chosen = [outs for key, value, outs in self._variants if (key, value) in self._chosen]
        return [*self._keys, *(out for outs in chosen for out in outs)]

    def _gathered(self, out: KeyOutcome, gatherer: Gatherer) -> KeyOutcome:
        """The outcome of a virtual key with the records gathered so far, which may still gain parts."""
        so_far = out.copy()
        for event in gatherer.events(out.rule.key):
            so_far.see(event, self._log)
        if gatherer.broken is not None:
            line, metadata = gatherer.broken
            expected = metadata_expected(out.rule, f"metadata with {gatherer.gathers.by}")
            so_far.fail(expected, line, metadata)
        return so_far
