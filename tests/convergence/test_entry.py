"""The convergence test of an entry: every way it can end, and what it says then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.convergence import Options, other_unit, unit_words
from mlsub.convergence.curves import plan_of
from mlsub.convergence.entry import Convergence
from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements as needs
from mlsub.submission.params import Flags
from tools.support.corpus import CORPUS
from tools.support.entry_logs import judged, log_of, write_logs
from tools.support.make_tree import make_tree
from tools.support.runner import check, run

#: ResNet in v1.0 at batch size 4096: mean 39.875 epochs, accepted from 38.906.
SIZE, SLOW, NEAR, FAST = 4096, 42, 39, 30


def entry(tmp_path: Path, logs: list[str], round_name: str = "1.0", name: str = "resnet", **more: Any) -> Convergence:
    folder = tmp_path / name
    write_logs(folder, logs)
    return judged(folder, round_name, **more)


def resnet(*points: Any, **more: Any) -> list[str]:
    return [log_of("resnet", SIZE, point, **more) for point in points]


def broken(found: Convergence) -> list[str]:
    return [f.rule for f in found.findings if f.rejects]


def test_an_entry_slower_than_the_reference_passes_without_a_word(tmp_path: Path) -> None:
    found = entry(tmp_path, resnet(*[SLOW] * 5))
    assert found.findings == ()
    result = found.result
    assert (result.verdict, result.how, result.batch_size, result.mean) == ("pass", "exact", SIZE, SLOW)
    assert (result.reference_mean, result.reference_runs, result.scaling) == (39.875, 10, 1.0)
    assert result.points == (SLOW,) * 5
    assert (result.counted, result.unit) == ("epoch_num", "epochs")


def test_an_entry_that_is_too_fast_fails_and_the_finding_has_the_figures(tmp_path: Path) -> None:
    found = entry(tmp_path, resnet(*[FAST] * 5))
    assert found.result.verdict == "fail"
    (finding,) = found.findings
    assert (finding.rule, finding.rejects, finding.blocks) == ("rcp.too-fast", True, "closed")
    assert finding.expected == "a mean of 38.9062 epochs or more (the reference point of batch size 4096)"
    assert finding.actual == "30 epochs at batch size 4096, 22.89 % below"


def test_the_fastest_and_the_slowest_run_do_not_count(tmp_path: Path) -> None:
    found = entry(tmp_path, resnet(1, SLOW, SLOW, SLOW, None, status="success")[:4] + resnet(SLOW, status="aborted"))
    assert (found.result.verdict, found.result.mean) == ("pass", SLOW)
    assert found.result.points == (1, SLOW, SLOW, SLOW, None)


@pytest.mark.parametrize(("round_name", "scaling", "rules"), [("2.0", 1.0, []), ("2.1", 38.5 / 38, ["rcp.normalised"])])
def test_from_v21_on_a_result_faster_than_the_mean_is_scaled_to_it(
    round_name: str, scaling: float, rules: list[str], tmp_path: Path
) -> None:
    slow = entry(tmp_path, resnet(*[SLOW] * 5), round_name).result
    assert slow.reference_mean is not None and slow.minimum is not None
    between = round((slow.reference_mean + slow.minimum) / 2, 3)
    found = entry(tmp_path, resnet(*[between] * 5), round_name)
    assert found.result.verdict == "pass"
    assert found.result.scaling == pytest.approx(1.0 if scaling == 1 else slow.reference_mean / between, rel=1e-12)
    assert [f.rule for f in found.findings if f.rule != "rcp.hull"] == rules


def test_the_sizes_between_below_and_above_the_reference_points(tmp_path: Path) -> None:
    def at(size: int, point: float) -> tuple[str, str | None]:
        result = entry(tmp_path, [log_of("resnet", size, point) for _ in range(5)]).result
        return result.verdict, result.how

    assert at(3000, SLOW) == ("pass", "interpolated")
    assert at(3000, FAST) == ("fail", "interpolated")
    assert at(256, SLOW) == ("pass", "smaller-batch")
    assert at(256, FAST) == ("missing", "missing")
    assert at(100_000, 500) == ("missing", "missing")


def test_a_missing_reference_rejects_and_says_why(tmp_path: Path) -> None:
    found = entry(tmp_path, [log_of("resnet", 100_000, 500) for _ in range(5)])
    assert broken(found) == ["rcp.missing"]
    assert found.findings[0].expected == "a reference point at this batch size or a larger one"
    assert found.findings[0].actual == "500 epochs at batch size 100000"


@pytest.mark.parametrize("size", [1e308, 10**400, 1e15, float("inf"), float("nan")], ids=str)
def test_batch_sizes_beyond_all_measure_are_none(size: float, tmp_path: Path) -> None:
    assert [f.rule for f in entry(tmp_path, [log_of("resnet", size, SLOW)] * 5).findings] == ["rcp.batch-size"]


@pytest.mark.parametrize("point", [1e308, 1e15, float("inf")])
def test_the_slowest_run_may_be_as_slow_as_it_likes(point: float, tmp_path: Path) -> None:
    assert entry(tmp_path, resnet(*[SLOW] * 4, point)).findings == ()
    assert entry(tmp_path, resnet(*[SLOW] * 3, point, point)).result.verdict == "pass"


@pytest.mark.parametrize(("point", "rule"), [(10**400, "official.crash"), (float("nan"), "rcp.no-point")], ids=str)
def test_counts_that_cannot_be_averaged_or_sorted_reject(point: float, rule: str, tmp_path: Path) -> None:
    found = entry(tmp_path, [log_of("llama31_8b", 32, point, unit="samples_count")] * 10, "5.1", "llama31_8b")
    assert {f.rule for f in found.findings} == {rule}


@pytest.mark.parametrize(
    ("usage", "round_name", "name", "unit"),
    [
        *(("training", "1.0", "bert", "samples"), ("training", "4.1", "gpt3", "tokens")),
        *(("training", "3.0", "unet3d", "epochs"), ("training", "4.0", "unet3d", "samples")),
        *(("training", "3.1", "stable_diffusion", "steps"), ("training", "5.0", "stable_diffusion", "samples")),
        *(("training", "6.1", "llama31_8b", "samples"), ("training", "5.1", "dlrm_dcnv2", "epochs")),
        ("hpc", "3.0", "openfold", "samples"),
    ],
)
def test_what_is_counted_depends_on_benchmark_and_round(usage: str, round_name: str, name: str, unit: str) -> None:
    assert unit_words(name, get_round(usage, round_name)) == unit


CRASH = "The official convergence checker ends with a traceback at this record, so the package cannot be checked"
SIZES = "The runs do not agree on one batch size"
FEW = "Too few runs converged for a convergence test"


def beside(*more: str) -> list[str]:
    """Four good runs, and more."""
    return [*resnet(*[SLOW] * 4), *more]


#: Round, logs, and the one finding: its rule, its message and what was found.
DEFECTS: dict[str, tuple[str, list[str], str, str, str | None]] = {
    "a run without evaluation": (
        "3.0", beside(*resnet(None)), "rcp.no-point",
        "The run says success, but no evaluation before run_stop shows where it converged", None,
    ),
    "an evaluation that says nothing of epochs": ("1.0", beside(*resnet("many")), "official.crash", CRASH, None),
    "two batch sizes": (
        "3.0", beside(log_of("resnet", 2048, SLOW)), "rcp.batch-size", SIZES,
        "4096 in result_0.txt, result_1.txt, result_2.txt, …; 2048 in result_4.txt",
    ),
    "a run without a batch size": ("3.0", beside(log_of("resnet", None, SLOW)), "rcp.batch-size", SIZES, None),
    "no batch size at all": ("1.0", [log_of("resnet", None, SLOW)] * 5, "rcp.batch-size", SIZES, None),
    "a batch size that is not a number": ("1.0", [log_of("resnet", "4096", SLOW)] * 5, "official.crash", CRASH, None),
    "two benchmarks": (
        "3.0", beside(log_of("ssd", SIZE, SLOW)), "rcp.batch-size", "The logs are of several benchmarks", None
    ),
    "a benchmark the round does not have": (
        "3.0", [log_of("resnet50", SIZE, SLOW)] * 5, "rcp.no-reference",
        'There is no reference to compare "resnet50" with in MLPerf Training v3.0', None,
    ),
    "two runs that did not converge": (
        "3.0", beside(*resnet(SLOW, SLOW, status="aborted"))[1:], "rcp.insufficient-convergence", FEW, None
    ),
    "runs that never stop": (
        "3.0", beside(*resnet(SLOW, SLOW, status=None))[1:], "rcp.insufficient-convergence", FEW, None
    ),
    "two runs alone": (
        "3.0", resnet(SLOW, SLOW), "rcp.insufficient-convergence", "There are too few runs for a convergence test", "2"
    ),
    "three runs that did not converge": (
        "3.0", resnet(*[SLOW] * 3, status="aborted"), "rcp.insufficient-convergence", FEW,
        "3 of 3 did not converge: result_0.txt, result_1.txt, result_2.txt",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_one_clear_finding(name: str, tmp_path: Path) -> None:
    round_name, logs, rule, message, actual = DEFECTS[name]
    found = entry(tmp_path, logs, round_name)
    (finding,) = found.findings
    assert (finding.rule, finding.message, finding.rejects) == (rule, message, True)
    assert message != SIZES or finding.expected == "one global_batch_size in all runs, a number"
    assert actual in (None, finding.actual)
    assert found.result.verdict in ("fail", "missing")


def test_to_v21_the_batch_size_of_the_last_run_counts(tmp_path: Path) -> None:
    found = entry(tmp_path, beside(log_of("resnet", 2048, SLOW)), "2.1")
    assert (found.result.verdict, found.result.batch_size) == ("pass", 2048)


@pytest.mark.parametrize(
    ("round_name", "name", "sizes"),
    [("1.0", "unet3d", (56, 32)), ("2.0", "maskrcnn", (48, 272)), ("2.1", "maskrcnn", (48, 272))],
)
@pytest.mark.parametrize("slower_last", [True, False])
def test_to_v21_an_answer_that_depends_on_the_order_of_the_logs_is_named(
    round_name: str, name: str, sizes: tuple[int, int], slower_last: bool, tmp_path: Path
) -> None:
    """As published: unet3d of v1.0 and maskrcnn of v2.0 and v2.1, with one run of another batch size."""
    round_, runs = get_round("training", round_name), needs("training", round_name, name).runs
    low, high = sorted(sizes, key=lambda size: plan_of(round_, name, size).minimum or 0)
    limits = [plan_of(round_, name, size).minimum for size in (low, high)]
    assert limits[0] is not None and limits[1] is not None
    point = round((limits[0] + limits[1]) / 2, 3)
    last, others = (high, low) if slower_last else (low, high)
    by_name_last = min(runs - 1, 9)
    logs = [log_of(name, last if number == by_name_last else others, point) for number in range(runs)]
    found = entry(tmp_path, logs, round_name, name)
    assert found.result.verdict == ("fail" if slower_last else "pass")
    (finding,) = [f for f in found.findings if f.rule == "rcp.mixed-batch-sizes"]
    assert (finding.kind, finding.rejects) == ("review", False)
    assert finding.message.endswith("the official answer depends on which log is read last")
    assert finding.actual is not None
    assert f"{others} in result_0.txt, result_1.txt" in finding.actual
    assert (
        f"{last} in result_{by_name_last}.txt (counts here): {'fails: only' if slower_last else 'passes from'}"
        in finding.actual
    )


def test_mixed_batch_sizes_with_one_answer_say_so(tmp_path: Path) -> None:
    found = entry(tmp_path, [*resnet(*[60] * 4), log_of("resnet", 2048, 60)], "2.0")
    (finding,) = [f for f in found.findings if f.rule == "rcp.mixed-batch-sizes"]
    assert (found.result.verdict, broken(found)) == ("pass", [])
    assert finding.message.endswith("the answer is the same with each")


@pytest.mark.parametrize("size", ["64", None, [64], {"a": 1}, float("inf")])
def test_a_batch_size_that_is_no_number_beside_others_hangs_nothing(size: Any, tmp_path: Path) -> None:
    logs = [log_of("resnet", size, 60), *resnet(*[60] * 4)]
    found = entry(tmp_path, logs, "2.0")
    assert [f.rule for f in found.findings] == ([] if size is None else ["rcp.mixed-batch-sizes"])


def test_one_run_of_ten_missing_leaves_a_test_of_nine(tmp_path: Path) -> None:
    found = entry(tmp_path, [log_of("bert", 448, 3_000_000) for _ in range(9)], name="bert")
    assert (found.result.verdict, len(found.result.points)) == ("pass", 9)


@pytest.mark.parametrize(("logs", "verdict"), [(4, "pass"), (5, "fail")])
def test_unet3d_forgives_four_runs(logs: int, verdict: str, tmp_path: Path) -> None:
    good = [log_of("unet3d", 80, 2000) for _ in range(40 - logs)]
    found = entry(tmp_path, good + [log_of("unet3d", 80, 2000, status="aborted")] * logs, name="unet3d")
    assert found.result.verdict == verdict


#: BERT in v1.0 at batch size 448: mean 2,621,696 samples, accepted from 2,523,808.
BERT_SLOW, BERT_FAST = 3_000_000, 2_000_000
BERT_EPOCHS = [log_of("bert", 448, 1, train_samples=BERT_SLOW)] * 10
EPOCHS = "not comparable: the logs count epochs, the reference samples"
SAMPLES = "not comparable: the logs count samples, the reference epochs"


def bert(epoch_num: float, train_samples: float | None, **more: Any) -> str:
    stated = {} if train_samples is None else {"train_samples": train_samples}
    return log_of("bert", 448, epoch_num, **stated, **more)


@pytest.mark.parametrize("round_name", ["1.0", "2.1", "3.0", "5.0"])
def test_train_samples_decide_where_epoch_num_is_rejected(round_name: str, tmp_path: Path) -> None:
    found = entry(tmp_path, BERT_EPOCHS, round_name, name="bert")
    result, also = found.result, found.result.also
    assert (result.verdict, result.counted, result.mean, result.logs_unit) == ("pass", "train_samples", BERT_SLOW, None)
    assert also is not None and also.also is None
    assert (also.verdict, also.counted, also.mean, also.logs_unit) == ("fail", "epoch_num", None, "epochs")
    assert also.points == (1,) * 10
    (told,) = found.findings
    assert (told.rule, told.rejects) == ("rcp.train-samples", False)
    assert told.message == "The convergence of BERT is counted in train_samples, as epoch_num would be rejected"
    assert told.actual == f"train_samples: 3000000 samples at batch size 448; epoch_num: {EPOCHS}"


def test_a_reviewer_hears_of_two_counts_of_samples_that_do_not_agree(tmp_path: Path) -> None:
    found = entry(tmp_path, [bert(BERT_FAST, BERT_SLOW)] * 10, name="bert")
    assert (found.result.verdict, found.result.counted) == ("pass", "train_samples")
    assert [(f.rule, f.rejects) for f in found.findings] == [("rcp.train-samples", False), ("rcp.two-counts", False)]
    assert found.findings[1].actual == "train_samples: 3000000 samples; epoch_num: 2000000 samples"


def test_epoch_num_counts_where_it_is_accepted(tmp_path: Path) -> None:
    found = entry(tmp_path, [bert(BERT_SLOW, BERT_FAST)] * 10, name="bert")
    assert found.result.also is not None and found.findings == ()
    assert (found.result.verdict, found.result.counted, found.result.also.verdict) == ("pass", "epoch_num", "fail")


@pytest.mark.parametrize(
    "logs",
    [
        pytest.param([bert(1, BERT_SLOW)] * 9 + [bert(1, None)], id="a log without"),
        pytest.param([bert(1, None)] * 10, id="no log"),
        pytest.param([bert(BERT_FAST, BERT_FAST)] * 10, id="too few"),
        pytest.param([bert(BERT_FAST, 156_725_653)] * 10, id="the size of the data set"),
    ],
)
@pytest.mark.parametrize("round_name", ["1.0", "2.1", "4.1"])
def test_bert_stays_rejected_where_not_every_log_has_its_samples_to_converge(
    logs: list[str], round_name: str, tmp_path: Path
) -> None:
    found = entry(tmp_path, logs, round_name, name="bert")
    assert (found.result.verdict, found.result.counted) == ("fail", "epoch_num")
    assert broken(found) == ["rcp.too-fast"]


def test_bert_that_fails_by_both_counts_is_rejected_by_epoch_num(tmp_path: Path) -> None:
    found = entry(tmp_path, [bert(1, BERT_FAST)] * 10, name="bert")
    assert (found.result.verdict, found.result.counted, found.result.mean) == ("fail", "epoch_num", None)
    (told,) = found.findings
    assert told.message == "The official convergence test rejects the entry, but compares different units"
    assert told.actual == EPOCHS


def test_train_samples_do_not_decide_where_a_file_lets_the_test_pass(tmp_path: Path) -> None:
    found = entry(tmp_path, BERT_EPOCHS, "2.0", name="bert", flags=Flags(rcp_bypass="package_checker_params"))
    assert (found.result.verdict, found.result.counted) == ("bypassed", "epoch_num")


@pytest.mark.parametrize("flags", [Flags(), Flags(train_samples="package_checker_params")])
def test_epoch_num_counts_where_that_is_asked_for(flags: Flags, tmp_path: Path) -> None:
    found = entry(tmp_path, BERT_EPOCHS, name="bert", options=Options(train_samples=False), flags=flags)
    assert (found.result.verdict, found.result.counted) == ("fail", "epoch_num")
    assert broken(found) == ["rcp.too-fast"]
    assert found.findings[0].fix == (
        "Counted by train_samples it passes (3000000 samples): leave out --no-rcp-bert-train-samples."
    )


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize(
    ("logs", "why"),
    [
        ([bert(BERT_FAST, 156_725_653)] * 10, "they are the size of the data set, 156725653"),
        ([bert(BERT_FAST, BERT_SLOW)] * 9 + [bert(BERT_FAST, None)], "not every log has them"),
    ],
    ids=["the size of the data set", "a log without"],
)
def test_the_fix_says_why_train_samples_do_not_decide_and_names_an_option_only_where_it_is_given(
    logs: list[str], why: str, *, forced: bool, tmp_path: Path
) -> None:
    options = Options(train_samples=False) if forced else Options()
    fix = str(entry(tmp_path, logs, name="bert", options=options).findings[0].fix)
    todo = "log the samples to converge as train_samples in every run"
    end = ", and leave out --no-rcp-bert-train-samples." if forced else "."
    assert fix.startswith("Counted by train_samples it passes (")
    assert fix.endswith(f", but {why}: {todo}{end}")


@pytest.mark.parametrize(
    ("name", "round_name", "size", "point", "epoch", "unit"),
    [
        # unet3d has 168 samples: by v3.0 the reference counts epochs, from v3.1 on samples.
        ("unet3d", "3.1", 56, 2016, 168, "epochs"),
        ("unet3d", "3.1", 56, 338_688, 168, None),
        ("unet3d", "3.1", 56, 200_000, 168, None),
        ("unet3d", "3.0", 80, 2016, 168, None),
        ("unet3d", "3.0", 80, 338_688, 168, "samples"),
        ("resnet", "2.1", 4096, 40, 1_281_167, None),
        ("resnet", "2.1", 4096, 20, 1_281_167, None),
        ("resnet", "2.1", 4096, 40 * 1_281_167, 1_281_167, "samples"),
        ("bert", "2.1", 448, 1, None, "epochs"),
        ("bert", "2.1", 448, 447, None, "epochs"),
        ("bert", "2.1", 448, 448, None, None),
        ("bert", "2.1", 448, 0, None, None),
        ("bert", "2.1", 448, 1, 2_800_000, "epochs"),
        # What BERT logs as train_samples is no size of an epoch.
        ("bert", "2.1", 448, 10_000, 10_000, None),
    ],
)
def test_counts_in_another_unit_than_that_of_the_reference_are_not_compared(
    name: str, round_name: str, size: int, point: int, epoch: int | None, unit: str | None, tmp_path: Path
) -> None:
    stated = {} if epoch is None else {"train_samples": epoch}
    logs = [log_of(name, size, point, **stated)] * needs("training", round_name, name).runs
    result = entry(tmp_path, logs, round_name, name, options=Options(train_samples=False)).result
    assert result.logs_unit == unit
    assert result.mean == (point if unit is None else None)
    assert set(result.points) == {point}


@pytest.mark.parametrize(("point", "unit", "found"), [(5e-324, "epochs", None), (1e308, "samples", None)])
def test_a_count_whose_conversion_is_beyond_a_double_is_told_apart(point: float, unit: str, found: str | None) -> None:
    assert other_unit([point] * 3, unit, 32, 35.0, 1_281_167.0) == found


@pytest.mark.parametrize("samples", [2, 447, 10_000])
def test_train_samples_count_samples_however_few(samples: int, tmp_path: Path) -> None:
    found = entry(tmp_path, [bert(1, samples)] * 10, name="bert", options=Options(train_samples=True))
    assert (found.result.verdict, found.result.mean, found.result.logs_unit) == ("fail", samples, None)


def test_samples_count_counts_samples_however_few(tmp_path: Path) -> None:
    logs = [log_of("llama2_70b_lora", 8, 4, unit="samples_count", train_samples=3901)] * 10
    found = entry(tmp_path, logs, "5.0", "llama2_70b_lora").result
    assert (found.verdict, found.mean, found.logs_unit) == ("fail", 4, None)


@pytest.mark.parametrize(
    ("size", "point", "rules"), [(4096, 40, []), (4096, 40 * 1_281_167, ["rcp.not-comparable"])], ids=str
)
def test_a_test_that_passes_only_as_the_units_differ_is_a_finding_of_review(
    size: int, point: int, rules: list[str], tmp_path: Path
) -> None:
    found = entry(tmp_path, [log_of("resnet", size, point, train_samples=1_281_167)] * 5, "1.0")
    assert found.result.verdict == "pass"
    assert [(f.rule, f.actual) for f in found.findings] == [(rule, SAMPLES) for rule in rules]


def test_a_test_that_fails_as_the_units_differ_has_no_distance_to_the_limit(tmp_path: Path) -> None:
    found = entry(tmp_path, [log_of("unet3d", 56, 2016, train_samples=168)] * 40, "3.1", "unet3d")
    assert found.result.verdict == "fail"
    (told,) = found.findings
    assert (told.rule, told.rejects, told.actual) == ("rcp.too-fast", True, EPOCHS)
    assert told.fix == "Log epoch_num in samples, as the reference counts in this round."
    assert "%" not in str(told.actual) and "2016" not in str(told)


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({"options": Options(train_samples=True)}, "requested by --rcp-bert-train-samples"),
        ({"flags": Flags(train_samples="package_checker_params")}, "requested by package_checker_params"),
    ],
)
def test_bert_is_counted_by_train_samples_where_that_is_asked_for(
    more: dict[str, Any], asked: str, tmp_path: Path
) -> None:
    found = entry(tmp_path, BERT_EPOCHS, name="bert", **more)
    assert (found.result.verdict, found.result.counted) == ("pass", "train_samples")
    assert found.result.also is not None and found.result.also.verdict == "fail"
    assert [(f.rule, f.actual) for f in found.findings] == [("rcp.train-samples", asked)]


def test_other_benchmarks_know_no_train_samples(tmp_path: Path) -> None:
    found = entry(tmp_path, resnet(*[SLOW] * 5), options=Options(train_samples=True))
    assert (found.result.counted, found.findings) == ("epoch_num", ())


@pytest.mark.parametrize(
    ("size", "point", "verdict", "said"),
    [
        (SIZE, FAST, "bypassed", "The convergence test fails, and own/params lets it pass"),
        (100_000, FAST, "bypassed", "The convergence test fails, and own/params lets it pass"),
        (SIZE, SLOW, "pass", "own/params requests a bypass that has no effect: the test passes"),
    ],
)
def test_a_bypass_is_told_with_its_file(size: int, point: int, verdict: str, said: str, tmp_path: Path) -> None:
    logs = [log_of("resnet", size, point)] * 5
    found = entry(tmp_path, logs, "4.0", flags=Flags(rcp_bypass="own/params"))
    assert (found.result.verdict, broken(found)) == (verdict, [])
    assert found.result.bypass == ("own/params" if verdict == "bypassed" else None)
    assert [f.message for f in found.findings if f.rule == "rcp.bypass"] == [said]


def test_a_bypass_turns_no_test_that_could_not_begin(tmp_path: Path) -> None:
    logs = [*resnet(*[SLOW] * 3), *resnet(SLOW, SLOW, status="aborted")]
    found = entry(tmp_path, logs, "4.0", flags=Flags(rcp_bypass="params"))
    assert (found.result.verdict, found.result.bypass) == ("fail", None)
    assert broken(found) == ["rcp.insufficient-convergence"]


@pytest.mark.parametrize(("off", "verdict"), [(0, "pass"), (-1, "fail")])
def test_llama31_405b_may_be_an_evaluation_earlier(off: int, verdict: str, tmp_path: Path) -> None:
    """Its reference at 1152 has no spread: the limit is the mean less one evaluation of 46,080 samples."""
    point = 322_560 - 46_080 + off
    logs = [log_of("llama31_405b", 1152, point, unit="samples_count")] * 3
    result = entry(tmp_path, logs, "5.0", "llama31_405b").result
    assert (result.verdict, result.minimum, result.reference_mean) == (verdict, 276_480, 322_560)


@pytest.mark.parametrize(("slowest_kept", "verdict"), [(5.318, "fail"), (5.319, "pass")])
def test_a_mean_one_unit_in_the_last_place_below_the_limit_fails(
    slowest_kept: float, verdict: str, tmp_path: Path
) -> None:
    """Retinanet at 768 has a reference without spread, and numpy's mean of these runs is not quite its 5 epochs."""
    logs = [log_of("retinanet", 768, point) for point in (4.0, 4.909, 4.773, slowest_kept, 6.0)]
    result = entry(tmp_path, logs, "5.1", "retinanet").result
    assert (result.verdict, result.reference_mean, result.minimum) == (verdict, 5.0, 5.0)


