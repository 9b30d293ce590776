"""Check the events of one log against a rule set, in one pass and with bounded memory.

A rule set is compiled once into tests; each log gets counters of the keys that appear in it. What comes out is
:class:`LogOutcome`, the bare facts of what failed; :func:`findings_of` makes findings of them: one defect, one finding,
in words for the person who has to fix it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache, partial
from typing import Any

import msgspec

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.io.data import group_by_key
from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.rules.aspects import compile_key
from mlsub.rules.aspects.base import CompiledKey, Excuses, Flaw, KeyOutcome, LogState, Note
from mlsub.rules.aspects.records import AnyOfAspect, NestingAspect
from mlsub.rules.aspects.values import metadata_expected
from mlsub.rules.load import locating_problems, rules_for
from mlsub.rules.model import Gathers, KeyRule

#: Steps kept of one log; a published log has a dozen.
MAX_STEPS = 200_000


class CompiledRules(msgspec.Struct, frozen=True):
    """A compiled rule set.

    ``keys`` bind every log, ``every`` has those of variants after them. ``watched`` has the rules of each key that any
    rule looks at, ``notes`` what is kept of the records of a key for the rules of others. ``due`` has the keys that a
    log may have to have, ``required`` the keys that every log needs, ``gathering`` the rules of virtual keys. Findings
    are of this ``kind`` and cite this ``source``: the place in the official checker, or the title of an overlay file.
    """

    keys: tuple[CompiledKey, ...]
    every: tuple[CompiledKey, ...]
    alternatives: tuple[tuple[str, ...], ...]
    watched: dict[str, tuple[CompiledKey, ...]]
    notes: dict[str, Note]
    due: frozenset[str]
    required: frozenset[str]
    gathering: tuple[tuple[CompiledKey, Gathers], ...]
    kind: Kind
    source: str


@lru_cache(maxsize=512)
def compiled_rules(
    usage: str,
    round_name: str,
    division: str | None,
    benchmark: str | None,
    overlay: str | None = None,
    *,
    house: bool = False,
) -> CompiledRules:
    """The compiled rules for a log that says it is of this division and benchmark.

    ``house`` asks for those of the overlay file that bind it beside the official ones.

    Raises:
        FileProblemsError: a rule file is broken.
    """
    files = () if house else ("common", "common_hpc", *([benchmark] if benchmark else []))
    with locating_problems(overlay, *files):
        rules = rules_for(usage, round_name, division, benchmark, overlay, house=house)
        # The rules that bind the logs of all benchmarks come first, in this order, and are compiled once.
        shared = compiled_rules(usage, round_name, division, None, overlay, house=house).keys if benchmark else ()
        every = tuple(
            shared[place] if place < len(shared) and shared[place].rule is rule else compile_key(rule, place)
            for place, rule in enumerate(rules.every)
        )
    keys = every[: len(rules.rules)]
    notes = _notes(every)
    watched = {**dict.fromkeys(notes, ()), **group_by_key((compiled.rule.key, compiled) for compiled in every)}
    return CompiledRules(
        keys=keys,
        every=every,
        alternatives=rules.alternatives,
        watched={key: tuple(rules) for key, rules in watched.items()},
        notes=notes,
        due=frozenset(compiled.rule.key for compiled in every if compiled.rule.occurs.is_required),
        required=frozenset(compiled.rule.key for compiled in keys if compiled.rule.occurs.least),
        gathering=tuple((compiled, compiled.rule.gathers) for compiled in every if compiled.rule.gathers),
        kind=Kind.HOUSE if house else Kind.OFFICIAL,
        source=rules.checker,
    )


def _notes(keys: Sequence[CompiledKey]) -> dict[str, Note]:
    """What the rules of a log ask of the records of each key, beside the rule of the key itself."""
    rules, aspects = [compiled.rule for compiled in keys], [aspect for one in keys for aspect in one.aspects]
    stated = {name for aspect in aspects for name in aspect.value_keys()}
    starts = {compiled.rule.within.of for compiled in keys if compiled.rule.within and not compiled.where}
    choices = group_by_key(filter(None, (compiled.where or compiled.rule.occurs.once_where for compiled in keys)))
    kept = {name for aspect in aspects for name in aspect.earlier_keys()}
    kept.update(stated, choices, (rule.gathers.key for rule in rules if rule.gathers))
    nested = any(rule.nested for rule in rules)
    return {
        key: Note(key in starts, frozenset(choices.get(key, ())), key in stated, nested and key == "run_start")
        for key in kept
    }


class LogOutcome(msgspec.Struct, frozen=True):
    """What ``rules`` saw in one log.

    ``keys`` are the outcomes of the rules that apply, without those that have nothing to report, in the order of the
    rule set; ``applying`` are all rules that apply, ``required`` the keys that a log needs by them, and ``seen`` the
    keys that appeared and that a rule looks at.
    """

    rules: CompiledRules
    keys: tuple[KeyOutcome, ...]
    applying: tuple[CompiledKey, ...]
    required: frozenset[str]
    missing_groups: tuple[tuple[str, ...], ...]
    seen: Set[str]


class Gatherer:
    """Collects measures that are logged one by one and belong together, as Stable Diffusion's FID and CLIP at one step.

    ``broken`` is the first record that cannot be placed.
    """

    def __init__(self, gathers: Gathers) -> None:
        self.gathers = gathers
        self.broken: tuple[int, Any] | None = None
        self._steps: dict[Any, tuple[int, float, dict[Any, Any]]] = {}

    def see(self, event: Event) -> None:
        """Take a record of the key that is gathered."""
        metadata = event.metadata
        try:
            if self.gathers.field not in metadata:
                return
            step, measure = metadata[self.gathers.by], metadata[self.gathers.field]
            line, time_ms, values = self._steps.get(step, (event.line, event.time_ms, {}))
            values[measure] = event.value
            if len(self._steps) >= MAX_STEPS and step not in self._steps:
                raise OverflowError
            self._steps[step] = (line, max(time_ms, event.time_ms), values)
        except Exception:
            if self.broken is None:
                self.broken = (event.line, metadata)

    def events(self, key: str) -> Iterator[Event]:
        """One event for each step, in the order of their first records; its time is that of the last."""
        for line, time_ms, values in self._steps.values():
            yield Event(line=line, time_ms=time_ms, key=key, value=values, metadata={})


class Judge:
    """Takes the events of one log in file order; :meth:`finish` says how each rule fared."""

    def __init__(self, rules: CompiledRules) -> None:
        self._rules = rules
        self._log = LogState()
        #: The outcomes by the places of their rules.
        self._outs: dict[int, KeyOutcome] = {}
        #: Of the keys that have appeared and that a rule looks at.
        self._handlers: dict[str, Handler] = {}
        self._gatherers = {compiled.place: Gatherer(gathers) for compiled, gathers in rules.gathering}

    def handler(self, key: str | None) -> Handler | None:
        """What takes the events of a key; None where no rule looks at them.

        It is asked for when the key first appears, and goes on counting where it is asked for again.
        """
        if key is None:
            return None
        handler = self._handlers.get(key)
        if handler is not None:
            return handler
        # Of a virtual key too: a log may really hold it, and the official checker then judges that as well.
        rules = self._rules
        if key not in rules.watched:
            return None
        outs = [KeyOutcome(compiled, self._log) for compiled in rules.watched[key]]
        self._outs.update((out.compiled.place, out) for out in outs)
        handlers: list[Handler] = [out.see for out in outs]
        if key in rules.notes:
            # First the tests, and then what other rules will ask of the records.
            handlers.append(partial(self._log.keep, note=rules.notes[key]))
            handlers += [one.see for one in self._gatherers.values() if one.gathers.key == key]
        handler = handlers[0] if len(handlers) == 1 else _call_each(handlers)
        self._handlers[key] = handler
        return handler

    def in_trouble(self, key: str) -> bool:
        """Whether a record of this key broke a demand, or was one too many; variants not chosen count here too."""
        outs = [self._outs.get(compiled.place) for compiled in self._rules.watched.get(key, ())]
        return any(out is not None and out.in_trouble for out in outs)

    def reached(self) -> bool:
        """Whether every quality target has been reached so far; False without any."""
        targets = [compiled for compiled in self._rules.every if compiled.rule.reaches and self._binds(compiled)]
        return bool(targets) and all(self._outcome(compiled).reached for compiled in targets)

    def finish(self) -> LogOutcome:
        """How each rule that applies has fared so far; more events may follow."""
        rules, outs = self._rules, self._outs
        absent = rules.due.difference(self._handlers)
        asked = {compiled.place: compiled for key in absent for compiled in rules.watched[key]}
        for place, out in outs.items():
            if out.in_trouble or out.compiled.counted or out.misses_target:
                asked[place] = out.compiled
        asked.update((compiled.place, compiled) for compiled, _ in rules.gathering)
        keys = tuple(self._outcome(asked[place]) for place in sorted(asked) if self._binds(asked[place]))
        for out in keys:
            where = out.rule.occurs.once_where
            if where is not None and out.compiled.where is None:
                out.wanted = 1 if where in self._log.chosen else 0
        return self._outcome_of(keys, rules.alternatives)

    def certain(self) -> LogOutcome:
        """The outcome without the end of the log.

        Measures that belong together are not yet put together, and how often a key must appear where another one has
        some value is open until that other one has been logged.
        """
        outs = sorted(self._outs.values(), key=lambda out: out.compiled.place)
        keys = (out if out.wanted is None else out.without_end() for out in outs if self._binds(out.compiled))
        return self._outcome_of(tuple(keys), ())

    def _outcome_of(self, keys: tuple[KeyOutcome, ...], alternatives: tuple[tuple[str, ...], ...]) -> LogOutcome:
        rules, seen = self._rules, self._handlers.keys()
        applying, required = rules.keys, rules.required
        if self._log.chosen and rules.every is not rules.keys:
            applying = tuple(filter(self._binds, rules.every))
            required = frozenset(compiled.rule.key for compiled in applying if compiled.rule.occurs.least)
        return LogOutcome(rules, keys, applying, required, tuple(filter(seen.isdisjoint, alternatives)), seen)

    def _binds(self, compiled: CompiledKey) -> bool:
        """Whether a rule binds this log, by what it has said so far."""
        return compiled.where is None or compiled.where in self._log.chosen

    def _outcome(self, compiled: CompiledKey) -> KeyOutcome:
        """The outcome of a rule; of a virtual key with the records gathered so far, which may still gain parts."""
        out = self._outs.get(compiled.place) or KeyOutcome(compiled, self._log)
        gatherer = self._gatherers.get(compiled.place)
        if gatherer is None:
            return out
        so_far = out.copy()
        for event in gatherer.events(out.rule.key):
            so_far.see(event)
        if gatherer.broken is not None:
            line, metadata = gatherer.broken
            expected = metadata_expected(out.rule, f"metadata with {gatherer.gathers.by}")
            so_far.fail(expected, line, metadata)
        return so_far


def _call_each(handlers: Sequence[Handler]) -> Handler:
    def see(event: Event) -> None:
        for handle in handlers:
            handle(event)

    return see


#: Whether to leave out what is wrong by a rule: a later record can still put it right.
Skip = Callable[[KeyRule, Flaw], bool]


def rule_id(key: str, aspect: str, kind: Kind = Kind.OFFICIAL) -> str:
    """The stable id of one demand on one key; the user's own rules have ids of their own."""
    return f"{'house' if kind is Kind.HOUSE else 'key'}.{key}.{aspect}"


