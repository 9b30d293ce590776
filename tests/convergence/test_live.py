"""Odd logs are read as by the installed convergence checker, in the rounds whose algorithm it has."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mlsub.convergence import algorithm_of, unit_of
from mlsub.convergence.reference import Point, read_points, reference_file
from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements as needs
from tests.convergence import odd_logs
from tools.oracle.entries import EntryCase, Place, places, tried
from tools.support.effort import effort

#: From here on the installed code computes as that of the round's day.
ROUNDS = ("4.1", "5.0", "5.1", "6.0", "6.1")
ODD_CASES = effort(8, 15)


def reference(place: Place) -> tuple[Point, ...]:
    algorithm = algorithm_of(place.usage, place.round)
    file = reference_file(place.usage, get_round(place.usage, place.round).ruleset, place.name)
    assert algorithm is not None and file is not None
    return read_points(file, place.name, needs(*place).runs, algorithm)


def odd_entry(chance: random.Random, place: Place) -> EntryCase:
    """An entry about some reference point, most of whose logs are changed in a few odd ways."""
    point = chance.choice(reference(place))
    unit = "samples_count" if place.name == "stable_diffusion" else unit_of(place.name)
    wild = chance.random() < 0.5
    # The same odd record in all runs leaves them comparable.
    shared, times = chance.random(), chance.choice([1, 1, 2])
    logs = []
    for _ in range(needs(*place).runs):
        centre = chance.choice([point.mean, 1.2 * point.mean])
        passed = [max(1, round(centre * part)) for part in ([0.5, 1] if chance.random() < 0.9 else [1])]
        status = "success" if chance.random() > 0.05 else "aborted"
        lines = odd_logs.plain_log(place.name, point.batch_size, passed, unit, status)
        odd_logs.change(chance if wild and chance.random() < 0.3 else random.Random(shared), lines, times)
        logs.append(odd_logs.text_of(lines))
    return EntryCase(place, tuple(logs), bypass=False, samples=False, reference=None, what="odd logs")


@pytest.mark.parametrize(
    "place", [place for place in places() if place.usage == "training" and place.round in ROUNDS], ids="-".join
)
def test_odd_logs_are_read_as_by_the_installed_checker(place: Place, tmp_path: Path) -> None:
    """Records repeated, missing, misplaced, naming what others are about, with odd values, and not to be decoded."""
    answers = set()
    for number in range(ODD_CASES):
        both = tried(odd_entry(random.Random(f"{place.round}/{place.name}/odd/{number}"), place), tmp_path)
        assert both.problem is None, f"case {number}"
        answers.add(both.theirs.crash or both.how)
    assert len(answers) >= 3
