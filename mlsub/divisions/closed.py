"""The Closed division: the same model, optimizer and target for everybody, so that systems can be compared."""

from __future__ import annotations

from mlsub.divisions.model import Division

CLOSED = Division(
    name="closed",
    families=("both", "closed"),
    seeds=True,
    convergence=True,
    why=(
        "Closed compares systems, so model, optimizer, hyperparameter rules and quality target are those of the "
        "reference, and each run must have drawn its own seed: ten runs of one seed are one run."
    ),
)
