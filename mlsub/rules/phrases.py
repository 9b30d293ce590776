"""Make findings of what the engine saw: one defect, one finding, in words for the person who has to fix it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.rules.aspects.base import CompiledKey, Excuses, Flaw, KeyOutcome
from mlsub.rules.aspects.records import AnyOfAspect, NestingAspect
from mlsub.rules.engine import CompiledRules, LogOutcome
from mlsub.rules.model import KeyRule

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
    waiting_for: dict[str, list[int]] = {}
    for index in waiting:
        for name in _needs(keys[index]):
            waiting_for.setdefault(name, []).append(index)
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
