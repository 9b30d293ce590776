"""What a growing log brings, event by event: phases, identity, evaluations; the same in pieces of any size."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from mlsub.commands.watch.model import Evaluation, Event
from tools.support.make_tree import Log, make_log
from tools.support.scene import BEGAN_S, Fed, evaluations_of, lines_of, phases_of, runs_of


def told(data: bytes, round_name: str = "1.0", pieces: int = 0, usage: str = "training") -> list[Event]:
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
    news = told(make_log().text().encode())
    last = runs_of(news)[-1]
    assert phases_of(news) == ["init", "run", "evaluating", "run", "stopped"]
    assert [one.status for one in runs_of(news) if one.status] == ["success"]
    assert (last.elapsed_ms, last.blocks, last.epochs) == (600_000.0, 1, 1)


def test_what_a_log_is_comes_before_its_run() -> None:
    news = told(make_log().text().encode())
    init, one, *rest = runs_of(news)
    assert (init.phase, init.target) == ("init", None)
    assert (one.benchmark, one.division, one.batch_size) == ("resnet", "closed", 3200)
    assert (one.phase, one.target) == ("init", "at least 0.759 and below 1.0")
    assert {later.target for later in rest} == {one.target}


def test_open_runs_have_a_target_of_their_own() -> None:
    assert runs_of(told(make_log(division="open").text().encode()))[-1].target == "below 1.0"


@pytest.mark.parametrize("size", [None, "many", [], {}, True, -1, 0, float("nan"), 10**400])
def test_a_batch_size_that_is_none(size: Any) -> None:
    log = make_log()
    log.put("global_batch_size", value=size)
    one = runs_of(told(log.text().encode()))[-1]
    assert one.batch_size is None or one.batch_size == size


def test_a_log_that_says_little_is_told_with_run_start_and_again_when_it_says_more() -> None:
    lines = lines_of()
    named = [line for line in lines if b"submission_benchmark" in line]
    late = [line for line in lines if line not in named] + named
    found = [(n.phase, n.benchmark) for n in runs_of(told(b"".join(late)))]
    assert found[1] == ("run", None) and found[-1] == ("stopped", "resnet")


Measure = tuple[Any, dict[str, Any]]


def evaluated(benchmark: str, size: int, measures: list[Measure], round_name: str = "1.0") -> list[Evaluation]:
    """The evaluations of a run, as they are told."""
    named = {"submission_benchmark": benchmark, "submission_division": "closed", "global_batch_size": size}
    records = [*((key, value, {}) for key, value in named.items()), ("run_start", None, {})]
    return evaluations_of(told(log_of(*records, *(("eval_accuracy", *one) for one in measures)), round_name))


def curve(*values: float) -> list[Measure]:
    return [(value, {"samples_count": 12_000 * (n + 1)}) for n, value in enumerate(values)]


def test_evaluations_against_the_target() -> None:
    found = evaluated("llama31_8b", 32, curve(3.9, 3.8, 3.7, 3.6, 3.5, 3.4, 3.29), "5.1")
    assert [one.reached for one in found] == [False] * 6 + [True]
    assert (found[1].progress, found[1].unit, found[1].elapsed_ms) == (24_000, "samples", 120_000.0)


def test_an_evaluation_before_the_first_sample_does_not_turn_the_unit() -> None:
    found = evaluated("bert", 448, [(0.3, {"epoch_num": 0}), (0.4, {"epoch_num": 299_904})], "4.1")
    assert [(one.progress, one.unit) for one in found] == [(0, "samples"), (299_904, "samples")]


def test_once_reached_the_target_stays_reached() -> None:
    assert [one.reached for one in evaluated("llama31_8b", 32, curve(3.2, 3.4), "5.1")] == [True, True]


def test_measures_that_come_one_by_one() -> None:
    steps = enumerate([(300, 0.05), (80, 0.1), (85, 0.16)])
    both = [
        (value, {"metric": metric, "samples_count": step})
        for step, values in steps
        for metric, value in zip(("FID", "CLIP"), values, strict=True)
    ]
    found = evaluated("stable_diffusion", 1024, both, "4.0")
    assert [one.measure for one in found] == ["FID", "CLIP"] * 3
    assert [one.reached for one in found] == [False] * 5 + [True]


def test_measures_that_are_good_enough_but_not_together() -> None:
    values = [{"BBOX": 0.4, "SEGM": 0.3}, {"BBOX": 0.3, "SEGM": 0.4}]
    found = evaluated("maskrcnn", 96, [(value, {"epoch_num": n}) for n, value in enumerate(values, 1)])
    assert not found[-1].reached


def test_evaluations_before_anything_is_known() -> None:
    found = evaluations_of(told(log_of(("eval_accuracy", 0.5, {}))))
    assert (found[0].reached, found[0].elapsed_ms, found[0].unit) == (None, None, None)


@pytest.mark.parametrize("time_ms", [math.inf, -math.inf, math.nan, 1e300, -1e18])
def test_times_that_are_none(time_ms: float) -> None:
    log = make_log()
    for record in log.records():
        record["time_ms"] = time_ms
    news = told(log.text().encode())
    assert runs_of(news)[-1].phase == "stopped"
    assert all(one.elapsed_ms is None for one in [*runs_of(news), *evaluations_of(news)])


def test_pieces_of_any_size_bring_the_same_news() -> None:
    data = make_log("bert").text().encode()
    whole = told(data)
    for pieces in (1, 7, 200, 5000):
        assert told(data, pieces=pieces) == whole


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
    [one] = runs_of(fed.feed(b"", began + 31 * 60_000))
    assert one.problem == ("init_stop has not come in 31.0 minutes, and has to within 30")
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
    [one] = runs_of(fed.feed(b"x"))
    assert one.problem is not None and one.problem.endswith("cannot be followed: ZeroDivisionError: division by zero")
    assert fed.feed(b"x") == []
