"""Copies of runs, and seeds that several entries have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from mlsub.review.runs.copies import is_same_run
from mlsub.rules.catalogue import catalogue
from mlsub.submission.result import Result
from tests.review.runs.build import Record, at, entry, every, log_of, observed, put, records, the_one


def copy_evaluations(made: list[Record]) -> None:
    """Run 0's evaluations in place of a run's own."""
    values = [record["value"] for record in records(0) if record["key"] == "eval_accuracy"]
    places = [n for n, record in enumerate(made) if record["key"] == "eval_accuracy"]
    for n, value in zip(places, values, strict=False):
        made[n]["value"] = value
    for n in reversed(places[len(values) :]):
        del made[n]


def test_equal_evaluations_in_one_entry() -> None:
    same_length = next(
        run
        for run in range(1, 10)
        if len([r for r in records(run) if r["key"] == "block_start"])
        == len([r for r in records(0) if r["key"] == "block_start"])
    )
    found = the_one("inspect.same-evaluations", entry({same_length: copy_evaluations}))
    assert found.finding.actual == (
        f"1 of 10 logs equal to logs of the same entry: result_{same_length}.txt = result_0.txt"
    )


def shifted(seed: int | None) -> dict[int, Any]:
    """Run 0 at other times, with another seed or its own."""

    def change(made: list[Record]) -> None:
        made[:] = [record | {"time_ms": record["time_ms"] + 77e9 + n * 11} for n, record in enumerate(records(0))]
        put(made, "train_samples", 1)
        if seed is not None:
            put(made, "seed", seed)

    return {0: change}


@pytest.mark.parametrize(("seed", "explained"), [(None, True), (4711, False)])
def test_equal_evaluations_of_two_organisations(seed: int | None, explained: bool) -> None:
    """Equal seeds explain them, and other seeds do not."""
    [found] = observed(entry(), entry(shifted(seed), runs=1, org="Other"))["inspect.same-evaluations"]
    assert found.entry == "v1.1/Other/results/rack1/bert"
    assert found.numbers["other"] == "v1.1/ACME/results/rack1/bert"
    assert ("the seeds are equal" in str(found.finding.actual)) is explained
    assert found.numbers["equal_seeds"] == explained
    assert "equal seed" not in catalogue()["inspect.same-evaluations"].fix


def shorten(made: list[Record], blocks: int) -> None:
    """Leave all blocks out but the first ones."""
    del made[at(made, "block_start", blocks) : at(made, "train_samples")]


@pytest.mark.parametrize("blocks", [13, 2])
def test_equal_times_with_other_evaluations(blocks: int) -> None:
    """However short the log is, as all of its steps in time are equal."""

    def short(made: list[Record]) -> None:
        shorten(made, blocks)

    def retimed(made: list[Record]) -> None:
        made[:] = [dict(record) for record in records(0)]
        short(made)
        for record in made:
            record["time_ms"] += 99 * 3_600_000
            if record["key"] == "eval_accuracy":
                record["value"] -= 1e-7
        put(made, "seed", 4711)
        put(made, "train_samples", 1)

    [found] = observed(entry({**every(short), 9: retimed}))["inspect.same-times"]
    assert found.finding.actual == "1 of 10 logs equal to logs of the same entry: result_9.txt = result_0.txt"


#: How much of run 5 is put behind how much of run 1, how much later; and the log that is told, with the line.
JOINED: dict[str, tuple[Any, Any]] = {
    "the last blocks of another": (lambda ours, theirs: ours[:40] + theirs[-40:], 41),
    "the last blocks of another, moved to where they follow": (
        lambda ours, theirs: (
            ours[:40]
            + [r | {"time_ms": r["time_ms"] + ours[40]["time_ms"] - theirs[-40]["time_ms"]} for r in theirs[-40:]]
        ),
        41,
    ),
    "all of another": (lambda ours, theirs: ours + theirs, 0),
    "the last record of another": (lambda ours, theirs: ours[:-1] + theirs[-1:], None),
    "other values in the last evaluation": (
        lambda ours, theirs: ours[:40] + theirs[-40:-4] + [theirs[-4] | {"value": 0.7211}] + theirs[-3:],
        None,
    ),
}


@pytest.mark.parametrize("what", JOINED)
def test_a_log_that_ends_as_another_run(what: str) -> None:
    join, line = JOINED[what]

    def change(made: list[Record]) -> None:
        made[:] = [dict(record) for record in join(records(1), records(5))]

    found = observed(entry({1: change})).get("inspect.same-tail", [])
    assert len(found) == (line is not None)
    for of in found:
        assert of.finding.severity == "error"
        paths = {of.finding.path.rpartition("/")[2], of.numbers["other"].rpartition("/")[2]}
        assert paths == {"result_1.txt", "result_5.txt"}
        assert str(of.finding.actual).startswith(f"from line {of.finding.line} on as v1.1/ACME/")
        if what != "the last blocks of another, moved to where they follow":
            assert of.finding.path.endswith("result_1.txt")
        assert of.finding.line is not None
        assert of.finding.line > line


def test_the_same_runs_in_two_rounds() -> None:
    found = the_one("inspect.same-run", entry(), entry(round_="2.0"))
    assert found.entry == "v2.0/ACME/results/rack1/bert"
    assert found.finding.message == "The same runs are published again"
    assert str(found.finding.actual).startswith("10 of 10 logs with the times of logs of v1.1/ACME/results/rack1/bert")


@pytest.mark.parametrize(
    ("org", "round_", "severity"),
    [
        ("ACME", "2.0", catalogue()["inspect.same-run"].severity),
        ("Umbrella", "2.0", "warning"),
        ("ACME", "1.1", "warning"),
    ],
)
def test_only_who_made_a_run_may_submit_it_to_a_later_round(org: str, round_: str, severity: str) -> None:
    again = entry({0: lambda made: made.pop(at(made, "seed"))}, org="ACME", round_=round_, system="rack2")
    again = msgspec.structs.replace(again, organisation=org, organisation_name=org)
    [found] = observed(entry(), again)["inspect.same-run"]
    assert found.finding.severity == severity


def test_a_seed_that_was_added_to_every_log_makes_no_new_runs() -> None:
    def seeded(made: list[Record]) -> None:
        seed = made[at(made, "seed")]
        made.insert(at(made, "seed"), seed | {"value": 4711, "time_ms": seed["time_ms"]})

    found = the_one("inspect.same-run", entry(system="rack0"), entry(every(seeded), system="rack1", org="ACME"))
    assert found.entry == "v1.1/ACME/results/rack1/bert"
    assert found.finding.message == "The same runs are published again, with 1 seed record added"
    assert str(found.finding.actual).startswith("10 of 10 logs with the times of logs of v1.1/ACME/results/rack0/bert")
    assert str(found.finding.actual).endswith("; 1 seed record added in 10 of them")
    assert found.numbers["changes"]["v1.1/ACME/results/rack1/bert/result_0.txt"] == ["1 seed record added"]


def _later(made: list[Record], key: str, value: object, after_ms: float) -> None:
    made.append(made[-1] | {"key": key, "value": value, "time_ms": made[-1]["time_ms"] + after_ms, "metadata": {}})


#: What is done to a log that is published again -> what is told of it.
REPUBLISHED: dict[str, tuple[Any, str]] = {
    "a line after run_stop": (lambda made: _later(made, "power_note", "none", 5), "1 power_note record added"),
    "run_stop once more": (lambda made: made.append(dict(made[-1])), "1 run_stop record added"),
    "no seed": (lambda made: made.pop(at(made, "seed")), "1 seed record removed"),
    "another seed, and a note": (
        lambda made: (put(made, "seed", 4711), _later(made, "note", 1, 5)),
        "1 note record added in 1, other values of seed",
    ),
    "other evaluations": (lambda made: put(made, "eval_accuracy", 0.5), "other values of eval_accuracy"),
    "no evaluation once": (lambda made: made.pop(at(made, "eval_accuracy", 1)), "1 eval_accuracy record removed"),
}


@pytest.mark.parametrize("what", REPUBLISHED)
def test_one_run_that_is_published_twice_is_told_as_that(what: str) -> None:
    change, told = REPUBLISHED[what]
    found = observed(entry(system="rack0"), entry({3: change}, system="rack1"))
    assert found.keys() == {"inspect.same-run"}
    [one] = found["inspect.same-run"]
    assert str(one.finding.actual) == (
        "1 of 10 logs with the times of logs of v1.1/ACME/results/rack0/bert: result_3.txt = result_3.txt; "
        f"{told} in 1 of them"
    )
    assert one.finding.message == f"The same run is published again, with {told}".replace(
        " in 1, ", " and " if "note" in told else ", "
    )


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("run_stop",), "other times of run_stop"),
        (
            ("run_start", "init_start", "init_stop", "block_start", "block_stop", "eval_start", "eval_stop"),
            "other times of block_start, block_stop, eval_start, eval_stop, init_start, init_stop and run_start",
        ),
    ],
)
def test_evaluations_at_the_same_times_are_one_run_whatever_else_is_moved(keys: tuple[str, ...], told: str) -> None:
    def moved(made: list[Record]) -> None:
        for record in made:
            record["time_ms"] += 7 if record["key"] in keys else 0

    [one] = observed(entry(system="rack0"), entry({3: moved}, system="rack1"))["inspect.same-run"]
    assert one.finding.message == f"The same run is published again, with {told}"
    assert "inspect.same-evaluations" not in observed(entry(system="rack0"), entry({3: moved}, system="rack1"))


@pytest.mark.parametrize(("lacks", "same"), [("", True), ("run_start", False), ("run_stop", False)])
def test_runs_without_evaluations_are_the_same_by_start_and_stop(lacks: str, same: bool) -> None:
    log = log_of([record for record in records(0) if record["key"] not in ("eval_accuracy", lacks)])
    assert is_same_run(log, log) is same


@pytest.mark.parametrize("blocks", [13, 3])
@pytest.mark.parametrize(("round_", "where"), [("", "in the entry twice"), ("2.0", "published again")])
def test_a_run_that_was_moved_in_time_is_the_same_run(round_: str, where: str, blocks: int) -> None:
    """Whoever submits a result again leaves its times as they are, and no software repeats milliseconds."""

    def short(made: list[Record]) -> None:
        shorten(made, blocks)

    def moved(made: list[Record]) -> None:
        made[:] = [record | {"time_ms": record["time_ms"] + 49 * 3_600_000} for record in records(0)]
        short(made)
        put(made, "seed", 4711)

    first = entry({**every(short), **({} if round_ else {9: moved})})
    found = observed(first, *([entry({0: moved}, 1, round_=round_)] if round_ else []))
    assert "inspect.same-evaluations" not in found
    [one] = found["inspect.same-run"]
    assert one.finding.message == f"The same run is {where}, with all times moved by 2.0 days and other values of seed"
    assert one.finding.severity == "error"


def test_the_same_logs_twice_in_a_round_are_left_to_check() -> None:
    twin = entry()
    assert "inspect.same-run" not in observed(entry(), entry(system="rack2"), twin)


def test_equal_seeds_and_samples() -> None:
    own = {n: records(n) for n in range(10)}

    def as_in(run: int) -> Any:
        def change(made: list[Record]) -> None:
            for key in ("seed", "train_samples"):
                put(made, key, own[run][at(own[run], key)]["value"])

        return change

    other = entry({0: as_in(3)}, system="rack2", start_ms=1_635_000_000_000)
    found = the_one("inspect.same-samples", entry(), other)
    assert found.numbers["pairs"] == 1
    assert "result_0.txt = result_3.txt" in str(found.finding.actual)


def in_two_rounds(seeds: Sequence[int]) -> tuple[Result, Result]:
    """Two entries with these seeds."""
    changes = {n: (lambda made, seed=seed: put(made, "seed", seed)) for n, seed in enumerate(seeds)}
    return entry(changes), entry(changes, round_="2.0", start_ms=1_650_000_000_000)


@pytest.mark.parametrize(
    "seeds",
    [range(42, 52), range(1, 11), range(900_000, 900_010), [n * 100 for n in range(10)], [1234, 31337, *range(8)]],
)
def test_seeds_that_anybody_may_choose_are_no_evidence(seeds: Sequence[int]) -> None:
    assert observed(*in_two_rounds(seeds)) == {}


def test_seeds_of_an_earlier_round() -> None:
    found = the_one("inspect.seeds-shared", *in_two_rounds([n * n + 7000 for n in range(10, 20)]))
    assert (found.numbers["common"], found.numbers["seeds"]) == (10, 10)
    assert found.entry == "v2.0/ACME/results/rack1/bert"
