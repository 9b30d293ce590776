"""The fold behind forensics: its facts, and that no record makes it raise, hang or grow."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.log import trace as module
from mlsub.log.event import Event
from mlsub.log.events import EventTally
from mlsub.log.lengths import Gap, Trace
from mlsub.log.run import RunFold
from mlsub.log.trace import TraceReader
from mlsub.review.runs.detect import observe_runs
from tests.log.pushing import push
from tests.review.runs.build import at, entry, log_of, read_log, records
from tools.support.corpus import CORPUS
from tools.support.judging import report_on

CLEAN = entry(runs=5)

_KEYS = ["init_start", "run_start", "block_start", "block_stop", "eval_start", "eval_stop", "eval_accuracy", "run_stop"]
_text = st.sampled_from(["", "0.5", "success", "1e999", "12 sec", "\x1b[31m", "\ud800"])
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_text, inner, max_size=2),
    max_leaves=3,
)
_events = st.builds(
    Event,
    time_ms=st.floats() | st.integers(0, 10**7).map(float),
    key=st.sampled_from([*_KEYS, "throughput", "tracked_stats", "seed", "train_samples", "submission_benchmark"])
    | _values,
    value=_values,
    metadata=_values
    | st.fixed_dictionaries(
        {"status": _values, "TTT": _values, "epoch_num": _values, "file": _values, "lineno": _values}
    ),
    line=st.integers(1, 10**6),
)


def test_the_facts_of_a_clean_run() -> None:
    made = records(0)
    log = log_of(made)
    trace = log.trace
    blocks = sum(record["key"] == "block_start" for record in made)
    assert log.run.duration_ms == made[-1]["time_ms"] - made[at(made, "run_start")]["time_ms"]
    assert log.run.latest_ms == made[-2]["time_ms"]
    assert len(trace.blocks.lengths) == len(trace.evals.lengths) == blocks
    assert all(60_000 <= length < 60_500 for length in trace.blocks.lengths)
    assert {(gap.before, gap.after, gap.idle) for gap in trace.gaps} == {
        ("block_start", "block_stop", False),
        ("eval_start", "eval_accuracy", False),
    }
    assert trace.jump is None


def test_the_timed_region_starts_anew_with_run_start() -> None:
    made = records(0)
    again = made[:15] + [
        record | {"time_ms": record["time_ms"] + 10_000_000} for record in made[at(made, "run_start") :]
    ]
    assert log_of(again).trace.times == log_of(made).trace.times


def test_what_follows_run_stop_is_no_part_of_the_region() -> None:
    made = records(0)
    late: list[dict[str, Any]] = [{"time_ms": 1e13, "key": "eval_accuracy", "value": 0.9, "metadata": None}]
    assert log_of(made + late).run.latest_ms == log_of(made).run.latest_ms


@given(st.lists(_events, max_size=40))
def test_no_record_breaks_the_fold_or_a_detector(events: list[Event]) -> None:
    tally, reader = EventTally(), TraceReader()
    run = RunFold(tally)
    push(events, run, tally=tally)
    reader.take(events)
    trace = reader.finish()
    assert all(math.isfinite(gap.longest_ms) for gap in trace.gaps)
    log = read_log("v1.1/ACME/results/rack1/bert/result_0.txt", run.finish(), trace)
    observe_runs([msgspec.structs.replace(CLEAN, logs=(log, *CLEAN.logs))])


@given(st.lists(_events, max_size=40), st.integers(1, 5))
def test_how_many_records_are_taken_at_once_makes_no_difference(events: list[Event], together: int) -> None:
    found = []
    for most in (together, 1000):
        reader = TraceReader()
        for start in range(0, len(events), most):
            reader.take(events[start : start + most])
        found.append(reader.finish())
    assert found[0] == found[1]


def trace_of(*records: tuple[str, float]) -> Trace:
    """The trace of records with these keys at these times (ms), one a line."""
    reader = TraceReader()
    reader.take(
        [Event(line=n, time_ms=time, key=key, value=None, metadata=None) for n, (key, time) in enumerate(records, 1)]
    )
    return reader.finish()


def test_a_gap_has_the_longest_silence_between_two_keys_with_its_line_and_how_many_there_are() -> None:
    """Gaps begin at one second; of two as long the first has its line."""
    times = [("a", 2_000), ("b", 5_000), ("a", 5_999), ("b", 10_999), ("a", 11_000), ("b", 16_000), ("a", 16_001)]
    trace = trace_of(("run_start", 0), *times, ("b", 18_001), ("run_stop", 19_001))
    assert trace.gaps == (
        Gap("run_start", "a", idle=True, longest_ms=2_000, count=1, line=2),
        Gap("a", "b", idle=True, longest_ms=5_000, count=4, line=5),
        Gap("b", "run_stop", idle=True, longest_ms=1_000, count=1, line=10),
    )


def test_a_trace_has_the_first_of_the_largest_steps_back_and_counts_steps_that_chance_does_not_repeat() -> None:
    steps = [
        ("a", 99),
        ("b", 199),
        ("c", 1_199),
        ("d", 1_199),
        ("e", 1_150),
        ("f", 1_100),
        ("g", 1_050),
        ("h", 1_040),
        ("i", 1_240),
    ]
    trace = trace_of(("run_start", 0), *steps)
    assert (trace.jump, trace.marks) == ((7, 50), 2)
    assert [trace_of(("run_start", 9), ("a", time)).jump for time in (9, 8)] == [None, (2, 1)]


def placed(key: str, time_ms: float, value: Any = None, **metadata: Any) -> Event:
    """A record that says where in training it is."""
    return Event(time_ms=time_ms, key=key, value=value, metadata=metadata)


#: Blocks by their records: how large each is, and how fast.
SIZES: dict[str, tuple[list[Event], list[float], list[float]]] = {
    "by where they end": (
        [placed("block_start", 1, samples_count=0), placed("block_stop", 5, samples_count=96)],
        [96.0],
        [0.0],
    ),
    "by where the next begins, and the evaluation after the last": (
        [
            *(placed("block_start", 1, step=0, samples_count=8), placed("block_stop", 2, samples_count=8)),
            *(placed("block_start", 3, step=4, samples_count=8), placed("block_stop", 4)),
            placed("eval_accuracy", 5, step=10),
        ],
        [4.0, 6.0],
        [0.0, 0.0],
    ),
    "by their epochs": ([placed("block_start", 1, epoch_count=3), placed("block_stop", 2)], [3.0], [0.0]),
    "by nothing that counts": (
        [placed("block_start", 1, samples_count="0"), placed("block_stop", 2, samples_count=True)],
        [0.0],
        [0.0],
    ),
    "while another is under way": (
        [placed("block_start", n, epoch_count=1) for n in (1, 2)] + [placed("block_stop", 3)],
        [0.0],
        [0.0],
    ),
    "with throughputs": (
        [
            placed("throughput", 0, 9),
            placed("block_start", 1, epoch_count=1),
            placed("tracked_stats", 2, {"throughput": 4}),
            placed("tracked_stats", 3, {"train_step_time": 0.5}),
            placed("tracked_stats", 4, {"train_step_time": 0}),
            placed("block_stop", 5),
        ],
        [1.0],
        [3.0],
    ),
}


@pytest.mark.parametrize(("events", "sizes", "rates"), SIZES.values(), ids=SIZES)
def test_the_size_and_the_rate_of_blocks(events: list[Event], sizes: list[float], rates: list[float]) -> None:
    reader = TraceReader()
    reader.take([placed("run_start", 0), *events, placed("run_stop", 9)])
    blocks = reader.finish().blocks
    assert (list(blocks.sizes), list(blocks.rates)) == (sizes, rates)
    stops = [event.time_ms for event in events if event.key == "block_stop"]
    assert (blocks.first_stop, blocks.last_start) == (stops[0], stops[-1] - blocks.lengths[-1])


EARLY: dict[str, tuple[list[tuple[str, float]], tuple[int, float, str] | None]] = {
    "before run_start": ([("run_start", 5_000), ("a", 4_000)], (2, 1_000, "run_start")),
    "less than a second before it": ([("run_start", 5_000), ("a", 4_001)], None),
    "before the first block": ([("run_start", 0), ("block_start", 5_000), ("a", 1_000)], (3, 4_000, "run_start")),
    "before a later block": (
        [("run_start", 0), ("block_start", 1), ("block_stop", 2), ("block_start", 9_000), ("a", 3)],
        None,
    ),
    "run_stop before the last record": ([("run_start", 0), ("a", 9_000), ("run_stop", 7_000)], (3, 2_000, "run_stop")),
    "a clock that was set": ([("run_start", 0), ("a", 9_000), ("b", 7_000), ("run_stop", 9_000)], None),
}


@pytest.mark.parametrize(("records", "early"), EARLY.values(), ids=EARLY)
def test_a_record_that_is_older_than_the_start_or_newer_than_the_end(
    records: list[tuple[str, float]], early: tuple[int, float, str] | None
) -> None:
    assert trace_of(*records).early == early


def test_the_tail_of_a_log_is_the_same_at_other_times_and_behind_other_records() -> None:
    steps = [("a", 0), ("b", 101), ("c", 1_101), ("d", 1_202), ("e", 1_303), ("f", 1_404), ("g", 1_405)]
    tail = trace_of(*steps).tail
    assert tail is not None
    assert tail[1] == 1, "a second between b and c may be chance"
    moved = trace_of(("x", 5), ("y", 7), *((key, time + 9_000) for key, time in steps)).tail
    assert moved == (tail[0], 3)
    for other in ([*steps[:4], ("e", 1_304), *steps[5:]], [*steps[:4], ("z", 1_303), *steps[5:]]):
        assert (trace_of(*other).tail or ("",))[0] != tail[0]
    assert trace_of(*steps[1:]).tail is None


def test_a_key_beyond_the_bound_is_left_out_and_those_known_are_counted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEYS", 2)
    keys = trace_of(("a", 0), ("run_start", 1), ("b", 2), ("a", 3)).keys
    assert {key: mark.count for key, mark in keys.items()} == {"a": 2, "run_start": 1}


def test_marks_tell_values_and_times_of_a_key_apart() -> None:
    values: list[Any] = [1, 1.0, "1", None, True, False, [1], {"1": 1}, "[1]", "\xe9", "\ud800", 2**70]
    marks = []
    for time, value in [*((1.0, value) for value in values), (2.0, 1)]:
        reader = TraceReader()
        reader.take([Event(time_ms=time, key="seed", value=value, metadata=None)])
        marks.append(reader.finish().keys["seed"])
    assert len({mark.values for mark in marks}) == len(values)
    assert marks[-1].values == marks[0].values
    assert marks[-1].times != marks[0].times
    assert len({mark.times for mark in marks}) == 2


def test_hostile_logs_leave_small_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LENGTHS", 10)
    monkeypatch.setattr(module, "MAX_GAPS", 10)
    reader = TraceReader()
    reader.take([Event(time_ms=0, key="run_start", value=None, metadata=None)])
    for n in range(100):
        for step, key in enumerate(("block_start", "block_stop", "throughput", f"key{n}")):
            reader.take([Event(time_ms=10_000.0 * (4 * n + step), key=key, value=5, metadata=None)])
    trace = reader.finish()
    assert len(trace.blocks.lengths) == len(trace.gaps) == 10


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_the_last_record_of_a_published_log() -> None:
    place = "v1.1/Graphcore/results/ipu-pod16-POPART-closed/bert/result_0.txt"
    report = report_on(CORPUS / place, "training", "1.1", place, trace=True)
    run, trace = report.run, report.trace
    assert run.timeline.run_stop == (run.latest_ms or 0) + 181_959
    assert trace.stated_as == "TTT"


def sources_of(*sites: tuple[Any, Any, Any]) -> dict[str, dict[str, tuple[int, ...]]]:
    """The lines of code that records of some keys name as (key, file, line)."""
    reader = TraceReader()
    metadata = ((key, {"file": file, "lineno": line}) for key, file, line in sites)
    reader.take([Event(time_ms=1.0, key=key, value=None, metadata=of) for key, of in metadata])
    return reader.finish().sources


def test_the_lines_of_code_that_logged_the_records() -> None:
    logged = [("run_start", "a.py", 9), ("seed", "a.py", 7), ("seed", "a.py", 3), ("seed", "a.py", 7)]
    logged += [("throughput", "b.py", 1), ("run_stop", "a.py", 9)]
    assert sources_of(*logged) == {
        "a.py": {"run_start": (9,), "run_stop": (9,), "seed": (3, 7)},
        "b.py": {"throughput": (1,)},
    }


@pytest.mark.parametrize(
    "site", [("", 1), ("a" * 501, 1), (7, 1), ("a.py", 0), ("a.py", "7"), ("a.py", True), ("a.py", 10**7)]
)
def test_what_is_no_line_of_code_is_left_out(site: tuple[Any, Any]) -> None:
    assert sources_of(("seed", *site)) == {}


def test_the_lines_of_code_are_bounded() -> None:
    found = sources_of(*(("seed", "a.py", line) for line in range(1, 3_000)))
    assert len(found["a.py"]["seed"]) == module.MAX_SITES == 1_000
