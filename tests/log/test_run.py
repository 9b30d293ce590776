"""The fold of a log's events: what the official summarizer would time, and facts that stay small."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.result_summarizer.result_summarizer import _query_run_start_stop

from mlsub.log import run as run_module
from mlsub.log.event import Event, Seed, expected_event_type
from mlsub.log.lengths import EvaluationLengths
from mlsub.log.run import MAX_SEEDS, Evaluation, Run, Timeline
from tests.log import pushing

PLACE = {"file": "train.py", "lineno": 40}


class LogLine(NamedTuple):
    """As much of an official log line as the summarizer looks at."""

    key: str
    timestamp: float


def fold(*events: Event) -> Run:
    return pushing.fold(events)


def event(key: Any, value: Any = None, *, line: int = 1, time_ms: float = 0.0, **more: Any) -> Event:
    metadata, kind = more.get("metadata", {}), more.get("event_type")
    return Event(line=line, time_ms=time_ms, key=key, value=value, metadata=metadata, event_type=kind)


TIMES = st.one_of(
    st.integers(-5, 5).map(float), st.floats(0, 2e12), st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308])
)
EDGES = st.sampled_from(["run_start", "run_stop", "run_start", "run_stop", "init_start", "eval_accuracy", "RUN_START"])


@given(records=st.lists(st.tuples(EDGES, TIMES), max_size=12))
def test_the_run_is_timed_between_the_records_that_the_official_summarizer_takes(
    records: list[tuple[str, float]],
) -> None:
    run = fold(*(event(key, line=line, time_ms=time_ms) for line, (key, time_ms) in enumerate(records, 1)))
    try:
        start, stop = _query_run_start_stop([LogLine(*record) for record in records])
    except ValueError:
        assert run.timeline.run_start is None or run.timeline.run_stop is None
        assert run.duration_ms is None
        assert run.minutes is None
        return
    # By their text, since NaN does not equal itself.
    assert repr((run.timeline.run_start, run.timeline.run_stop)) == repr((start, stop))
    if math.isfinite(stop - start):
        assert run.minutes == pytest.approx((stop - start) / 60 / 1000, rel=1e-12)
    else:
        assert run.minutes is None


@given(times=st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(math.nan)), max_size=12))
def test_each_step_of_the_clock_backwards_is_counted_with_the_first_and_the_worst(times: list[float]) -> None:
    times = [1_000 * time_ms for time_ms in times]
    run = fold(*(event("k", line=line, time_ms=time_ms) for line, time_ms in enumerate(times, 10)))
    steps = [(line, a - b) for line, (a, b) in enumerate(pairwise(times), 11) if b < a]
    expected = (len(steps), steps[0][0], max(by for _, by in steps)) if steps else (0, 0, 0.0)
    assert (run.timeline.steps, run.timeline.step_line, run.timeline.worst_step) == expected
    assert run.timeline.events == len(times)


@pytest.mark.parametrize(
    ("records", "steps"),
    [
        ("k 5000, k 4001", 0),
        ("k 5000, k 4000", 1),
        ("cache_clear 9000, init_start 5000, cache_clear 1000, init_start 6000, k 6000", 0),
        ("k 9000, tracked_stats 5000, k 9000", 0),
        ("k 5000, tracked_stats 9000, k 5000", 0),
        ("run_stop 9000, tracked_stats 9000, cache_clear 5000", 1),
    ],
)
def test_processes_may_differ_a_little_start_at_other_times_and_state_statistics(records: str, steps: int) -> None:
    pairs = [pair.split() for pair in records.split(", ")]
    run = fold(*(event(key, line=line, time_ms=float(time_ms)) for line, (key, time_ms) in enumerate(pairs)))
    assert run.timeline.steps == steps
    assert run.timeline.last == float(pairs[-1][1])


@pytest.mark.parametrize(
    ("metadata", "status", "converged"),
    [
        *[
            ({"status": status}, status, status == "success")
            for status in ("success", "aborted", "SUCCESS", None, True)
        ],
        ({"status": ["success"]}, ["success"], False),
        *[(metadata, None, False) for metadata in ({"state": "success"}, {}, None, "success", ["status"])],
    ],
)
def test_the_status_is_what_run_stop_says_word_for_word(metadata: Any, status: Any, converged: bool) -> None:
    run = fold(event("run_start"), event("run_stop", line=8, metadata=metadata))
    assert (run.status, run.status_line, run.converged) == (status, 8, converged)


@pytest.mark.parametrize(
    ("value", "seed"),
    [(17, 17), (-1, -1), (2**70, 2**70), ("17", 17), (" 17 ", 17), (17.9, 17), (True, 1), ("1_000", 1000)],
)
def test_a_seed_is_read_as_python_reads_whole_numbers(value: Any, seed: int) -> None:
    (found,) = fold(event("seed", value, line=6, metadata=PLACE)).seeds
    assert (found.line, found.value, found.file, found.lineno, found.error) == (6, seed, "train.py", 40, None)


@pytest.mark.parametrize(
    ("value", "metadata"),
    [
        *[(value, PLACE) for value in (None, "", "17.5", "0x11", [17], {"seed": 17}, math.nan, math.inf, -math.inf)],
        ("9" * 5000, PLACE),
        *[(17, of) for of in (None, {}, [], "train.py", 3, {"file": "a"}, {"lineno": 1}, ["file", "lineno"])],
        *[(17, {"file": odd, "lineno": 1}) for odd in ([], {}, {"a": []})],
        (17, {"file": "a", "lineno": [1]}),
    ],
    ids=lambda item: repr(item)[:30],
)
def test_a_seed_that_the_seed_checker_cannot_use_says_why(value: Any, metadata: Any) -> None:
    (found,) = fold(event("seed", value, line=6, metadata=metadata)).seeds
    assert found.line == 6
    assert found.error


EDGES_OF_RUN = {"init_start": 1, "init_stop": 2, "run_start": 5}
SUCCESS, ABORTED = {"status": "success"}, {"status": "aborted"}
FID = {"metric": "FID", "step_num": 500, "samples_count": 512_000}
#: Keys, or keys with value and metadata, in lines and at times 1, 2 and so on; and facts of the run.
FACTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "the last run_stop": ([("run_stop", 0, SUCCESS), ("run_stop", 0, ABORTED), ("block_stop", 0, SUCCESS)],
                          {"status": "aborted", "status_line": 2}),
    "a status elsewhere": ([("run_start", 0, SUCCESS)], {"status": None, "status_line": None}),
    "seeds": ([("seed", n, PLACE) for n in (3, 1, 3)],
              {"seeds": tuple(Seed(line, n, "train.py", 40) for line, n in ((1, 3), (2, 1), (3, 3)))}),
    "evaluations": (
        [("eval_accuracy", 0.75, of) for of in ({"epoch_num": 3}, {"samples_count": 90}, FID, {}, None, [])],
        {"evaluations": (
            Evaluation(1, 1.0, 0.75, 3), Evaluation(2, 2.0, 0.75, None, 90),
            Evaluation(3, 3.0, 0.75, None, 512_000, 500, "FID"), *(Evaluation(n, float(n), 0.75) for n in (4, 5, 6)),
        )},
    ),
    "a block after another": (["block_start", "block_stop", "block_start", "run_stop"], {"last_block": (3, 3.0)}),
    "a block after the stop": (["block_start", "run_stop", "block_start"], {"last_block": (1, 1.0)}),
    "a block between stops": (["block_start", "run_stop", "block_start", "run_stop"], {"last_block": (3, 3.0)}),
    "no block before the stop": (["run_stop", "block_start"], {"last_block": None}),
    "no stop": (["block_start", "block_stop"], {"last_block": None}),
    "first values": (
        [("submission_org", "ACME", {}), ("opt_name", "lamb", {}), ("submission_org", "Other", {}),
         ("opt_name", None, {}), ("eval_samples", None, {}), ("eval_samples", 10, {})],
        {"identity": {"submission_org": "ACME"}, "hyperparameters": {"opt_name": "lamb", "eval_samples": None},
         "lines": {"submission_org": 1, "opt_name": 2, "eval_samples": 5}},
    ),
    "marks of steps": (
        [("cache_clear", True, {}), ("save_model", 1, {}), ("opt_name", "lamb", {})],
        {"hyperparameters": {"opt_name": "lamb"}, "lines": {"cache_clear": 1, "save_model": 2, "opt_name": 3}},
    ),
    "first times": (
        [*["init_start", "init_stop"] * 2, "run_start", "block_start", "epoch_start", "epoch_start"],
        {"timeline": Timeline(first=1.0, last=8.0, init_start=1.0, init_stop=2.0, run_start=5.0, blocks=1, epochs=2,
                              events=8), "lines": EDGES_OF_RUN},
    ),
    "nothing": ([], {
        "timeline": Timeline(), "identity": {}, "hyperparameters": {}, "evaluations": (), "seeds": (), "minutes": None,
        "status": None, "converged": False,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_records_fold_to_facts(name: str) -> None:
    records, facts = FACTS[name]
    parted = [(one, None, {}) if isinstance(one, str) else one for one in records]
    run = fold(
        *(event(key, value, line=n, time_ms=float(n), metadata=of) for n, (key, value, of) in enumerate(parted, 1))
    )
    assert {fact: getattr(run, fact) for fact in facts} == facts


@pytest.mark.parametrize("key", [None, 1, 1.5, True, [], {}, ["run_start"], math.nan], ids=repr)
def test_a_record_whose_key_is_no_text_only_counts(key: Any) -> None:
    run = fold(event(key, 5, time_ms=3.0))
    assert (run.timeline.events, run.timeline.first) == (1, 3.0)
    assert (run.identity, run.hyperparameters, run.lines) == ({}, {}, {})


@pytest.mark.parametrize(
    ("most", "key", "facts"),
    [(run_module.MAX_EVALUATIONS, "eval_accuracy", "evaluations"), (MAX_SEEDS, "seed", "seeds")],
)
def test_frequent_records_beyond_the_bound_are_left_out_and_the_first_are_kept(most: int, key: str, facts: str) -> None:
    run = fold(*(event(key, n, line=n, metadata=PLACE) for n in range(most + 5)))
    kept = getattr(run, facts)
    assert [fact.line for fact in kept] == list(range(most))
    assert run.timeline.events == most + 5


def test_keys_beyond_the_bound_are_left_out_and_the_timeline_goes_on() -> None:
    most = run_module.MAX_HYPERPARAMETERS
    junk = [event(f"key{n}", n, line=n) for n in range(most + 5)]
    edges = [event("run_start", time_ms=1.0), event("run_stop", time_ms=60001.0, metadata={"status": "success"})]
    run = fold(*junk, *edges)
    assert list(run.hyperparameters) == [f"key{n}" for n in range(most)]
    assert (run.minutes, run.status) == (1.0, "success")


STARTS = [f"{name}_start" for name in ("init", "run", "block", "epoch", "eval")]
STOPS = [f"{name}_stop" for name in ("init", "run", "block", "epoch", "eval")]
POINTS = ["eval_accuracy", "seed", "cache_clear", "global_batch_size", "train_samples", "eval_samples"]


@pytest.mark.parametrize(
    ("keys", "expected"), [(STARTS, "INTERVAL_START"), (STOPS, "INTERVAL_END"), (POINTS, "POINT_IN_TIME")]
)
def test_an_event_type_that_contradicts_its_key_is_remembered_with_its_line(keys: list[str], expected: str) -> None:
    wrong = "INTERVAL_END" if expected != "INTERVAL_END" else "INTERVAL_START"
    for key in keys:
        assert expected_event_type(key) == expected
        assert fold(event(key, event_type=expected)).event_types == {}
        assert fold(event(key, event_type=None)).event_types == {}
        assert fold(event(key, line=7, event_type=wrong)).event_types == {key: (wrong, 7)}


def test_only_the_first_contradiction_of_a_key_is_remembered() -> None:
    kinds = ("INTERVAL_START", "POINT_IN_TIME", "INTERVAL_END")
    run = fold(*(event("run_start", line=n, event_type=kind) for n, kind in enumerate(kinds, 1)))
    assert run.event_types == {"run_start": ("POINT_IN_TIME", 2)}


@pytest.mark.parametrize("key", ["opt_name", "start", "restart_count", "_start"])
def test_a_key_of_any_other_name_may_have_any_event_type(key: str) -> None:
    assert expected_event_type(key) is None
    assert fold(event(key, event_type="INTERVAL_END")).event_types == {}


@pytest.mark.parametrize("event_type", [1, True, [], {}, ["INTERVAL_START"], "", math.nan], ids=repr)
def test_an_event_type_of_any_kind_of_json_is_told_as_text(event_type: Any) -> None:
    text, line = fold(event("run_start", line=4, event_type=event_type)).event_types["run_start"]
    assert isinstance(text, str)
    assert line == 4


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ("start 0 1, stop 5 1, start 10 2, stop 16 2", EvaluationLengths(2, 1, 2, 5.0)),
        ("start 0 1, stop 6 1, start 10 2, stop 13 2, start 20 3, stop 24 3", EvaluationLengths(3, 2, 4, 4.0)),
        ("stop 1 1, start 2 1, stop 9 1, stop 10 1", EvaluationLengths(1)),
        # Of many processes the first counts; a later place says that it is another evaluation.
        ("start 0 1, start 4 1, stop 9 1", EvaluationLengths(1)),
        ("start 0 1, start 4 2, stop 9 1", EvaluationLengths(1, beside=True)),
        ("start 0 1, start 4 2, stop 9 1, start 9 1, stop 19 1", EvaluationLengths(2)),
        ("start 0 1, start 4 -, stop 9 1", EvaluationLengths(1, beside=True)),
    ],
)
def test_the_evaluations_of_a_run_by_their_records(records: str, expected: EvaluationLengths) -> None:
    made = [event("run_start")]
    for line, (kind, time_ms, place) in enumerate((record.split() for record in records.split(", ")), 2):
        metadata = {"samples_count": int(place)} if place != "-" else {}
        made.append(event(f"eval_{kind}", 0.5, line=line, time_ms=float(time_ms), metadata=metadata))
    assert fold(*made).lengths == expected
    # Those that start outside of the timed region are left out.
    assert fold(*made[1:]).lengths == fold(made[0], event("run_stop"), *made[1:]).lengths == EvaluationLengths()
