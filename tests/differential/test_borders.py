"""Values and times on the very border of what is allowed are taken or refused by both sides alike."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsub.rules.constraints import INTEGER_TOLERANCE, Constraint
from tools.oracle import aimed
from tools.oracle.compare import assert_alike, judge_log
from tools.oracle.generate import Combination, combinations, rules_of
from tools.oracle.log import ChangedLog, Line, Log, generated, smallest
from tools.oracle.random_changes import INIT_LIMITS
from tools.oracle.values import item_step
from tools.support.effort import LONG, effort

SEED = "ci-1"
#: Multiples that are tried, each with the tolerance above and below it.
MULTIPLES = (1, 2, 3, 60, 10**15, *((*range(4, 13), 2**40) if LONG else ()))


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
        for factor in (multiple + INTEGER_TOLERANCE, multiple - INTEGER_TOLERANCE):
            yield from _with_neighbours(step * factor)
        yield step * multiple + 1


def _with_neighbours(value: float) -> Iterator[float]:
    yield from (value, round(value, 12), math.nextafter(value, math.inf), math.nextafter(value, -math.inf))


@pytest.mark.product
@pytest.mark.parametrize("combination", [c for c in combinations() if c.division == "closed"][:: effort(4, 1)], ids=str)
def test_a_number_on_the_border_of_a_tolerance_gets_one_verdict(combination: Combination, tmp_path: Path):
    # Hundreds of tensors that may be missing only cost time.
    spare = {key for key, rule in rules_of(combination).items() if rule.tensors and "count" in rule.warn_only}
    log = generated(combination).without(*spare)
    mutants = [
        ChangedLog(f"border: {rule.key} with {value!r}", log.altered(log.first(rule.key), value=value).content())
        for rule in rules_of(combination).values()
        if log.places(rule.key)
        for constraint in rule.value
        for value in _borders(constraint)
    ]
    assert_alike(mutants, combination.round, tmp_path / "log.txt")


@pytest.mark.product
@pytest.mark.parametrize("combination", combinations(), ids=str)
def test_a_value_that_stands_in_the_official_rules_gets_one_verdict(
    combination: Combination, tmp_path: Path, record_property: Callable[[str, object], None]
):
    """These values do not come from the rules here, so a rule that is too wide or too narrow does not hide itself."""
    file = tmp_path / "log.txt"
    edits = aimed.edits("literals", combination, file)
    assert len(edits) > 10
    chosen = random.Random(f"{SEED}/{combination}").sample(edits, effort(len(edits) // 16, len(edits)))
    changed = (aimed.mutant(smallest(combination), [edit], "literal") for edit in chosen)
    record_property("mutants", assert_alike(changed, combination.round, file))


def _with_init_times(log: Log) -> Iterator[ChangedLog]:
    for limit in INIT_LIMITS:
        at = log.record(log.first("init_start"))["time_ms"] + limit
        in_seconds = (1000 * math.nextafter(at / 1000, towards) for towards in (-math.inf, math.inf))
        for time_ms in (at - 1, at, at + 1, math.nextafter(at, -math.inf), math.nextafter(at, math.inf), *in_seconds):
            changed = log.altered(log.first("init_stop"), time_ms=time_ms)
            yield ChangedLog(f"init_stop at {time_ms!r}, {limit} ms after init_start or next to it", changed.content())


@pytest.mark.product
@pytest.mark.parametrize(
    "combination", {(c.round, c.division, LONG and c): c for c in combinations()}.values(), ids=str
)
def test_an_initialisation_that_takes_just_as_long_as_it_may_gets_one_verdict(combination: Combination, tmp_path: Path):
    assert_alike(_with_init_times(generated(combination)), combination.round, tmp_path / "log.txt")


def test_a_time_of_v06_is_compared_in_seconds_to_the_last_bit(tmp_path: Path):
    """In milliseconds, or rounded to microseconds, this one would be just too late."""
    combination = Combination("0.6", "ssd", "closed", None)
    log = generated(combination)
    stop = log.first("init_stop")
    just_in_time = math.nextafter(log.record(log.first("init_start"))["time_ms"] / 1000 + 20 * 60, -math.inf)
    text = log[stop].text.replace(log[stop].text.split(" ")[1], repr(just_in_time), 1)
    both = judge_log(log.replaced(stop, Line(text)), "0.6", tmp_path)
    assert both.theirs.compliant, both.describe()
    assert both.ours.compliant, both.describe()
