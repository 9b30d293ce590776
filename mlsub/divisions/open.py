"""The Open division: any model and optimizer, as long as the log tells the same story."""

from __future__ import annotations

from mlsub.divisions.model import Division

OPEN = Division(
    name="open",
    families=("both", "open"),
    seeds=False,
    convergence=False,
    why=(
        "Open welcomes new models, optimizers and targets, so only the form of the log is checked: what was "
        "submitted, when it ran and how it was evaluated. Neither seeds nor convergence against a reference bind it."
    ),
)
