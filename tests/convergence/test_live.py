"""The convergence test agrees with the installed official checker, in the rounds whose algorithm it has."""

from __future__ import annotations

import logging
import random
from pathlib import Path
from typing import Any

import pytest
from mlperf_logging.rcp_checker import rcp_checker

from mlsub.convergence.algorithm import algorithm_of, is_tested, unit_of
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.rounds import get_round
from mlsub.rules.load import benchmark as needs
from mlsub.submission.params import Flags
from tests.convergence.logs import judged, log_of, write_logs

#: From here on the installed code computes as that of the round's day.
ROUNDS = ("4.1", "5.0", "5.1", "6.0", "6.1")
PAIRS = [(name, b) for name in ROUNDS for b in get_round("training", name).benchmarks if is_tested(b)]
CASES = 30
HOW = {
    "RCP found": "exact",
    "RCP Interpolation": "interpolated",
    "RCP not found but slower": "smaller-batch",
    "Missing RCP": "missing",
    "Insufficient convergence": "insufficient-convergence",
    "Could not detect": "no-batch-size",
}


def reference(round_name: str, name: str) -> tuple[Point, ...]:
    algorithm = algorithm_of("training", round_name)
    file = reference_file("training", get_round("training", round_name).ruleset, name)
    assert algorithm is not None and file is not None
    return points_of(file, name, needs("training", round_name, name).runs, algorithm)


def entry(chance: random.Random, round_name: str, name: str) -> list[str]:
    """The logs of an entry near some reference point: its batch size, means about the limit, now and then a failure."""
    points = reference(round_name, name)
    needed = needs("training", round_name, name).runs
    # Two runs leave no mean, which the official tool takes for one that is too fast.
    runs = needed + chance.choice([0, 0, 0, 0, 1, -1 if needed > 3 else 0])
    point = chance.choice(points)
    size: Any = chance.choice(
        [point.batch_size, chance.choice(points).batch_size, chance.randint(1, 2 * int(points[-1].batch_size))]
    )
    centre = chance.choice([point.minimum, point.mean, (point.minimum + point.mean) / 2, 2 * point.mean])
    spread = chance.choice([0.0, point.stdev / 3, point.stdev])
    whole = unit_of(name) == "samples_count" or chance.random() < 0.5
    logs = []
    for _ in range(runs):
        value = max(1.0, chance.gauss(centre, spread))
        status: str | None = "success"
        if chance.random() < 0.04:
            status = chance.choice(["aborted", None])
        own = size if chance.random() > 0.005 else size + 1
        logs.append(log_of(name, own, round(value) if whole else value, status=status, unit=unit_of(name)))
    return logs


def official(folder: Path, round_name: str, *, bypass: bool) -> tuple[bool, str, float]:
    """The installed checker's answer; where runs disagree on batch size it ends with a KeyError before it says so."""
    ruleset = get_round("training", round_name).ruleset
    try:
        passed, message, scaling = rcp_checker.check_directory(
            str(folder), "training", ruleset, False, False, None, "pruned_rcps", bypass
        )
    except KeyError as error:
        assert error.args == (None,)
        return False, "Could not detect global_batch_size", 1.0
    return bool(passed), message, scaling


@pytest.mark.parametrize(("round_name", "name"), PAIRS)
def test_entries_are_judged_as_by_the_installed_checker(round_name: str, name: str, tmp_path: Path) -> None:
    logging.disable(logging.CRITICAL)
    try:
        seen = set()
        for number in range(CASES):
            chance = random.Random(f"{round_name}/{name}/{number}")
            folder = tmp_path / name
            write_logs(folder, entry(chance, round_name, name))
            bypass = chance.random() < 0.3
            ours = judged(folder, round_name, flags=Flags(rcp_bypass="params") if bypass else Flags()).result
            passed, message, scaling = official(folder, round_name, bypass=bypass)
            how = next(word for text, word in HOW.items() if message.startswith(text))
            told = f"case {number}: {message}, {ours}"
            assert (ours.verdict in ("pass", "bypassed"), ours.how) == (passed, how), told
            assert (ours.verdict == "bypassed") == ("bypass" in message), told
            if passed and not bypass:
                assert ours.scaling == pytest.approx(scaling, rel=1e-12), told
            seen.add((passed, how))
        assert len(seen) >= 3
    finally:
        logging.disable(logging.NOTSET)
