"""The Keras callback on real trainings of a small network, on the torch backend."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
pytest.importorskip("torch", reason="PyTorch is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("keras", "3.0", reason="Keras 3 is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("sklearn", reason="scikit-learn is not installed: make test-all")

from mlsub.emit import DoomedRunError, EmitError
from mlsub.emit.keras import RecorderCallback
from tests.emit.adapters.common import (
    TrainingCrashError,
    assert_aborted,
    assert_never_started,
    assert_reached,
    digits,
    example,
    keys,
    opened,
    rejecting,
    said,
)
from tools.support.digits import hyperparameters

pytestmark = pytest.mark.filterwarnings("ignore")


def fit(log: Path, epochs: int = 30, given: dict[str, Any] | None = None, **more: Any) -> Any:
    """Train with a callback, and return it; ``given`` goes to ``model.fit``, ``callbacks`` run besides."""
    import keras

    script = example("keras_digits")
    recorder = {name: more.pop(name) for name in ("division", "strict") if name in more}
    others, begin = more.pop("callbacks", []), more.pop("begin", True)
    frequency = more.pop("validation_freq", 1)
    with opened(log, **recorder) as rec:
        callback = RecorderCallback(rec, digits(**{"quality": "val_accuracy", **more}), validation_freq=frequency)
        keras.utils.set_random_seed(callback.seed)
        model = script.network()
        if begin:
            callback.start(model)
        train, held_out = script.digits()
        every = {"validation_data": held_out, "verbose": 0, "callbacks": [callback, *others], **(given or {})}
        model.fit(*train, 32, epochs, **every)
    return callback


def test_the_example_trains_to_the_target(log: Path) -> None:
    example("keras_digits").main(str(log))
    assert_reached(log)


def test_a_training_that_misses_its_target_is_aborted(log: Path) -> None:
    fit(log, 1)
    assert_aborted(log)
    assert rejecting(log) == {"key.eval_accuracy.target"}


def test_without_a_word_the_clock_starts_with_the_training(log: Path) -> None:
    fit(log, begin=False)
    assert_reached(log)


def test_the_clock_runs_before_the_data_are_read(log: Path) -> None:
    script, states = example("keras_digits"), []

    def watched(inner: Any = script.digits) -> Any:
        states.append("run_start" in keys(log))
        return inner()

    script.digits = watched
    script.main(str(log))
    assert states == [True]


@pytest.mark.parametrize("begin", [True, False])
@pytest.mark.parametrize("change", [{"opt_momentum": 0.5}, {"opt_momentum": None}])
def test_what_a_function_gives_is_refused_before_any_training_step(
    change: dict[str, Any], begin: bool, log: Path
) -> None:
    import keras

    steps: list[Any] = []
    other = keras.callbacks.LambdaCallback(on_train_batch_begin=lambda *given: steps.append(given))
    asked: list[Any] = []

    def made(of: Any) -> dict[str, Any]:
        asked.append(of.layers[0].units)
        return hyperparameters(**change)

    with pytest.raises(DoomedRunError, match="opt_momentum"):
        fit(log, hyperparameters=made, callbacks=[other], begin=begin)
    assert (steps, asked) == ([], [64])
    assert_never_started(log)


@pytest.mark.parametrize("hook", ["on_train_batch_end", "on_test_batch_end"])
def test_an_exception_leaves_an_aborted_log(hook: str, log: Path) -> None:
    import keras

    class Crash(keras.callbacks.Callback):
        pass

    def crash(self: Any, batch: int, logs: Any = None) -> None:
        if batch == 2:
            raise TrainingCrashError

    setattr(Crash, hook, crash)
    with pytest.raises(TrainingCrashError):
        fit(log, callbacks=[Crash()])
    assert_aborted(log)
    assert ("eval_start" in keys(log)) is (hook == "on_test_batch_end")


@pytest.mark.parametrize(
    ("frequency", "evaluated", "first", "counts"),
    [(2, [2, 4], [1, 3, 5], [2, 2, 2]), ([1, 4], [1, 4], [1, 2, 5], [1, 3, 1])],
)
def test_blocks_of_several_epochs_say_how_many(
    frequency: Any, evaluated: list[int], first: list[int], counts: list[int], log: Path
) -> None:
    fit(log, 5, {"validation_freq": frequency}, validation_freq=frequency, done=lambda quality: False)
    assert said(log, "eval_accuracy", "epoch_num") == evaluated
    assert said(log, "block_start", "first_epoch_num") == first
    assert said(log, "block_start", "epoch_count") == counts
    assert len(said(log, "block_stop", "first_epoch_num")) == 3


def test_samples_and_steps_are_counted(log: Path) -> None:
    seen: list[Any] = []
    fit(
        log,
        2,
        progress=lambda position: seen.append(position) or {"epoch_num": position.epoch},
        done=lambda quality: False,
    )
    assert {(p.samples, p.step) for p in seen} == {(0, 0), (1437, 45), (2874, 90)}


def test_a_metric_that_is_not_there_is_told(log: Path) -> None:
    with pytest.raises(EmitError) as told:
        fit(log, quality="accuracy")
    assert str(told.value) == "no metric is called 'accuracy'; the evaluation has val_accuracy, val_loss"
    assert_aborted(log)


@pytest.mark.parametrize("name", ["train_samples", "batch_size"])
def test_numbers_that_cannot_be_are_told(name: str, log: Path) -> None:
    with opened(log) as rec, pytest.raises(EmitError, match=f"{name} is 0: give a number of samples above 0"):
        RecorderCallback(rec, digits("val_accuracy", **{name: 0}))


def test_a_second_training_is_not_logged_into_the_first(log: Path) -> None:
    script = example("keras_digits")
    train, held_out = script.digits()
    with opened(log) as rec:
        callback, model = RecorderCallback(rec, digits("val_accuracy")), script.network()
        model.fit(*train, 32, 1, verbose=0, callbacks=[callback], validation_data=held_out)
        before = log.read_text()
        with pytest.raises(EmitError, match="one recorder is one run"):
            model.fit(*train, 32, 1, verbose=0, callbacks=[callback], validation_data=held_out)
    assert log.read_text() == before
