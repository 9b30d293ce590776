"""The benchmark ``verses``: a small language model that guesses the next character of old poems."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mlsub.commands.demo.model import Parameters, Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Cross entropy of the held-out characters, in nats.
TARGET = 2.24
MAX_EPOCHS = 20
#: Samples between evaluations: about a tenth of an epoch.
EVALUATE_EVERY = 1024
EMBEDDING = 12
CONTEXT = 6
#: Of so many characters in a row, every eighth run is held out.
_RUN, _EVERY = 125, 8


class Samples(NamedTuple):
    """Contexts of shape (n, CONTEXT) and the characters that follow, of shape (n,), as numbers of the alphabet."""

    contexts: NDArray[np.int64]
    following: NDArray[np.int64]


class Verses(NamedTuple):
    """The text: its alphabet, what there is to train on, and what is held out."""

    alphabet: str
    train: Samples
    held_out: Samples


@lru_cache(maxsize=1)
def verses() -> Verses:
    """Read the text that comes with the package."""
    import numpy as np

    text = Path(__file__).with_name("text.txt").read_text(encoding="ascii").lower()
    alphabet = "".join(sorted(set(text)))
    numbers = np.array([alphabet.index(character) for character in text])
    contexts = np.lib.stride_tricks.sliding_window_view(numbers[:-1], CONTEXT)
    following = numbers[CONTEXT:]
    held_out = (np.arange(len(following)) // _RUN) % _EVERY == _EVERY - 1
    return Verses(
        alphabet,
        Samples(contexts[~held_out], following[~held_out]),
        Samples(contexts[held_out], following[held_out]),
    )


class Network:
    """Embeddings of the last characters, a hidden layer, and a guess at the next one.

    Args:
        characters: size of the alphabet.
        hidden: units of the hidden layer.
        generator: draws the initial weights.
    """

    def __init__(self, characters: int, hidden: int, generator: np.random.Generator) -> None:
        import numpy as np

        inputs = CONTEXT * EMBEDDING
        self._np: Any = np
        self.weights: list[NDArray[np.float64]] = [
            generator.normal(0, 0.3, (characters, EMBEDDING)),
            generator.normal(0, inputs**-0.5, (inputs, hidden)),
            np.zeros(hidden),
            generator.normal(0, hidden**-0.5, (hidden, characters)),
            np.zeros(characters),
        ]

    def _forward(self, contexts: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Inputs, hidden units and the logarithm of each character's probability."""
        np, (embedding, first, first_bias, second, second_bias) = self._np, self.weights
        inputs = embedding[contexts].reshape(len(contexts), -1)
        hidden = np.tanh(inputs @ first + first_bias)
        scores = hidden @ second + second_bias
        scores -= scores.max(axis=1, keepdims=True)
        return inputs, hidden, scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def loss(self, samples: Samples) -> float:
        """The mean cross entropy of the characters that follow, in nats."""
        _, _, log_probabilities = self._forward(samples.contexts)
        return float(-log_probabilities[self._np.arange(len(samples.following)), samples.following].mean())

    def gradients(self, samples: Samples) -> list[NDArray[np.float64]]:
        """The gradient of the loss by each of the weights."""
        np, (embedding, first, _, second, _) = self._np, self.weights
        inputs, hidden, log_probabilities = self._forward(samples.contexts)
        size = len(samples.following)
        by_scores = np.exp(log_probabilities)
        by_scores[np.arange(size), samples.following] -= 1
        by_scores /= size
        by_hidden = (by_scores @ second.T) * (1 - hidden**2)
        by_embedding = np.zeros_like(embedding)
        np.add.at(by_embedding, samples.contexts, (by_hidden @ first.T).reshape(size, CONTEXT, EMBEDDING))
        return [
            by_embedding,
            inputs.T @ by_hidden,
            by_hidden.sum(axis=0),
            hidden.T @ by_scores,
            by_scores.sum(axis=0),
        ]


class VersesRun:
    """One run, trained by stochastic gradient descent with momentum, or by Adam.

    Args:
        parameters: by their log keys.
        seed: of initial weights and of the order of the data.

    Raises:
        ImportError: numpy is not installed.
    """

    def __init__(self, parameters: Parameters, seed: int) -> None:
        import numpy as np

        self._parameters = parameters
        self._generator = np.random.default_rng(seed)
        text = verses()
        self.train_samples, self.eval_samples = len(text.train.following), len(text.held_out.following)
        self._network = Network(len(text.alphabet), parameters.model_hidden_units, self._generator)
        self._moments = [np.zeros_like(weight) for weight in self._network.weights]
        self._squares = [np.zeros_like(weight) for weight in self._network.weights]
        self._steps = 0
        batch = parameters.global_batch_size
        self._every = -(-EVALUATE_EVERY // batch) * batch
        self._order = self._generator.permutation(self.train_samples)
        self._at = 0

    def parts(self) -> Iterator[Part]:
        """A fixed number of samples each."""
        every = self._every
        epochs = self._parameters.max_epochs
        last = (MAX_EPOCHS if epochs is None else epochs) * self.train_samples
        for samples in range(every, last + 1, every):
            epoch = samples / self.train_samples
            first = int((samples - every) / self.train_samples)
            yield Part(
                {"first_epoch": first, "samples_so_far": samples - every},
                {"epoch": round(epoch, 4), "samples": samples},
            )

    def train(self, part: Part) -> None:
        """As many samples as the part has, in batches of random order."""
        size = self._parameters.global_batch_size
        for _ in range(self._every // size):
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
