"""What a growing log brings, event by event: phases, identity, evaluations; the same in pieces of any size."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.watch.model import Ended, Found, WatchedEvaluation, WatchEvent
from mlsub.judge import rules
from mlsub.rules.overlay import check_overlay
from mlsub.submission.model import LogReport
from tools.support.judging import report_on
from tools.support.make_tree import Log, make_log
from tools.support.scene import BEGAN_S, Fed, at, evaluations_of, lines_of, phases_of, runs_of


def told(log: Log | bytes, round_name: str = "1.0", pieces: int = 0, usage: str = "training") -> list[WatchEvent]:
    """The news of a log, but for its findings."""
    data = log.text().encode() if isinstance(log, Log) else log
    fed, chance = Fed(round_name, usage=usage), random.Random(pieces)
    while data:
        size = chance.randint(1, pieces) if pieces else len(data)
        fed.feed(data[:size])
        data = data[size:]
    return [one for one in fed.news if type(one).__name__ != "Found"]


def log_of(*records: tuple[str, Any, dict[str, Any]], step_ms: float = 60_000.0) -> Log:
    """A log with a record a minute, from minute 0 on."""
    lines = [
        {"namespace": "", "time_ms": n * step_ms, "event_type": "", "key": key, "value": value, "metadata": more}
        for n, (key, value, more) in enumerate(records)
    ]
    return Log(lines)


def test_phases_of_a_run() -> None:
    news = told(make_log())
    last = runs_of(news)[-1]
    assert phases_of(news) == ["init", "run", "evaluating", "run", "stopped"]
    assert [one.status for one in runs_of(news) if one.status] == ["success"]
    assert (last.elapsed_ms, last.blocks, last.epochs) == (600_000.0, 1, 1)


def test_what_a_log_is_comes_before_its_run() -> None:
    news = told(make_log())
    init, one, *rest = runs_of(news)
    assert (init.phase, init.target) == ("init", None)
    assert (one.benchmark, one.division, one.batch_size) == ("resnet", "closed", 3200)
    assert (one.phase, one.target) == ("init", "at least 0.759 and below 1.0")
    assert {later.target for later in rest} == {one.target}


def test_open_runs_have_a_target_of_their_own() -> None:
    assert runs_of(told(make_log(division="open")))[-1].target == "below 1.0"


@pytest.mark.parametrize("size", [None, "many", [], {}, True, -1, 0, float("nan"), 10**400])
def test_a_batch_size_that_is_none(size: Any) -> None:
    log = make_log()
    log.put("global_batch_size", value=size)
    one = runs_of(told(log))[-1]
    assert one.batch_size is None or one.batch_size == size


def test_a_log_that_says_little_is_told_with_run_start_and_again_when_it_says_more() -> None:
    lines = lines_of()
    named = [line for line in lines if b"submission_benchmark" in line]
    late = [line for line in lines if line not in named] + named
    found = [(n.phase, n.benchmark) for n in runs_of(told(b"".join(late)))]
    assert found[1] == ("run", None) and found[-1] == ("stopped", "resnet")


Measure = tuple[Any, dict[str, Any]]


def evaluated(benchmark: str, size: int, measures: list[Measure], round_name: str = "1.0") -> list[WatchedEvaluation]:
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
    news = told(log)
    assert runs_of(news)[-1].phase == "stopped"
    assert all(one.elapsed_ms is None for one in [*runs_of(news), *evaluations_of(news)])


@pytest.mark.slow
def test_pieces_of_any_size_bring_the_same_news() -> None:
    log = make_log("bert")
    assert all(told(log, pieces=pieces) == told(log) for pieces in (1, 7, 200, 5000))


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


# What is told while a log still grows: at once what no record can mend any more, and nothing else.


def rules_by_line(log: Log, round_name: str = "1.0", overlay: str | None = None) -> list[str]:
    """The rules told, each with the 0-based line after which it was."""
    fed = Fed(round_name, overlay)
    told: dict[str, int] = {}
    for number, line in enumerate(log.text().encode().splitlines(keepends=True)):
        for one in fed.feed(line):
            if isinstance(one, Found):
                told.setdefault(one.finding.rule, number)
    return [f"{rule}@{number}" for rule, number in told.items()]


@pytest.mark.parametrize("benchmark", ["resnet", "bert", "unet3d"])
def test_a_good_log_is_never_blamed(benchmark: str) -> None:
    assert rules_by_line(make_log(benchmark)) == []


def moved(log: Log, key: str, to: str, after: int = 0) -> None:
    """Put one record before another one, or so many lines behind that."""
    record = log.lines.pop(log.at(key))
    log.lines.insert(log.at(to) + after, record)


def optimizer_late(log: Log) -> None:
    log.put("lars_epsilon", value=0.1)
    moved(log, "opt_name", "init_stop")


def again(log: Log, **other: Any) -> None:
    log.lines.insert(log.at("global_batch_size") + 3, {**log.records("global_batch_size")[0], **other})


def long_init(log: Log) -> None:
    for record in log.records()[log.at("init_stop") :]:
        record["time_ms"] += 1_800_000


#: What is done to a log; the keys of the rules told, their aspect, and the key at whose line they are, or lines behind.
WRONG: dict[str, tuple[Callable[[Log], object], list[str], str, str, int]] = {
    "a value": (lambda log: log.put("lars_epsilon", value=0.1), ["lars_epsilon"], "value", "lars_epsilon", 0),
    "a value of an optimizer, once that is known": (optimizer_late, ["lars_epsilon"], "value", "opt_name", 0),
    "a key again with another value": (
        lambda log: again(log, value=1), ["global_batch_size"], "count", "global_batch_size", 3,
    ),
    "a key again with the same value": (again, ["global_batch_size"], "repeated", "global_batch_size", 3),
    "a long init phase": (long_init, ["init_stop"], "time", "init_stop", 0),
    "an order, as soon as both are there": (
        lambda log: moved(log, "init_stop", "run_start", 1), ["init_stop", "run_start"], "order", "init_stop", 0,
    ),
    "metadata": (
        lambda log: log.records("eval_accuracy")[0]["metadata"].clear(),
        ["eval_accuracy"], "metadata", "eval_accuracy", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_at_its_line(name: str) -> None:
    change, keys, aspect, place, behind = WRONG[name]
    log = make_log()
    change(log)
    assert set(rules_by_line(log)) == {f"key.{key}.{aspect}@{log.at(place) + behind}" for key in keys}


def test_a_broken_record_is_told_in_words_that_do_not_end_the_log() -> None:
    fed = Fed()
    [told] = fed.feed(b':::MLLOG {"key": "broken\n')
    assert isinstance(told, Found) and told.finding.message == "A record cannot be decoded"
    assert fed.log.report().findings[0].message.startswith("The log ends with a record")
    fed.log.end(0)
    assert [one.finding.rule for one in fed.news if isinstance(one, Found)].count(told.finding.rule) == 1


@pytest.mark.parametrize("key", ["seed", "cache_clear", "opt_name", "init_start", "block_start", "eval_accuracy"])
def test_nothing_is_missing_before_the_end(key: str) -> None:
    log = make_log()
    log.put("eval_accuracy", value=0.1)  # A target not yet reached is no finding either.
    log.drop(key)
    told = [rule for rule in rules_by_line(log) if ".count@" in rule or ".any-of@" in rule or ".target@" in rule]
    assert told == []


def test_how_often_a_key_of_v0_6_must_appear_is_open_until_its_optimizer_is_known() -> None:
    values = {
        "submission_benchmark": '"resnet"',
        "submission_division": '"closed"',
        "lars_epsilon": "0.0",
        "lars_opt_weight_decay": "-1",
        "opt_name": '"lars"',
    }
    log = Log([f':::MLL 1.0 {key}: {{"value": {value}, "metadata": {{}}}}' for key, value in values.items()])
    assert rules_by_line(log, round_name="0.6") == ["key.lars_opt_weight_decay.value@3"]


def test_measures_that_belong_together_are_judged_only_together() -> None:
    log = log_of(
        ("submission_benchmark", "stable_diffusion", {}),
        ("submission_division", "closed", {}),
        ("eval_accuracy", 100.0, {"metric": "FID", "samples_count": 1}),
        ("eval_accuracy", 0.16, {"metric": "CLIP", "samples_count": 2}),
    )
    assert rules_by_line(log, round_name="4.0") == []


def test_rules_of_the_house(tmp_path: Path) -> None:
    file = tmp_path / "house.yaml"
    file.write_text(
        'title: House rules\ncommon:\n  "1.0":\n    both:\n'
        "      submission_platform: {one_of: [rack2]}\n      cluster_id: exactly_one\n"
    )
    log = make_log()
    told = rules_by_line(log, overlay=check_overlay(file))
    assert told == [f"house.submission_platform.value@{log.at('submission_platform')}"]


# A log fed in pieces is judged as the same bytes in a file are: by the code of mlsub check, to the last field.

RECORD = (
    b':::MLLOG {"namespace": "", "time_ms": 5, "event_type": "POINT_IN_TIME", "key": "%s", "value": 1, "metadata": {}}'
)
Told = set[tuple[str, int | None, str | None]]


def same(data: bytes, pieces: list[int], tmp_path: Path, round_name: str = "1.0") -> tuple[LogReport, Told]:
    """The report on bytes in pieces of these sizes (then the rest), as on a file; what was certain before the end."""
    file, fed, place = tmp_path / "result_0.txt", Fed(round_name), 0
    file.write_bytes(data)
    for size in [*pieces, len(data)]:
        if place < len(data):
            fed.feed(data[place : place + size])
            place += size
    told = {(one.finding.rule, one.finding.line, one.finding.expected) for one in fed.news if isinstance(one, Found)}
    report = fed.log.report().at("result_0.txt")
    assert repr(report) == repr(report_on(file, "training", round_name))
    if not report.undecodable:
        assert told <= {(one.rule, one.line, one.expected) for one in report.findings}
    return report, told


LINE = st.sampled_from(
    [
        *lines_of(),
        *(line.replace(b"\n", b"\r\n") for line in lines_of()[:6]),
        RECORD % b"opt_name" + b"\n",
        RECORD % b"submission_division" + b"\r",
        RECORD % b"run_stop" + b" and text behind it\n",
        RECORD[:40] + b"\n",
        b"[rank 3] " + RECORD % b"seed" + RECORD % b"seed" + b"\n",
        b"free text \xff\x00\xe9\n",
        b"progress\rprogress\r",
        b"\n",
        b"\r\n",
        b'::MLLOG :::MLLOG {"key": 1}\n',
        b':::MLLOG {"time_ms": NaN, "key": ["x"], "value": Infinity, "metadata": null}\n',
    ]
)


@pytest.mark.parametrize("data", [b"", b"x", b"\xff", b"\xff\xfe", b"no record\n", make_log().text().encode("utf-16")])
def test_hardly_anything_and_a_wide_encoding(data: bytes, tmp_path: Path) -> None:
    report, told = same(data, [1, 1, 1, 1, 1, 1000], tmp_path)
    assert not report.compliant and not told


@given(
    lines=st.lists(LINE, max_size=40),
    pieces=st.lists(st.integers(1, 400), max_size=60),
    cut=st.integers(0, 300),
)
def test_any_lines_in_any_pieces(lines: list[bytes], pieces: list[int], cut: int, tmp_path: Path) -> None:
    data = b"".join(lines)
    same(data[: max(0, len(data) - cut)] if cut < 150 else data, pieces, tmp_path)


def test_a_log_that_names_itself_after_more_events_than_are_held_is_judged_only_as_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_KEPT", 10)
    lines = lines_of()
    name = lines[at(lines, "submission_benchmark")]
    late = b"".join([*(line for line in lines if line != name), name])
    fed = Fed()
    for start in range(0, len(late), 50):
        assert not any(one.problem for one in runs_of(fed.feed(late[start : start + 50])))
    fed.log.end(0)
    assert isinstance(fed.news[-1], Ended) and fed.news[-1].official == "not-checked"
    [unreadable] = [one.finding for one in fed.news if isinstance(one, Found) and one.finding.rule == "log.unreadable"]
    assert "too late to be judged as it comes; check it as a file" in unreadable.message
    file = tmp_path / "result_0.txt"
    spoiled = late.replace(b'"lars_epsilon", "value": 0.0', b'"lars_epsilon", "value": 0.5')
    for content, compliant in ((late, True), (spoiled, False)):
        file.write_bytes(content)
        assert report_on(file, "training", "1.0").compliant is compliant


def test_an_unfinished_last_line_is_no_record_yet() -> None:
    fed = Fed()
    fed.feed(b"".join(lines_of())[:-1])
    assert fed.log.phase == "run"
    fed.log.end_if_still(60_000, 3)
    stopped = runs_of(fed.news)[-1]
    assert (stopped.phase, stopped.status) == ("stopped", "success")
    assert isinstance(fed.news[-1], Ended) and fed.news[-1].official == "compliant"
    assert fed.feed(b"\n") == []
