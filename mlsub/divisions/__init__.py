"""The divisions: which families of rules bind a log or an entry, and why."""

from __future__ import annotations

from typing import Literal

import msgspec

#: The names of the divisions, as logs and descriptions spell them.
DivisionName = Literal["closed", "open"]


class Division(msgspec.Struct, frozen=True):
    """A division and what it binds.

    ``families`` are the sections of a rule file that apply, in this order, later ones replacing what earlier ones
    say of a key; ``seeds`` whether the runs of an entry must prove different seeds, ``convergence``
    whether an entry is checked against the reference convergence points.
    """

    name: str
    families: tuple[str, ...]
    seeds: bool
    convergence: bool


#: Closed compares systems, so model, optimizer, hyperparameter rules and quality target are those of the reference, and
#: each run must have drawn its own seed: ten runs of one seed are one run.
CLOSED = Division(name="closed", families=("both", "closed"), seeds=True, convergence=True)
#: Open welcomes new models, optimizers and targets, so only the form of the log is checked: what was submitted, when it
#: ran and how it was evaluated. Neither seeds nor convergence against a reference bind it.
OPEN = Division(name="open", families=("both", "open"), seeds=False, convergence=False)
DIVISIONS = {division.name: division for division in (CLOSED, OPEN)}


def division_of(text: object) -> Division | None:
    """The division a log or a system description names, or None for any other spelling.

    Spelling counts: the official tools compare with exactly ``closed`` and ``open``.
    """
    return DIVISIONS.get(text) if isinstance(text, str) else None


def rule_families(text: object) -> tuple[str, ...]:
    """The families of rules for a log's ``submission_division``; those of every log where it is unknown."""
    division = division_of(text)
    return division.families if division else ("both",)