def findings_of(
    outcome: LogOutcome,
    path: str,
    spoiled: frozenset[str],
    *,
    cut_off: bool = False,
    skip: Skip | None = None,
) -> Iterator[Finding]:
    """The findings of one log.

    Args:
        outcome: what the engine saw.
        path: the log, relative to the report's root.
        spoiled: keys of records that exist but cannot be decoded; they are not reported missing as well.
        cut_off: whether the log ends in a broken record; then nothing is reported missing that would have followed.
        skip: says of a rule, and what is wrong by it, whether to leave that out.
    """
    if not outcome.keys and not outcome.missing_groups:
        return  # As with most logs.
    missed = (outcome.required | spoiled).difference(outcome.seen)
    excuses = excused(outcome.keys, missed)
    found = [
        (out.rule, flaw)
        for out, faulty in zip(outcome.keys, excuses, strict=True)
        for flaw in out.flaws(Excuses(missed, faulty, spoiled, cut_off))
    ]
    groups = [
        (KeyRule(key=group[0], blocks=Blocks.BOTH, origin="common.yaml"), AnyOfAspect.flaw(group))
        for group in (() if cut_off else outcome.missing_groups)
        if not spoiled.intersection(group)
    ]
    rules = outcome.rules
    for rule, flaw in (*_first_break_only(found, outcome.applying, rules.kind), *groups):
        if skip is None or not skip(rule, flaw):
            yield _finding(rule, flaw, path, rules)


