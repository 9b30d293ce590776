"""One run of the benchmark ``verses``."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.demo.manifest import VersesParameters
from mlsub.commands.demo.trainer import Part
from mlsub.commands.demo.verses.data import Samples, verses
from mlsub.commands.demo.verses.network import Network

#: Cross entropy of the held-out characters, in nats.
TARGET = 2.24
#: Samples between evaluations: about a tenth of an epoch.
EVALUATE_EVERY = 1024


class VersesRun:
    """One run, trained by stochastic gradient descent with momentum, or by Adam.

    Args:
        parameters: by their log keys.
        seed: of initial weights and of the order of the data.

    Raises:
        ImportError: numpy is not installed.
    """

    def __init__(self, parameters: VersesParameters, seed: int) -> None:
        import numpy as np

        self._parameters = parameters
        self._generator = np.random.default_rng(seed)
        text = verses()
        self.train_samples, self.eval_samples = len(text.train.following), len(text.held_out.following)
        self._network = Network(len(text.alphabet), parameters.model_hidden_units, self._generator)
        self._moments = [np.zeros_like(weight) for weight in self._network.weights]
        self._squares = [np.zeros_like(weight) for weight in self._network.weights]
        self._steps = 0
        self._order = self._generator.permutation(self.train_samples)
        self._at = 0

    def parts(self) -> Iterator[Part]:
        """A fixed number of samples each."""
        every = -(-EVALUATE_EVERY // self._parameters.global_batch_size) * self._parameters.global_batch_size
        last = self._parameters.max_epochs * self.train_samples
        for samples in range(every, last + 1, every):
            epoch = samples / self.train_samples
            first = int((samples - every) / self.train_samples)
            yield Part({"epoch": first, "samples": every}, {"epoch": round(epoch, 4), "samples": samples})

    def train(self, part: Part) -> None:
        """As many samples as the part has, in batches of random order."""
        size = self._parameters.global_batch_size
        for _ in range(part.block["samples"] // size):
            if self._at + size > self.train_samples:
                self._order, self._at = self._generator.permutation(self.train_samples), 0
            batch = self._order[self._at : self._at + size]
            self._at += size
            train = verses().train
            self._step(Samples(train.contexts[batch], train.following[batch]))

    def _step(self, batch: Samples) -> None:
        parameters = self._parameters
        self._steps += 1
        gradients = self._network.gradients(batch)
        for weight, gradient, moment, square in zip(
            self._network.weights, gradients, self._moments, self._squares, strict=True
        ):
            gradient += parameters.opt_weight_decay * weight
            if parameters.opt_name == "adam":
                moment += (1 - parameters.opt_momentum) * (gradient - moment)
                square += 0.001 * (gradient**2 - square)
                unbiased = moment / (1 - parameters.opt_momentum**self._steps)
                spread = (square / (1 - 0.999**self._steps)) ** 0.5
                weight -= parameters.opt_base_learning_rate * unbiased / (spread + 1e-8)
            else:
                moment *= parameters.opt_momentum
                moment -= parameters.opt_base_learning_rate * gradient
                weight += moment

    def evaluate(self) -> float:
        """The cross entropy of the held-out characters, in nats."""
        return self._network.loss(verses().held_out)

    def good(self, quality: float) -> bool:
        """Whether it is low enough."""
        return quality <= TARGET
