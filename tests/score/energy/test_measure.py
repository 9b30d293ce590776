"""What a measurement comes to, by hand and by properties that hold for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io import MlsubError
from mlsub.score.energy.score import BadLines, Power, Record, RunPower, Switch, energy_result, measure, run_joules

NAME = "node_0.txt"


def start(second: float) -> Record:
    return Record(1000 * second, "start")


def stop(second: float) -> Record:
    return Record(1000 * second, "stop")


def reading(second: float, watts: float | None, line: int = 0) -> Record:
    return Record(1000 * second, "reading", watts, line)


def efficiency(second: float, value: float | None) -> Record:
    return Record(1000 * second, "efficiency", value)


def run_of(*nodes: Sequence[Record], switches: Sequence[Switch] = ()) -> RunPower:
    measured = tuple(measure(f"node_{n}.txt", records) for n, records in enumerate(nodes))
    return RunPower("result_0", "power/result_0", there=True, nodes=measured, switches=tuple(switches))


PLAIN = (start(0), reading(1, 100), reading(3, 200), stop(4))

#: Records, and the mean power by hand: the sum of watts times seconds since the reading before, by the seconds between
#: the last start and the stop.
WATTS: dict[str, tuple[Sequence[Record], float]] = {
    "a reading counts from the one before": (PLAIN, (100 * 1 + 200 * 2) / 4),
    "in any order of lines": (tuple(reversed(PLAIN)), (100 * 1 + 200 * 2) / 4),
    "before the start nothing counts": ((reading(-1, 9000), *PLAIN), 125),
    "behind the stop nothing counts": ((*PLAIN, reading(5, 9000)), 125),
    "without a stop the last reading ends it": (PLAIN[:-1], 500 / 3),
    "the last stop ends it, the first one the readings": ((*PLAIN, reading(5, 9000), stop(8)), 500 / 8),
    "the last start begins it, and adds to it": ((*PLAIN[:3], start(3), reading(4, 50), stop(5)), (500 + 50) / 2),
    "efficiency": ((*PLAIN, efficiency(0, 0.8)), 100),
    "the last efficiency in time": ((*PLAIN, efficiency(3, 0.5), efficiency(1, 0.8)), 62.5),
    "text that does not count": ((*PLAIN, reading(9, None)), 125),
    "readings of 0 watts count, whenever it stops": ((start(0), reading(1, 0), stop(2), start(3)), 0),
    "a reading at the start has no length": ((start(0), reading(0, 9000), reading(2, 10), stop(2)), 10),
}


@pytest.mark.parametrize("name", WATTS)
def test_the_mean_power_is_that_by_hand(name: str) -> None:
    records, watts = WATTS[name]
    node = measure(NAME, records)
    assert node.lack == ""
    assert node.watts == pytest.approx(watts, rel=1e-12)
    assert run_joules(run_of(records), 60_000) == pytest.approx(60 * watts, rel=1e-12)


#: Records of which no energy comes, and why.
LACKS: dict[str, tuple[Sequence[Record], str]] = {
    "empty": ((), "there is no power_measurement_start"),
    "no start": (PLAIN[1:], "there is no power_measurement_start"),
    "text": ((*PLAIN, reading(2, None, 7)), "the power_reading of line 7 is not a number"),
    "efficiency of text": ((*PLAIN, efficiency(1, None)), "the conversion_eff is not a number"),
    "no length": ((start(1), reading(2, 5), stop(1)), "power_measurement_stop has the time of power_measurement_start"),
    "no length, no stop": ((start(1), reading(1, 5)), "the last power_reading has the time of power_measurement_start"),
    "stops first": ((*PLAIN, start(6)), "the measurement ends 2 s before its last power_measurement_start"),
}


@pytest.mark.parametrize("name", LACKS)
def test_where_there_is_no_energy_it_is_told_why(name: str) -> None:
    records, lack = LACKS[name]
    node = measure(NAME, records)
    assert (node.watts, node.lack) == (None, f"{NAME}: {lack}")
    with pytest.raises(MlsubError, match=lack):
        run_joules(run_of(PLAIN, records), 1000)


def test_a_node_that_counts_nothing_is_0_watts_beside_others_and_no_energy_alone() -> None:
    silent = (start(0), stop(4))
    assert run_joules(run_of(PLAIN, silent), 8000) == pytest.approx(8 * 125)
    with pytest.raises(MlsubError, match="there is no power_reading between start and stop"):
        run_joules(run_of(silent, silent, switches=[Switch(name="sw_0.txt", watts=10)]), 8000)


def test_a_run_is_the_sum_of_its_nodes_and_switches() -> None:
    half = (*PLAIN, efficiency(0, 0.5))
    switches = [Switch(name="sw_0.txt", watts=10, efficiency=0.9), Switch(name="sw_1.txt", there=False)]
    assert run_joules(run_of(PLAIN, half, switches=switches), 2000) == pytest.approx(2 * (125 + 62.5 + 9))


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (run_of(), r"there is no node_\*\.txt"),
        (RunPower("r", "p", there=False), r"there is no node_\*\.txt"),
        (RunPower("r", "p", there=True, unreadable=(("node_3.txt", "why"),)), r"node_3\.txt cannot be read"),
        (RunPower("r", "p", there=False, unreadable=(("", "why"),)), "the folder cannot be read"),
        (run_of(PLAIN, switches=[Switch(name="sw_0.txt", watts=None)]), "sw_0.txt: the interconnect_power_est is no"),
        (run_of(PLAIN, switches=[Switch(name="sw_0.txt", efficiency=None)]), "sw_0.txt: the conversion_eff is no"),
        (run_of((start(0), reading(1, 1e308), reading(9, 1e308), stop(9))), "the numbers are too large"),
    ],
)
def test_a_run_without_energy_says_why(run: RunPower, reason: str) -> None:
    with pytest.raises(MlsubError, match=reason):
        run_joules(run, 60_000)


ODD = {
    "as it should be": (PLAIN, ""),
    "no start is told elsewhere": (PLAIN[1:], ""),
    "no stop": (PLAIN[:-1], "no power_measurement_stop"),
    "two stops": ((*PLAIN, stop(9)), "1 times power_measurement_start, 2 times power_measurement_stop"),
    "two starts": ((start(-1), *PLAIN), "2 times power_measurement_start, 1 times power_measurement_stop"),
}


@pytest.mark.parametrize("name", ODD)
def test_start_and_stop_are_asked_for_once(name: str) -> None:
    records, odd = ODD[name]
    assert measure(NAME, records).odd == odd


def test_the_pace_is_that_by_hand() -> None:
    pace = measure(NAME, [reading(second, 1) for second in (0, 1, 3, 4, 24)])
    assert (pace.readings, pace.first_ms, pace.last_ms) == (5, 0, 24_000)
    assert (pace.median_ms, [to - at for at, to in pace.gaps]) == (1500, [20_000])
    assert pace.usual_ms == pytest.approx(4000 / 3), "the gap of 20 s is none of the usual intervals"
    slow = measure(NAME, [reading(0, 1), reading(10, 1)])
    assert (slow.usual_ms, slow.gaps) == (10_000, ()), "more than 10 s are a gap"
    alone = measure(NAME, [reading(5, 1)])
    assert (alone.readings, alone.first_ms, alone.last_ms, alone.gaps) == (1, 5000, 5000, ())
    assert measure(NAME, [start(0), stop(1)]).readings == 0


def test_what_a_file_holds_is_kept() -> None:
    bad = BadLines(3, "x", 1)
    node = measure(NAME, [reading(0, 5), reading(1, -2), reading(2, None), efficiency(0, 0.5)], bad)
    assert (node.least_watts, node.efficiency, node.bad) == (-2, 0.5, bad)


WATTS_OF = st.lists(st.floats(0, 1e6), min_size=1, max_size=30)


@given(WATTS_OF, WATTS_OF)
def test_the_digest_is_that_of_the_readings_alone(one: list[float], other: list[float]) -> None:
    def node(watts: list[float], late: float) -> bytes:
        return measure(NAME, [reading(late + second, value) for second, value in enumerate(watts)]).digest

    assert node(one, 0) == node(one, 100)
    assert (node(one, 0) == node(other, 0)) == (one == other)


def power(*joules: float | None) -> Power:
    return Power(findings=(), faulted=frozenset(), joules=joules)


#: Joules, minutes, runs that are forgiven, and the mean by hand: runs fall out by their time, not by their energy.
OLYMPIC: dict[str, tuple[tuple[float | None, ...], list[float | None], int, float | None]] = {
    "the fastest and the slowest fall out": ((900, 10, 20, 30, 1), [1, 3, 2, 4, 5], 1, 20),
    "a noncompliant run counts as slowest": ((900, 10, 20, 30, 1), [1, 3, 2, 4, None], 1, 20),
    "two noncompliant are too many": ((900, 10, 20, 30, 1), [1, 3, 2, None, None], 1, None),
    "energy of a run that falls out is not needed": ((None, 10, 20, 30, None), [1, 3, 2, 4, 5], 1, 20),
    "energy of a run that counts is": ((900, 10, None, 30, 1), [1, 3, 2, 4, 5], 1, None),
    "four and four": ((9, 9, 9, 9, 5, 7, 8, 8, 8, 8), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 4, 6),
    "none is left": ((1, 2), [1, 2], 1, None),
    "no runs": ((), [], 1, None),
    "too large": ((1, 1e308, 1e308, 1e308, 1), [1, 2, 3, 4, 5], 1, None),
}


@pytest.mark.parametrize("name", OLYMPIC)
def test_the_energy_of_an_entry_is_that_by_hand(name: str) -> None:
    joules, minutes, forgiven, mean = OLYMPIC[name]
    result = energy_result(power(*joules), minutes, forgiven, 1.25)
    assert result.unscaled == mean
    assert result.scaled == (None if mean is None else 1.25 * mean)
    assert result.runs == joules
