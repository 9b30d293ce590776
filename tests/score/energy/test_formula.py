"""The formula of docs/energy.md, computed here from the files alone, is what the score has to the last digit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.score.energy.read import read_run
from mlsub.score.energy.score import run_joules
from mlsub.workspace import Context, check_paths
from tools.support.corpus import CORPUS
from tools.support.power_folders import SECONDS, make_entry, node_log, switch_log

ENTRY = CORPUS / "v4.0" / "smc-ac-power" / "results" / "1xSMC-H100-SXM-80GB" / "resnet"


def records(file: Path) -> Iterator[tuple[Fraction, str, Any]]:
    """Time in seconds, key and value of the records of a file, in the order of time."""
    found = [json.loads(line.partition(":::MLLOG ")[2]) for line in file.read_text().splitlines() if ":::MLLOG" in line]
    yield from sorted(
        ((Fraction(one["time_ms"]) / 1000, one["key"], one["value"]) for one in found), key=lambda one: one[0]
    )


def watts_of_node(file: Path) -> Fraction:
    """As the page says for one start and one stop."""
    (start,) = (time for time, key, _ in records(file) if key == "power_measurement_start")
    (stop,) = (time for time, key, _ in records(file) if key == "power_measurement_stop")
    (efficiency,) = [Fraction(value) for _, key, value in records(file) if key == "conversion_eff"] or [Fraction(1)]
    total, before = Fraction(0), start
    for time, key, value in records(file):
        if key == "power_reading" and start <= time <= stop:
            total += Fraction(value) * (time - before)
            before = time
    return efficiency * total / (stop - start)


def watts_of_switch(file: Path) -> Fraction:
    known = {key: Fraction(value) for _, key, value in records(file)}
    return known.get("conversion_eff", Fraction(1)) * known["interconnect_power_est"]


def joules_of_run(result: Path) -> Fraction:
    times = {key: time for time, key, _ in records(result) if key in ("run_start", "run_stop")}
    folder = result.parent / "power" / result.stem
    watts = sum(
        map(watts_of_node, folder.glob("node_*.txt")), sum(map(watts_of_switch, folder.glob("sw_*.txt")), Fraction(0))
    )
    return watts * (times["run_stop"] - times["run_start"])


@pytest.mark.skipif(not ENTRY.is_dir(), reason="published packages are not there")
def test_the_energy_of_a_published_entry_comes_of_the_formula() -> None:
    joules = {result: joules_of_run(result) for result in ENTRY.glob("result_*.txt")}

    def minutes(result: Path) -> Fraction:
        times = {key: time for time, key, _ in records(result) if key in ("run_start", "run_stop")}
        return times["run_stop"] - times["run_start"]

    _, *kept, _ = sorted(joules, key=minutes)
    scaling = Fraction(json.loads((ENTRY / "scaling.json").read_text())["scaling_factor"])
    energy = scaling * sum(joules[result] for result in kept) / len(kept)
    (report,) = check_paths([ENTRY.parents[2]], Context())
    (entry,) = (one for one in report.entries if one.path.endswith("1xSMC-H100-SXM-80GB/resnet"))
    assert entry.energy is not None and entry.energy.scaled is not None
    assert f"{entry.energy.scaled:.3f}" == f"{float(energy):.3f}"
    assert entry.energy.scaled == pytest.approx(float(energy), rel=1e-14)


@given(
    watts=st.lists(st.integers(0, 100_000), min_size=1, max_size=SECONDS - 1),
    step=st.sampled_from([0.5, 1.0]),
    efficiency=st.sampled_from([None, 0.5, 0.93]),
    switch=st.none() | st.integers(0, 5000),
)
def test_the_energy_of_any_run_comes_of_the_formula(
    watts: list[int],
    step: float,
    efficiency: float | None,
    switch: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    more = {} if efficiency is None else {"conversion_eff": efficiency}
    files = {"node_0.txt": node_log(watts, step=step, first=step, **more), "node_1.txt": node_log(watts[::-1], first=1)}
    files |= {} if switch is None else {"sw_0.txt": switch_log(switch, efficiency)}
    folder = tmp_path_factory.mktemp("formula") / "entry"
    make_entry(folder, [files])
    found = run_joules(read_run(folder / "power", "power", "result_0"), 1000.0 * SECONDS)
    assert found == pytest.approx(float(joules_of_run(folder / "result_0.txt")), rel=1e-12)


def test_the_example_of_the_page_is_right(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "energy.md").read_text()
    (first, second, mean) = re.search(
        r"Readings of (\d+) W after 1 s and (\d+) W after 3 s, and a stop after 4 s, .* = (\d+) W", page
    ).groups()  # type: ignore[union-attr]
    text = node_log([int(first)], first=1, stop=None) + node_log([int(second)], start=None, first=3, stop=4)
    (tmp_path / "node_0.txt").write_text(text)
    assert watts_of_node(tmp_path / "node_0.txt") == int(mean)
