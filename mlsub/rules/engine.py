"""Hold the events of one log against a rule set, in one pass and with bounded memory.

A rule set is compiled once into tests; each log gets fresh counters. What comes out is not yet findings but
:class:`KeyOutcome`, the bare facts of what failed; :mod:`mlsub.rules.phrases` puts them into words.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.rules.compiled import Check, CompiledKey, Plan, Target
from mlsub.rules.gather import Gatherer
from mlsub.rules.model import KeyRule
from mlsub.rules.nesting import Nesting
from mlsub.rules.values import Stated

#: What `first start so far` holds before there is one; the official checker's own number.
_NO_START = 9e99
_SHOWN_VALUES = 5


class Failure(msgspec.Struct):
    """One demand that did not hold: on how many records, where first, and what stood there.

    ``expected`` is the demand with the values of this log, None where the demand says it all; ``needs`` are the keys
    whose values it was computed from.
    """

    first_line: int
    actual: str
    count: int = 1
    expected: str | None = None
    needs: tuple[str, ...] = ()


class KeyOutcome(msgspec.Struct):
    """What one key's rule saw in one log.

    ``failures`` maps (aspect, demand in words) to the failure; ``values`` shows distinct values where a key that
    must appear once appeared more often, and ``wanted`` is the count a rule with ``once_where`` asks of this log.
    """

    rule: KeyRule
    count: int = 0
    wanted: int | None = None
    same: bool = True
    lines: list[int] = []
    values: list[str] = []
    failures: dict[tuple[str, str], Failure] = {}
    reached: bool = False
    incomparable: Failure | None = None
    best: Any = None
    last_line: int | None = None
    tensors: list[Any] = []


class Outcome(msgspec.Struct, frozen=True):
    """What a rule set saw in one log: the outcome of each rule that applied, and the keys that appeared."""

    keys: tuple[KeyOutcome, ...]
    missing_groups: tuple[tuple[str, ...], ...]
    seen: frozenset[str]


class _Log:
    """What the rules of one log look back on: keys seen, values stated, first starts, nesting."""

    __slots__ = ("nesting", "seen", "starts", "stated")

    def __init__(self, plan: Plan) -> None:
        self.seen: set[str] = set()
        self.stated = Stated()
        self.starts = {c.rule.within.of: _NO_START for c in plan.keys if c.rule.within}
        self.nesting = Nesting() if plan.nested else None


class _KeyState:
    """Counts one key of one log against its rule."""

    __slots__ = ("compiled", "first", "out", "plain")

    def __init__(self, compiled: CompiledKey) -> None:
        self.compiled = compiled
        rule = compiled.rule
        self.out = KeyOutcome(rule)
        self.first: Any = None
        self.plain = not (rule.after or rule.not_after or rule.within or rule.tensors or rule.nested)

    def copy(self) -> _KeyState:
        """One that goes on counting without changing this one."""
        other = _KeyState(self.compiled)
        other.first = self.first
        other.out = msgspec.structs.replace(
            self.out,
            lines=[*self.out.lines],
            values=[*self.out.values],
            failures={demand: msgspec.structs.replace(failure) for demand, failure in self.out.failures.items()},
            tensors=[*self.out.tensors],
        )
        return other

    def see(self, event: Event, log: _Log) -> None:
        out, compiled = self.out, self.compiled
        out.count += 1
        if compiled.rule.occurs.exactly_one:
            self._remember(event)
        if compiled.only_first and out.count > 1:
            return
        stated = log.stated
        for check in compiled.value_checks:
            if not self._holds(check, event, stated):
                break  # What breaks several demands on the value is told once, by the first.
        for check in compiled.checks if out.count > 1 else compiled.first_checks:
            try:
                if check.holds(event, stated):
                    continue
            except Exception:  # noqa: S110  (what Python cannot compare does not hold)
                pass
            self._fail(check, event, stated)
        if not self.plain:
            self._order(event, log.seen)
            self._time(event, log)
            self._tensor(event)
            if log.nesting is not None and compiled.rule.nested:
                for words, actual in log.nesting.see(event, compiled.rule.nested):
                    self.note("nesting", words, event.line, actual)
        if compiled.target is not None:
            self._target(event, compiled.target, log.stated)

    def _remember(self, event: Event) -> None:
        out = self.out
        if out.count == 1:
            self.first = event.value
        elif out.same and not _equal(event.value, self.first):
            out.same = False
        if len(out.lines) < _SHOWN_VALUES:
            out.lines.append(event.line)
            text = show(event.value)
            if text not in out.values:
                out.values.append(text)

    def _holds(self, check: Check, event: Event, stated: Stated) -> bool:
        try:
            if check.holds(event, stated):
                return True
        except Exception:  # noqa: S110  (what Python cannot compare does not hold)
            pass
        self._fail(check, event, stated)
        return False

    def _fail(self, check: Check, event: Event, stated: Stated) -> None:
        try:
            actual = check.actual(event)
        except Exception:
            actual = event.metadata
        failure = self.note(check.aspect, check.words, event.line, actual)
        if failure.count == 1 and check.words_in is not None:
            failure.expected = check.words_in(stated)
            failure.needs = check.names

    def note(self, aspect: str, words: str, line: int, actual: Any) -> Failure:
        """Note that a demand did not hold on a record."""
        failure = self.out.failures.get((aspect, words))
        if failure is not None:
            failure.count += 1
        else:
            text = actual if aspect in ("order", "time", "nesting") else show(actual)
            failure = self.out.failures[aspect, words] = Failure(line, text)
        return failure

    def _order(self, event: Event, seen: set[str]) -> None:
        rule = self.compiled.rule
        for earlier in rule.after:
            if earlier not in seen:
                self.note("order", f"after {earlier}", event.line, f"before the first {earlier}")
        for later in rule.not_after:
            if later in seen:
                self.note("order", f"before {later}", event.line, f"after {later}")
                break  # Behind the one, behind the others: one defect.

    def _time(self, event: Event, log: _Log) -> None:
        within, minutes = self.compiled.rule.within, self.compiled.minutes
        if within is None or minutes is None:
            return
        took = event.time_ms - log.starts.get(within.of, _NO_START)
        limit = minutes(log.stated)
        if not took < limit * 60_000.0:
            words = f"less than {limit:g} minutes after the first {within.of}"
            if not limit:
                words = f"{within.words()}, with {self.compiled.needed[0]} logged before it"
            failure = self.note("time", words, event.line, f"{took / 60_000.0:.2f} minutes")
            failure.needs = self.compiled.needed

    def _tensor(self, event: Event) -> None:
        tensors = self.compiled.rule.tensors
        if tensors is None:
            return
        try:
            tensor = event.metadata["tensor"]
        except Exception:
            if ("metadata", "metadata with tensor") not in self.out.failures:
                self.note("metadata", "metadata with tensor", event.line, event.metadata)
            return
        if isinstance(tensor, (list, dict)):
            # Such names cannot be compared with those of the reference, which no checker took for another list.
            self.note("metadata", "metadata with tensor as text", event.line, event.metadata)
        elif len(self.out.tensors) <= len(tensors):
            # One name more than wanted already decides; the rest of a hostile log is not kept.
            self.out.tensors.append(tensor)

    def _target(self, event: Event, target: Target, stated: Stated) -> None:
        out = self.out
        out.last_line = event.line
        try:
            if target.met(event.value, stated):
                out.reached = True
        except Exception:
            if out.incomparable is None:
                out.incomparable = Failure(event.line, show(event.value))
            return
        if not out.reached:
            out.best = _better(out.best, event.value, self.compiled.lower_is_better)


def _equal(value: Any, first: Any) -> bool:
    try:
        return value is first or bool(value == first)
    except RecursionError:
        return False


def _better(best: Any, value: Any, lower: bool) -> Any:
    if best is None or isinstance(value, dict):
        return value
    try:
        return min(best, value) if lower else max(best, value)
    except TypeError:
        return best


class Judge:
    """Takes the events of one log in file order; :meth:`finish` says how each rule fared."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._log = _Log(plan)
        self._states = [_KeyState(compiled) for compiled in plan.keys]
        self._variants = [(key, value, [_KeyState(c) for c in keys]) for key, value, keys in plan.variants]
        where = [c.rule.occurs.once_where for c in plan.keys if c.rule.occurs.once_where]
        self._choices = frozenset([*((key, value) for key, value, _ in plan.variants), *where])
        self._choice_keys = frozenset(key for key, _ in self._choices)
        self._chosen: set[tuple[str, str]] = set()
        self._by_key: dict[str, list[_KeyState]] = {}
        self._gatherers: list[tuple[_KeyState, Gatherer]] = []
        for state in (*self._states, *(state for _, _, states in self._variants for state in states)):
            # Of a virtual key too: a log may really hold it, and the official checker then judges that as well.
            self._by_key.setdefault(state.compiled.rule.key, []).append(state)
            if state.compiled.rule.gathers is not None:
                self._gatherers.append((state, Gatherer(state.compiled.rule.gathers)))
        gathered = [gatherer.gathers.key for _, gatherer in self._gatherers]
        self._watched = frozenset((*self._by_key, *plan.looked_back_on, *gathered))
        self._told_more_of = frozenset((*self._log.starts, *self._choice_keys, *plan.named, *gathered, "run_start"))

    def wants(self, key: str) -> bool:
        """Whether a rule looks at the events of a key."""
        return key in self._watched

    def add(self, event: Event) -> None:
        """Take the next event."""
        key = event.key
        if not isinstance(key, str) or key not in self._watched:
            return
        log = self._log
        for state in self._by_key.get(key, ()):
            state.see(event, log)
        log.seen.add(key)
        if key in self._told_more_of:
            self._look_back_on(event)

    def _look_back_on(self, event: Event) -> None:
        """Keep what other rules will ask of this record."""
        key, log = event.key, self._log
        if key in log.starts:
            log.starts[key] = min(log.starts[key], event.time_ms)
        elif key in self._choice_keys and isinstance(event.value, str) and (key, event.value) in self._choices:
            self._chosen.add((key, event.value))
        if key in self._plan.named:
            log.stated.state(key, event.value)
        for _, gatherer in self._gatherers:
            if gatherer.gathers.key == key:
                gatherer.see(event)
        if key == "run_start" and log.nesting is not None:
            log.nesting.see(event, "true")

    def in_trouble(self, key: str) -> bool:
        """Whether a record of this key broke a demand, or was one too many; variants not chosen count here too."""
        return any(
            state.out.failures or (state.compiled.rule.occurs.exactly_one and state.out.count > 1)
            for state in self._by_key.get(key, ())
        )

    def reached(self) -> bool:
        """Whether every quality target has been reached so far; False without any."""
        targets = [out for out in self.finish().keys if out.rule.reaches]
        return bool(targets) and all(out.reached for out in targets)

    def finish(self) -> Outcome:
        """How each rule that applies has fared so far; more events may follow."""
        gathered = {id(state): self._gathered(state, gatherer) for state, gatherer in self._gatherers}
        for state in self._states:
            where = state.compiled.rule.occurs.once_where
            if where is not None:
                state.out.wanted = 1 if where in self._chosen else 0
        outcomes = [gathered.get(id(state), state.out) for state in self._states]
        for key, value, states in self._variants:
            if (key, value) in self._chosen:
                outcomes.extend(gathered.get(id(state), state.out) for state in states)
        seen = frozenset(self._log.seen)
        missing = tuple(group for group in self._plan.alternatives if not any(key in seen for key in group))
        return Outcome(tuple(outcomes), missing, seen)

    def _gathered(self, state: _KeyState, gatherer: Gatherer) -> KeyOutcome:
        """What a virtual key comes to with the records gathered so far, which may still gain parts."""
        so_far = state.copy()
        for event in gatherer.events(state.compiled.rule.key):
            so_far.see(event, self._log)
        if gatherer.broken is not None:
            line, metadata = gatherer.broken
            so_far.note("metadata", f"metadata with {gatherer.gathers.by}", line, metadata)
        return so_far.out
