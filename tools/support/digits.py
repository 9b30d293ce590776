"""The rehearsal benchmark digits without the training: a run through the recorder, and what ``mlsub demo`` makes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from mlsub.commands.demo.run import read_rehearsal, rehearse
from mlsub.commands.demo.train import Parameters, Trained
from mlsub.emit import Recorder

HYPERPARAMETERS: dict[str, Any] = {
    "global_batch_size": 32,
    "gradient_accumulation_steps": 1,
    "opt_name": "sgd",
    "opt_base_learning_rate": 0.02,
    "opt_momentum": 0.9,
    "opt_weight_decay": 0.0001,
    "model_hidden_units": 64,
}


def hyperparameters(**changes: Any) -> dict[str, Any]:
    """The hyperparameters with some changed; None leaves one out."""
    return {key: value for key, value in {**HYPERPARAMETERS, **changes}.items() if value is not None}


def recorder(path: Path, **more: Any) -> Recorder:
    given: dict[str, Any] = {"usage": "rehearsal", "round": "1.0", "benchmark": "digits", "division": "closed"}
    given |= {"organisation": "ACME", "platform": "rack1", "status": "onprem"}
    return Recorder(path, **given | more)


def record_run(path: Path, seed: int | None = None, *, changes: Mapping[str, Any] | None = None, **more: Any) -> Path:
    """Record a whole run that reaches its target; ``changes`` are those of the hyperparameters. Gives the log."""
    with recorder(path, **more) as rec:
        initialise(rec, seed, **(changes or {}))
        train(rec)
    return path


def initialise(rec: Recorder, seed: int | None = None, **changes: Any) -> int:
    """All that comes before the clock, and the seed; a change to None leaves a hyperparameter out."""
    rec.log("cache_clear", True)
    with rec.init():
        rec.hyperparameters(hyperparameters(**changes))
        rec.samples(train=1437, evaluation=360)
        return rec.fresh_seed() if seed is None else rec.seed(seed)


def train(rec: Recorder, qualities: tuple[float, ...] = (0.8, 0.9, 0.97)) -> None:
    """The timed region, an epoch for each quality."""
    with rec.run():
        for epoch, quality in enumerate(qualities, 1):
            with rec.block(first_epoch=epoch), rec.epoch(epoch):
                pass
            with rec.evaluation(epoch=epoch) as evaluation:
                reached = evaluation.result(quality)
            if reached:
                break


def rehearse_untrained(manifest: Path, output: Path) -> None:
    """What ``mlsub demo MANIFEST --output OUTPUT`` makes, in less than a second and without scikit-learn."""
    with (
        patch("mlsub.commands.demo.run.train_run", _train_run),
        patch("mlsub.commands.demo.run.version", lambda name: "1.0"),
    ):
        rehearse(read_rehearsal(manifest), output, force=False)


def _train_run(rec: Recorder, parameters: Parameters, seed: int | None = None) -> Trained:
    """A run that takes about as many epochs as those of the reference."""
    values = msgspec.structs.asdict(parameters)
    del values["max_epochs"]
    with rec:
        epochs = 7 + initialise(rec, seed, **values) % 3
        with rec.run() as run:
            for epoch in range(1, epochs + 1):
                with rec.block(first_epoch=epoch):
                    pass
                with rec.evaluation(epoch=epoch) as evaluation:
                    evaluation.result(0.97 if epoch == epochs else 0.9 + epoch / 200)
            run.stop("success")
    return Trained(epochs, 0.97, success=True)
