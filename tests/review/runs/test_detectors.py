"""Each detector: what it finds where a run was spoiled in one place, with its numbers; and that it is silent else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsub.commands.inspect.run import inspect
from mlsub.review.runs.model import Entry, Observation
from mlsub.review.runs.stretch import stretch_of
from mlsub.rules.catalogue import catalogue
from tests.review.runs.build import Record, at, delay, entry, every, put, records


def observed(*entries: Entry, against: Sequence[Entry] = ()) -> dict[str, list[Observation]]:
    """What is found, by rule."""
    found: dict[str, list[Observation]] = {}
    for one in inspect(entries, against).entries:
        for observation in one.observations:
            found.setdefault(observation.finding.rule, []).append(observation)
    return found


def the_one(rule: str, *entries: Entry) -> Observation:
    """The only thing that is found."""
    found = observed(*entries)
    assert set(found) == {rule}
    [observation] = found[rule]
    assert observation.finding.actual is not None
    return observation


def stretch(factor: float) -> Any:
    def change(made: list[Record]) -> None:
        start, stop = made[at(made, "run_start")]["time_ms"], made[-1]
        stop["time_ms"] = start + round((made[-2]["time_ms"] - start) * factor)

    return change


def test_a_clean_entry_leaves_nothing_to_ask() -> None:
    assert observed(entry()) == {}


def test_several_clean_entries_leave_nothing_to_ask() -> None:
    assert (
        observed(entry(), entry(org="Other", start_ms=1_635_000_000_000), entry(system="rack2", start_ms=1.636e12))
        == {}
    )


@pytest.mark.parametrize("factor", [1.098, 1.118, 1.02265, 1.0123456])
def test_a_constant_factor_is_found_and_undone(factor: float) -> None:
    clean, found = entry(), the_one("inspect.stretched", entry(every(stretch(factor))))
    assert found.numbers["factor"] == pytest.approx(factor, abs=2e-6)
    minutes = sorted(trace.run.minutes or 0 for trace in clean.traces)[1:-1]
    # The clean runs stop a millisecond after their last record.
    assert found.numbers["minutes_undone"] == pytest.approx(sum(minutes) / 8 - 1 / 60_000, abs=1e-9)
    assert found.numbers["minutes"] == pytest.approx(found.numbers["minutes_undone"] * factor, rel=1e-6)


@given(st.floats(1.002, 4).map(lambda factor: round(factor, 6)), st.integers(0, 10**6))
@settings(max_examples=25)
def test_any_factor_is_found_whatever_the_runs(factor: float, shift: int) -> None:
    spoiled = entry(every(stretch(factor)), start_ms=1.6e12 + shift)
    found = stretch_of(spoiled)
    assert found is not None
    assert found.factor == pytest.approx(factor, abs=5e-6)
    assert stretch_of(entry(start_ms=1.6e12 + shift)) is None


def test_a_constant_wait_is_no_factor() -> None:
    assert "inspect.stretched" not in observed(entry(every(lambda made: delay(made, "run_stop", 60_000))))


def test_a_factor_of_all_runs_but_one_is_none() -> None:
    changes = every(stretch(1.098)) | {4: stretch(1.09801)}
    assert "inspect.stretched" not in observed(entry(changes))


def test_runs_at_one_time_overlap() -> None:
    found = the_one("inspect.overlap", entry({3: lambda made: delay(made, "init_start", -3_500_000)}))
    assert found.numbers["pairs"] == 1
    assert str(found.finding.actual).startswith(
        "1 of 45 pairs, up to 2 runs at once: result_2.txt and result_3.txt by "
    )


def test_an_overlap_that_a_factor_explains_is_told_apart() -> None:
    found = observed(entry(every(stretch(5.0))))["inspect.overlap"][0]
    assert found.numbers["pairs"] > 0
    assert found.numbers["pairs_unstretched"] == 0
    assert "; 0 pairs remain if run_stop is moved back to the last record" in str(found.finding.actual)


def test_runs_of_two_benchmarks_at_one_time_on_one_system() -> None:
    beside = entry(runs=1, start_ms=1_634_000_300_000)
    other = msgspec.structs.replace(beside, benchmark="rnnt", path="v1.1/ACME/results/rack1/rnnt")
    found = observed(entry(), other)["inspect.overlap"]
    assert [(o.entry, o.numbers["pairs"], o.numbers["pairs_with_others"]) for o in found] == [
        ("v1.1/ACME/results/rack1/bert", 0, 1),
        ("v1.1/ACME/results/rack1/rnnt", 0, 1),
    ]
    assert found[1].finding.actual == "1 pair with runs of bert on the same system"
    elsewhere = msgspec.structs.replace(other, system="rack2")
    assert "inspect.overlap" not in observed(entry(), elsewhere)


@pytest.mark.parametrize(("off_ms", "found"), [(0, False), (4.9, False), (-36.1, True), (63.4, True)])
def test_a_stated_length_that_is_not_that_of_the_timestamps(off_ms: float, found: bool) -> None:
    def change(made: list[Record]) -> None:
        length = made[-1]["time_ms"] - made[at(made, "run_start")]["time_ms"]
        made[-1]["metadata"]["TTT"] = (length + off_ms) / 1000

    assert ("inspect.stated-time" in observed(entry({2: change}))) == found


def test_a_stated_length_in_words_is_read() -> None:
    def change(made: list[Record]) -> None:
        made[-1]["metadata"]["duration"] = "1219.5713 sec -> 20.32 minutes"

    found = the_one("inspect.stated-time", entry({2: change}))
    assert found.finding.message == "The duration that run_stop states is not run_stop minus run_start"


def test_a_clock_set_back_in_one_run() -> None:
    found = the_one("inspect.clock-jump", entry({6: lambda made: delay(made, "eval_start", -3_000, 5)}))
    assert found.numbers["jump_ms"] == 2_999
    assert found.finding.path.endswith("result_6.txt")
    assert found.finding.line == at(records(6), "eval_start", 5) + 1


def test_logs_put_together_of_several_files_are_left_to_check() -> None:
    assert observed(entry(every(lambda made: delay(made, "eval_start", -3_000, 5)))) == {}


def test_a_silence_that_other_runs_do_not_have() -> None:
    found = observed(entry({1: lambda made: delay(made, "block_start", 143_900)}))["inspect.silent-gap"][0]
    assert found.numbers == {"gap_ms": 143_901, "habit_ms": 0.0}


def test_a_pause_that_all_runs_have() -> None:
    found = the_one("inspect.pause", entry(every(lambda made: delay(made, "block_start", 95_000))))
    assert found.finding.message.startswith("The timed region has a long pause between run_start and block_start")
    assert found.numbers["pause_ms"] == 95_001


def test_a_slow_block() -> None:
    found = the_one("inspect.slow-interval", entry({7: lambda made: delay(made, "block_stop", 80_000, 4)}))
    assert str(found.finding.actual).startswith("block 5: 140.")
    assert found.finding.line == at(records(7), "block_start", 4) + 1


def slower(factor: float) -> Any:
    def change(made: list[Record]) -> None:
        start = made[at(made, "run_start")]["time_ms"]
        for record in made[at(made, "run_start") :]:
            record["time_ms"] = start + (record["time_ms"] - start) * factor

    return change


@pytest.mark.parametrize(("run", "rule"), [(0, "inspect.slow-first-run"), (5, "inspect.pace")])
def test_a_run_that_is_slow_throughout(run: int, rule: str) -> None:
    assert the_one(rule, entry({run: slower(1.3)})).numbers["times"] == pytest.approx(1.3, rel=0.02)


def test_a_long_initialisation() -> None:
    found = the_one("inspect.long-init", entry({0: lambda made: delay(made, "init_stop", 900_000)}))
    assert found.numbers["init_ms"] > 900_000


def test_the_target_reached_earlier() -> None:
    found = the_one("inspect.target-earlier", entry({2: lambda made: put(made, "eval_accuracy", 0.7301, -2)}))
    blocks = len([record for record in records(2) if record["key"] == "eval_accuracy"])
    assert found.numbers["runs"] == {"result_2.txt": {"met": blocks - 1, "of": blocks}}


def test_numbers_left_out() -> None:
    names = [f"result_{n}.txt" for n in (0, 1, 2, 4, 5, 6, 7, 8, 9, 12)]
    assert the_one("inspect.numbering", entry(names=names)).numbers["holes"] == [3, 10, 11]


def test_names_of_a_batch_system_have_no_holes() -> None:
    assert observed(entry(names=[f"result_4960-2405{n}_{n}.txt" for n in range(10)])) == {}


def test_an_order_that_is_not_that_of_time() -> None:
    found = the_one("inspect.order", entry({7: lambda made: delay(made, "init_start", 30 * 3_600_000)}))
    assert found.numbers["order"] == [0, 1, 2, 3, 4, 5, 6, 8, 9, 7]


def test_throughput_that_does_not_give_the_samples() -> None:
    def change(made: list[Record], share: float) -> None:
        length = made[-1]["time_ms"] - made[at(made, "run_start")]["time_ms"]
        place = made[at(made, "eval_accuracy", -1)]["metadata"]["epoch_num"]
        record = {"time_ms": made[-3]["time_ms"], "key": "throughput", "value": share * place / length * 1000}
        made.insert(-2, record | {"metadata": {}})

    assert the_one("inspect.throughput", entry(every(lambda made: change(made, 0.8)))).numbers[
        "ratio"
    ] == pytest.approx(0.8)
    assert observed(entry(every(lambda made: change(made, 1.1)))) == {}
    assert observed(entry(every(lambda made: change(made, 0.001)))) == {}, "another unit"


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


def test_equal_evaluations_of_two_organisations() -> None:
    def shift(made: list[Record]) -> None:
        made[:] = [dict(record) for record in records(0)]
        for n, record in enumerate(made):
            record["time_ms"] += 77_000_000_000 + n * 11
        put(made, "seed", 4711)

    found = the_one("inspect.same-evaluations", entry(), entry({0: shift}, runs=1, org="Other"))
    assert found.entry == "v1.1/Other/results/rack1/bert"
    assert found.numbers["other"] == "v1.1/ACME/results/rack1/bert"


def test_equal_times_with_other_evaluations() -> None:
    def retimed(made: list[Record]) -> None:
        made[:] = [dict(record) for record in records(0)]
        for record in made:
            record["time_ms"] += 99 * 3_600_000
            if record["key"] == "eval_accuracy":
                record["value"] -= 1e-7
        put(made, "seed", 4711)
        put(made, "train_samples", 1)

    found = the_one("inspect.same-times", entry({9: retimed}))
    assert found.finding.actual == "1 of 10 logs equal to logs of the same entry: result_9.txt = result_0.txt"


def test_the_same_runs_in_two_rounds() -> None:
    found = the_one("inspect.same-run", entry(), entry(round_="2.0"))
    assert found.entry == "v2.0/ACME/results/rack1/bert"
    assert str(found.finding.actual).startswith("10 of 10 logs equal to logs of v1.1/ACME/results/rack1/bert")


def test_a_seed_that_was_added_to_every_log_makes_no_new_runs() -> None:
    def seeded(made: list[Record]) -> None:
        seed = made[at(made, "seed")]
        made.insert(at(made, "seed"), seed | {"value": 4711, "time_ms": seed["time_ms"]})

    found = the_one("inspect.same-run", entry(system="rack0"), entry(every(seeded), system="rack1", org="ACME"))
    assert found.entry == "v1.1/ACME/results/rack1/bert"
    assert "published twice" in found.finding.message
    assert str(found.finding.actual).startswith("10 of 10 logs equal to logs of v1.1/ACME/results/rack0/bert")
    assert str(found.finding.actual).endswith("; 1 seed record added in 10 of them")
    assert found.numbers["changes"]["v1.1/ACME/results/rack1/bert/result_0.txt"] == ["1 seed record added"]


def _later(made: list[Record], key: str, value: object, after_ms: float) -> None:
    made.append(made[-1] | {"key": key, "value": value, "time_ms": made[-1]["time_ms"] + after_ms, "metadata": {}})


#: What is done to a log that is published again -> what is told of it.
REPUBLISHED: dict[str, tuple[Any, str]] = {
    "a line behind run_stop": (lambda made: _later(made, "power_note", "none", 5), "1 power_note record added"),
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
        f"1 of 10 logs equal to logs of v1.1/ACME/results/rack0/bert: result_3.txt = result_3.txt; {told} in 1 of them"
    )


def test_equal_seeds_explain_equal_evaluations_and_other_seeds_do_not() -> None:
    def shift(made: list[Record], seed: int | None) -> None:
        made[:] = [dict(record) for record in records(0)]
        for n, record in enumerate(made):
            record["time_ms"] += 77_000_000_000 + n * 11
        put(made, "train_samples", 1)
        if seed is not None:
            put(made, "seed", seed)

    for seed, explained in ((None, True), (4711, False)):
        again = entry({0: lambda made, seed=seed: shift(made, seed)}, runs=1, org="Other")
        [found] = observed(entry(), again)["inspect.same-evaluations"]
        assert ("the seeds are equal" in str(found.finding.actual)) is explained
        assert found.numbers["equal_seeds"] == explained
    assert "equal seed" not in catalogue()["inspect.same-evaluations"].fix


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


def test_seeds_of_an_earlier_round() -> None:
    def fixed(start: float, round_: str) -> Entry:
        changes = {n: (lambda made, n=n: put(made, "seed", 42 + n)) for n in range(10)}
        return entry(changes, round_=round_, start_ms=start)

    found = the_one("inspect.seeds-shared", fixed(1_634_000_000_000, "1.1"), fixed(1_650_000_000_000, "2.0"))
    assert (found.numbers["common"], found.numbers["seeds"]) == (10, 10)
    assert found.entry == "v2.0/ACME/results/rack1/bert"


def test_runs_that_converge_too_near_together() -> None:
    def alike(made: list[Record]) -> None:
        evaluations = [record for record in made if record["key"] == "eval_accuracy"]
        for n, record in enumerate(evaluations):
            record["metadata"]["epoch_num"] = 2_800_000 - (len(evaluations) - 1 - n) * 25_000

    found = observed(entry(every(alike)))["inspect.small-spread"][0]
    assert found.numbers["width"] == 0
    assert found.numbers["chance"] < 1e-5


def test_what_changed_since_the_round_before() -> None:
    def tuned(made: list[Record]) -> None:
        put(made, "opt_base_learning_rate", 0.0035)
        put(made, "global_batch_size", 4608)
        slower(0.8)(made)

    before, after = entry(), entry(every(tuned), round_="2.0", start_ms=1_650_000_000_000, system="rack1-closed")
    found = the_one("inspect.changed", before, after)
    names = {change["name"] for change in found.numbers["changes"]}
    assert {"global_batch_size", "opt_base_learning_rate", "pace of training"} <= names
    assert "global_batch_size 3072 to 4608" in str(found.finding.actual)
    [of_after] = inspect([after], [before]).entries
    assert [o.finding.rule for o in of_after.observations] == ["inspect.changed"]


@pytest.mark.parametrize(("old", "new"), [("rack16", "rack64"), ("rack1", "rack16"), ("MI325X", "MI355X")])
def test_systems_of_another_size_are_not_compared(old: str, new: str) -> None:
    def tuned(made: list[Record]) -> None:
        put(made, "global_batch_size", 4608)

    after = entry(every(tuned), round_="2.0", start_ms=1_650_000_000_000, system=new)
    assert observed(entry(system=old), after) == {}


@pytest.mark.parametrize(
    ("old", "new"), [("dgxa100_ngc21.05_mxnet", "dgxa100_ngc21.09_mxnet"), ("ipu-pod16-TF1", "ipu-pod16-TF1-closed")]
)
def test_systems_that_differ_in_versions_are_compared(old: str, new: str) -> None:
    def tuned(made: list[Record]) -> None:
        put(made, "global_batch_size", 4608)

    after = entry(every(tuned), round_="2.0", start_ms=1_650_000_000_000, system=new)
    assert set(observed(entry(system=old), after)) == {"inspect.changed"}
