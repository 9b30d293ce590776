"""Train a run of ``digits``, the rehearsal benchmark, and log it through the recorder.

The data are the 1,797 handwritten digits of 8x8 grey values that scikit-learn ships: 1,437 to train, 360 held out, the
same split in every run. A network with one hidden layer trains until it classifies enough of the held-out digits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import msgspec

from mlsub.emit import Recorder

TARGET = 0.96
MAX_EPOCHS = 200
TRAIN_SAMPLES, EVAL_SAMPLES = 1437, 360
_SPLIT_SEED = 20210630
_PIXEL_MAX = 16.0
#: Limits how long a run may take, and is no hyperparameter of the log.
_NOT_LOGGED = "max_epochs"


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters by their log keys; the defaults are those the Closed rules fix.

    ``global_batch_size`` is in samples; ``max_epochs`` is the number of epochs after which a run is given up, None for
    the usual one of the benchmark.
    """

    opt_name: Literal["sgd", "adam"] = "sgd"
    opt_base_learning_rate: float = 0.02
    opt_momentum: float = 0.9
    opt_weight_decay: float = 0.0001
    model_hidden_units: int = 64
    global_batch_size: int = 32
    max_epochs: int | None = None


class Trained(msgspec.Struct, frozen=True):
    """How a run ended: epochs trained, the last evaluation's accuracy, and whether that reaches the target."""

    epochs: int
    quality: float
    success: bool


def train_run(recorder: Recorder, parameters: Parameters, seed: int | None = None) -> Trained:
    """Train one run, and write its log.

    Args:
        recorder: writes the log; entered and left here.
        parameters: of the training.
        seed: the seed of initial weights and of the order of the data; None to draw one.

    Raises:
        ImportError: scikit-learn or mlperf-logging is not installed.
        DoomedRunError: the rules of the division forbid the run; it is refused before it trains.
    """
    with recorder:
        # The data come with scikit-learn; there is no cache that could hold them.
        recorder.log("cache_clear", True)
        with recorder.init():
            recorder.hyperparameter("gradient_accumulation_steps", 1)
            logged = msgspec.structs.asdict(parameters)
            recorder.hyperparameters({key: value for key, value in logged.items() if key != _NOT_LOGGED})
            model = _network(parameters, recorder.fresh_seed() if seed is None else recorder.seed(seed))
            recorder.samples(train=TRAIN_SAMPLES, evaluation=EVAL_SAMPLES)
        return _train_to_target(recorder, model, parameters.max_epochs or MAX_EPOCHS)


def _train_to_target(recorder: Recorder, model: Any, epochs: int) -> Trained:
    training, held_out = _data()
    quality = 0.0
    with recorder.run() as run:
        for epoch in range(1, epochs + 1):
            with recorder.block(first_epoch=epoch):
                model.partial_fit(*training, classes=range(10))
            with recorder.evaluation(epoch=epoch) as evaluation:
                quality = float(model.score(*held_out))
                evaluation.result(quality)
            # Open has no target of its own; the rehearsal uses that of Closed.
            if quality >= TARGET:
                run.stop("success")
                return Trained(epoch, quality, success=True)
        run.stop("aborted")
    return Trained(epochs, quality, success=False)


def _network(parameters: Parameters, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        hidden_layer_sizes=(parameters.model_hidden_units,),
        solver=parameters.opt_name,
        learning_rate_init=parameters.opt_base_learning_rate,
        momentum=parameters.opt_momentum,
        alpha=parameters.opt_weight_decay,
        batch_size=parameters.global_batch_size,
        random_state=seed,
    )


@lru_cache(maxsize=1)
def _data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return training and held-out samples, each as (pixels of shape (n, 64) from 0 to 1, labels of shape (n,))."""
    from sklearn import datasets, model_selection

    pixels, labels = datasets.load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = model_selection.train_test_split(
        pixels / _PIXEL_MAX, labels, train_size=TRAIN_SAMPLES, random_state=_SPLIT_SEED, stratify=labels
    )
    return (train_x, train_y), (test_x, test_y)
