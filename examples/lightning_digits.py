"""Train the rehearsal benchmark digits with PyTorch Lightning, and log the run by the rules.

    pip install '.[adapters]'
    python examples/lightning_digits.py result_0.txt

One process on a CPU, a few seconds. A rehearsal is not an MLPerf result.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from lightning.pytorch import LightningModule, Trainer, seed_everything
from torch.utils.data import DataLoader, TensorDataset

from mlsub.emit import Recorder, Training
from mlsub.emit.lightning import RecorderCallback

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


class Digits(LightningModule):
    """A network with one hidden layer for 8x8 grey values, with its data."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        """The loss of one batch."""
        pixels, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(pixels), labels)

    def validation_step(self, batch: list[torch.Tensor], batch_idx: int) -> None:
        """The share of held-out digits that are recognised."""
        pixels, labels = batch
        right = (self.layers(pixels).argmax(dim=1) == labels).float().mean()
        self.log("val_accuracy", right, batch_size=len(labels), sync_dist=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimizer that Closed asks for."""
        return torch.optim.SGD(self.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=1e-4)

    def train_dataloader(self) -> DataLoader[Any]:
        """1,437 digits, in an order that depends on the seed."""
        return DataLoader(_digits()[0], BATCH_SIZE, shuffle=True)

    def val_dataloader(self) -> DataLoader[Any]:
        """360 digits that are held out."""
        return DataLoader(_digits()[1], EVALUATION_SAMPLES)


def _digits() -> tuple[TensorDataset, TensorDataset]:
    """The data set of scikit-learn, always in the same two parts."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    parts = train_test_split(pixels / 16, labels, train_size=TRAIN_SAMPLES, random_state=20210630, stratify=labels)
    train_x, test_x = (torch.tensor(part, dtype=torch.float32) for part in parts[:2])
    train_y, test_y = (torch.tensor(part) for part in parts[2:])
    return TensorDataset(train_x, train_y), TensorDataset(test_x, test_y)


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
        seed_everything(callback.seed, verbose=False)
        trainer = Trainer(
            max_epochs=MAX_EPOCHS,
            callbacks=[callback],
            accelerator="cpu",
            devices=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(Digits())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "result_0.txt")
