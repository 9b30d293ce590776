"""How far each run of an entry had to train: the submission's side of the RCP test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.point import paired_convergence_point
from mlsub.log.run import Run
from mlsub.rules.model import KeyRule

#: What a run that never converged counts as; the official tool's own number.
NEVER = 1e9


class Progress(msgspec.Struct, frozen=True):
    """What the runs of an entry came to.

    ``points`` are their convergence points (epochs, samples or steps), NEVER for a run that did not converge;
    ``failed`` counts those. ``batch_size`` is None where the logs state none or several.
    """

    points: tuple[float, ...]
    failed: int
    batch_size: Any
    benchmark: str | None


def progress_of(
    runs: Sequence[Run], folder: str, algorithm: Algorithm, unit: str, paired: KeyRule | None, *, samples: bool = False
) -> Progress:
    """The convergence points of an entry's runs.

    Args:
        runs: in the order of their file names.
        folder: the name of the benchmark's folder.
        algorithm: that of the round.
        unit: ``epoch_num`` or ``samples_count``: the metadata of evaluations that counts.
        paired: the rule that puts measures together, where the benchmark has several.
        samples: BERT by ``train_samples`` in place of epochs.
    """
    points, failed = [], 0
    for run in runs:
        point = _point(run, unit, paired, samples)
        if point is None:
            failed += 1
            if run.status_line is None and algorithm.unstopped == "left_out":
                continue
            point = NEVER
        points.append(point)
    sizes = [run.hyperparameters.get("global_batch_size") for run in runs]
    names = [run.identity.get("submission_benchmark") for run in runs]
    if algorithm.name == "folder":
        return Progress(tuple(points), failed, sizes[-1] if sizes else None, folder)
    same = all(size == sizes[0] for size in sizes) and all(name == names[0] for name in names)
    return Progress(tuple(points), failed, sizes[0] if sizes and same else None, names[0] if names else None)


def _point(run: Run, unit: str, paired: KeyRule | None, samples: bool) -> float | None:
    """None where the run did not converge by its own word, or says nowhere at what point it did."""
    if run.status != "success":
        return None
    if samples:
        value = run.hyperparameters.get("train_samples")
        # A list of one number is that number to the official tool, which leaves it to numpy.
        return _number(value[0] if isinstance(value, list) and len(value) == 1 else value)
    if paired is not None:
        return paired_convergence_point(run.evaluations, paired)
    before = [e for e in run.evaluations if run.status_line is None or e.line < run.status_line]
    if not before:
        return None
    point = _number(getattr(before[-1], unit))
    return round(point, 3) if point is not None and unit == "epoch_num" else point


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
