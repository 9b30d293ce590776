"""What a growing log brings, event by event: phases, identity, evaluations; the same in pieces of any size."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from mlsub.commands.watch.news import Evaluated, Identified, News, PhaseChanged, Warned
from tests.commands.watch.scene import BEGAN_S, Fed, lines_of
from tests.make_tree import Log, make_log


def told(data: bytes, round_name: str = "1.0", pieces: int = 0, usage: str = "training") -> list[News]:
    """The news of a log, but for its findings."""
    fed, chance = Fed(round_name, usage=usage), random.Random(pieces)
    while data:
        size = chance.randint(1, pieces) if pieces else len(data)
        fed.feed(data[:size])
        data = data[size:]
    return [one for one in fed.news if type(one).__name__ != "Found"]


def log_of(*records: tuple[str, Any, dict[str, Any]], step_ms: float = 60_000.0) -> bytes:
    """A log with a record a minute, from minute 0 on."""
    lines = [
        {"namespace": "", "time_ms": n * step_ms, "event_type": "", "key": key, "value": value, "metadata": more}
        for n, (key, value, more) in enumerate(records)
    ]
    return Log(lines).text().encode()


def test_phases_of_a_run() -> None:
    changes = [one for one in told(make_log().text().encode()) if isinstance(one, PhaseChanged)]
    assert [one.phase for one in changes] == ["init", "run", "evaluating", "run", "stopped"]
    assert [one.status for one in changes] == [None] * 4 + ["success"]
    assert (changes[-1].elapsed_ms, changes[-1].blocks, changes[-1].epochs) == (600_000.0, 1, 1)


def test_what_a_log_is_comes_before_its_run() -> None:
    news = told(make_log().text().encode())
    place = next(n for n, one in enumerate(news) if isinstance(one, Identified))
    one = news[place]
    assert isinstance(one, Identified)
    assert (one.benchmark, one.division, one.batch_size) == ("resnet", "closed", 3200)
    assert one.target == "at least 0.759 and below 1.0"
    assert one.reference is not None and one.reference.how == "interpolated"
    assert one.reference.minimum is not None and one.reference.mean is not None
    assert one.reference.minimum < one.reference.mean
    assert [type(n) for n in news[:place]] == [PhaseChanged]
    assert sum(isinstance(n, Identified) for n in news) == 1


def test_open_runs_are_held_against_no_reference() -> None:
    one = next(n for n in told(make_log(division="open").text().encode()) if isinstance(n, Identified))
    assert one.reference is None and one.target == "below 1.0"


@pytest.mark.parametrize("size", [None, "many", [], {}, True, -1, 0, float("nan"), 10**400])
def test_a_batch_size_that_is_none(size: Any) -> None:
    log = make_log()
    log.put("global_batch_size", value=size)
    one = next(n for n in told(log.text().encode()) if isinstance(n, Identified))
    assert one.reference is None
    assert one.batch_size is None or one.batch_size == size


def test_a_log_that_says_little_is_told_with_run_start_and_again_when_it_says_more() -> None:
    lines = lines_of()
    named = [line for line in lines if b"submission_benchmark" in line]
    late = [line for line in lines if line not in named] + named
    found = [n for n in told(b"".join(late)) if isinstance(n, Identified)]
    assert [n.benchmark for n in found] == [None, "resnet"]


Measure = tuple[Any, dict[str, Any]]


def evaluated(
    benchmark: str, size: int, measures: list[Measure], round_name: str = "1.0"
) -> tuple[list[News], list[Any]]:
    """The news of a run of some evaluations, and those of its evaluations."""
    named = {"submission_benchmark": benchmark, "submission_division": "closed", "global_batch_size": size}
    records = [*((key, value, {}) for key, value in named.items()), ("run_start", None, {})]
    news = told(log_of(*records, *(("eval_accuracy", *one) for one in measures)), round_name)
    return news, [one for one in news if isinstance(one, Evaluated)]


def curve(*values: float) -> list[Measure]:
    return [(value, {"samples_count": 12_000 * (n + 1)}) for n, value in enumerate(values)]


def test_evaluations_with_forecast_and_the_pace_of_the_reference() -> None:
    news, found = evaluated("llama31_8b", 32, curve(3.9, 3.8, 3.7, 3.6, 3.5, 3.4, 3.29), "5.1")
    assert [one.forecast.state for one in found[:3]] == ["too-early"] * 3
    assert all(one.forecast.state in ("from", "between") for one in found[3:6])
    assert found[6].forecast.state == "reached"
    assert [one.reached for one in found] == [False] * 6 + [True]
    identity = next(one for one in news if isinstance(one, Identified))
    assert identity.reference is not None and identity.reference.mean is not None
    assert (found[1].progress, found[1].unit, found[1].elapsed_ms) == (24_000, "samples", 120_000.0)
    assert found[1].by_reference_ms == pytest.approx(60_000 * identity.reference.mean / 12_000)
    assert found[6].by_reference_ms is None


def test_an_evaluation_before_the_first_sample_does_not_turn_the_unit() -> None:
    _, found = evaluated("bert", 448, [(0.3, {"epoch_num": 0}), (0.4, {"epoch_num": 299_904})], "4.1")
    assert [(one.progress, one.unit) for one in found] == [(0, "samples"), (299_904, "samples")]


def test_once_reached_the_target_stays_reached() -> None:
    assert [one.reached for one in evaluated("llama31_8b", 32, curve(3.2, 3.4), "5.1")[1]] == [True, True]


def test_measures_that_come_one_by_one() -> None:
    steps = enumerate([(300, 0.05), (80, 0.1), (85, 0.16)])
    both = [
        (value, {"metric": metric, "samples_count": step})
        for step, values in steps
        for metric, value in zip(("FID", "CLIP"), values, strict=True)
    ]
    _, found = evaluated("stable_diffusion", 1024, both, "4.0")
    assert [one.measure for one in found] == ["FID", "CLIP"] * 3
    assert [one.reached for one in found] == [False] * 5 + [True]


def test_measures_that_are_good_enough_but_not_together() -> None:
    values = [{"BBOX": 0.4, "SEGM": 0.3}, {"BBOX": 0.3, "SEGM": 0.4}]
    _, found = evaluated("maskrcnn", 96, [(value, {"epoch_num": n}) for n, value in enumerate(values, 1)])
    assert not found[-1].reached and found[-1].forecast.state != "reached"


def test_evaluations_before_anything_is_known() -> None:
    found = [one for one in told(log_of(("eval_accuracy", 0.5, {}))) if isinstance(one, Evaluated)]
    assert (found[0].reached, found[0].elapsed_ms, found[0].unit) == (None, None, None)


@pytest.mark.parametrize("time_ms", [math.inf, -math.inf, math.nan, 1e300, -1e18])
def test_times_that_are_none(time_ms: float) -> None:
    log = make_log()
    for record in log.records():
        record["time_ms"] = time_ms
    news = told(log.text().encode())
    assert any(isinstance(one, PhaseChanged) and one.phase == "stopped" for one in news)
    assert all(one.elapsed_ms is None for one in news if isinstance(one, (PhaseChanged, Evaluated)))


def test_pieces_of_any_size_bring_the_same_news() -> None:
    data = make_log("bert").text().encode()
    for pieces in (1, 7, 200, 5000):
        assert told(data, pieces=pieces) == told(data)


def of_training(*lines: bytes) -> Fed:
    fed = Fed()
    fed.feed(b"".join(lines))
    return fed


def test_an_init_phase_over_its_limit_is_told_before_it_ends() -> None:
    lines = lines_of()
    began = make_log().records("init_start")[0]["time_ms"]
    fed = of_training(*lines[:20])
    assert fed.feed(b"", int(BEGAN_S * 1000)) == [], "a log of another day is no init phase that lasts"
    assert fed.feed(b"", began + 29 * 60_000) == []
    [one] = fed.feed(b"", began + 31 * 60_000)
    assert isinstance(one, Warned) and one.rule == "key.init_stop.time"
    assert one.message == "The init phase has lasted 31.0 minutes, and init_stop has to come within 30"
    assert fed.feed(b"", began + 32 * 60_000) == []
    stop = next(n for n, line in enumerate(lines) if b"init_stop" in line)
    assert of_training(*lines[: stop + 1]).feed(b"", began + 40 * 60_000) == [], "the judge has the last word"


def test_the_time_of_day_counts_while_the_log_is_live() -> None:
    lines = lines_of()
    fed, last = of_training(*lines[:-1]), make_log().records()[-2]["time_ms"]
    assert fed.log.timed_ms is not None
    assert fed.log.running_ms(last + 5000) == fed.log.timed_ms + 5000
    assert fed.log.running_ms(last + 4_000_000) is None
    fed.feed(lines[-1])
    assert (fed.log.timed_ms, fed.log.running_ms(last + 5000)) == (600_000.0, None)


def test_a_defect_of_ours_is_told_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.judge.log.LogJudge.feed", lambda *_: 1 / 0)
    fed = Fed()
    [one] = fed.feed(b"x")
    assert isinstance(one, Warned) and one.rule == "rule.crashed" and "division by zero" in one.message
    assert fed.feed(b"x") == []
