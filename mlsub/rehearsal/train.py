"""Train one run of the benchmark ``digits`` and log it through the recorder.

The data are the 1,797 handwritten digits of 8x8 grey values that scikit-learn ships: 1,437 to train, 360 held out,
the same split in every run. The model is a network with one hidden layer, trained epoch by epoch until it classifies
enough of the held-out digits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mlsub.emit import Recorder
from mlsub.rehearsal.manifest import Hyperparameters, RehearsalEntry

TARGET = 0.96
TRAIN_SAMPLES = 1437
EVAL_SAMPLES = 360
NAMESPACE = "rehearsal, no MLPerf result"
_SPLIT_SEED = 20210630
_PIXEL_MAX = 16.0
_LOGGED = (
    *("global_batch_size", "opt_name", "opt_base_learning_rate", "opt_momentum", "opt_weight_decay"),
    "model_hidden_units",
)


class Result:
    """How a run ended: epochs trained, accuracy of the last evaluation (share of held-out digits), success."""

    def __init__(self, epochs: int, accuracy: float, success: bool) -> None:
        self.epochs = epochs
        self.accuracy = accuracy
        self.success = success


def train_run(log: Path, organisation: str, status: str, entry: RehearsalEntry, seed: int | None = None) -> Result:
    """Train one run and write its log.

    Args:
        log: the result file.
        organisation: goes to ``submission_org``.
        status: goes to ``submission_status``.
        entry: system, division and hyperparameters.
        seed: the seed of initial weights and of the order of the data; None to draw one.

    Raises:
        ImportError: scikit-learn or mlperf-logging is not installed.
        DoomedRunError: the rules of the division forbid the run; it is refused before it trains.
    """
    with Recorder(
        log,
        usage="rehearsal",
        round="1.0",
        benchmark="digits",
        division=entry.division,
        organisation=organisation,
        platform=entry.system,
        status=status,
        namespace=NAMESPACE,
        root=Path(__file__).resolve().parents[2],
    ) as recorder:
        # The data come with a library that is loaded already; there is no cache that could hold them.
        recorder.log("cache_clear", True)
        model = _initialise(recorder, entry.hyperparameters, seed)
        return _train_to_target(recorder, model, entry.hyperparameters.max_epochs)


def _initialise(recorder: Recorder, parameters: Hyperparameters, seed: int | None) -> Any:
    with recorder.init():
        recorder.hyperparameter("gradient_accumulation_steps", 1)
        recorder.hyperparameters({key: getattr(parameters, key) for key in _LOGGED})
        recorder.samples(train=TRAIN_SAMPLES, evaluation=EVAL_SAMPLES)
        return _model(parameters, recorder.fresh_seed() if seed is None else recorder.seed(seed))


def _data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Training and held-out samples, each as (pixels of shape (n, 64) from 0 to 1, labels of shape (n,))."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        pixels / _PIXEL_MAX, labels, train_size=TRAIN_SAMPLES, random_state=_SPLIT_SEED, stratify=labels
    )
    return (train_x, train_y), (test_x, test_y)


def _model(parameters: Hyperparameters, seed: int) -> Any:
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


def _train_to_target(recorder: Recorder, model: Any, max_epochs: int) -> Result:
    accuracy = 0.0
    with recorder.run() as run:
        train, held_out = _data()
        for epoch in range(1, max_epochs + 1):
            with recorder.block(epoch=epoch):
                model.partial_fit(*train, classes=range(10))
            with recorder.evaluation(epoch=epoch) as evaluation:
                accuracy = float(model.score(*held_out))
                evaluation.result(accuracy)
            if accuracy >= TARGET:
                # Open asks for no accuracy of its own; the rehearsal goes to that of Closed all the same.
                run.stop("success")
                return Result(epoch, accuracy, success=True)
        run.stop("aborted")
    return Result(max_epochs, accuracy, success=False)
