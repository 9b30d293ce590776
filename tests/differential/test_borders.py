"""Numbers on the very border of a tolerance are taken or refused by both sides alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsub.rules.constraints import INTEGER_TOLERANCE, Constraint
from tests.differential.compare import KNOWN_DEVIATIONS, disagrees, judge_both
from tests.differential.generate import Combination, combinations, rules_of
from tests.differential.log import Mutant, content, generated, places_of, record_line
from tests.differential.values import item_step

#: Multiples that are tried, each with the tolerance above and below it.
MULTIPLES = (*range(1, 13), 60, 2**40, 10**15)


def _borders(constraint: Constraint) -> Iterator[Any]:
    operand = constraint.operand
    if constraint.operator == "item":
        step = item_step(operand)
        for value in _around_multiples(step):
            yield [2 * step] * int(operand["index"]) + [value]
    elif constraint.operator == "multiple_of":
        yield from _around_multiples(operand)
    elif constraint.operator == "power_of_two_multiple_of":
        for exponent in range(-12, 13):
            whole = operand * 2.0**exponent
            for factor in (2**INTEGER_TOLERANCE, 2**-INTEGER_TOLERANCE):
                yield from _with_neighbours(whole * factor)


def _around_multiples(step: float) -> Iterator[float]:
    for multiple in MULTIPLES:
        for beside in (multiple + INTEGER_TOLERANCE, multiple - INTEGER_TOLERANCE):
            yield from _with_neighbours(step * beside)
        yield step * multiple + 1


def _with_neighbours(value: float) -> Iterator[float]:
    yield from (value, round(value, 12), math.nextafter(value, math.inf), math.nextafter(value, -math.inf))


@pytest.mark.parametrize("combination", [c for c in combinations() if c.division == "closed"], ids=str)
def test_a_number_on_the_border_of_a_tolerance_gets_one_verdict(combination: Combination, tmp_path: Path):
    # Hundreds of tensors that may be missing only cost time.
    spare = {key for key, rule in rules_of(combination).items() if rule.tensors and "count" in rule.warn_only}
    log = [line for line in generated(combination) if line.key not in spare]
    differing = []
    for rule in rules_of(combination).values():
        if not places_of(log, rule.key):
            continue
        place = places_of(log, rule.key)[0]
        for value in [value for constraint in rule.value for value in _borders(constraint)]:
            line = record_line({**(log[place].record or {}), "value": value}, old=log[place].old)
            changed = [*log[:place], line, *log[place + 1 :]]
            mutant = Mutant(f"border: {rule.key} with {value!r}", content(changed))
            both = judge_both(mutant, combination.round, tmp_path / "log.txt")
            if disagrees(both) and f"border: {rule.key}" not in KNOWN_DEVIATIONS:
                differing.append(both.describe())
    assert not differing, "\n\n".join([f"{len(differing)} in all", *differing[:5]])
