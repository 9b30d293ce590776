"""Which usages, rounds and benchmarks exist, and what a round changed for whole packages."""

from mlsub.rounds.loader import (
    Round,
    Statuses,
    every_benchmark,
    get_round,
    known_rounds,
    normalise_round,
    overlay_content,
    overlay_rounds,
    rounds_with,
    usages,
)

__all__ = [
    "Round",
    "Statuses",
    "every_benchmark",
    "get_round",
    "known_rounds",
    "normalise_round",
    "overlay_content",
    "overlay_rounds",
    "rounds_with",
    "usages",
]
