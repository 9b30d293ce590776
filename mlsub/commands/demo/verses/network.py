"""A character-level network: embeddings of the last characters, a hidden layer, and a guess at the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlsub.commands.demo.verses.data import CONTEXT, Samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBEDDING = 12


class Network:
    """The weights, their gradients, and the loss in nats a character.

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
