"""Whether the logs of an entry count in the unit of the reference.

The official tool compares ``epoch_num`` with the reference whatever either of them counts. Two facts tell a count in
another unit, and neither changes the verdict:

- A run trains whole batches, so fewer samples or tokens than one global batch are none.
- An epoch is as many samples as the logs say in ``train_samples``. A mean that is nearer to the reference's (by ratio)
  as the other of epochs and samples than as it stands counts that other unit. The boundary lies where the mean is off
  by the square root of an epoch's samples: 13 times for unet3d, whose data set is the smallest of all whose epochs
  were ever counted. Published results that count as the reference does are within a factor of 2 of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlsub.log.reading import BEYOND
from mlsub.log.run import Run

#: Samples of BERT's data set. Source: the reference implementation, language_model/tensorflow/bert.
DATA_SET_OF_BERT = 156_725_653
#: What is compared: a count in one of these is at least one global batch.
_IN_SAMPLES = ("samples", "tokens")
_OTHER = {"epochs": "samples", "samples": "epochs"}


def other_unit(
    mean: float | None, counted: str, unit: str, batch_size: float | None, reference: float | None, runs: Sequence[Run]
) -> str | None:
    """Return what a mean counts where that is not the unit of the reference, else None.

    Args:
        mean: of the convergence points, as the logs have them.
        counted: the metadata or key that they were read from.
        unit: what the reference counts.
        batch_size: of the entry.
        reference: the mean of the reference, None where there is none.
        runs: for the size of an epoch.
    """
    if mean is None:
        return None
    other = _OTHER.get(unit)
    epoch = _samples_of_epoch(runs)
    if other is not None and epoch is not None and reference is not None and mean > 0 and reference > 0:
        converted = mean * epoch if unit == "samples" else mean / epoch
        if _distance(converted, reference) < _distance(mean, reference):
            return other
    if unit in _IN_SAMPLES and batch_size is not None and mean < batch_size:
        return "epochs" if counted == "epoch_num" else "unknown"
    return None


def _distance(one: float, other: float) -> float:
    """By how much two counts differ, as the logarithm of their ratio."""
    return abs(math.log(one) - math.log(other))


def _samples_of_epoch(runs: Sequence[Run]) -> float | None:
    """How many samples an epoch has; None where no log says that it has more than one."""
    stated: list[Any] = [run.hyperparameters.get("train_samples") for run in runs]
    sizes = sorted(size for size in stated if isinstance(size, (int, float)) and 1 < size < BEYOND)
    return float(sizes[len(sizes) // 2]) if sizes else None
