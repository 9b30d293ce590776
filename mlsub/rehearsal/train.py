"""Train one run of the benchmark ``digits`` and log it through the official event logger.

The data are the 1,797 handwritten digits of 8x8 grey values that scikit-learn ships: 1,437 to train, 360 held out,
the same split in every run. The model is a network with one hidden layer, trained epoch by epoch until it classifies
enough of the held-out digits.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from mlsub.rehearsal.manifest import Hyperparameters, RehearsalEntry

TARGET = 0.96
TRAIN_SAMPLES = 1437
_SPLIT_SEED = 20210630
_PIXEL_MAX = 16.0


class Result:
    """How a run ended: epochs trained, accuracy of the last evaluation (share of held-out digits), success."""

    def __init__(self, epochs: int, accuracy: float, success: bool) -> None:
        self.epochs = epochs
        self.accuracy = accuracy
        self.success = success


def train_run(log: Path, organisation: str, status: str, entry: RehearsalEntry, seed: int) -> Result:
    """Train one run and write its log.

    Args:
        log: the result file; it appears when the run is complete.
        organisation: goes to ``submission_org``.
        status: goes to ``submission_status``.
        entry: system, division and hyperparameters.
        seed: the seed of initial weights and of the order of the data.

    Raises:
        ImportError: scikit-learn or mlperf-logging is not installed.
    """
    part = log.with_suffix(".part")
    logger = logging.Logger(f"mlsub.rehearsal.{log}", level=logging.INFO)
    handler = logging.FileHandler(part, mode="w", encoding="utf-8")
    logger.addHandler(handler)
    try:
        result = _train(_mllogger(logger), organisation, status, entry, seed)
    finally:
        handler.close()
    part.replace(log)
    return result


def _mllogger(logger: logging.Logger) -> Any:
    from mlperf_logging.mllog.mllog import MLLogger

    package_root = Path(__file__).resolve().parents[2]
    return MLLogger(logger, default_namespace="rehearsal, no MLPerf result", root_dir=re.escape(str(package_root)))


def _train(mllogger: Any, organisation: str, status: str, entry: RehearsalEntry, seed: int) -> Result:
    mllogger.event("cache_clear", True)
    mllogger.start("init_start")
    _log_submission(mllogger, organisation, status, entry)
    parameters = entry.hyperparameters
    _log_hyperparameters(mllogger, parameters)
    mllogger.event("seed", seed)
    model = _model(parameters, seed)
    mllogger.end("init_stop")

    mllogger.start("run_start")
    train, held_out = _data()
    mllogger.event("train_samples", len(train[1]))
    mllogger.event("eval_samples", len(held_out[1]))
    result = _train_to_target(mllogger, model, train, held_out, parameters.max_epochs)
    mllogger.end("run_stop", metadata={"status": "success" if result.success else "aborted"})
    return result


def _log_submission(mllogger: Any, organisation: str, status: str, entry: RehearsalEntry) -> None:
    mllogger.event("submission_benchmark", "digits")
    mllogger.event("submission_division", entry.division)
    mllogger.event("submission_org", organisation)
    mllogger.event("submission_platform", entry.system)
    mllogger.event("submission_status", status)


def _log_hyperparameters(mllogger: Any, parameters: Hyperparameters) -> None:
    mllogger.event("gradient_accumulation_steps", 1)
    for key in (
        "global_batch_size",
        "opt_name",
        "opt_base_learning_rate",
        "opt_momentum",
        "opt_weight_decay",
        "model_hidden_units",
    ):
        mllogger.event(key, getattr(parameters, key))


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


def _train_to_target(
    mllogger: Any, model: Any, train: tuple[Any, Any], held_out: tuple[Any, Any], max_epochs: int
) -> Result:
    accuracy = 0.0
    for epoch in range(1, max_epochs + 1):
        mllogger.start("block_start", metadata={"first_epoch_num": epoch, "epoch_count": 1})
        model.partial_fit(*train, classes=range(10))
        mllogger.end("block_stop", metadata={"first_epoch_num": epoch, "epoch_count": 1})
        mllogger.start("eval_start", metadata={"epoch_num": epoch})
        accuracy = float(model.score(*held_out))
        mllogger.event("eval_accuracy", accuracy, metadata={"epoch_num": epoch})
        mllogger.end("eval_stop", metadata={"epoch_num": epoch})
        if accuracy >= TARGET:
            return Result(epoch, accuracy, success=True)
    return Result(max_epochs, accuracy, success=False)
