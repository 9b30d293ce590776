"""Values and times on the very border of what is allowed are taken or refused by both sides alike."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from mlsub.rules.constraints import INTEGER_TOLERANCE, Constraint
from tools.oracle.compare import disagreements, disagrees, judge_both, known_deviation
from tools.oracle.generate import Combination, combinations, rules_of
from tools.oracle.log import Line, Log, Mutant, altered, content, generated, places_of, record_line
from tools.oracle.mutate import INIT_LIMITS
from tools.oracle.official_values import beside, literals_in
from tools.oracle.oracle import OFFICIAL, official
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
            if disagrees(both) and known_deviation(both) is None:
                differing.append(both.describe())
    assert not differing, "\n\n".join([f"{len(differing)} in all", *differing[:5]])


def _at_literals(combination: Combination, file: Path) -> Iterator[Mutant]:
    """Every value that stands in the official rules of a log, and the numbers next to it, in all records of the key."""
    log = generated(combination)
    file.write_bytes(content(log))
    configs = official(file, combination.round).configs
    literals = {(key, repr(x)): x for c in configs for key, some in literals_in(OFFICIAL / c).items() for x in some}
    for (key, _), literal in literals.items():
        for measure, places in _places(log, combination, key):
            for value in islice(beside(literal), 3):
                changed = log
                for place in places:
                    changed = altered(changed, place, value=value)
                yield Mutant(f"literal: every {key}{measure} with {value!r}", content(changed))


def _places(log: Log, combination: Combination, key: str) -> Iterator[tuple[str, list[int]]]:
    """Where a key is logged; of a key that is gathered from records of another, where each measure is."""
    gathers = rules_of(combination)[key].gathers if key in rules_of(combination) else None
    if gathers is None:
        yield "", places_of(log, key)
        return
    named = [(place, (log[place].record or {})["metadata"].get(gathers.field)) for place in places_of(log, gathers.key)]
    for name in dict.fromkeys(name for _, name in named):
        yield f" {name}", [place for place, other in named if other == name]


@pytest.mark.product
@pytest.mark.parametrize("combination", combinations(), ids=str)
def test_a_value_that_stands_in_the_official_rules_gets_one_verdict(
    combination: Combination, tmp_path: Path, record_property: Callable[[str, object], None]
):
    """These values do not come from the rules here, so a rule that is too wide or too narrow does not hide itself."""
    file = tmp_path / "log.txt"
    changed = {mutant.content: mutant for mutant in _at_literals(combination, file)}
    assert len(changed) > 10
    number = effort(len(changed) // 16, len(changed))
    chosen = random.Random(f"{SEED}/{combination}").sample([*changed.values()], number)
    record_property("mutants", len(chosen))
    differing = [both.describe() for both in disagreements(chosen, combination.round, file)]
    assert not differing, "\n\n".join([f"{len(differing)} in all", *differing[:5]])


def _with_init_times(log: Log) -> Iterator[Mutant]:
    start, stop = (places_of(log, key)[0] for key in ("init_start", "init_stop"))
    for limit in INIT_LIMITS:
        at = (log[start].record or {})["time_ms"] + limit
        in_seconds = (1000 * math.nextafter(at / 1000, towards) for towards in (-math.inf, math.inf))
        for time_ms in (at - 1, at, at + 1, math.nextafter(at, -math.inf), math.nextafter(at, math.inf), *in_seconds):
            changed = altered(log, stop, time_ms=time_ms)
            yield Mutant(
                f"border: init_stop at {time_ms!r}, {limit} ms after init_start or next to it", content(changed)
            )


@pytest.mark.product
@pytest.mark.parametrize(
    "combination", {(c.round, c.division, LONG and c): c for c in combinations()}.values(), ids=str
)
def test_an_initialisation_that_takes_just_as_long_as_it_may_gets_one_verdict(combination: Combination, tmp_path: Path):
    mutants = _with_init_times(generated(combination))
    differing = [both.describe() for both in disagreements(mutants, combination.round, tmp_path / "log.txt")]
    assert not differing, "\n\n".join(differing)


def test_a_time_of_v06_is_compared_in_seconds_to_the_last_bit(tmp_path: Path):
    """In milliseconds, or rounded to microseconds, this one would be just too late."""
    combination = Combination("0.6", "ssd", "closed", None)
    log = generated(combination)
    start, stop = (places_of(log, key)[0] for key in ("init_start", "init_stop"))
    begin = (log[start].record or {})["time_ms"] / 1000
    just_in_time = math.nextafter(begin + 20 * 60, -math.inf)
    text = log[stop].text.replace(log[stop].text.split(" ")[1], repr(just_in_time), 1)
    both = judge_both(
        Mutant("just in time", content([*log[:stop], Line(text), *log[stop + 1 :]])), "0.6", tmp_path / "log.txt"
    )
    assert both.theirs.compliant, both.describe()
    assert both.ours.compliant, both.describe()
