"""Before anything is logged: all that the rules have against a run, at once; and what a refusal leaves on the disk."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from mlsub.emit import DoomedRunError, EmitError, EmitWarning
from tests.emit.adapters.common import digits, keys
from tools.support.digits import HYPERPARAMETERS, hyperparameters, initialise, record_run, recorder, train


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
    with recorder(log, strict="warn") as rec, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        rec.preflight(hyperparameters(opt_name="adam"))
        initialise(rec, opt_name="adam")
    assert [str(one.message).count("key.opt_name.value") for one in warned] == [1]


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