def excused(keys: Sequence[KeyOutcome], missed: frozenset[str]) -> list[frozenset[str]]:
    """For each outcome the keys that it asks about and that are at fault themselves, which excuse what follows.

    A key that fails only by what others state is at fault in turn. Of keys that fail by each other the first is
    reported, so that no chain of excuses leaves a log without a finding.
    """
    faulty = set(missed)
    for out in keys:
        # No one value of such a key is allowed, whatever other keys say.
        if out.count and (out.differing or any(not failure.needs for failure in out.failed("value"))):
            faulty.add(out.rule.key)
    waiting = [index for index, out in enumerate(keys) if out.failures and out.rule.key not in faulty and _needs(out)]
    waiting_for = group_by_key((name, index) for index in waiting for name in _needs(keys[index]))
    excuses: dict[int, frozenset[str]] = {}
    in_order, new = iter(waiting), faulty
    while len(excuses) < len(waiting):
        following = [index for name in new for index in waiting_for.get(name, ()) if index not in excuses]
        following = following or [next(index for index in in_order if index not in excuses)]
        excuses.update((index, _asked(keys[index]) & faulty) for index in following)
        new = {keys[index].rule.key for index in following} - faulty
        faulty |= new
    return [excuses.get(index, (_asked(out) & faulty) - {out.rule.key}) for index, out in enumerate(keys)]


