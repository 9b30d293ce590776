"""The recorder, word by word: what it logs, what it refuses and when, and what is left after a refusal or a crash."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from mlsub.emit import DoomedRunError, EmitError, EmitWarning
from mlsub.log.event import before_run
from mlsub.rounds import get_round
from tests.emit.adapters.common import digits, judged, keys, records, rejecting
from tests.emit.drive import GIVEN, own
from tests.emit.drive import recorder as drive_recorder
from tools.oracle.generate import Combination, compliant_log
from tools.support.digits import HYPERPARAMETERS, hyperparameters, initialise, record_run, recorder, train

STATUSES = "give status=..., one of cloud, onprem, preview, research"


def test_a_run_is_logged_in_order_and_compliant(log: Path) -> None:
    record_run(log)
    keys = [record["key"] for record in records(log)]
    assert keys[:3] == ["cache_clear", "init_start", "submission_benchmark"]
    cycle = ["block_start", "epoch_start", "epoch_stop", "block_stop", "eval_start", "eval_accuracy", "eval_stop"]
    assert keys[keys.index("init_stop") :] == ["init_stop", "run_start", *cycle * 3, "run_stop"]
    report = judged(log)
    assert (report.compliant, report.status) == (True, "success")
    assert rejecting(log) == set()


def test_the_callers_file_and_line_are_logged(log: Path) -> None:
    with recorder(log, root=Path(__file__).parent) as rec:
        initialise(rec)
        line = _line() + 1
        rec.log("notice", 1)
    notice = next(record for record in records(log) if record["key"] == "notice")
    assert notice["metadata"] == {"file": "test_recorder.py", "lineno": line}


def _line() -> int:
    import inspect

    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_a_run_that_misses_its_target_ends_as_aborted(log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        train(rec, (0.5, 0.6))
    assert judged(log).status == "aborted"
    assert rejecting(log) == {"key.eval_accuracy.target"}


# What is changed before the clock: the rules that refuse it, and a part of what is said.
FORBIDDEN: dict[str, tuple[dict[str, Any], set[str], str]] = {
    "another optimizer": ({"opt_name": "adam"}, {"key.opt_name.value"}, 'exactly "sgd"'),
    "a larger network": ({"model_hidden_units": 128}, {"key.model_hidden_units.value"}, "128"),
    "a batch size not allowed": (
        {"global_batch_size": 48}, {"key.global_batch_size.value"}, "one of 16, 32, 64, 128"
    ),
    "another momentum": ({"opt_momentum": 0.8}, {"key.opt_momentum.value"}, "0.8"),
    "another weight decay": ({"opt_weight_decay": 0.0}, {"key.opt_weight_decay.value"}, "0.0"),
    "a number as text": ({"opt_momentum": "0.9"}, {"key.opt_momentum.value"}, 'found:    "0.9"'),
    "a key left out": ({"opt_momentum": None}, {"key.opt_momentum.count"}, "opt_momentum is missing"),
    "two keys left out": (
        {"opt_momentum": None, "opt_weight_decay": None},
        {"key.opt_momentum.count", "key.opt_weight_decay.count"}, "opt_weight_decay is missing",
    ),
    "a misspelled key": (
        {"opt_momentun": 0.9, "opt_momentum": None}, {"key.opt_momentum.count"}, "Did you mean opt_momentum?"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_closed_refuses_what_its_rules_forbid_and_open_lets_it_pass(name: str, log: Path) -> None:
    changes, rules, said = FORBIDDEN[name]
    with pytest.raises(DoomedRunError) as refused:
        record_run(log, changes=changes)
    assert {finding.rule for finding in refused.value.findings} == rules
    assert said in str(refused.value)
    assert ("Did you mean" in str(refused.value)) is (name == "a misspelled key")
    assert list(log.parent.iterdir()) == []
    # Nothing is in the way of the next recording.
    assert rejecting(record_run(log)) == set()
    assert rejecting(record_run(log.with_name("result_open.txt"), changes=changes, division="open")) == set()


def test_a_refusal_has_the_words_of_the_finding(log: Path) -> None:
    with pytest.raises(DoomedRunError) as refused, recorder(log) as rec:
        initialise(rec, opt_name="adam")
    assert str(refused.value).splitlines() == [
        "the run cannot become a compliant result:",
        "  opt_name has a value that the rules do not allow [key.opt_name.value]",
        '    expected: exactly "sgd"',
        '    found:    "adam"',
        '    fix:      Run with opt_name exactly "sgd", and log the value that was used.',
    ]


def test_an_open_run_can_be_held_to_the_closed_rules(log: Path) -> None:
    with pytest.raises(DoomedRunError), recorder(log, division="open", strict="closed") as rec:
        initialise(rec, opt_name="adam")


def test_rules_of_ones_own_are_refused_too(log: Path, tmp_path: Path) -> None:
    house = tmp_path / "house.yaml"
    house.write_text(
        "title: House\nusage: rehearsal\ncommon:\n  '1.0':\n    both:\n      site_name: {occurs: exactly_one}\n"
    )
    with pytest.raises(DoomedRunError, match=r"house\.site_name\.count"), recorder(log, rules=str(house)) as rec:
        initialise(rec)


def test_another_runs_seed_is_refused_in_closed(tmp_path: Path) -> None:
    record_run(tmp_path / "result_0.txt", 1234)
    with pytest.raises(DoomedRunError, match=r"seed 1234, as in result_0\.txt"):
        record_run(tmp_path / "result_1.txt", 1234)
    record_run(tmp_path / "result_2.txt", 1234, division="open")


def test_fresh_seeds_differ_and_are_logged(tmp_path: Path) -> None:
    drawn = set()
    for number in range(20):
        log = record_run(tmp_path / f"result_{number}.txt")
        (seed,) = [record["value"] for record in records(log) if record["key"] == "seed"]
        assert 0 <= seed < 2**31
        drawn.add(seed)
    assert len(drawn) == 20


class CrashError(Exception):
    pass


@pytest.mark.parametrize("where", ["init", "run", "block", "evaluation"])
def test_a_crash_leaves_a_log_that_says_so(where: str, log: Path) -> None:
    with pytest.raises(CrashError), recorder(log) as rec:
        if where == "init":
            with rec.init():
                raise CrashError
        initialise(rec)
        with rec.run():
            with rec.block(first_epoch=1):
                if where == "block":
                    raise CrashError
            if where == "run":
                raise CrashError
            with rec.evaluation(epoch=1):
                raise CrashError
    if where == "init":
        assert not log.exists()
    else:
        last = records(log)[-1]
        assert (last["key"], last["metadata"]["status"]) == ("run_stop", "aborted")
        assert not judged(log).compliant


def test_a_run_that_reached_its_target_and_then_crashes_is_aborted(log: Path) -> None:
    with pytest.raises(CrashError), recorder(log) as rec:
        initialise(rec)
        with rec.run():
            with rec.block(first_epoch=1):
                pass
            assert rec.evaluate(0.99, epoch=1)
            raise CrashError
    assert judged(log).status == "aborted"


@pytest.mark.parametrize("quality", [0.99, 0.5])
def test_a_run_may_be_stopped_by_hand_and_success_without_the_target_is_told(quality: float, log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        with rec.run() as run:
            with rec.block(first_epoch=1):
                pass
            rec.evaluate(quality, epoch=1)
            if quality == 0.99:
                run.stop()
                assert run.status == "success"
            else:
                with pytest.warns(EmitWarning, match="no evaluation has reached the quality target"):
                    run.stop("success")
    assert [record["key"] for record in records(log)].count("run_stop") == 1
    assert rejecting(log) == (set() if quality == 0.99 else {"key.eval_accuracy.target"})


@pytest.mark.parametrize(("minutes", "refused"), [(29, False), (31, True)])
def test_an_initialisation_that_takes_too_long_is_refused(
    minutes: int, refused: bool, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ResNet in v1.0 has 30 minutes."""
    clock = [1_700_000_000.0]
    monkeypatch.setattr("mlsub.emit.writer.time.time", lambda: clock[0])
    combination = Combination("1.0", "resnet", "closed", "sgd")
    records_ = compliant_log(combination)
    with drive_recorder(log, combination, records_) as rec:
        rec.log("cache_clear", True)
        init = rec.init()
        init.__enter__()
        for record in records_:
            if before_run(record["key"]) and record["key"] not in GIVEN and record["key"] != "cache_clear":
                rec.log(record["key"], record["value"], **own(record["metadata"]))
        clock[0] += 60 * minutes
        if refused:
            with pytest.raises(DoomedRunError, match=r"key\.init_stop\.time"):
                init.__exit__(None, None, None)
        else:
            init.__exit__(None, None, None)
    assert log.exists() is not refused


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"benchmark": "digit"},
            "'digit' is not a benchmark of mlsub rehearsal (no MLPerf result) v1.0. Did you mean digits?",
        ),
        ({"round": "9.9"}, "There are no rules for rehearsal round 9.9; known: 1.0"),
        ({"usage": "trainin"}, "There are no rules for trainin round 1.0; known: no round of such a usage"),
        ({"division": "Closed"}, "'Closed' is not a division. Did you mean closed?"),
        ({"strict": "very"}, "'very' is not a strictness. Known: closed, open, warn."),
        ({"status": ""}, f"submission_status is missing: {STATUSES}"),
        ({"status": "banana"}, f"'banana' is not a submission_status: {STATUSES}"),
        ({"status": "banana", "strict": "warn"}, f"'banana' is not a submission_status: {STATUSES}"),
        ({"submission": {"submission_status": "Onprem"}}, f"'Onprem' is not a submission_status: {STATUSES}"),
    ],
)
def test_what_does_not_exist_is_told(changes: dict[str, Any], said: str, log: Path) -> None:
    with pytest.raises(EmitError) as refused:
        recorder(log, **changes)
    assert str(refused.value) == said
    assert not log.exists()


