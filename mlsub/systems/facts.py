"""What a system description says, taken out of JSON that may hold anything, and the category of its status."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from mlsub.findings import Says
from mlsub.io.data import shipped
from mlsub.io.show import show
from mlsub.rounds import Statuses

#: Characters kept of a field; published ones stay below 250.
MAX_TEXT = 2000
#: Counts of nodes, processors and accelerators are smaller, and a product of two fits 64 bits.
MAX_COUNT = 999_999_999
_COUNT = re.compile(r"(\d{1,9})(?:\.0{1,9})?", re.ASCII)
_LONGEST_COUNT = 40
_COUNTS = frozenset(("number_of_nodes", "host_processors_per_node", "accelerators_per_node"))


Text = Annotated[str | None, Says("As written; what is longer ends in an ellipsis.", maxLength=MAX_TEXT)]
Number = Annotated[int | None, Says("A whole number, also where it is written as text.", minimum=0, maximum=MAX_COUNT)]


class SystemFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a system description says of its system, as far as the results table needs it.

    Texts are as written, but bounded; None where the field is missing or null. Numbers are None where the field holds
    no whole number below 10^9.
    """

    submitter: Text = None
    status: Text = None
    system_name: Text = None
    number_of_nodes: Number = None
    host_processor_model_name: Text = None
    host_processors_per_node: Number = None
    accelerator_model_name: Text = None
    accelerators_per_node: Number = None
    framework: Text = None
    hw_notes: Text = None
    sw_notes: Text = None


def facts_of(content: Mapping[str, Any] | None) -> SystemFacts | None:
    """The facts of a description's content, None without any; a field of the wrong kind never raises."""
    if content is None:
        return None
    read: dict[str, Callable[[Any], object]] = dict.fromkeys(SystemFacts.__struct_fields__, written)
    read |= dict.fromkeys(_COUNTS, count)
    return msgspec.convert({name: kind(content.get(name)) for name, kind in read.items()}, SystemFacts)


def written(value: Any) -> str | None:
    """A value as text of at most ``MAX_TEXT`` characters: text as it is, else as JSON has it; None for null."""
    if value is None:
        return None
    text = value if isinstance(value, str) else show(value, MAX_TEXT)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def count(value: Any) -> int | None:
    """A whole number from 0 to ``MAX_COUNT``, written as a number, as ``8.0`` or as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return int(value) if 0 <= value <= MAX_COUNT and value == int(value) else None
    if isinstance(value, str) and len(value) <= _LONGEST_COUNT and (match := _COUNT.fullmatch(value.strip())):
        return int(match[1])
    return None


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
