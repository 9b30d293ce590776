"""The divisions: which families of rules bind a log or an entry, and why."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import LONGEST, flat

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
    """Return the division a log or a system description names, or None for any other spelling.

    Spelling counts: the official tools compare with exactly ``closed`` and ``open``.
    """
    return DIVISIONS.get(text) if isinstance(text, str) else None


def division_meant(text: object) -> Division | None:
    """Return the division that a text means in whatever spelling, such as ``Closed`` or ``close``; None for other text.

    For names in tables, charts and comparisons only: verdicts depend on the exact spelling, see :func:`division_of`.
    """
    return _division_spellings().get(flat(text[:LONGEST])) if isinstance(text, str) else None


def division_name(text: str | None) -> str | None:
    """Return the name of the division that a text means, or the text in small letters; None for no text."""
    found = division_meant(text)
    return found.name if found else text.lower() if text else None


@lru_cache(maxsize=1)
def _division_spellings() -> dict[str, Division]:
    known = shipped(__file__, "divisions.yaml", dict[DivisionName, tuple[str, ...]])
    return {text: DIVISIONS[name] for name, texts in known.items() for text in texts}


def rule_families(text: object) -> tuple[str, ...]:
    """Return the families of rules for a log's ``submission_division``; those of every log where it is unknown."""
    division = division_of(text)
    return division.families if division else ("both",)
