"""Energy and structure agree with the installed official tool, wherever it gives an answer."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlperf_logging.package_checker.power_checker import PowerChecker
from mlperf_logging.result_summarizer import result_summarizer as summarizer

from mlsub.energy import energy_result
from tests.differential.shared import ABSENT, CORPUS, present
from tests.energy.folders import SECONDS, judged, make_entry, node_log, switch_log

CASES = 60


def run_files(chance: random.Random) -> dict[str, str] | None:
    if chance.random() < 0.1:
        return None
    files = {}
    for node in range(chance.choice([1, 2, 2, 2, 3])):
        number = node + (chance.random() < 0.1)
        watts = [chance.choice([0, 250, chance.uniform(100, 9000)]) for _ in range(chance.randint(1, 80))]
        more = {"conversion_eff": chance.uniform(0.5, 1)} if chance.random() < 0.3 else {}
        files[f"node_{number}.txt"] = node_log(
            watts,
            start=chance.choice([0, -2.5, 7]),
            stop=chance.choice([SECONDS, SECONDS + 4, 30, None]),
            step=chance.choice([1, 1, 2.3]),
            first=chance.choice([0, -1, 3]),
            **more,
        )
    for switch in range(chance.choice([0, 0, 1, 2])):
        files[f"sw_{switch}.txt"] = switch_log(chance.uniform(10, 500), chance.choice([None, 0.9]))
    return files


def official_joules(folder: Path, result: Path, duration_ms: float) -> float | None:
    """None where the official code ends in an exception, or comes to no number."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = float(summarizer._compute_total_power(str(folder), str(result), duration_ms, "5.1.0"))
        except (AssertionError, ValueError, ZeroDivisionError, TypeError):
            return None
    return value


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    """The official checker tells the log what it thinks."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("number", range(CASES))
def test_energy_and_faults_are_those_of_the_official_tool(number: int, tmp_path: Path) -> None:
    chance = random.Random(f"power/{number}")
    runs = [run_files(chance) for _ in range(5)]
    seconds = [chance.choice([SECONDS, 55.5, 61]) for _ in runs]
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, runs, seconds)
    results = sorted(folder.glob("result_*.txt"))
    power = judged(folder)
    assert power is not None
    for result, ours, length in zip(results, power.joules, seconds, strict=True):
        theirs = official_joules(folder, result, 1000 * length)
        assert ours == (None if theirs is None else pytest.approx(theirs, rel=1e-9, abs=1e-9)), result.name
    if any(run is not None for run in runs):
        _, faulted = PowerChecker("5.1.0").check_power(str(folder / "power"), [str(result) for result in results])
        assert {name.removesuffix(".txt") for name in power.faulted} == faulted


def test_the_energy_of_an_entry_is_that_of_the_official_olympic_mean() -> None:
    chance = random.Random("olympic")
    for _ in range(200):
        count = chance.choice([3, 5, 10])
        joules = tuple(chance.uniform(1, 100) for _ in range(count))
        minutes: list[float | None] = [chance.uniform(1, 100) for _ in range(count)]
        if chance.random() < 0.4:
            minutes[chance.randrange(count)] = None
        power = type("P", (), {"joules": joules})
        ours = energy_result(power, minutes, 1, 1.5)  # type: ignore[arg-type]
        kept = [(m, j) for m, j in zip(minutes, joules, strict=True) if m is not None]
        index = [i for i, _ in sorted(enumerate([m for m, _ in kept]), key=lambda each: each[1])]
        theirs = summarizer._index_olympic_average([j for _, j in kept], index, count - len(kept), 1)
        assert ours.unscaled == pytest.approx(theirs, rel=1e-12)
        assert ours.scaled == pytest.approx(1.5 * theirs, rel=1e-12)


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize("system", ["1xSMC-H100-SXM-80GB", "8xSMC-H100-SXM-80GB"])
def test_the_published_measurements_come_to_the_official_energy(system: str) -> None:
    folder = CORPUS / "v4.0" / "smc-ac-power" / "results" / system / "resnet"
    power = judged(folder, "4.0")
    assert power is not None
    assert power.faulted == frozenset()
    for result, ours in zip(sorted(folder.glob("result_*.txt")), power.joules, strict=True):
        with contextlib.redirect_stdout(io.StringIO()):
            lines = summarizer.parse_file(str(result), "4.0.0")[0]
        start, stop = summarizer._query_run_start_stop(lines)
        theirs = official_joules(folder, result, stop - start)
        assert ours == (None if theirs is None else pytest.approx(theirs, rel=1e-12))
        assert (ours is None) == (system == "8xSMC-H100-SXM-80GB"), os.fspath(result)