def _asked(out: KeyOutcome) -> frozenset[str]:
    """The keys that can excuse what is wrong with a key: those whose values its rule is about."""
    named = {name for aspect in out.compiled.aspects for name in (*aspect.value_keys(), *aspect.earlier_keys())}
    return frozenset(named.union(*(failure.needs for failure in out.failures.values())))


def _needs(out: KeyOutcome) -> set[str]:
    return {name for failure in out.failed("value") for name in failure.needs}


Found = tuple[KeyRule, Flaw]


def _first_break_only(found: list[Found], applying: Sequence[CompiledKey], kind: Kind) -> Iterator[Found]:
    """The flaws with at most the first break of a sequence, and none that follows from a record it lacks."""
    breaks = [one for one in found if one[1].aspect == NestingAspect.name]
    others = [one for one in found if one[1].aspect != NestingAspect.name]
    yield from others
    if not breaks:
        return
    nested = {"run_start", *(compiled.rule.key for compiled in applying if compiled.rule.nested)}
    rejected = {rule.key for rule, flaw in others if kind is Kind.OFFICIAL and not _only_warns(rule, flaw)}
    if not nested & rejected:
        yield min(breaks, key=lambda one: one[1].line or 0)


def _only_warns(rule: KeyRule, flaw: Flaw) -> bool:
    return flaw.warning or flaw.aspect in rule.warn_only


def _finding(rule: KeyRule, flaw: Flaw, path: str, rules: CompiledRules) -> Finding:
    warning, house, fix = _only_warns(rule, flaw), rules.kind is Kind.HOUSE, flaw.fix
    if rule.gathers is not None:
        fix = f"Log each {rule.gathers.field} of an evaluation with the same {rule.gathers.by}; they count together."
    return Finding(
        rule=rule_id(rule.key, flaw.aspect, rules.kind),
        severity=Severity.WARNING if warning else Severity.ERROR,
        kind=rules.kind,
        blocks=Blocks.NONE if warning or house else rule.blocks,
        path=path,
        line=flaw.line,
        message=flaw.message,
        expected=flaw.expected,
        actual=flaw.actual,
        fix=f"{fix} {rule.note}" if rule.note else fix,
        source=f"{rules.source if house else f'{rules.source}/{rule.origin}'}, {rule.key}",
    )
