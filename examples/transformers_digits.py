"""Train the rehearsal benchmark digits with the Hugging Face Trainer, and log the run by the rules.

    pip install '.[adapters]'
    python examples/transformers_digits.py result_0.txt

One process on a CPU, a few seconds. A rehearsal is not an MLPerf result.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import EvalPrediction, Trainer, TrainingArguments

from mlsub.emit import Recorder, Training
from mlsub.emit.transformers import RecorderCallback

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
    quality="eval_accuracy",
    train_samples=TRAIN_SAMPLES,
    evaluation_samples=EVALUATION_SAMPLES,
    batch_size=BATCH_SIZE,
)


class Digits(Dataset[dict[str, torch.Tensor]]):
    """One part of the data set of scikit-learn, always the same, read when its first sample is asked for."""

    def __init__(self, *, training: bool) -> None:
        self._training = training
        self._samples: list[dict[str, torch.Tensor]] | None = None

    def __len__(self) -> int:
        return TRAIN_SAMPLES if self._training else EVALUATION_SAMPLES

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        if self._samples is None:
            self._samples = self._read()
        return self._samples[index]

    def _read(self) -> list[dict[str, torch.Tensor]]:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        pixels, labels = load_digits(return_X_y=True)
        parts = train_test_split(pixels / 16, labels, train_size=TRAIN_SAMPLES, random_state=20210630, stratify=labels)
        images, answers = (parts[0], parts[2]) if self._training else (parts[1], parts[3])
        return [
            {"pixels": torch.tensor(image, dtype=torch.float32), "labels": torch.tensor(answer)}
            for image, answer in zip(images, answers, strict=True)
        ]


class Network(torch.nn.Module):
    """A network with one hidden layer for 8x8 grey values."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

    def forward(self, pixels: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The loss and the scores of a batch."""
        scores = self.layers(pixels)
        return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


class DigitsTrainer(Trainer):
    """A Trainer with the optimizer that Closed asks for."""

    def create_optimizer(self, *args: Any) -> torch.optim.Optimizer:
        """SGD with momentum and weight decay."""
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=1e-4)
        return self.optimizer


def accuracy(prediction: EvalPrediction) -> dict[str, float]:
    """The share of held-out digits that are recognised."""
    return {"accuracy": float((prediction.predictions.argmax(axis=1) == prediction.label_ids).mean())}


def arguments(folder: str, seed: int, **more: Any) -> TrainingArguments:
    """How the Trainer trains; with several processes each has its share of a batch."""
    given = {
        "num_train_epochs": MAX_EPOCHS,
        "per_device_train_batch_size": BATCH_SIZE,
        "per_device_eval_batch_size": EVALUATION_SAMPLES,
        "lr_scheduler_type": "constant",
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
        "dataloader_pin_memory": False,
        **more,
    }
    return TrainingArguments(folder, seed=seed, **given)


def main(log: str) -> None:
    """Train one run and log it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Recorder(
            log,
            usage="rehearsal",
            round="1.0",
            benchmark="digits",
            division="closed",
            organisation="ACME",
            platform="laptop",
            status="onprem",
        ) as recorder,
    ):
        # The data come with a library that is loaded already. Where they lie on a disk: recorder.cache_clear()
        recorder.log("cache_clear", True)
        callback = RecorderCallback(recorder, TRAINING)
        torch.manual_seed(callback.seed)
        DigitsTrainer(
            Network(),
            arguments(folder, callback.seed),
            train_dataset=Digits(training=True),
            eval_dataset=Digits(training=False),
            compute_metrics=accuracy,
            callbacks=[callback],
        ).train()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "result_0.txt")
