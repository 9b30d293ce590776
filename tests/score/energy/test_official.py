"""Energy and structure agree with the installed official tool, wherever it gives an answer."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.package_checker.power_checker import PowerChecker
from mlperf_logging.result_summarizer import result_summarizer as summarizer

from mlsub.score.energy.findings import find_faulted, judge_structure
from mlsub.score.energy.read import read_run
from mlsub.score.energy.score import Power, energy_result
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.power_folders import SECONDS, START_MS, judged, make_entry, node_log, record, switch_log

CASES = 120
SYSTEMS = {"1xSMC-H100-SXM-80GB": True, "8xSMC-H100-SXM-80GB": False}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The official tools print and log as they go."""
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        yield
    logging.disable(logging.NOTSET)


def official_joules(folder: Path, result: Path, duration_ms: float, ruleset: str = "5.1.0") -> float | None:
    """None where the official code ends in an exception, or comes to no number."""
    try:
        value = float(summarizer._compute_total_power(str(folder), str(result), duration_ms, ruleset))
    except Exception:
        return None
    return value if math.isfinite(value) else None


def official_nodes(folder: Path, duration_ms: float) -> list[float]:
    """The energy of each node of a run of which the official code makes a number."""
    return [
        summarizer._compute_power_node(summarizer.parse_file(str(file), "5.1.0")[0], duration_ms)
        for file in folder.glob("node_*.txt")
    ]


def official_faults(folder: Path, results: Sequence[Path]) -> set[str] | None:
    """None where the official checker ends in an exception."""
    try:
        return set(PowerChecker("5.1.0").check_power(str(folder / "power"), [str(result) for result in results])[1])
    except Exception:
        return None


def agree(ours: float | None, theirs: float | None, nodes: Sequence[float]) -> bool:
    """Whether two energies are the same, or differ as docs/deviations.md says.

    A node below 0 has none here, and where no reading counts there is none instead of 0.
    """
    if theirs is None or min(nodes, default=0.0) < 0:
        return ours is None
    if not any(nodes):
        return ours is None or ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    return ours is not None and ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def odd_lines(chance: random.Random) -> str:
    """Records that are out of order, of another kind, or broken."""
    at = START_MS + 1000 * chance.choice([-30, 0, 5.5, 20, SECONDS, 90])
    values: list[Any] = ["1 W", None, [1], float("nan"), float("inf"), True, 42]
    keys = ["power_reading", "conversion_eff", "power_measurement_start", "power_measurement_stop", "tracked_stats"]
    key = chance.choice(keys)
    if key == "power_reading":
        values.append(10**400)  # As an efficiency it is 0 to the official code where no reading counts.
    text = record(at, key, chance.choice([*values, 0.5, 0.5, 0.5, 77, 77]))
    broken = [
        ":::MLLOG {\n",
        "no record\n",
        text.rstrip() + " more\n",
        text.replace(":::", "rank 3 :::"),
        text.strip() + text,
    ]
    return chance.choice([text, text, text, *broken])


def run_files(chance: random.Random) -> dict[str, str] | None:
    if chance.random() < 0.1:
        return None
    files = {}
    for node in range(chance.choice([1, 2, 2, 2, 3])):
        number = node + (chance.random() < 0.1)
        watts = [chance.choice([0, 250, chance.uniform(100, 9000)]) for _ in range(chance.randint(0, 80))]
        more = {"conversion_eff": chance.uniform(0.5, 1)} if chance.random() < 0.3 else {}
        text = node_log(
            watts,
            start=chance.choice([0, -2.5, 7]),
            stop=chance.choice([SECONDS, SECONDS + 4, 30, None]),
            step=chance.choice([1, 1, 2.3]),
            first=chance.choice([0, -1, 3]),
            **more,
        )
        if chance.random() < 0.3:
            lines = [*text.splitlines(keepends=True), *(odd_lines(chance) for _ in range(chance.randint(1, 3)))]
            text = "".join(chance.sample(lines, len(lines)))
        files[f"node_{number}.txt"] = text
    for switch in range(chance.choice([0, 0, 1, 2])):
        text = switch_log(chance.uniform(10, 500), chance.choice([None, 0.9]))
        files[f"sw_{switch}.txt"] = chance.choice(
            [text, text, text, odd_lines(chance) + text, text + odd_lines(chance), ""]
        )
    return files


