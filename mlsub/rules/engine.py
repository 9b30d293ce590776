"""Hold the events of one log against a rule set, in one pass and with bounded memory.

A rule set is compiled once into tests; each log gets fresh counters. What comes out is not yet findings but
:class:`KeyOutcome`, the bare facts of what failed; :mod:`mlsub.rules.phrases` puts them into words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.log.event import Event
from mlsub.rules.constraints import Constraint
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule, Reach, RuleSet
from mlsub.show import show

#: What `first start so far` holds before there is one; the official checker's own number.
_NO_START = 9e99
_SHOWN_VALUES = 5


class Failure(msgspec.Struct):
    """One demand that did not hold: on how many records, where first, and what stood there."""

    first_line: int
    actual: str
    count: int = 1


class KeyOutcome(msgspec.Struct):
    """What one key's rule saw in one log.

    ``failures`` maps (aspect, demand in words) to the failure; ``values`` shows distinct values where a key that
    must appear once appeared more often.
    """

    rule: KeyRule
    count: int = 0
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


class _Check(msgspec.Struct, frozen=True):
    aspect: str
    words: str
    holds: Callable[[Event], bool]
    actual: Callable[[Event], Any]


class _Target(msgspec.Struct, frozen=True):
    """A quality target, tested measure by measure in the order written, stopping at the first that misses."""

    parts: tuple[tuple[str | None, tuple[Callable[[Any], bool], ...]], ...]

    def met(self, value: Any) -> bool:
        for field, tests in self.parts:
            measure = value if field is None else value[field]
            if not all(test(measure) for test in tests):
                return False
        return True


class _CompiledKey(msgspec.Struct, frozen=True):
    rule: KeyRule
    checks: tuple[_Check, ...]
    target: _Target | None
    lower_is_better: bool
    only_first: bool


def _value_of(event: Event) -> Any:
    return event.value


def _compile_value(constraint: Constraint) -> _Check:
    test = constraint.test()
    return _Check("value", constraint.words(), lambda event: test(event.value), _value_of)


def _compile_metadata(name: str, constraints: tuple[Constraint, ...]) -> Iterator[_Check]:
    def present(event: Event) -> bool:
        return name in event.metadata

    yield _Check("metadata", f"metadata with {name}", present, lambda event: event.metadata)
    for constraint in constraints:
        yield _Check(
            "metadata",
            f"{name} {constraint.words()}",
            _holds_where_present(name, constraint.test()),
            lambda event: event.metadata[name],
        )


def _holds_where_present(name: str, test: Callable[[Any], bool]) -> Callable[[Event], bool]:
    """The test of an entry that is there; that it is missing is one defect, and reported as that."""

    def holds(event: Event) -> bool:
        metadata = event.metadata
        try:
            if name not in metadata:
                return True
        except TypeError:
            return True
        return test(metadata[name])

    return holds


def _compile_key(rule: KeyRule) -> _CompiledKey:
    checks = [_compile_value(constraint) for constraint in rule.value]
    for name, constraints in rule.metadata:
        checks.extend(_compile_metadata(name, constraints))
    target = None
    if rule.reaches:
        target = _Target(tuple((r.field, tuple(c.test() for c in r.constraints)) for r in rule.reaches))
    return _CompiledKey(rule, tuple(checks), target, _lower_is_better(rule.reaches), rule.key.startswith("submission_"))


def _lower_is_better(reaches: tuple[Reach, ...]) -> bool:
    return any(c.operator == "at_most" for reach in reaches for c in reach.constraints) and not any(
        c.operator == "at_least" for reach in reaches for c in reach.constraints
    )


class Plan(msgspec.Struct, frozen=True):
    """A rule set compiled to tests; shared by all logs of its round, division and benchmark."""

    keys: tuple[_CompiledKey, ...]
    variants: tuple[tuple[str, str, tuple[_CompiledKey, ...]], ...]
    alternatives: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=256)
def plan_for(usage: str, round_name: str, division: str | None, benchmark: str | None) -> Plan:
    """The compiled rules for a log that says it is of this division and benchmark."""
    return compile_rules(rules_for(usage, round_name, division, benchmark))


def compile_rules(rules: RuleSet) -> Plan:
    """Compile a rule set."""
    return Plan(
        tuple(_compile_key(rule) for rule in rules.rules),
        tuple((v.key, v.value, tuple(_compile_key(rule) for rule in v.rules)) for v in rules.variants),
        rules.alternatives,
    )


class _KeyState:
    """Counts one key of one log against its rule."""

    __slots__ = ("compiled", "first", "out", "plain")

    def __init__(self, compiled: _CompiledKey) -> None:
        self.compiled = compiled
        rule = compiled.rule
        self.out = KeyOutcome(rule)
        self.first: Any = None
        self.plain = not (rule.after or rule.not_after or rule.within or rule.tensors)

    def see(self, event: Event, seen: set[str], starts: dict[str, float]) -> None:
        out, compiled = self.out, self.compiled
        out.count += 1
        if compiled.rule.occurs.exactly_one:
            self._remember(event)
        if compiled.only_first and out.count > 1:
            return
        for check in compiled.checks:
            try:
                held = check.holds(event)
            except Exception:
                held = False
            if not held:
                self._fail(check, event)
        if not self.plain:
            self._order(event, seen, starts)
        if compiled.target is not None:
            self._target(event, compiled.target)

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

    def _fail(self, check: _Check, event: Event) -> None:
        try:
            actual = check.actual(event)
        except Exception:
            actual = event.metadata
        self._note(check.aspect, check.words, event.line, actual)

    def _note(self, aspect: str, words: str, line: int, actual: Any) -> None:
        failure = self.out.failures.get((aspect, words))
        if failure is not None:
            failure.count += 1
        else:
            text = actual if aspect in ("order", "time") else show(actual)
            self.out.failures[aspect, words] = Failure(line, text)

    def _order(self, event: Event, seen: set[str], starts: dict[str, float]) -> None:
        rule = self.compiled.rule
        for earlier in rule.after:
            if earlier not in seen:
                self._note("order", f"after {earlier}", event.line, f"before the first {earlier}")
        for later in rule.not_after:
            if later in seen:
                self._note("order", f"before {later}", event.line, f"after {later}")
                break  # Behind the one, behind the others: one defect.
        if rule.within is not None:
            took = event.time_ms - starts.get(rule.within.of, _NO_START)
            limit = rule.within.minutes * 60_000.0
            if not took < limit:
                words = f"less than {rule.within.minutes:g} minutes after the first {rule.within.of}"
                self._note("time", words, event.line, f"{took / 60_000.0:.2f} minutes")
        if rule.tensors is not None and len(self.out.tensors) <= len(rule.tensors):
            # One name more than wanted already decides; the rest of a hostile log is not kept.
            try:
                self.out.tensors.append(event.metadata["tensor"])
            except Exception:
                if ("metadata", "metadata with tensor") not in self.out.failures:
                    self._note("metadata", "metadata with tensor", event.line, event.metadata)

    def _target(self, event: Event, target: _Target) -> None:
        out = self.out
        out.last_line = event.line
        try:
            if target.met(event.value):
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
        self._alternatives = plan.alternatives
        self._states = [_KeyState(compiled) for compiled in plan.keys]
        self._variants = [(key, value, [_KeyState(c) for c in keys]) for key, value, keys in plan.variants]
        self._variant_keys = frozenset(key for key, _, _ in plan.variants)
        self._choices = frozenset((key, value) for key, value, _ in plan.variants)
        self._chosen: set[tuple[str, str]] = set()
        self._seen: set[str] = set()
        timed = [c.rule.within.of for c in plan.keys if c.rule.within]
        self._starts = dict.fromkeys(timed, _NO_START)
        self._by_key: dict[str, list[_KeyState]] = {}
        for state in (*self._states, *(state for _, _, states in self._variants for state in states)):
            self._by_key.setdefault(state.compiled.rule.key, []).append(state)

    def add(self, event: Event) -> None:
        """Take the next event."""
        key = event.key
        states = self._by_key.get(key) if isinstance(key, str) else None
        if states is None:
            return
        for state in states:
            state.see(event, self._seen, self._starts)
        self._seen.add(key)
        if key in self._starts:
            self._starts[key] = min(self._starts[key], event.time_ms)
        elif key in self._variant_keys and isinstance(event.value, str) and (key, event.value) in self._choices:
            self._chosen.add((key, event.value))

    def finish(self) -> Outcome:
        """How each rule that applies fared."""
        outcomes = [state.out for state in self._states]
        for key, value, states in self._variants:
            if (key, value) in self._chosen:
                outcomes.extend(state.out for state in states)
        missing = tuple(group for group in self._alternatives if not any(key in self._seen for key in group))
        return Outcome(tuple(outcomes), missing, frozenset(self._seen))
