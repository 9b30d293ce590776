"""Each detector: what it finds where a run was spoiled in one place, with its numbers; and that it is silent else."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs import model
from mlsub.review.runs.changes import find_changes
from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.stretch import measure_stretch
from mlsub.systems.fields import SystemFacts
from tests.review.runs.build import Record, at, delay, entry, every, observed, put, records, stretch, the_one


def test_clean_entries_leave_nothing_to_ask() -> None:
    others = entry(org="Other", start_ms=1_635_000_000_000), entry(system="rack2", start_ms=1.636e12)
    assert observed(entry()) == observed(entry(), *others) == {}


@pytest.mark.parametrize("factor", [1.098, 1.118, 1.02265, 1.0123456])
def test_a_constant_factor_is_found_and_undone(factor: float) -> None:
    clean, found = entry(), the_one("inspect.stretched", entry(every(stretch(factor))))
    assert found.numbers["factor"] == pytest.approx(factor, abs=2e-6)
    minutes = sorted(log.run.minutes or 0 for log in clean.logs)[1:-1]
    # The clean runs stop a millisecond after their last record.
    assert found.numbers["minutes_undone"] == pytest.approx(sum(minutes) / 8 - 1 / 60_000, abs=1e-9)
    assert found.numbers["minutes"] == pytest.approx(found.numbers["minutes_undone"] * factor, rel=1e-6)


@pytest.mark.slow
@given(st.floats(1.002, 4).map(lambda factor: round(factor, 6)), st.integers(0, 10**6))
def test_any_factor_is_found_whatever_the_runs(factor: float, shift: int) -> None:
    spoiled = entry(every(stretch(factor)), start_ms=1.6e12 + shift)
    found = measure_stretch(spoiled)
    assert found is not None
    assert found.factor == pytest.approx(factor, abs=5e-6)
    assert measure_stretch(entry(start_ms=1.6e12 + shift)) is None


def test_a_constant_wait_is_no_factor() -> None:
    assert "inspect.stretched" not in observed(entry(every(lambda made: delay(made, "run_stop", 60_000))))


def test_a_wait_before_the_end_is_a_pause_unless_it_is_that_of_a_factor() -> None:
    def waits(made: list[Record]) -> None:
        made.pop(at(made, "train_samples"))
        delay(made, "run_stop", 200_000)

    def stretched(made: list[Record]) -> None:
        made.pop(at(made, "train_samples"))
        stretch(1.2)(made)

    assert ["inspect.pause" in observed(entry(every(change))) for change in (waits, stretched)] == [True, False]


def test_a_factor_of_all_runs_but_one_is_none() -> None:
    changes = every(stretch(1.098)) | {4: stretch(1.09801)}
    assert "inspect.stretched" not in observed(entry(changes))


def earlier(by_ms: float) -> Any:
    return lambda made: delay(made, "init_start", -by_ms)


def into_the_run_before(by_ms: float) -> dict[int, Any]:
    """Let run 3 begin so long before run 2 ends."""
    edges = [log.run.timeline for log in entry().logs]
    return {3: earlier((edges[3].run_start or 0) - (edges[2].run_stop or 0) + by_ms)}


def test_a_run_that_begins_before_the_one_before_it_ends() -> None:
    found = the_one("inspect.overlap", entry(into_the_run_before(60_000)))
    assert found.numbers["pairs"] == 1
    assert found.finding.actual == "1 of 45 pairs, up to 2 runs at once: result_2.txt and result_3.txt by 60.0 s"


def test_runs_without_usable_times_overlap_nothing() -> None:
    def begins(at_ms: float) -> Any:
        return lambda made: delay(made, "init_start", at_ms - made[at(made, "run_start")]["time_ms"])

    def takes(length_ms: float) -> Any:
        return lambda made: made[-1].update(time_ms=made[at(made, "run_start")]["time_ms"] + length_ms)

    changes = into_the_run_before(60_000) | {
        0: begins(-MAX_TIME_MS),
        5: lambda made: made.pop(at(made, "run_start")),
        6: takes(1),
        7: lambda made: made.pop(),
        8: takes(0),
        9: takes(MAX_TIME_MS),
    }
    [found] = observed(entry(changes))["inspect.overlap"]
    assert found.finding.actual == "1 of 10 pairs, up to 2 runs at once: result_2.txt and result_3.txt by 60.0 s"


@pytest.mark.parametrize("changes", [{3: earlier(3_500_000)}, {n: earlier(n * 3_500_000) for n in range(10)}])
def test_runs_side_by_side_are_not_reported(changes: dict[int, Any]) -> None:
    assert observed(entry(changes)) == {}


def test_an_overlap_that_a_factor_explains_is_told_apart() -> None:
    found = observed(entry(every(stretch(5.0))))["inspect.overlap"][0]
    assert found.numbers["pairs"] > 0
    assert found.numbers["pairs_unstretched"] == 0
    assert "; 0 pairs remain if run_stop is moved back to the last record" in str(found.finding.actual)


def test_runs_of_two_benchmarks_at_one_time_on_one_system() -> None:
    clean = entry()
    stop = clean.logs[9].run.timeline.run_stop
    first = entry(runs=1, start_ms=1_634_900_000_000).logs[0].run.timeline.run_start
    assert stop is not None and first is not None
    beside = entry({0: lambda made: delay(made, "init_start", stop - first - 30_000)}, 1, start_ms=1_634_900_000_000)
    other = msgspec.structs.replace(beside, benchmark="rnnt", path="v1.1/ACME/results/rack1/rnnt")
    found = sorted(observed(entry(), other)["inspect.overlap"], key=lambda o: o.entry)
    assert [(o.entry, o.numbers["pairs"], o.numbers["pairs_with_others"]) for o in found] == [
        ("v1.1/ACME/results/rack1/bert", 0, 1),
        ("v1.1/ACME/results/rack1/rnnt", 0, 1),
    ]
    assert found[1].finding.actual == "1 pair with runs of bert on the same system"
    elsewhere = msgspec.structs.replace(other, system="rack2")
    assert "inspect.overlap" not in observed(entry(), elsewhere)


def test_a_clock_set_back_in_one_run() -> None:
    found = the_one("inspect.clock-jump", entry({6: lambda made: delay(made, "eval_start", -3_000, 5)}))
    assert found.numbers["jump_ms"] == 2_999
    assert str(found.finding.actual).startswith("by 3.0 s, 0.3% of the run; 1 of 10 runs have such a step; ")
    assert found.finding.path.endswith("result_6.txt")
    assert found.finding.line == at(records(6), "eval_start", 5) + 1


@pytest.mark.parametrize(("runs", "found"), [(5, True), (6, False), (10, False)])
def test_logs_put_together_of_several_files_are_left_to_check(runs: int, found: bool) -> None:
    changes = every(lambda made: delay(made, "eval_start", -3_000, 5), runs)
    assert bool(observed(entry(changes))) is found


def initialises(length_ms: float) -> Any:
    def change(made: list[Record]) -> None:
        took = made[at(made, "run_start")]["time_ms"] - made[0]["time_ms"]
        delay(made, "init_stop", length_ms - took)

    return change


#: How runs are spoiled by some ms, and the most that nobody hears of: a record comes a millisecond after another one.
LIMITS: dict[str, tuple[Callable[[float], dict[int, Any]], float]] = {
    "inspect.clock-jump": (lambda by: {6: lambda made: delay(made, "eval_start", -by, 5)}, 1_000),
    "inspect.overlap": (into_the_run_before, 999),
    "inspect.long-init": (lambda by: every(initialises(60_000)) | {0: initialises(by)}, 179_999),
}


@pytest.mark.parametrize("rule", LIMITS)
def test_a_limit_is_met_to_the_millisecond(rule: str) -> None:
    spoil, silent = LIMITS[rule]
    assert observed(entry(spoil(silent))) == {}
    assert set(observed(entry(spoil(silent + 1)))) == {rule}


def test_a_silence_that_other_runs_do_not_have() -> None:
    found = observed(entry({1: lambda made: delay(made, "block_start", 143_900)}))["inspect.silent-gap"][0]
    assert (found.numbers["gap_ms"], found.numbers["habit_ms"]) == (143_901, 0.0)
    assert str(found.finding.actual).endswith(" without the silence")
    assert found.numbers["minutes_undone"] == pytest.approx(clean_score(), abs=1e-3)


def clean_score() -> float:
    minutes = sorted(log.run.minutes or 0 for log in entry().logs)[1:-1]
    return sum(minutes) / 8


def test_a_pause_that_all_runs_have() -> None:
    found = the_one("inspect.pause", entry(every(lambda made: delay(made, "block_start", 95_000))))
    assert found.finding.message.startswith("The timed region has a long pause between run_start and block_start")
    assert found.numbers["pause_ms"] == 95_001
    assert observed(entry(every(lambda made: delay(made, "block_start", 20_000)))) == {}, "less than 4 % of the run"


def test_a_slow_block() -> None:
    found = the_one("inspect.slow-interval", entry({7: lambda made: delay(made, "block_stop", 80_000, 4)}))
    assert str(found.finding.actual).startswith("block 5: 140.")
    assert found.finding.line == at(records(7), "block_start", 4) + 1

    def stopped(made: list[Record]) -> None:
        delay(made, "block_stop", 80_000, 4)
        made.pop()

    assert observed(entry({7: stopped})) == {}


def slower(factor: float) -> Any:
    def change(made: list[Record]) -> None:
        start = made[at(made, "run_start")]["time_ms"]
        for record in made[at(made, "run_start") :]:
            record["time_ms"] = start + (record["time_ms"] - start) * factor

    return change


@pytest.mark.parametrize(("run", "rule"), [(0, "inspect.slow-first-run"), (5, "inspect.pace")])
def test_a_run_that_is_slow_throughout(run: int, rule: str) -> None:
    assert the_one(rule, entry({run: slower(1.3)})).numbers["times"] == pytest.approx(1.3, rel=0.02)


def at_epoch_one(made: list[Record]) -> None:
    for record in made:
        if record["key"] == "eval_accuracy":
            record["metadata"]["epoch_num"] = 1


def goes_on(made: list[Record]) -> None:
    for record in made:
        if record["key"] == "eval_accuracy":
            record["metadata"]["epoch_num"] += 1_000_000_000


def beside(made: list[Record]) -> None:
    """Each evaluation starts before the one before has ended."""
    for n in range(len(made)):
        if made[n]["key"] == "eval_stop" and n + 3 < len(made) and made[n + 3]["key"] == "eval_start":
            made[n], made[n + 3] = made[n + 3] | {"time_ms": made[n]["time_ms"]}, made[n]


def stops_in_the_past(made: list[Record]) -> None:
    made[-1]["time_ms"] -= 400_000


@pytest.mark.parametrize("change", [at_epoch_one, goes_on, beside, stops_in_the_past])
def test_progress_that_evaluations_do_not_show_is_not_compared(change: Any) -> None:
    def both(made: list[Record]) -> None:
        slower(1.3)(made)
        change(made)

    found = observed(entry(every(change) | {5: both}))
    assert not found.keys() & {"inspect.pace", "inspect.slow-first-run"}


def test_blocks_around_evaluations_alone_leave_no_pause() -> None:
    def change(made: list[Record]) -> None:
        starts = [n for n, record in enumerate(made) if record["key"] == "block_start"]
        for n in starts:
            made[n]["time_ms"] = made[n + 1]["time_ms"] - 10

    assert observed(entry(every(change))) == {}


def test_a_long_initialisation() -> None:
    found = the_one("inspect.long-init", entry({0: lambda made: delay(made, "init_stop", 900_000)}))
    assert found.numbers["init_ms"] > 900_000


@pytest.mark.parametrize(
    ("benchmark", "size", "last", "step"), [("bert", 3072, 2_800_000, 25_000), ("unet3d", 80, 1600, 20)]
)
def test_runs_that_converge_too_near_together(benchmark: str, size: int, last: int, step: int) -> None:
    def alike(made: list[Record], later: int) -> None:
        put(made, "global_batch_size", size)
        evaluations = [record for record in made if record["key"] == "eval_accuracy"]
        for n, record in enumerate(reversed(evaluations)):
            record["metadata"]["epoch_num"] = last - (n + later) * step

    changes: dict[int, Any] = {run: partial(alike, later=run % 2) for run in range(10)}
    found = observed(entry(changes, benchmark=benchmark))["inspect.small-spread"][0]
    assert found.numbers["width"] == step
    assert found.numbers["chance"] < 1e-5

    def in_open(made: list[Record]) -> None:
        alike(made, 0)
        put(made, "submission_division", "open")

    assert "inspect.small-spread" not in observed(entry(every(in_open), benchmark=benchmark))


def test_bert_that_counts_epochs_is_compared_by_its_samples() -> None:
    def in_epochs(made: list[Record]) -> None:
        for n, record in enumerate(record for record in made if record["key"] == "eval_accuracy"):
            record["metadata"]["epoch_num"] = 1 + n
        put(made, "train_samples", 2_800_000)

    [found] = observed(entry(every(in_epochs)))["inspect.small-spread"]
    assert (found.numbers["width"], found.numbers["runs"]) == (0, 10)


def test_what_changed_since_the_round_before() -> None:
    def tuned(made: list[Record]) -> None:
        put(made, "opt_base_learning_rate", 0.0035)
        put(made, "global_batch_size", 4608)
        slower(0.8)(made)

    before, after = entry(), entry(every(tuned), round_="2.0", start_ms=1_650_000_000_000, system="rack1-closed")
    found = the_one("inspect.changed", before, after)
    names = {change["name"] for change in found.numbers["changes"]}
    assert {"global_batch_size", "opt_base_learning_rate", "pace of training"} <= names
    assert str(found.finding.actual).startswith(f"since {before.path}: 16.343644 to 12.458903 minutes (-23.77%), ")
    assert "global_batch_size 3072 to 4608" in str(found.finding.actual)
    [of_after] = observe_runs([after], [before]).values()
    assert [o.finding.rule for o in of_after] == ["inspect.changed"]


@pytest.mark.parametrize(("old", "new"), [([40, 50], [40.0, 50.0]), (37, 116_217), (1, 1.0)])
def test_the_same_value_written_otherwise_is_no_change(old: Any, new: Any) -> None:
    def logged(value: Any) -> Any:
        return lambda made: made.insert(2, made[2] | {"key": "opt_learning_rate_decay_steps", "value": value})

    before, after = entry(every(logged(old))), entry(every(logged(new)), round_="2.0", start_ms=1_650_000_000_000)
    assert observed(before, after) == {}


@pytest.mark.parametrize(
    ("old", "new", "compared"),
    [
        *((old, new, False) for old, new in (("rack16", "rack64"), ("rack1", "rack16"), ("MI325X", "MI355X"))),
        ("dgxa100_ngc21.05_mxnet", "dgxa100_ngc21.09_mxnet", True),
        ("ipu-pod16-TF1", "ipu-pod16-TF1-closed", True),
    ],
)
def test_systems_are_compared_across_versions_and_not_across_sizes(old: str, new: str, compared: bool) -> None:
    tuned = every(lambda made: put(made, "global_batch_size", 4608))
    after = entry(tuned, round_="2.0", start_ms=1_650_000_000_000, system=new)
    found = observed(entry(system=old), after)
    names = [change["name"] for [one] in found.values() for change in one.numbers["changes"]]
    assert (set(found), names) == (({"inspect.changed"}, ["global_batch_size"]) if compared else (set(), []))


def tuned(made: list[Record]) -> None:
    put(made, "global_batch_size", 4608)


@pytest.mark.parametrize(
    ("system", "old", "new", "compared"),
    [
        ("rack1", ("MI300X", 8), ("MI300X", 16), False),
        ("rack1", ("MI300X", 8), ("MI325X", 8), True),
        ("rack1_llama", ("MI300X", 8), ("MI300X", 8), True),
        ("other", ("MI300X", 8), ("AMD Instinct MI300X", 8), True),
        ("other", ("MI300X", 8), ("MI325X", 8), False),
        ("other", ("MI300X", 8), ("MI300X", 16), False),
    ],
)
def test_entries_with_as_many_accelerators_are_compared(
    system: str, old: tuple[str, int], new: tuple[str, int], compared: bool
) -> None:
    facts = [
        SystemFacts(accelerator_model_name=name, accelerators_per_node=count, number_of_nodes=1)
        for name, count in (old, new)
    ]
    after = entry(every(tuned), round_="2.0", start_ms=1_650_000_000_000, system=system, facts=facts[1])
    assert bool(list(find_changes([entry(facts=facts[0]), after]))) is compared


@pytest.mark.parametrize(
    ("old", "new", "rounds", "folders", "compared"),
    [
        ("IEI", "Inspur", ("1.1", "2.0"), ("bert", "bert"), True),
        ("Krai", "krai", ("1.1", "2.0"), ("bert", "bert"), True),
        ("ACME", "AMCE", ("1.1", "2.0"), ("bert", "bert"), False),
        ("ACME", "ACME", ("1.1", "2.0"), ("ssd", "ssd"), False),
        ("ACME", "ACME", ("4.1", "5.0"), ("ssd", "retinanet"), True),
        ("ACME", "ACME", ("4.1", "5.0"), ("gnn", "rgat"), True),
    ],
)
def test_the_same_submitter_and_benchmark(
    old: str, new: str, rounds: tuple[str, str], folders: tuple[str, str], compared: bool
) -> None:
    before = entry(org=old, round_=rounds[0], benchmark=folders[0])
    after = entry(every(tuned), org=new, round_=rounds[1], start_ms=1_650_000_000_000, benchmark=folders[1])
    assert bool(list(find_changes([before, after]))) is compared


def test_each_threshold_has_a_detector_that_asks_for_it() -> None:
    sources = "".join(file.read_text() for file in Path(model.__file__).parent.glob("*.py"))
    assert set(re.findall(r"(?:limits|thresholds\(\))\[.(\w+).\]", sources)) == set(model.thresholds())
