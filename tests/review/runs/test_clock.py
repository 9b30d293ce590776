"""Runs whose run_start or run_stop is not where the rest of the log has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mlsub.review.runs.model import Observation
from tests.review.runs.build import Record, at, delay, entry, every, observed, records

RULE = "inspect.clock-moved"
_FIRST = ("init_stop", "run_start", "block_start")
_LAST = ("run_stop", "train_samples", "eval_stop", "eval_accuracy", "eval_start", "block_stop")


def move(made: list[Record], by_ms: float, *keys: str, last: bool = False) -> None:
    """Move the first, or the last, record of some keys."""
    for key in keys:
        found = [record for record in made if record["key"] == key]
        found[-1 if last else 0]["time_ms"] += by_ms


def state(made: list[Record], off_ms: float = 0) -> None:
    """Have run_stop state how long the run took."""
    made[-1]["metadata"]["TTT"] = (made[-1]["time_ms"] - made[at(made, "run_start")]["time_ms"] + off_ms) / 1000


def rate(made: list[Record], unit: str = "throughput") -> None:
    """Log with each block how fast it was."""
    for nth in range(sum(record["key"] == "block_start" for record in made)):
        start, stop = made[at(made, "block_start", nth)], at(made, "block_stop", nth)
        seconds = (made[stop]["time_ms"] - start["time_ms"]) / 1000
        value = {unit: seconds / 64 if unit == "train_step_time" else 175_104 / seconds}
        made.insert(stop, {"time_ms": made[stop]["time_ms"], "key": "tracked_stats", "value": value, "metadata": {}})


def sized(made: list[Record]) -> None:
    """Log with each block how many epochs it is, which sizes the last one as well."""
    for record in made:
        if record["key"] == "block_start":
            record["metadata"]["epoch_count"] = 1


def shorten(made: list[Record], by_ms: float, nth: int = 0) -> None:
    """Have a block take less time, and all behind it come earlier."""
    delay(made, "block_stop", -by_ms, nth)


def cases() -> dict[str, tuple[list[Callable[[list[Record]], object]], list[str], str | None]]:
    """What is done to a run in turn, what is told of it, and how severe it is; None where nothing is told."""
    moved: Callable[[list[Record]], object] = lambda made: move(made, 15_000, *_FIRST)  # noqa: E731
    stopped: Callable[[list[Record]], object] = lambda made: move(made, -15_000, *_LAST, last=True)  # noqa: E731
    stated = "the TTT in run_stop is 15.0 s more than run_stop minus run_start"
    short = "the first block takes 45."
    return {
        "nothing": ([state, rate], [], None),
        "run_start, init_stop and block_start": ([moved], [short], "warning"),
        "and the stated length is as before": ([state, moved], [stated, short], "error"),
        "and the throughput is as before": (
            [rate, moved],
            ["at its throughput the first block takes 60.", short],
            "error",
        ),
        "and the time of a step is": (
            [lambda made: rate(made, "train_step_time"), moved],
            ["at its throughput the first block takes 60.", short],
            "error",
        ),
        "run_start alone": (
            [lambda made: move(made, 15_000, "run_start")],
            ["run_start: line 12 is 15.0 s before it", "the first block ends 45."],
            "error",
        ),
        "run_start alone, with a little before the block": (
            [lambda made: delay(made, "block_start", 20_000), state, lambda made: move(made, 15_000, "run_start")],
            [stated],
            "warning",
        ),
        "run_stop and what is before it": ([sized, stopped], ["the last block takes 45."], "warning"),
        "run_stop, and the length is as before": (
            [sized, state, stopped],
            [stated, "the last block takes 45."],
            "error",
        ),
        "run_stop alone": (
            [lambda made: move(made, -1_500, "run_stop")],
            ["run_stop: the record before it is 1.5 s later"],
            "warning",
        ),
        "less than a second": ([state, lambda made: move(made, 1_000, *_FIRST)], [], None),
        "more than a second": (
            [state, lambda made: move(made, 1_001, "run_start", "init_stop", "block_start")],
            ["the TTT in run_stop is 1.0 s more"],
            "warning",
        ),
        "another host": ([lambda made: state(made, 63.4)], [], None),
        "a stated length that is less": (
            [lambda made: state(made, -2_000)],
            ["the TTT in run_stop is 2.0 s less than run_stop minus run_start"],
            "warning",
        ),
        "a first block that was faster, by its throughput": ([lambda made: shorten(made, 15_000), rate], [], None),
        "a first block that was faster": ([lambda made: shorten(made, 15_000)], [short], "warning"),
        "a little faster, in a length measured twice": ([lambda made: shorten(made, 4_000), state], [], None),
        "a part of a block": ([lambda made: shorten(made, 40_000)], [], None),
        "a warm-up": ([lambda made: delay(made, "block_stop", 15_000)], [], None),
        "a block in the middle": ([lambda made: shorten(made, 15_000, 3)], [], None),
    }


@pytest.mark.parametrize("what", cases())
def test_what_contradicts_the_clock_of_one_run(what: str) -> None:
    changes, told, severity = cases()[what]

    def change(made: list[Record]) -> None:
        for one in changes:
            one(made)

    found = observed(entry({3: change})).get(RULE, [])
    assert [of.finding.severity for of in found] == ([severity] if severity else [])
    for of in found:
        assert of.finding.path.endswith("result_3.txt")
        parts = str(of.finding.actual).split("; ")
        assert len(parts) >= len(told)
        assert all(part.startswith(words) for part, words in zip(parts, told, strict=False)), parts


def the_finding(*changes: Callable[[list[Record]], object], runs: int = 10) -> list[Observation]:
    def change(made: list[Record]) -> None:
        for one in changes:
            one(made)

    return observed(entry(every(change, runs))).get(RULE, [])


def test_all_runs_of_an_entry_are_one_question() -> None:
    found = the_finding(state, lambda made: move(made, 15_000, *_FIRST))
    assert len({of.finding.defect for of in found}) == 1
    assert len(found) == 10
    [(minutes, undone)] = {(of.numbers["minutes"], of.numbers["minutes_undone"]) for of in found}
    assert undone - minutes == pytest.approx(15 / 60, abs=1e-3), (
        "one figure for the entry, with the time of all runs returned"
    )
    assert all(str(of.finding.actual).endswith(f", {undone:.6f} with what is missing in 10 runs") for of in found)


def test_the_finding_names_the_record_and_the_score_without_it() -> None:
    made = records(3)

    def change(made: list[Record]) -> None:
        state(made)
        move(made, 15_000, *_FIRST)

    [of] = observed(entry({3: change}))[RULE]
    assert of.finding.message == "The run took longer than run_start and run_stop say"
    assert of.finding.line == at(made, "run_start") + 1
    assert of.numbers["moved_ms"] == 15_000
    assert str(of.finding.actual).endswith(f"{of.numbers['minutes_undone']:.6f} with what is missing")


def test_a_time_that_is_stated_in_words_is_read() -> None:
    def change(made: list[Record]) -> None:
        made[-1]["metadata"]["duration"] = "4000.5713 sec -> 66.68 minutes"

    [of] = observed(entry({2: change}))[RULE]
    assert str(of.finding.actual).startswith("the duration in run_stop is ")


def test_a_step_back_over_run_start_is_not_a_clock_that_was_set() -> None:
    found = observed(entry({6: lambda made: move(made, 3_000, "run_start")}))
    assert set(found) == {RULE}


def test_a_first_block_like_no_other_is_compared_with_those_of_the_other_runs() -> None:
    """Where each block is of another size, as where the first evaluation comes later."""

    def larger(made: list[Record]) -> None:
        for nth, record in enumerate(one for one in made if one["key"] == "block_start"):
            record["metadata"] = {"samples_count": nth * (nth + 1) * 100}

    def change(made: list[Record]) -> None:
        larger(made)
        move(made, 15_000, *_FIRST)

    changes: dict[int, Any] = every(larger)
    assert RULE not in observed(entry(changes))
    [of] = observed(entry(changes | {4: change}))[RULE]
    assert str(of.finding.actual).startswith("the first block ends 45.")


def test_the_last_epoch_may_be_a_part_of_one() -> None:
    def epochs(made: list[Record]) -> None:
        for record in made:
            record["key"] = record["key"].replace("block_", "epoch_")

    def change(made: list[Record]) -> None:
        epochs(made)
        last = sum(record["key"] == "epoch_start" for record in made) - 1
        delay(made, "epoch_stop", -20_000, last)

    assert RULE not in observed(entry({**every(epochs), 5: change}))

    def first(made: list[Record]) -> None:
        epochs(made)
        delay(made, "epoch_stop", -15_000)

    assert RULE in observed(entry({**every(epochs), 5: first}))


def unblocked(made: list[Record], most: int = 99) -> None:
    """Leave blocks out, and evaluations behind some; the first one is not quite at the others' distance."""
    last = sum(record["key"] == "eval_start" for record in made) - 1
    cut = at(made, "eval_start", most) if most <= last else at(made, "train_samples")
    del made[cut : at(made, "train_samples")]
    made[:] = [record for record in made if not record["key"].startswith("block_")]
    for record in made:
        if (place := record["metadata"].get("epoch_num")) is not None:
            record["metadata"]["epoch_num"] = place / 3_502_080 - 0.00001


