"""The words by which figures are read, words.yaml."""

from __future__ import annotations

import msgspec

from mlsub.io.data import shipped


class Elsewhere(msgspec.Struct, frozen=True):
    """Words of figures that no training log has, and the reason; ``unless`` the clause has one of some others."""

    words: tuple[str, ...]
    reason: str
    unless: tuple[str, ...] = ()


class Words(msgspec.Struct, frozen=True):
    """The table, see its comments."""

    time: dict[str, str]
    throughput: tuple[str, ...]
    counted: dict[str, tuple[str, ...]]
    numbers: dict[str, int]
    multiplied: tuple[str, ...]
    submitted: tuple[str, ...]
    elsewhere: tuple[Elsewhere, ...]
    foreign: tuple[str, ...]
    per_price: tuple[str, ...]
    gains: tuple[str, ...]
    previous_round: tuple[str, ...]
    against: tuple[str, ...]
    between: tuple[str, ...]
    behind: tuple[str, ...]
    leaning: tuple[str, ...]
    abbreviations: tuple[str, ...]


def words() -> Words:
    """The table."""
    return shipped(__file__, "words.yaml", Words)
