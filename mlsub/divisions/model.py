"""What a division is."""

from __future__ import annotations

from typing import Literal

import msgspec

#: The names of the divisions, as logs and descriptions spell them.
DivisionName = Literal["closed", "open"]


class Division(msgspec.Struct, frozen=True):
    """A division and what it binds.

    ``families`` are the sections of a rule file that apply, in this order, later ones replacing what earlier ones
    say of a key; ``seeds`` whether the runs of an entry must prove different seeds, ``convergence``
    whether an entry is held against the reference convergence points.
    """

    name: str
    families: tuple[str, ...]
    seeds: bool
    convergence: bool
    why: str
