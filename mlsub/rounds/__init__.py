"""Which usages, rounds and benchmarks exist, and what a round changed for whole packages."""

from mlsub.rounds.loader import (
    Round,
    Statuses,
    UnknownRoundError,
    get_round,
    known_rounds,
    normalise_round,
    overlay_content,
    overlay_rounds,
    usages,
)

__all__ = [
    "Round",
    "Statuses",
    "UnknownRoundError",
    "get_round",
    "known_rounds",
    "normalise_round",
    "overlay_content",
    "overlay_rounds",
    "usages",
]
