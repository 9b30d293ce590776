"""What a sentence says, by what the claims file notes under ``says`` and by its own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlsub.commands.audit.messaging.model import Message
from mlsub.commands.audit.messaging.words import flat, mentions
from mlsub.commands.audit.written import Says

#: The names under which a claims file may note a thing.
_ALSO = {
    "version": ("version", "round"),
    "division": ("division",),
    "category": ("category", "availability", "status"),
    "chips": ("chips", "chip_count", "accelerators"),
    "verified": ("verified", "reviewed"),
    "submitter": ("submitter", "organisation", "organization"),
    "benchmark": ("benchmark",),
    "system": ("system",),
}


def noted_as(what: str) -> str:
    """The word under which a claims file notes a thing: the one of its names that the format has."""
    return next(name for name in _ALSO.get(what, (what,)) if name in Says.__struct_fields__)


def noted(message: Message, what: str) -> tuple[str, ...] | None:
    """What is noted of a thing, as texts: empty where the sentence is noted not to say it, None without a note."""
    for name in _ALSO.get(what, (what,)):
        if name in message.says:
            return texts(message.says[name])
    return None


def texts(value: Any) -> tuple[str, ...]:
    """A noted value as texts: a list's members, or the one there is."""
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(str(one) for one in values if one is not None)


def discloses(message: Message, what: str) -> bool:
    """Whether the claims file notes under ``discloses`` that a difference is told."""
    return bool(
        {flat(name) for name in texts(message.says.get("discloses"))} & {*_ALSO.get(what, ()), what, f"{what}s"}
    )


def tells(message: Message, what: str, values: Iterable[str]) -> bool:
    """Whether a sentence tells every one of some values: noted, disclosed, or in its own words."""
    if discloses(message, what):
        return True
    said = flat(" ".join((message.text, *(noted(message, what) or ()))))
    return all(mentions(said, _spellings(value)) for value in values)


def _spellings(value: str) -> tuple[str, ...]:
    """A round is written with and without a v."""
    return (value, value.removeprefix("v"), f"v{value}")
