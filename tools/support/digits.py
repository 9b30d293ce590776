"""A run of the rehearsal benchmark digits through the recorder, without the training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
