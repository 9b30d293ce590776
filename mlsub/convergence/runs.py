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
#: What is larger is no count of epochs or samples, nor a batch size.
BEYOND = 1e15


class Progress(msgspec.Struct, frozen=True):
    """What the runs of an entry came to.

    ``by_run`` are the convergence points (epochs, samples or steps) in the order of the runs, None for a run that did
    not converge; ``points`` the list the round's test works on, with NEVER in their place. ``failed`` counts the runs
    that did not converge, ``untold`` names (by number) those that say success and tell no point. ``batch_size`` and
    ``benchmark`` are None where the logs state none, or several.
    """

    points: tuple[float, ...]
    failed: int
    batch_size: Any
    benchmark: str | None
    by_run: tuple[float | None, ...] = ()
    untold: tuple[int, ...] = ()


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
    by_run = tuple(_point(run, unit, paired, samples) for run in runs)
    left_out = algorithm.unstopped == "left_out"
    points = [
        NEVER if point is None else point
        for run, point in zip(runs, by_run, strict=True)
        if point is not None or run.status_line is not None or not left_out
    ]
    sizes = [run.hyperparameters.get("global_batch_size") for run in runs]
    names = [run.identity.get("submission_benchmark") for run in runs]
    by_folder = algorithm.name == "folder"
    return Progress(
        points=tuple(points),
        failed=by_run.count(None),
        batch_size=(sizes[-1] if sizes else None) if by_folder else _agreed(sizes, names),
        benchmark=folder if by_folder else next((name for name in names if isinstance(name, str)), None),
        by_run=by_run,
        untold=tuple(n for n, run in enumerate(runs) if run.status == "success" and by_run[n] is None),
    )


def _agreed(sizes: Sequence[Any], names: Sequence[Any]) -> Any:
    """The one batch size, where the runs agree on it and on the benchmark; else None.

    Runs that say nothing before the first that does are passed over, as in the official tool.
    """
    for told in (names, sizes):
        first = next((n for n, value in enumerate(told) if value is not None), len(told))
        if any(value != told[first] for value in told[first:]):
            return None
    return next((size for size in sizes if size is not None), None)


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
    """A number that can be computed with, and no truth value; the largest reference counts 1.6e9."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < BEYOND:
        return None
    return value
