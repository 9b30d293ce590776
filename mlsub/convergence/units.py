"""Whether the logs of an entry count in the unit of the reference.

The official tool compares ``epoch_num`` with the reference whatever either of them counts. Two facts tell a count in
another unit, and neither changes the verdict:

- A run trains whole batches, so an ``epoch_num`` below one global batch counts neither samples nor tokens.
- An epoch is as many samples as the logs say in ``train_samples``. A count that is nearer to the reference's mean (by
  ratio) as the other of epochs and samples than as it stands counts that other unit. The boundary lies where the count
  is off by the square root of an epoch's samples: 13 times for unet3d, which has the smallest data set of all.
  Published results that count as the reference does are within a factor of 2 of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal

from mlsub.log.reading import BEYOND
from mlsub.log.run import Run

#: Samples of BERT's data set. Source: the reference implementation, language_model/tensorflow/bert.
DATA_SET_OF_BERT = 156_725_653
_OTHER: dict[str, Literal["epochs", "samples"]] = {"epochs": "samples", "samples": "epochs"}


def other_unit(
    points: Sequence[float | None],
    counted: str,
    unit: str,
    batch_size: float | None,
    reference: float | None,
    runs: Sequence[Run],
) -> Literal["epochs", "samples"] | None:
    """Return what convergence points count where that is not the unit of the reference, else None.

    Args:
        points: of the runs, as the logs have them; None for a run that did not converge. The median decides.
        counted: the metadata or key that they were read from.
        unit: what the reference counts.
        batch_size: of the entry.
        reference: the mean of the reference, None where there is none.
        runs: for the size of an epoch.
    """
    converged = [point for point in points if point is not None]
    if not converged:
        return None
    count = median(converged)
    other = _OTHER.get(unit)
    epoch = _samples_of_epoch(runs)
    if other is not None and epoch is not None and reference is not None and count > 0 and reference > 0:
        converted = count * epoch if unit == "samples" else count / epoch
        if _distance(converted, reference) < _distance(count, reference):
            return other
    in_batches = unit in ("samples", "tokens") and counted == "epoch_num"
    return "epochs" if in_batches and batch_size is not None and count < batch_size else None


def _distance(one: float, other: float) -> float:
    """By how much two counts differ, as the logarithm of their ratio."""
    return abs(math.log(one) - math.log(other))


def _samples_of_epoch(runs: Sequence[Run]) -> float | None:
    """How many samples an epoch has; None where no log says that it has more than one."""
    stated: list[Any] = [run.hyperparameters.get("train_samples") for run in runs]
    sizes = [float(size) for size in stated if isinstance(size, (int, float)) and 1 < size < BEYOND]
    return median(sizes) if sizes else None