@pytest.mark.parametrize(
    ("round_name", "name", "division", "why"),
    [
        ("0.7", "resnet", "closed", "round-without-test"),
        ("1.0", "minigo", "closed", "benchmark-without-test"),
        ("1.0", "resnet", "open", "open-division"),
        ("1.0", "resnet", "Closed", "unknown-division"),
    ],
)
def test_what_needs_no_test_says_why(round_name: str, name: str, division: str, why: str, tmp_path: Path) -> None:
    logs = [log_of(name, SIZE, FAST).replace('"closed"', f'"{division}"')] * 5
    found = entry(tmp_path, logs, round_name, name)
    assert (found.result.verdict, found.result.how, found.findings) == ("not-required", why, ())


@pytest.mark.parametrize("content", ["", "no record\n"])
def test_without_a_log_that_has_a_run_nothing_is_tested(content: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    for number in range(5):
        tree.log(number).write_text(content)
    outcome = check(tree.folder)
    _, resnet = sorted(outcome.report["entries"], key=lambda one: str(one["benchmark"]))
    assert (resnet["official"], resnet["rcp"]["verdict"], resnet["rcp"]["how"]) == (
        "rejected",
        "not-required",
        "no-runs",
    )
    assert not any(rule.startswith("rcp.") for rule in outcome.rules())
    rows = [line.split() for line in run("check", tree.folder).stdout.splitlines()]
    assert next(row for row in rows if row[1:2] == ["resnet"])[-2:] == ["-", "rejected"]
    assert "there is no result file with records" in run("rcp", "margin", tree.folder).stdout


@pytest.mark.skipif(not (CORPUS / "v4.0" / "JuniperNetworks").is_dir(), reason="no published packages beside")
def test_a_published_entry_whose_logs_are_not_there_is_not_tested() -> None:
    outcome = check(CORPUS / "v4.0" / "JuniperNetworks")
    [tested] = [one["rcp"] for one in outcome.report["entries"] if not one["runs"]]
    assert (tested["verdict"], tested["how"]) == ("not-required", "no-runs")


def test_where_the_hull_of_the_written_rules_decides_otherwise_an_auditor_hears_of_it(tmp_path: Path) -> None:
    """BERT v2.0 at 6912: the official pruning keeps a point above the hull (the published entry of Google)."""
    found = entry(tmp_path, [log_of("bert", 6912, 3_506_976)] * 10, "2.0", "bert")
    assert broken(found) == ["rcp.too-fast"]
    (hull,) = [f for f in found.findings if f.rule == "rcp.hull"]
    assert hull.kind == "review"
    assert hull.message == "The lower hull of the written rules would decide differently from the official pruning"
    assert hull.expected == "by the hull: passes from 3231907 samples on"
    assert entry(tmp_path, resnet(*[SLOW] * 5), "2.0").findings == ()
    # The checker of v1.0 prunes no point, so nobody asks; the hull of its points has none at this batch size.
    assert [f.rule for f in entry(tmp_path, resnet(*[38] * 5)).findings] == ["rcp.too-fast"]


@pytest.mark.parametrize(("round_name", "scaled"), [("1.0", False), ("2.0", True), ("3.0", True)])
@pytest.mark.parametrize("name", ["cosmoflow", "deepcam", "oc20"])
def test_hpc_is_scaled_from_v20_on(name: str, round_name: str, scaled: bool, tmp_path: Path) -> None:
    """HPC v2.0 was checked in the autumn of training v2.1, with the same checker."""
    plan = plan_of(get_round("hpc", round_name), name, 512 if name != "oc20" else 1024)
    assert plan.mean is not None and plan.minimum is not None
    between = (plan.mean + plan.minimum) / 2
    logs = [log_of(name, plan.batch_size, between)] * needs("hpc", round_name, name).runs
    result = entry(tmp_path, logs, round_name, name, usage="hpc").result
    assert result.verdict == "pass"
    assert result.mean is not None and result.mean < plan.mean
    assert result.scaling == (plan.mean / result.mean if scaled else 1.0)


def test_hpc_is_counted_by_its_errors(tmp_path: Path) -> None:
    logs = [text.replace("eval_accuracy", "eval_error") for text in [log_of("cosmoflow", 512, 20)] * 10]
    found = entry(tmp_path, logs, "3.0", "cosmoflow", usage="hpc")
    assert (found.result.mean, found.result.unit) == (20, "epochs")


def test_bert_that_passes_by_epoch_num_alone_is_told_to_leave_the_option_out(tmp_path: Path) -> None:
    options = Options(train_samples=True)
    found = entry(tmp_path, [bert(BERT_SLOW, BERT_FAST)] * 10, name="bert", options=options)
    assert (found.result.verdict, found.result.counted) == ("fail", "train_samples")
    assert str(found.findings[0].fix).startswith(
        "Counted by epoch_num it passes (3000000 samples): leave out --rcp-bert-train-samples, and the flag"
    )


def test_a_log_without_a_run_has_its_own_finding_alone(tmp_path: Path) -> None:
    found = entry(tmp_path, [*resnet(*[FAST] * 4), "no record\n"], "3.0")
    assert found.findings == ()
