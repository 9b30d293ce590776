"""Each question an auditor asks of power measurements has a case that raises it, and a clean one that does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.energy.model import Node, Record, RunPower, Switch
from mlsub.energy.score import NoEnergyError, run_joules
from tests.energy.folders import SECONDS, START_MS, judged, make_entry, node_log, record, rules, switch_log

GOOD = [1000 + n % 7 for n in range(SECONDS + 1)]


def good(offset: int = 0) -> dict[str, str]:
    return {"node_0.txt": node_log([watts + offset for watts in GOOD])}


def entry(tmp_path: Path, first: dict[str, str] | None, others: Callable[[int], dict[str, str] | None] = good) -> Path:
    """Five runs, of which the first is another."""
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [first, *(others(n) for n in range(1, 5))])
    return folder


def test_good_measurements_say_nothing(tmp_path: Path) -> None:
    power = judged(entry(tmp_path, good()), nodes="1")
    assert power is not None
    assert (power.findings, power.faulted) == ((), frozenset())
    assert power.joules[1] == pytest.approx(1003.97 * 60, rel=1e-3)


def test_without_a_power_folder_there_is_nothing_to_judge(tmp_path: Path) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [])
    (folder / "power").rmdir()
    assert judged(folder) is None


def two(text: str) -> dict[str, str]:
    return {"node_0.txt": text, "node_1.txt": node_log(GOOD), "sw_0.txt": switch_log(100)}


CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "slow": (
        {"node_0.txt": node_log(GOOD[:31], step=2)},
        "power.sampling",
        "one each 2.00 s (31 readings, 2.0 s at worst)",
    ),
    "few": ({"node_0.txt": node_log(GOOD[:31], step=2)}, "power.few-readings", "31, on 1 of 1 nodes"),
    "late": ({"node_0.txt": node_log(GOOD[:46], first=15)}, "power.coverage", "15.0 s of 60.0 s without any"),
    "early end": ({"node_0.txt": node_log(GOOD[:51], stop=50)}, "power.coverage", "10.0 s of 60.0 s without any"),
    "hours later": (
        {"node_0.txt": node_log(GOOD, start=7200, first=7200, stop=7260)},
        "power.clock",
        "119.0 minutes after it",
    ),
    "years before": (
        {"node_0.txt": node_log(GOOD, start=-9e7, first=-9e7, stop=-9e7 + 60)},
        "power.clock",
        "2.9 years before it",
    ),
    "no start": ({"node_0.txt": node_log(GOOD, start=None)}, "power.no-energy", "has no power_measurement_start"),
    "no readings": ({"node_0.txt": node_log([])}, "power.uncounted", "None"),
    "all before the start": (
        {**two(node_log(GOOD, start=61, stop=70))},
        "power.uncounted",
        "1 of 2 nodes",
    ),
    "stop at the start": (
        {"node_0.txt": node_log(GOOD[1:], first=1, stop=0)},
        "power.no-energy",
        "power_measurement_stop has the time of power_measurement_start",
    ),
    "text": ({"node_0.txt": node_log(["1000 W", *GOOD[1:]])}, "power.bad-line", '"1000 W"'),
    "not a number": ({"node_0.txt": node_log([float("nan"), *GOOD[1:]])}, "power.bad-line", "power_reading: NaN"),
    "negative": ({"node_0.txt": node_log([*GOOD[:-1], -3])}, "power.negative", "-3 W"),
    "per cent": ({"node_0.txt": node_log(GOOD, conversion_eff=94)}, "power.efficiency", "94"),
    "broken record": (
        {"node_0.txt": node_log(GOOD) + ":::MLLOG {\n"},
        "power.bad-line",
        "no record that can be decoded",
    ),
    "binary": ({"node_0.txt": "\0" * 2000}, "power.no-energy", "has no power_measurement_start"),
    "empty": ({"node_0.txt": ""}, "power.no-energy", "has no power_measurement_start"),
    "wrong number": ({"node_3.txt": node_log(GOOD)}, "power.names", "node_3.txt"),
    "no number": ({"node_x.txt": node_log(GOOD)}, "power.names", "node_x.txt"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_defect_is_told(name: str, tmp_path: Path) -> None:
    files, rule, actual = CASES[name]
    power = judged(entry(tmp_path, files))
    assert power is not None
    assert rule in rules(power)
    found = next(finding for finding in power.findings if finding.rule == rule)
    assert actual in str(found.actual)
    assert found.path.startswith("power/result_0")


def test_a_gap_is_told(tmp_path: Path) -> None:
    text = node_log(GOOD[:20], stop=None) + node_log(GOOD[:41], start=None, first=40, step=0.5)
    power = judged(entry(tmp_path, {"node_0.txt": text}))
    assert power is not None
    assert [(f.rule, f.actual) for f in power.findings] == [("power.gap", "21.0 s, on 1 of 1 nodes")]


def test_nodes_are_held_against_the_description(tmp_path: Path) -> None:
    folder = entry(tmp_path, good())
    assert rules(judged(folder, nodes=1)) == []
    assert rules(judged(folder, nodes="8")) == ["power.node-count"] * 5
    assert rules(judged(folder, nodes="many")) == []
    assert rules(judged(folder, nodes=["8"])) == []


def test_several_nodes_need_a_switch(tmp_path: Path) -> None:
    def with_switch(number: int) -> dict[str, str]:
        return {**good(number), "node_1.txt": node_log(GOOD), "sw_0.txt": switch_log(100)}

    def without(number: int) -> dict[str, str]:
        return {**good(number), "node_1.txt": node_log(GOOD)}

    assert rules(judged(entry(tmp_path / "a", with_switch(0), with_switch))) == []
    assert rules(judged(entry(tmp_path / "b", without(0), without))) == ["power.no-switch"] * 5


def test_a_switch_without_a_number_leaves_no_energy(tmp_path: Path) -> None:
    power = judged(entry(tmp_path, {**good(), "sw_0.txt": switch_log("much")}))
    assert power is not None
    assert power.joules[0] is None and power.joules[1] is not None
    assert {"power.bad-line", "power.no-energy", "power.unequal"} <= set(rules(power))


def test_copies_are_told(tmp_path: Path) -> None:
    power = judged(entry(tmp_path, good(1), lambda n: good(n)))
    assert [(f.rule, f.path, f.actual) for f in power.findings if power] == [  # type: ignore[union-attr]
        ("power.same-readings", "power/result_1", "power/result_0")
    ]


@pytest.mark.parametrize(("round_name", "kind", "faulted"), [("4.1", "audit", 0), ("5.0", "official", 1)])
def test_structure_counts_from_v50_on(round_name: str, kind: str, faulted: int, tmp_path: Path) -> None:
    power = judged(entry(tmp_path, None), round_name)
    assert power is not None
    (found,) = power.findings
    assert (found.rule, found.kind, found.expected) == ("power.missing", kind, "power/result_0/node_0.txt")
    assert len(power.faulted) == faulted


def test_a_file_in_place_of_the_folder_faults_every_run(tmp_path: Path) -> None:
    folder = entry(tmp_path, None, lambda n: None)
    (folder / "power").rmdir()
    (folder / "power").write_text("")
    power = judged(folder)
    assert rules(power) == ["power.missing"] * 5
    assert power is not None and len(power.faulted) == 5


def test_links_and_folders_in_place_of_files_are_told(tmp_path: Path) -> None:
    folder = entry(tmp_path, {"node_1.txt": node_log(GOOD)})
    place = folder / "power" / "result_0"
    (place / "node_0.txt").symlink_to(place / "node_0.txt")
    (place / "sw_0.txt").mkdir()
    found = rules(judged(folder))
    assert "power.unreadable" in found


@given(st.floats(1, 1e6), st.floats(0.01, 1e5), st.floats(0.1, 10))
def test_constant_power_over_a_run_is_power_times_time(watts: float, seconds: float, factor: float) -> None:
    end = START_MS + 1000 * seconds
    records = (Record(START_MS, "start"), Record((START_MS + end) / 2, "reading", watts), Record(end, "reading", watts))
    node = Node("node_0.txt", (*records, Record(end, "stop")), 1.0)
    run = RunPower("result_0", "power/result_0", there=True, nodes=(node,))
    joules = run_joules(run, end - START_MS)
    assert joules == pytest.approx(watts * (end - START_MS) / 1000, rel=1e-6)
    assert run_joules(run, factor * (end - START_MS)) == pytest.approx(factor * joules, rel=1e-9)


def test_switches_add_their_estimate() -> None:
    node = Node("node_0.txt", (Record(0, "start"), Record(1000, "reading", 100), Record(1000, "stop")), 0.5)
    run = RunPower(
        "r", "p", there=True, nodes=(node,), switches=(Switch("sw_0.txt", 10, 0.9), Switch("sw_1.txt", None, 1))
    )
    assert run_joules(run, 2000) == pytest.approx(0.5 * 100 * 2 + 0.9 * 10 * 2)


def test_a_run_without_nodes_has_no_energy() -> None:
    with pytest.raises(NoEnergyError, match=r"no node_\*\.txt"):
        run_joules(RunPower("r", "p", there=True), 1000)


def test_hostile_files_end_in_findings(tmp_path: Path) -> None:
    texts: list[Any] = [record(1e308, "power_reading", 1e308) * 3, "[" * 100_000, ":::MLLOG " * 50_000, "x" * 2_000_000]
    for number, text in enumerate(texts):
        power = judged(entry(tmp_path / str(number), {"node_0.txt": node_log(GOOD[:2]) + str(text)}))
        assert power is not None
        assert all(len(finding.actual or "") < 500 for finding in power.findings)
