"""Rules that are wrong by a little, one at a time: what a search for differences has to notice.

``python -m tests.differential.wrong_rules TEXT`` prints, for the combinations whose names have the text, how many wrong
rule sets the logs of the boundary and the dependent phase tell from the official rules, and which they do not.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from msgspec.structs import replace

from mlsub.judge import rules as judge_rules
from mlsub.rules import compiled
from mlsub.rules.constraints import Constraint
from mlsub.rules.formula import is_formula
from mlsub.rules.model import KeyRule, Occurs, RuleSet
from tests.differential import boundary
from tests.differential.compare import judged
from tests.differential.dependent import dependent
from tests.differential.generate import Combination, combinations, ruleset
from tests.differential.log import smallest
from tests.differential.oracle import official

#: Operators that differ on the border alone.
_NEIGHBOURS = {"at_least": "above", "above": "at_least", "at_most": "below", "below": "at_most"}


class Wrong(NamedTuple):
    """A rule set with one change to the rule of one key."""

    key: str
    words: str
    rules: RuleSet


def wrong_rules(rules: RuleSet) -> Iterator[Wrong]:
    """Rule sets that are wrong in one place each."""
    for place, rule in enumerate(rules.rules):
        for words, other in _wrong(rule):
            changed = (*rules.rules[:place], other, *rules.rules[place + 1 :])
            yield Wrong(rule.key, f"{rule.key}: {words}", replace(rules, rules=changed))
    for group in rules.alternatives:
        rest = tuple(other for other in rules.alternatives if other is not group)
        yield Wrong(group[0], f"none of {' or '.join(group)} is asked for", replace(rules, alternatives=rest))


def _wrong(rule: KeyRule) -> Iterator[tuple[str, KeyRule]]:
    for words, value in _of_constraints(rule.value):
        yield f"value {words}", replace(rule, value=value)
    for place, reach in enumerate(rule.reaches):
        for words, constraints in _of_constraints(reach.constraints):
            reaches = (*rule.reaches[:place], replace(reach, constraints=constraints), *rule.reaches[place + 1 :])
            yield f"target {words}", replace(rule, reaches=reaches)
    for place, entry in enumerate(rule.metadata):
        rest = (*rule.metadata[:place], *rule.metadata[place + 1 :])
        yield f"metadata without {'/'.join(entry.names)}", replace(rule, metadata=rest)
        for words, constraints in _of_constraints(entry.constraints):
            changed = (*rule.metadata[:place], replace(entry, constraints=constraints), *rule.metadata[place + 1 :])
            yield f"metadata {words}", replace(rule, metadata=changed)
    for words, occurs in _of_occurs(rule):
        yield words, replace(rule, occurs=occurs)
    for name in ("after", "not_after"):
        for key in getattr(rule, name):
            yield f"not {name} {key}", replace(rule, **{name: tuple(k for k in getattr(rule, name) if k != key)})
    if rule.within is not None:
        yield "no limit of time", replace(rule, within=None)
        for minutes in _other_limits(rule.within.minutes):
            yield f"{minutes!r} minutes", replace(rule, within=replace(rule.within, minutes=minutes))
    if rule.nested is not None:
        yield "not nested", replace(rule, nested=None)


def _other_limits(minutes: float | str) -> Iterator[float | str]:
    if isinstance(minutes, str):
        yield f"=({minutes[1:]}) * 1.000001"
    else:
        yield from _beside(float(minutes))


def _of_occurs(rule: KeyRule) -> Iterator[tuple[str, Occurs]]:
    occurs = rule.occurs
    # Where every record has to have the one value, none can contradict another.
    one_value = any(c.operator == "equals" for c in rule.value) and not rule.key.startswith("submission_")
    if occurs.exactly_one and not one_value:
        yield "several times", Occurs(at_least=1)
    if occurs.least:
        yield "not asked for", Occurs()
    if occurs.at_least:
        yield "once more", Occurs(at_least=occurs.at_least + 1)


def _of_constraints(constraints: tuple[Constraint, ...]) -> Iterator[tuple[str, tuple[Constraint, ...]]]:
    for place, constraint in enumerate(constraints):
        before, after = constraints[:place], constraints[place + 1 :]
        yield f"without {constraint.operator}", (*before, *after)
        for other in _others(constraint):
            yield f"{other.operator} {other.operand!r:.60}", (*before, other, *after)


def _others(constraint: Constraint) -> Iterator[Constraint]:
    name, operand = constraint.operator, constraint.operand
    if name in _NEIGHBOURS:
        yield Constraint(_NEIGHBOURS[name], operand)
    if isinstance(operand, float | int) and not isinstance(operand, bool) and name not in ("multiple_of", "length"):
        yield from (Constraint(name, number) for number in _beside(float(operand)))
    elif name == "one_of":
        yield from (Constraint(name, [item for item in operand if item != gone]) for gone in operand)
        yield from (Constraint(name, [*operand, more]) for more in _more(operand))
    elif is_formula(operand):
        yield Constraint(name, f"=({operand[1:]}) * 1.001")


def _more(operand: Iterable[Any]) -> Iterator[Any]:
    first = next(iter(operand))
    if isinstance(first, str):
        yield from (other for other in (first.upper(), first.capitalize()) if other not in operand)
    elif isinstance(first, int | float):
        yield first + 1


def _beside(number: float) -> Iterator[float]:
    yield from (math.nextafter(number, -math.inf), math.nextafter(number, math.inf))


@contextmanager
def in_force(rules: RuleSet) -> Iterator[None]:
    """Judge every log by these rules."""
    with patch.object(compiled, "rules_for", lambda *_, **__: rules):
        plan = compiled.plan_for.__wrapped__(rules.usage, rules.round, rules.division, rules.benchmark)
    with patch.object(judge_rules, "plan_for", lambda *_, **__: plan):
        yield


class Known(NamedTuple):
    """A log about a key, and what the official checker says of it."""

    key: str
    content: bytes
    compliant: bool


def logs_about(combination: Combination, keys: set[str], file: Path) -> Iterator[Known]:
    """The logs of the boundary and the dependent phase that change one of these keys."""
    log = smallest(combination)
    for edit in (*boundary.edits(combination, file), *dependent(combination, file)):
        made = boundary.mutant(log, [edit], "wrong") if edit.cell.key in keys else None
        if made is not None:
            file.write_bytes(made.content)
            yield Known(edit.cell.key, made.content, official(file, combination.round).compliant)


def unnoticed(combination: Combination, file: Path, keys: set[str] | None = None) -> tuple[int, list[str]]:
    """How many wrong rule sets were tried (of some keys, or of all), and those that no log tells from the right one."""
    every = [wrong for wrong in wrong_rules(ruleset(combination)) if keys is None or wrong.key in keys]
    known: dict[str, list[Known]] = {}
    for log in logs_about(combination, {wrong.key for wrong in every}, file):
        known.setdefault(log.key, []).append(log)
    left = []
    for wrong in every:
        with in_force(wrong.rules):
            if not any(_differs(log, combination, file) for log in known.get(wrong.key, ())):
                left.append(wrong.words)
    return len(every), left


def _differs(log: Known, combination: Combination, file: Path) -> bool:
    file.write_bytes(log.content)
    return judged(file, combination.round).compliant is not log.compliant


def main() -> None:
    """Print how many wrong rules are noticed."""
    text = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as scratch:
        for combination in combinations():
            if text in str(combination):
                number, left = unnoticed(combination, Path(scratch) / "log.txt")
                print(
                    f"{combination}: {number} wrong rules, {number - len(left)} noticed", *left, sep="\n  ", flush=True
                )


if __name__ == "__main__":
    main()
