"""Train the rehearsal benchmark digits with Keras 3, and log the run by the rules.

    pip install '.[adapters]'
    KERAS_BACKEND=torch python examples/keras_digits.py result_0.txt

One process on a CPU, a few seconds. A rehearsal is not an MLPerf result.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras

from mlsub.emit import Recorder, Training
from mlsub.emit.keras import RecorderCallback

BATCH_SIZE = 32
LEARNING_RATE = 0.05
MAX_EPOCHS = 40
TRAIN_SAMPLES, EVALUATION_SAMPLES = 1437, 360
TRAINING = Training(
    hyperparameters={
        "global_batch_size": BATCH_SIZE,
        "gradient_accumulation_steps": 1,
        "opt_name": "sgd",
        "opt_base_learning_rate": LEARNING_RATE,
        "opt_momentum": 0.9,
        "opt_weight_decay": 1e-4,
        "model_hidden_units": 64,
    },
    quality="val_accuracy",
    train_samples=TRAIN_SAMPLES,
    evaluation_samples=EVALUATION_SAMPLES,
    batch_size=BATCH_SIZE,
)


def digits() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The data set of scikit-learn, always in the same two parts: pixels and labels of each."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        pixels / 16, labels, train_size=TRAIN_SAMPLES, random_state=20210630, stratify=labels
    )
    return (train_x, train_y), (test_x, test_y)


def network() -> keras.Model:
    """A network with one hidden layer for 8x8 grey values, with the optimizer that Closed asks for."""
    model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(10)])
    model.compile(
        optimizer=keras.optimizers.SGD(LEARNING_RATE, momentum=0.9, weight_decay=1e-4),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main(log: str) -> None:
    """Train one run and log it."""
    with Recorder(
        log,
        usage="rehearsal",
        round="1.0",
        benchmark="digits",
        division="closed",
        organisation="ACME",
        platform="laptop",
        status="onprem",
    ) as recorder:
        # The data come with a library that is loaded already. Where they lie on a disk: recorder.cache_clear()
        recorder.log("cache_clear", True)
        callback = RecorderCallback(recorder, TRAINING)
        keras.utils.set_random_seed(callback.seed)
        model = network()
        callback.start(model)
        train, held_out = digits()
        model.fit(*train, BATCH_SIZE, MAX_EPOCHS, verbose=0, callbacks=[callback], validation_data=held_out)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "result_0.txt")
