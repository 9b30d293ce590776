"""Whether the logs of an entry count in the unit of the reference.

The official tool compares ``epoch_num`` with the reference whatever either of them counts. Two facts tell a count in
another unit, and neither changes the verdict:

- A run trains whole batches, so an ``epoch_num`` below one global batch counts neither samples nor tokens. A count of
  zero says nothing.
- An epoch goes once through the data set, whose size the logs state. A count that is nearer to the reference's mean (by
  ratio) as the other of epochs and samples than as it stands counts that other unit. The boundary lies where the count
  is off by the square root of an epoch's samples: 13 times for unet3d, which has the smallest data set of all.
  Published results that count as the reference does are within a factor of 2 of it.

``samples_count``, ``step_num`` and ``train_samples`` count what their names say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from mlsub.convergence.algorithm import traits_of, unit_of, unit_words
from mlsub.log.reading import BEYOND
from mlsub.log.run import Run
from mlsub.rounds import Round

_OTHER: dict[str, Literal["epochs", "samples"]] = {"epochs": "samples", "samples": "epochs"}


def other_unit(
    points: Sequence[float | None],
    unit: str,
    batch_size: float | None = None,
    reference: float | None = None,
    epoch: float | None = None,
) -> Literal["epochs", "samples"] | None:
    """Return what convergence points in ``epoch_num`` count where that is not the unit of the reference, else None.

    Args:
        points: of the runs, as the logs have them; None for a run that did not converge. The middle one decides.
        unit: what the reference counts.
        batch_size: of the entry, None where it is not known, as the next two.
        reference: the mean of the reference.
        epoch: samples of an epoch.
    """
    converged = [point for point in points if point is not None]
    if not converged:
        return None
    count = _middle(converged)
    if unit in _OTHER and epoch is not None and reference is not None and count > 0 and reference > 0:
        # Logarithms, as the counts themselves may leave the range of a double.
        off = math.log(count) - math.log(reference)
        converted = off + math.log(epoch) if unit == "samples" else off - math.log(epoch)
        if abs(converted) < abs(off):
            return _OTHER[unit]
    below = batch_size is not None and 0 < count < batch_size
    return "epochs" if below and unit in ("samples", "tokens") else None


def unit_of_counts(
    points: Sequence[float | None], benchmark: str, round_: Round, batch_size: float | None = None
) -> str:
    """Return what the progress of runs that are not compared with a reference counts, in words."""
    unit = unit_words(benchmark, round_)
    if unit_of(benchmark) != "epoch_num":
        return unit
    return other_unit(points, unit, batch_size) or unit


def _middle(values: Sequence[float]) -> float:
    """The value that as many lie below as above; of an even number the higher one."""
    return sorted(values)[len(values) // 2]


def samples_of_epoch(benchmark: str, runs: Sequence[Run]) -> float | None:
    """How many samples an epoch has; None where neither the benchmark nor a log says that it has more than one."""
    known = traits_of(benchmark).epoch
    stated: list[Any] = [run.hyperparameters.get("train_samples") for run in runs] if known is None else [known]
    sizes = [float(size) for size in stated if isinstance(size, (int, float)) and 1 < size < BEYOND]
    return _middle(sizes) if sizes else None
