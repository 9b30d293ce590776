"""Availability: the category of the results table for the status that a system description states."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

from mlsub.io.data import shipped
from mlsub.rounds import Statuses

#: No status is longer; what is cut off could make no difference.
_LONGEST = 80


@lru_cache(maxsize=1)
def aliases() -> dict[str, str]:
    """Each known spelling, in lower case, and its category."""
    table = shipped(__file__, "availability.yaml", dict[str, dict[str, list[str]]])
    return {
        alias: category for category, groups in table.items() for spellings in groups.values() for alias in spellings
    }


def category(status: str) -> str | None:
    """The category of a status, None where it is unknown; case and the number of blanks never count."""
    return aliases().get(_plain(status)) if len(status) <= _LONGEST else None


def exact_status(status: str, statuses: Statuses) -> str | None:
    """The spelling that the round wants of a status that is known by another; None where it is right, or unknown."""
    if statuses.allow(status):
        return None
    means = category(status) or ""
    fitting = [name for name in statuses.one_of if category(name) == means]
    return next((name for name in fitting if name.lower() == means.lower()), next(iter(fitting), None))


def shown(status: str) -> str:
    """What the table shows: the category, or the status as written, marked as unknown."""
    return category(status) or f"{status} (unknown)"


def close_category(status: str) -> str | None:
    """The category that an unknown status may mean; None without a guess."""
    close = get_close_matches(_plain(status[:_LONGEST]), aliases(), n=1)
    return aliases()[close[0]] if close else None


def _plain(status: str) -> str:
    return " ".join(status.lower().split())