@pytest.mark.parametrize("name", ["1.0", "4.0", "4.1", "5.1", "6.1"])
def test_a_status_is_one_of_the_rounds_values_in_every_round(name: str, log: Path) -> None:
    """From v4.1 on no checker looks at it, and published logs hold it all the same."""
    benchmark = get_round("training", name).benchmarks[0]
    given: dict[str, Any] = {"usage": "training", "round": name, "benchmark": benchmark, "division": "open"}
    with pytest.raises(EmitError, match=rf"^'available' is not a submission_status: {STATUSES}$"):
        recorder(log, status="available", **given)
    with pytest.raises(EmitError, match=rf"^submission_status is missing: {STATUSES}$"):
        recorder(log, status=None, **given)
    for more in ({"status": "preview"}, {"status": None, "submission": {"submission_status": "preview"}}):
        with recorder(log, overwrite=True, **given, **more) as rec:
            rec.log_identity()
            rec.run().start()
        assert [one["value"] for one in records(log) if one["key"] == "submission_status"] == ["preview"]


def test_what_is_no_json_is_told(log: Path) -> None:
    with recorder(log) as rec:
        with pytest.raises(EmitError, match="object cannot be logged"):
            rec.log("notice", object())
        rec.log("notice", {"a": (1, 2), 3: None})
    assert records(log)[-1]["value"] == {"a": [1, 2], "3": None}