_END = ("run_stop", "train_samples", "eval_stop", "eval_accuracy", "eval_start")


@pytest.mark.parametrize(
    ("by_ms", "keys", "told"),
    [
        (15_000, ("init_stop", "run_start"), "the first evaluation interval takes 47."),
        (50_000, ("init_stop", "run_start"), "the first evaluation interval takes 12."),
        (-15_000, _END, "the last evaluation interval takes 47."),
        (600, ("init_stop", "run_start"), None),
        (-80_000, ("init_stop", "run_start"), None),
    ],
)
def test_evaluations_are_compared_where_there_are_no_blocks(
    by_ms: float, keys: tuple[str, ...], told: str | None
) -> None:
    def change(made: list[Record]) -> None:
        unblocked(made)
        move(made, by_ms, *keys, last=keys != ("init_stop", "run_start"))

    assert RULE not in observed(entry(every(unblocked)))
    found = observed(entry({**every(unblocked), 3: change})).get(RULE, [])
    assert [str(of.finding.actual)[: len(told or "")] for of in found] == ([told] if told else [])
    assert len(the_finding(change)) == 10 * len(found), "all runs"


@pytest.mark.parametrize(("most", "count"), [(5, 0), (6, 1)])
def test_few_intervals_do_not_show_how_much_they_differ(most: int, count: int) -> None:
    def change(made: list[Record]) -> None:
        unblocked(made, most)
        move(made, 15_000, "init_stop", "run_start")

    found = observed(entry({**every(lambda made: unblocked(made, most), 4), 3: change}, runs=4))
    assert len(found.get(RULE, [])) == count


def test_a_block_that_ends_after_run_stop_is_said_to() -> None:
    def change(made: list[Record]) -> None:
        sized(made)
        rate(made)
        move(made, -15_000, "run_stop", last=True)

    [of] = observed(entry({**every(sized), 3: change}))[RULE]
    early, ends, *_ = str(of.finding.actual).split("; ")
    assert early == "run_stop: the record before it is 15.0 s later"
    assert ends == "the last block ends 13.0 s after run_stop, in the other runs 2.0 s or more before it"
