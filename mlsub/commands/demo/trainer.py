"""What a rehearsal benchmark gives: a training in parts, each followed by an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec


class Part(msgspec.Struct, frozen=True):
    """A part of a training, in the words of the recorder: what its block says, and its evaluation."""

    block: dict[str, Any]
    evaluation: dict[str, Any]


class Trainer(Protocol):
    """One run of a benchmark; nothing of it is logged here."""

    train_samples: int
    eval_samples: int

    def parts(self) -> Iterator[Part]:
        """The parts of the training, in order; ends where the run is given up."""

    def train(self, part: Part) -> None:
        """Train one part."""

    def evaluate(self) -> float:
        """The quality on the held-out samples."""

    def good(self, quality: float) -> bool:
        """Whether a quality is that of the target."""