def test_a_text_that_looks_like_a_record_is_a_text(log: Path) -> None:
    text = 'see :::MLLOG {"key": 1}, ::::MLLOG and \\:::MLLOG '
    with recorder(log) as rec:
        initialise(rec)
        rec.log("notice", text, said=text)
    notice = records(log)[-1]
    assert (notice["value"], notice["metadata"]["said"]) == (text, text)
    assert log.read_bytes().splitlines()[-1].count(b":::MLLOG ") == 1
    assert not {"log.hidden-record", "log.text-after-record"} & {found.rule for found in judged(log).findings}


def _in_itself() -> list[Any]:
    around: list[Any] = []
    around.append(around)
    return around


@pytest.mark.parametrize("value", [10**5000, -(10**5000), _in_itself(), {"a": [10**4000]}], ids=lambda _: "")
def test_what_no_parser_reads_is_refused(value: Any, log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        before = log.read_bytes()
        with pytest.raises(EmitError, match="cannot be logged"):
            rec.log("notice", value)
        assert log.read_bytes() == before


def test_missing_metadata_is_told_by_the_words_of_a_training_code(log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        with rec.run(), pytest.raises(EmitError) as refused:
            rec.evaluate(0.9)
    assert str(refused.value) == "eval_start has to say epoch_num: give epoch=..."


def test_an_earlier_run_is_written_over_where_that_is_asked_for(log: Path) -> None:
    log.write_text("an earlier run\n")
    with recorder(log, overwrite=True) as rec:
        rec.log("notice", 1)
    assert "earlier" not in log.read_text()


BOXES, PAIR = {"BBOX": 0.38, "SEGM": 0.34}, {"FID": 89.0, "CLIP": 0.16}


@pytest.mark.parametrize(
    ("round_name", "benchmark", "value", "progress", "logged"),
    [
        ("5.1", "llama31_8b", 3.2, {"samples": 1024}, [(3.2, {"samples_count": 1024})]),
        ("3.0", "maskrcnn", BOXES, {"epoch": 12}, [(BOXES, {"epoch_num": 12})]),
        ("3.1", "stable_diffusion", PAIR, {"step": 50}, [(PAIR[m], {"step_num": 50, "metric": m}) for m in PAIR]),
        ("5.0", "stable_diffusion", PAIR, {"samples": 9}, [(PAIR[m], {"samples_count": 9, "metric": m}) for m in PAIR]),
    ],
)
def test_evaluations_speak_the_language_of_benchmark_and_round(
    round_name: str, benchmark: str, value: Any, progress: dict[str, int], logged: list[Any], log: Path
) -> None:
    with (
        recorder(log, usage="training", round=round_name, benchmark=benchmark, strict="warn") as rec,
        pytest.warns(EmitWarning),
    ):
        rec.evaluate(value, **progress)
        rec.agree(before_clock=True)
    found = [record for record in records(log) if record["key"] == "eval_accuracy"]
    assert [(record["value"], own(record["metadata"])) for record in found] == logged


@pytest.mark.parametrize(
    ("benchmark", "value", "said"),
    [("maskrcnn", 0.38, "several measures"), ("stable_diffusion", 89.0, "belong together")],
)
def test_one_number_is_not_enough_where_there_are_several_measures(
    benchmark: str, value: float, said: str, log: Path
) -> None:
    with (
        recorder(log, usage="training", round="3.1", benchmark=benchmark, division="open") as rec,
        pytest.raises(EmitError, match=said),
    ):
        rec.evaluate(value, epoch=1, step=1)


@pytest.mark.parametrize("count", [None, "1437", 1437.0, True, 0, -1, [1437], float("nan")], ids=repr)
@pytest.mark.parametrize("which", ["train", "evaluation"])
def test_what_is_no_number_of_samples_is_refused_and_nothing_is_logged(which: str, count: Any, log: Path) -> None:
    counts: dict[str, Any] = {"train": 1437, "evaluation": 360, which: count}
    with recorder(log) as rec:
        with pytest.raises(EmitError) as refused:
            rec.samples(**counts)
        assert str(refused.value) == f"{which} is {count!r}: give a number of samples above 0"
    assert records(log) == []


def test_numbers_of_numeric_libraries_are_numbers(log: Path) -> None:
    numpy = pytest.importorskip("numpy")
    with recorder(log) as rec:
        rec.samples(train=numpy.int64(1437), evaluation=numpy.array(360))
        assert rec.seed(numpy.int32(5)) == 5
        rec.evaluate(numpy.float32(0.5), epoch=1)
        rec.log("notice", numpy.float32(0.5), sizes=numpy.array([1, 2]), count=numpy.int64(3))
    notice = records(log)[-1]["metadata"]
    assert (notice["sizes"], notice["count"]) == ([1, 2], 3)
    values = {record["key"]: record["value"] for record in records(log)}
    assert (values["train_samples"], values["eval_samples"], values["seed"]) == (1437, 360, 5)
    assert values["eval_accuracy"] == values["notice"] == 0.5


@pytest.mark.parametrize("seed", [None, "5", 5.5, True])
def test_what_is_no_seed_is_refused(seed: Any, log: Path) -> None:
    with recorder(log) as rec, pytest.raises(EmitError, match=r"^the seed is .*: give a whole number$"):
        rec.seed(seed)
    assert records(log) == []


@pytest.mark.parametrize("quality", [None, "0.99", True, [0.99]])
def test_a_quality_that_would_never_reach_the_target_is_refused(quality: Any, log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        with rec.run(), pytest.raises(EmitError, match="the quality of an evaluation is a number"):
            rec.evaluate(quality, epoch=1)
    assert "eval_accuracy" not in [record["key"] for record in records(log)]


def test_what_is_in_order_passes_and_nothing_is_logged(log: Path) -> None:
    with recorder(log) as rec:
        assert rec.preflight(HYPERPARAMETERS, train=1437, evaluation=360) == ()
        assert rec.preflight(HYPERPARAMETERS) == ()
        assert log.read_bytes() == b""
        initialise(rec)
        train(rec)
    assert keys(log)[-1] == "run_stop"


def test_all_problems_are_said_at_once_and_no_file_is_left(log: Path) -> None:
    wrong = hyperparameters(
        opt_name="adam", opt_momentum=None, global_batch_size=48, learning_rate=0.1, opt_base_learning_rate=None
    )
    with pytest.raises(DoomedRunError) as refused, recorder(log) as rec:
        rec.preflight({**wrong, "loss": object()}, train=1400)
    assert {finding.rule for finding in refused.value.findings} == {
        "key.opt_name.value",
        "key.opt_momentum.count",
        "key.global_batch_size.value",
        "key.opt_base_learning_rate.count",
        "key.train_samples.value",
        "preflight.cannot-log",
    }
    assert "    fix:      Did you mean opt_base_learning_rate? Rename the key." in str(refused.value).splitlines()
    assert list(log.parent.iterdir()) == []


def test_what_may_be_misspelled_is_warned_of_and_keys_of_ones_own_are_not(log: Path) -> None:
    with recorder(log, division="open") as rec:
        with pytest.warns(EmitWarning, match=r"preflight\.misspelled.*\n.*opt_momentum") as warned:
            found = rec.preflight(hyperparameters(opt_momentum=None, opt_momentun=0.5, submission_pocname="me"))
        assert warned[0].filename == __file__
    assert [finding.rule for finding in found] == ["preflight.misspelled", "preflight.unknown-key"]


def test_what_the_recorder_logs_itself_cannot_be_given_otherwise(log: Path) -> None:
    with recorder(log) as rec, pytest.raises(DoomedRunError, match="submission_org is stated as something else"):
        rec.preflight(hyperparameters(submission_org="Other"))


def test_to_warn_only_is_to_warn_once(log: Path) -> None:
    with recorder(log, strict="warn") as rec:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            rec.preflight(hyperparameters(opt_name="adam"))
            initialise(rec, opt_name="adam")
        train(rec)
    assert [str(one.message).count("key.opt_name.value") for one in warned] == [1]
    assert "opt_name has a value that the rules do not allow" in str(warned[0].message)
    assert rejecting(log) == {"key.opt_name.value"}


def test_an_adapter_says_all_at_once(log: Path) -> None:
    from mlsub.emit.adapting import Session

    training = digits("accuracy", hyperparameters=hyperparameters(opt_name="adam", opt_momentum=None), train_samples=5)
    with pytest.raises(DoomedRunError) as refused, recorder(log) as rec:
        Session(rec, training)
    assert len(refused.value.findings) == 3


def test_a_refusal_counts_without_a_with_too(log: Path) -> None:
    rec = recorder(log)
    with pytest.raises(DoomedRunError):
        rec.hyperparameter("opt_momentum", 0.5)
    rec.close()
    assert list(log.parent.iterdir()) == []


def test_a_refusal_that_was_put_right_leaves_the_log(log: Path) -> None:
    record_run(log, 7)
    with recorder(log.with_name("result_1.txt")) as rec:
        with pytest.raises(DoomedRunError, match=r"seed\.shared"):
            rec.seed(7)
        initialise(rec, seed=8)
        train(rec)
    assert keys(rec.path)[-1] == "run_stop"


def test_what_somebody_else_wrote_is_never_taken_away(log: Path) -> None:
    with pytest.raises(DoomedRunError), recorder(log) as rec:
        rec.log("cache_clear", True)
        with log.open("a") as stream:
            stream.write("somebody else\n")
        rec.hyperparameter("opt_momentum", 0.5)
    assert log.read_text().endswith("somebody else\n")


@pytest.mark.parametrize("word", ["epoch", "samples", "step"])
def test_a_block_says_whether_it_is_told_a_position_or_a_size(word: str, log: Path) -> None:
    with (
        recorder(log) as rec,
        pytest.raises(EmitError, match=rf"^block\({word}=\.\.\.\) leaves open whether a position"),
    ):
        rec.block(**{word: 1})


def test_a_block_without_its_place_is_asked_for_it_by_its_own_words(log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        with rec.run(), pytest.raises(EmitError, match=r"give first_epoch=\.\.\."), rec.block():
            pass
