"""Each question an auditor asks of power measurements has a case that raises it, and a clean one that does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.findings import Kind, Verdict
from mlsub.score.energy.score import Power
from tools.support.power_folders import (
    SECONDS,
    START_MS,
    judged,
    make_entry,
    node_log,
    power_of,
    record,
    rules,
    switch_log,
)

GOOD = [1000 + n % 7 for n in range(SECONDS + 1)]
Files = dict[str, str]


def one(number: int) -> Files:
    return {"node_0.txt": node_log([watts + number for watts in GOOD])}


def three(number: int) -> Files:
    return {**one(number), "node_1.txt": node_log(GOOD), "node_2.txt": node_log(GOOD), "sw_0.txt": switch_log(100)}


def entry(tmp_path: Path, first: Files | None, others: Callable[[int], Files | None] = one) -> Path:
    """Five runs, of which the first is another."""
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [first, *(others(n) for n in range(1, 5))])
    return folder


def told(power: Power) -> list[tuple[str, str, str | None]]:
    """Rule, path below the first run and what was found; findings on other runs would stand out by their path."""
    return [(f.rule, f.path.removeprefix("power/result_0/"), f.actual) for f in power.findings]


def test_good_measurements_say_nothing(tmp_path: Path) -> None:
    power = judged(entry(tmp_path, one(0)), nodes="1")
    assert (power.findings, power.faulted) == ((), frozenset())
    mean = sum(watts + 1 for watts in GOOD[1:]) / SECONDS
    assert power.joules[1] == pytest.approx(mean * SECONDS, rel=1e-12)
    assert told(judged(entry(tmp_path / "three", three(0), three), nodes=3)) == []


def test_without_a_power_folder_there_is_nothing_to_judge(tmp_path: Path) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [])
    (folder / "power").rmdir()
    assert power_of(folder) is None


ALONE = ", on 1 of 1 nodes"
NOT_BETWEEN = "there is no power_reading between start and stop of a measurement"
NO_START = "node_0.txt: there is no power_measurement_start"
#: A node's file, and all that is said of it.
NODES: dict[str, tuple[str, list[tuple[str, str | None]]]] = {
    "slow": (
        node_log(GOOD[:31], step=2),
        [("sampling", f"every 2.00 s (31 readings){ALONE}"), ("few-readings", f"31{ALONE}")],
    ),
    "often slow": (
        node_log(GOOD[:40]) + node_log(GOOD[:12], start=None, stop=None, first=40, step=2),
        [("sampling", f"every 1.22 s (52 readings){ALONE}"), ("few-readings", f"52{ALONE}")],
    ),
    "a little late": (node_log(GOOD[:60], step=1.19, stop=70.3), []),
    "too few by one": (node_log(GOOD[:59]), [("few-readings", f"59{ALONE}")]),
    "enough": (node_log(GOOD[:60]), []),
    "gap": (
        node_log(GOOD[:20]) + node_log(GOOD[:41], start=None, stop=None, first=40, step=0.5),
        [("gap", f"21.0 s{ALONE}")],
    ),
    "gap before the run": (node_log([*GOOD[:1]], first=-40, start=-40, stop=None) + node_log(GOOD, start=None), []),
    "late": (node_log(GOOD, first=15, stop=90), [("coverage", f"15.0 s of 60.0 s without any{ALONE}")]),
    "early end": (node_log(GOOD, first=-10, start=-10), [("coverage", f"10.0 s of 60.0 s without any{ALONE}")]),
    "a second at each end": (node_log(GOOD, first=1, step=58 / 60), []),
    "hours later": (node_log(GOOD, start=7260, first=7260, stop=7320), [("clock", f"2.0 hours after it{ALONE}")]),
    "years before": (
        node_log(GOOD, start=-9e7, first=-9e7, stop=-9e7 + 60),
        [("clock", f"2.9 years before it{ALONE}")],
    ),
    "no start": (node_log(GOOD, start=None), [("no-energy", NO_START)]),
    "no stop": (node_log(GOOD, stop=None), [("interval", f"no power_measurement_stop{ALONE}")]),
    "two stops": (
        node_log(GOOD) + record(START_MS + 61_000, "power_measurement_stop", None),
        [("interval", f"1 times power_measurement_start, 2 times power_measurement_stop{ALONE}")],
    ),
    "stop at the start": (
        node_log(GOOD, stop=0),
        [
            ("no-energy", "node_0.txt: power_measurement_stop has the time of power_measurement_start"),
            ("interval", f"power_measurement_stop has the time of power_measurement_start{ALONE}"),
        ],
    ),
    "stop before the start": (node_log(GOOD, start=61, stop=0), [("no-energy", NOT_BETWEEN)]),
    "no readings": (node_log([]), [("no-energy", NOT_BETWEEN)]),
    "text": (
        node_log([*GOOD[:-1], "1000 W"]),
        [
            ("no-energy", f"node_0.txt: the power_reading of line {SECONDS + 2} is not a number"),
            ("bad-line", 'power_reading: "1000 W"'),
        ],
    ),
    "not a number": (
        node_log([*GOOD[:-2], float("nan"), float("inf")]),
        [
            ("no-energy", f"node_0.txt: the power_reading of line {SECONDS + 1} is not a number"),
            ("bad-line", "power_reading: NaN, and 1 more lines"),
        ],
    ),
    "huge": (
        node_log([*GOOD[:-1], 10**4000]),
        [
            ("no-energy", f"node_0.txt: the power_reading of line {SECONDS + 2} is not a number"),
            ("bad-line", f"power_reading: 1{'0' * 78}…"),
        ],
    ),
    "broken record": (
        node_log(GOOD) + ":::MLLOG [1]\n",
        [("bad-line", "no record that can be decoded: a JSON array where an object is needed")],
    ),
    "negative": (node_log([*GOOD[:-1], -3]), [("negative", "-3 W")]),
    "per cent": (node_log(GOOD, conversion_eff=94), [("efficiency", "94")]),
    "no efficiency": (node_log(GOOD, conversion_eff=0), [("efficiency", "0")]),
    "whole efficiency": (node_log(GOOD, conversion_eff=1), []),
    "efficiency of text": (
        node_log(GOOD, conversion_eff="0.9"),
        [("no-energy", "node_0.txt: the conversion_eff is not a number"), ("bad-line", 'conversion_eff: "0.9"')],
    ),
    "binary": ("\0\xff" * 2000, [("no-energy", NO_START)]),
    "empty": ("", [("no-energy", NO_START)]),
}


@pytest.mark.parametrize("name", NODES)
def test_a_defect_of_a_node_is_told_once(name: str, tmp_path: Path) -> None:
    text, found = NODES[name]
    power = judged(entry(tmp_path, {"node_0.txt": text}))
    of_run = {"no-energy": "power/result_0"}
    assert told(power) == [(f"power.{rule}", of_run.get(rule, "node_0.txt"), actual) for rule, actual in found]
    assert (power.joules[0] is None) == ("no-energy" in dict(found))
    assert {f.kind for f in power.findings} <= {Kind.REVIEW}
    assert power.faulted == frozenset()


#: What of three nodes and a switch is changed, and all that is said of it: nodes are put together, the worst is named.
SEVERAL: dict[str, tuple[Files, list[tuple[str, str, str | None]]]] = {
    "two slow nodes": (
        {"node_1.txt": node_log(GOOD, step=1.5, stop=99), "node_2.txt": node_log(GOOD, step=3, stop=200)},
        [("power.sampling", "node_2.txt", "every 3.00 s (61 readings), on 2 of 3 nodes")],
    ),
    "two negative nodes": (
        {"node_1.txt": node_log([*GOOD, -1]), "node_2.txt": node_log([*GOOD, -2]), "sw_0.txt": switch_log(-0.5)},
        [("power.negative", "node_2.txt", "-2 W, and in 2 more files")],
    ),
    "a node of 0 watts": (
        {"node_2.txt": node_log(GOOD, start=61, stop=70)},
        [("power.uncounted", "node_2.txt", "1 of 3 nodes")],
    ),
    "a clock and an end": (
        {"node_0.txt": node_log(GOOD, first=99, start=99, stop=160), "node_1.txt": node_log(GOOD, first=30, stop=99)},
        [
            ("power.clock", "node_0.txt", "39.0 s after it, on 1 of 3 nodes"),
            ("power.coverage", "node_1.txt", "30.0 s of 60.0 s without any, on 1 of 3 nodes"),
        ],
    ),
    "two without a stop": (
        {"node_1.txt": node_log(GOOD, stop=None), "node_2.txt": node_log(GOOD, stop=None)},
        [("power.interval", "node_1.txt", "no power_measurement_stop, on 2 of 3 nodes")],
    ),
    "per cent twice": (
        {"node_1.txt": node_log(GOOD, conversion_eff=94), "sw_0.txt": switch_log(1, 94)},
        [("power.efficiency", "node_1.txt", "94, in 2 files")],
    ),
    "bad lines in two files": (
        {"node_1.txt": node_log([*GOOD, "x", "x"]), "sw_0.txt": switch_log(1) + ":::MLLOG\t{}\n:::MLLOG {}\n"},
        [("power.bad-line", "node_1.txt", 'power_reading: "x", and 1 more lines; also in 1 more files')],
    ),
    "a switch without an estimate": ({"sw_0.txt": ""}, [("power.uncounted", "sw_0.txt", "1 of 1 switches")]),
    "a switch that is not a number": (
        {"sw_0.txt": switch_log("much")},
        [
            ("power.no-energy", "power/result_0", "sw_0.txt: the interconnect_power_est is not a number"),
            ("power.bad-line", "sw_0.txt", 'interconnect_power_est: "much"'),
        ],
    ),
    "a switch of years before": (
        {"sw_0.txt": switch_log(100).replace(str(START_MS), str(START_MS - 7 * 10**10))},
        [("power.clock", "sw_0.txt", "2.2 years before it, on 1 of 1 switches")],
    ),
    "a switch of the day before, and two of other days": (
        {
            f"sw_{at}.txt": switch_log(100).replace(str(START_MS), str(START_MS + off))
            for at, off in enumerate((-86_400_000, 1000 * SECONDS + 86_400_001, -3 * 86_400_000))
        },
        [
            ("power.unequal", "power/result_0", "3"),
            ("power.clock", "sw_2.txt", "3.0 days before it, on 2 of 3 switches"),
        ],
    ),
    "a switch of the hour before": (
        {"sw_0.txt": switch_log(100).replace(str(START_MS), str(START_MS - 3_600_000))},
        [],
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_nodes_with_the_same_defect_are_one_finding(name: str, tmp_path: Path) -> None:
    files, found = SEVERAL[name]
    assert told(judged(entry(tmp_path, {**three(0), **files}, three), nodes=3)) == found


def test_what_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    folder = entry(tmp_path, three(0), three)
    for name in ("node_1.txt", "sw_0.txt"):
        (folder / "power" / "result_0" / name).unlink()
        (folder / "power" / "result_0" / name).mkdir()
    power = judged(folder)
    assert [(rule, path) for rule, path, _ in told(power)] == [
        ("power.no-energy", "power/result_0"),
        ("power.unreadable", "node_1.txt"),
    ]
    assert power.findings[1].message == "It cannot be read: a folder, and 1 more files"


def test_nodes_are_held_against_the_description(tmp_path: Path) -> None:
    folder = entry(tmp_path, three(0), three)
    assert rules(judged(folder, nodes=3)) == rules(judged(folder, nodes="3")) == []
    assert rules(judged(folder, nodes="8")) == ["power.node-count"] * 5
    assert rules(judged(folder, described=False)) == []
    for unusable in ("many", ["8"], None, -1, 10**30):
        assert rules(judged(folder, nodes=unusable)) == []


def test_several_nodes_need_a_switch(tmp_path: Path) -> None:
    def without(number: int) -> Files:
        return {**one(number), "node_1.txt": node_log(GOOD)}

    assert rules(judged(entry(tmp_path / "a", without(0), without))) == ["power.no-switch"] * 5
    described = judged(entry(tmp_path / "b", one(0), one), nodes=2)
    assert rules(described) == ["power.node-count", "power.no-switch"] * 5


def test_copies_are_told(tmp_path: Path) -> None:
    assert told(judged(entry(tmp_path, one(1)))) == [("power.same-readings", "power/result_1", "power/result_0")]
    assert told(judged(entry(tmp_path / "nearly", {"node_0.txt": node_log([*(w + 1 for w in GOOD[:-1]), 7])}))) == []


def test_few_readings_are_no_copies(tmp_path: Path) -> None:
    def short(_: int) -> Files:
        return {"node_0.txt": node_log([5] * 9, step=7.5)}

    assert "power.same-readings" not in rules(judged(entry(tmp_path, short(0), short)))


HOSTILE = {
    "far away": record(1e308, "power_reading", 1e308) * 3,
    "brackets": "[" * 100_000,
    "tokens": ":::MLLOG " * 50_000,
    "one line": "x" * 2_000_000,
    "nested": ":::MLLOG " + "[" * 99_999,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_findings(name: str, tmp_path: Path) -> None:
    power = judged(entry(tmp_path, {"node_0.txt": node_log(GOOD[:2]) + HOSTILE[name]}))
    assert power.findings
    assert all(len(f"{f.message}{f.expected}{f.actual}") < 500 for f in power.findings)


def test_names_that_are_no_text_are_reported_by_every_format(tmp_path: Path) -> None:
    from tools.support.runner import run

    folder = entry(tmp_path, {"node_\udcff.txt": node_log(GOOD), "node_\x1b[31m\n.txt": "", "\x07": ""})
    outcome = run("check", folder, "--round", "5.1", "--format", "json", "--select", "power")
    assert outcome.report["official"] == Verdict.REJECTED
    assert {"power.names", "power.strays"} <= {found["rule"] for found in outcome.findings}
    assert "\x1b" not in run("check", folder, "--round", "5.1", "--select", "power").stdout
