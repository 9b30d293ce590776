"""The benchmark ``digits``: handwritten digits, and a network with one hidden layer.

The data are the 1,797 handwritten digits of 8x8 grey values that scikit-learn ships: 1,437 to train, 360 held out,
the same split in every run. The network is trained epoch by epoch until it classifies enough of the held-out digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mlsub.commands.demo.model import Parameters, Part

TARGET = 0.96
MAX_EPOCHS = 200
_SPLIT_SEED = 20210630
_PIXEL_MAX = 16.0


class Digits:
    """One run.

    Args:
        parameters: by their log keys.
        seed: of initial weights and of the order of the data.

    Raises:
        ImportError: scikit-learn is not installed.
    """

    train_samples = 1437
    eval_samples = 360

    def __init__(self, parameters: Parameters, seed: int) -> None:
        from sklearn.neural_network import MLPClassifier

        self._epochs = MAX_EPOCHS if parameters.max_epochs is None else parameters.max_epochs
        self._model = MLPClassifier(
            hidden_layer_sizes=(parameters.model_hidden_units,),
            solver=parameters.opt_name,
            learning_rate_init=parameters.opt_base_learning_rate,
            momentum=parameters.opt_momentum,
            alpha=parameters.opt_weight_decay,
            batch_size=parameters.global_batch_size,
            random_state=seed,
        )

    def parts(self) -> Iterator[Part]:
        """An epoch each."""
        for epoch in range(1, self._epochs + 1):
            yield Part({"first_epoch": epoch}, {"epoch": epoch})

    def train(self, part: Part) -> None:
        """One epoch."""
        self._model.partial_fit(*_data()[0], classes=range(10))

    def evaluate(self) -> float:
        """The share of the held-out digits that are classified right."""
        return float(self._model.score(*_data()[1]))

    def good(self, quality: float) -> bool:
        """Whether enough are."""
        return quality >= TARGET


@lru_cache(maxsize=1)
def _data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Training and held-out samples, each as (pixels of shape (n, 64) from 0 to 1, labels of shape (n,))."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        pixels / _PIXEL_MAX, labels, train_size=Digits.train_samples, random_state=_SPLIT_SEED, stratify=labels
    )
    return (train_x, train_y), (test_x, test_y)
