"""The phases of a run: from records to intervals, and from intervals to times that add up."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.log import lengths as module
from mlsub.log.events import LogReader, read_log
from mlsub.log.lengths import IntervalFold, Intervals, Span
from mlsub.score.difference.measure import TIMED, Phases, _count_blocks, _timed_region, phases_of
from tools.support.judging import report_on

INF = float("inf")


def told(phases: Phases) -> dict[str, float]:
    return {name: value for name, value in msgspec.structs.asdict(phases).items() if value is not None}


def spans(*, least: int = 0) -> st.SearchStrategy[tuple[Span, ...]]:
    time = st.integers(-50, 150).map(float)
    return st.lists(st.tuples(time, time | st.just(INF)), min_size=least, max_size=6).map(tuple)


@given(spans(), spans(), spans())
def test_the_phases_add_up_to_the_time_to_train(
    block: tuple[Span, ...], epoch: tuple[Span, ...], ev: tuple[Span, ...]
) -> None:
    found = phases_of(Intervals(block, epoch, ev), (0.0, 100.0), 7.0)
    times = [value for name in TIMED if (value := getattr(found, name)) is not None]
    assert sum(times) == 100.0
    assert min(times) >= 0
    assert found.init == 7.0
    assert (found.training is None) == (found.undivided is not None)


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        (
            # Training, a pause, all evaluations afterwards inside of a block of their own.
            Intervals(block=((5, 40), (60, 95)), epoch=((5, 20), (20, 40)), eval=((61, 70), (72, 90))),
            {"start": 5, "training": 35, "before_evaluation": 21, "evaluation": 27, "pauses": 2, "end": 10},
        ),
        (
            # One epoch around everything, a block before each evaluation.
            Intervals(block=((0, 40), (50, 90)), epoch=((0, 100),), eval=((42, 50), (90, 99))),
            {"start": 0, "training": 80, "before_evaluation": 2, "evaluation": 17, "pauses": 0, "end": 1},
        ),
        (
            # Evaluations in the middle of an epoch.
            Intervals(epoch=((10, 90),), eval=((30, 40), (60, 70))),
            {"start": 10, "training": 60, "before_evaluation": 0, "evaluation": 20, "pauses": 0, "end": 10},
        ),
        (
            # No evaluation is logged.
            Intervals(block=((10, 40), (50, 80))),
            {"start": 10, "training": 60, "pauses": 10, "end": 20},
        ),
        (Intervals(eval=((10, 20), (50, 60))), {"evaluation": 20, "undivided": 80}),
        (Intervals(), {"undivided": 100}),
        (Intervals(block=((0, 50),), cut=True), {"undivided": 100}),
        # An interval that never stops ends with the run; one that runs backwards is none.
        (Intervals(block=((20, INF), (90, 30))), {"start": 20, "training": 80, "pauses": 0, "end": 0}),
        # Epochs and blocks that have nothing in common: the epochs are the training.
        (Intervals(block=((0, 10),), epoch=((20, 100),)), {"start": 20, "training": 80, "pauses": 0, "end": 0}),
    ],
)
def test_what_lies_where(intervals: Intervals, expected: dict[str, float]) -> None:
    assert told(phases_of(intervals, (0.0, 100.0))) == expected


def test_a_run_that_stops_before_it_starts_has_no_phases() -> None:
    assert told(phases_of(Intervals(block=((0, 10),)), (100.0, 40.0))) == {"undivided": -60.0}


def read_intervals(file: Path, log_format: str = "mllog") -> Intervals:
    fold = IntervalFold()
    read_log(file, LogReader([fold], log_format=log_format))
    return fold.finish()


def log(file: Path, *records: tuple[str, object]) -> Path:
    lines = [
        f':::MLLOG {{"time_ms": {time}, "key": "{key}", "value": null, "metadata": {{}}}}\n' for key, time in records
    ]
    file.write_text("".join(lines))
    return file


def test_of_many_processes_the_first_start_and_stop_count(tmp_path: Path) -> None:
    file = log(
        tmp_path / "result_0.txt",
        ("run_start", 0),
        *(("block_start", 10), ("block_start", 11), ("block_stop", 20), ("block_stop", 21)),
        *(("eval_stop", 22), ("eval_start", 23), ("eval_stop", 30)),
        ("epoch_start", 40),
    )
    assert read_intervals(file) == Intervals(((10.0, 20.0),), ((40.0, INF),), ((23.0, 30.0),))


def test_a_first_block_that_no_record_starts_begins_with_the_run(tmp_path: Path) -> None:
    edges = (("block_stop", 30), ("eval_start", 31), ("eval_stop", 40), ("block_stop", 41), ("block_start", 42))
    file = log(tmp_path / "result_0.txt", ("run_start", 10), *edges, ("block_stop", 50), ("run_stop", 50))
    intervals = read_intervals(file)
    assert intervals == Intervals(((-INF, 30.0), (42.0, 50.0)), (), ((31.0, 40.0),))
    assert told(phases_of(intervals, (10.0, 50.0))) == {
        "start": 0,
        "training": 28,
        "before_evaluation": 1,
        "evaluation": 9,
        "pauses": 2,
        "end": 0,
    }


def test_blocks_are_those_of_the_timed_region(tmp_path: Path) -> None:
    before, after = (("block_start", 1), ("block_stop", 2)), (("block_start", 52), ("block_stop", 60))
    timed = (("run_start", 10), ("block_stop", 30), ("block_start", 42), ("block_stop", 50), ("run_stop", 50))
    file = log(tmp_path / "result_0.txt", *before, *timed[:1], ("block_start", 10), *timed[1:], *after)
    region = _timed_region(report_on(file, "training", "5.1", intervals=True))
    assert region is not None
    assert _count_blocks(*region[:2]) == 2


def test_times_that_are_no_times_and_text_between_are_passed_over(tmp_path: Path) -> None:
    file = log(tmp_path / "result_0.txt", ("block_start", "NaN"), ("block_start", 5), ("block_stop", "Infinity"))
    with file.open("ab") as stream:
        stream.write(b'\x00\xff block_start :::MLLOG {"broken\n:::MLLOG [1]\nblock_stop\n')
    assert read_intervals(file) == Intervals(block=((5.0, INF),))


def test_the_format_of_the_first_rounds(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    record = ':::MLL 1560000000.{} {}: {{"value": null, "metadata": {{"file": "a.py", "lineno": 1}}}}\n'
    file.write_text(record.format("000", "block_start") + record.format("250", "block_stop"))
    (span,) = read_intervals(file, "mll").block
    assert span[1] - span[0] == pytest.approx(250)


def test_more_intervals_than_anyone_logs_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_INTERVALS", 2)
    pairs = [(key, time) for time in range(3) for key in ("eval_start", "eval_stop")]
    found = read_intervals(log(tmp_path / "result_0.txt", *pairs))
    assert (found.cut, len(found.eval)) == (True, 2)


def test_what_cannot_be_read_has_no_intervals(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    log(tmp_path / "result_0.txt", ("block_start", 10), ("block_stop", 20))
    found = {
        name: report_on(tmp_path / name, "training", "1.0", name, intervals=True).intervals
        for name in ("gone", "pipe", "result_0.txt")
    }
    assert found == {"gone": None, "pipe": None, "result_0.txt": Intervals(block=((10.0, 20.0),))}