@pytest.mark.product
@pytest.mark.parametrize("number", range(CASES))
def test_energy_and_faults_are_those_of_the_official_tool(number: int, tmp_path: Path) -> None:
    chance = random.Random(f"power/{number}")
    runs = [run_files(chance) for _ in range(5)]
    seconds = [chance.choice([SECONDS, 55.5, 61]) for _ in runs]
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, runs, seconds)
    results = sorted(folder.glob("result_*.txt"))
    power = judged(folder)
    for result, ours, length in zip(results, power.joules, seconds, strict=True):
        theirs = official_joules(folder, result, 1000 * length)
        nodes = [] if theirs is None else official_nodes(folder / "power" / result.stem, 1000 * length)
        assert agree(ours, theirs, nodes), (result.name, ours, theirs)
        if ours is None:
            assert any(f.path.endswith(result.stem) and f.rule in REASONS for f in power.findings), result.name
    if any(run is not None for run in runs):
        assert {name.removesuffix(".txt") for name in power.faulted} == official_faults(folder, results)


#: Where a run has no energy, one of these says why.
REASONS = ("power.no-energy", "power.missing")


@pytest.mark.slow
def test_the_generated_cases_reach_what_they_are_for(tmp_path: Path) -> None:
    """Else the comparison above could compare nothing."""
    numbers = lacks = 0
    for number in range(CASES):
        chance = random.Random(f"power/{number}")
        runs = [run_files(chance) for _ in range(5)]
        folder = tmp_path / str(number) / "resnet"
        make_entry(folder, runs)
        for run, result in zip(runs, sorted(folder.glob("result_*.txt")), strict=True):
            found = official_joules(folder, result, 60_000)
            numbers += found is not None and found > 0
            lacks += found is None and run is not None
    assert numbers > 2 * CASES
    assert lacks > CASES / 4


NAMES = st.lists(
    st.sampled_from(
        [f"node_{n}.txt" for n in (0, 1, 2, 3, "00", "x", "1.a", -1, " 1", "٣")]
        + [f"sw_{n}.txt" for n in range(3)]
        + ["node_0.png", "nodes_1_to_1.png", "switch_0.txt", "notes.md", "node", "sw.txt", "sw_0", "Node_0.txt"]
    ),
    max_size=5,
)
RUNS = st.lists(st.one_of(st.none(), NAMES, st.just(["node_0.txt", "node_1.txt", "sw_0.txt"])), min_size=1, max_size=6)


@given(RUNS)
def test_names_are_judged_as_the_official_checker_judges_them(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[str] | None]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    make_entry(folder / "s" / "resnet", [None if names is None else dict.fromkeys(names, "") for names in runs])
    results = sorted((folder / "s" / "resnet").glob("result_*.txt"))
    read = [read_run(folder / "s" / "resnet" / "power", "power", result.stem) for result in results]
    ours, theirs = find_faulted(read), official_faults(folder / "s" / "resnet", results)
    if theirs is not None:
        assert ours == theirs
    else:
        assert ours, "what ends the official checker is a fault here"
    told = [found for found in judge_structure(read, checked=True) if found.rejects]
    assert bool(told) == bool(ours), "a fault is told, and nothing else rejects"


def test_the_energy_of_an_entry_is_that_of_the_official_olympic_mean() -> None:
    chance = random.Random("olympic")
    for _ in range(200):
        count, forgiven = chance.choice([(3, 1), (5, 1), (10, 1), (10, 4), (40, 4)])
        joules = tuple(chance.uniform(1, 100) for _ in range(count))
        minutes: list[float | None] = [chance.uniform(1, 100) for _ in range(count)]
        for _ in range(chance.choice([0, 0, 1, forgiven])):
            minutes[chance.randrange(count)] = None
        ours = energy_result(Power(findings=(), faulted=frozenset(), joules=joules), minutes, forgiven, 1.5)
        kept = [(m, j) for m, j in zip(minutes, joules, strict=True) if m is not None]
        index = [i for i, _ in sorted(enumerate([m for m, _ in kept]), key=lambda each: each[1])]
        theirs = summarizer._index_olympic_average([j for _, j in kept], index, count - len(kept), forgiven)
        assert ours.unscaled == pytest.approx(theirs, rel=1e-12)
        assert ours.scaled == pytest.approx(1.5 * theirs, rel=1e-12)


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_published_measurements_come_to_the_official_energy(system: str) -> None:
    folder = CORPUS / "v4.0" / "smc-ac-power" / "results" / system / "resnet"
    power = judged(folder, "4.0")
    assert power.faulted == frozenset()
    for result, ours in zip(sorted(folder.glob("result_*.txt")), power.joules, strict=True):
        start, stop = summarizer._query_run_start_stop(summarizer.parse_file(str(result), "4.0.0")[0])
        theirs = official_joules(folder, result, stop - start, "4.0.0")
        assert ours == (None if theirs is None else pytest.approx(theirs, rel=1e-12))
        assert (ours is not None) == SYSTEMS[system], result.name
