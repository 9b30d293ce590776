"""Accelerators: which one a name means, who made it, its line and generation, and how much memory it has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from mlsub.io.data import shipped
from mlsub.io.spelling import LONGEST, Spellings, flat, spellings

_MEMORY = re.compile(r"(?<![\d.])(\d{1,4}) ?gi?b?(?!\w)")


class Chip(msgspec.Struct, frozen=True):
    """One accelerator: the maker (and whose product it was besides), its line, its generation, its memory in GB.

    ``memory_gb`` has the memory of each variant. ``spelled`` are its names in small letters.
    """

    vendor: tuple[str, ...]
    line: str
    generation: str
    memory_gb: tuple[int, ...]
    spelled: tuple[str, ...]
    name: str = ""

    @property
    def family(self) -> str:
        """What a chart colours alike: the line and the generation."""
        return f"{self.line} {self.generation}"

    def memory_of(self, name: str) -> int | None:
        """The memory of one in GB, by the name of the variant; None where that leaves it open."""
        if len(self.memory_gb) == 1:
            return self.memory_gb[0]
        said = {int(size) for size in _MEMORY.findall(flat(name[:LONGEST]))}
        return next((size for size in self.memory_gb if size in said), None)


class Family(msgspec.Struct, frozen=True):
    """A name for several accelerators."""

    spelled: tuple[str, ...]
    of: tuple[str, ...]


class _Table(msgspec.Struct, frozen=True):
    accelerators: dict[str, Chip]
    families: dict[str, Family]


@lru_cache(maxsize=1)
def _table() -> _Table:
    return shipped(__file__, "chips.yaml", _Table)


@lru_cache(maxsize=1)
def all_chips() -> dict[str, Chip]:
    """Every accelerator by its name, those of a maker together and older ones first."""
    return {name: msgspec.structs.replace(one, name=name) for name, one in _table().accelerators.items()}


def families() -> dict[str, Family]:
    """Every name for several accelerators."""
    return _table().families


@lru_cache(maxsize=1)
def spelled() -> Spellings:
    """The accelerators by their spellings; a family means each member, and itself."""
    return spellings(
        [
            *((text, [name]) for name, one in all_chips().items() for text in one.spelled),
            *((text, [name, *family.of]) for name, family in families().items() for text in family.spelled),
        ]
    )


def chip_of(model: str, *besides: str) -> Chip | None:
    """The accelerator that a system has.

    Args:
        model: what the description says, ``accelerator_model_name``.
        besides: other names of the system, which decide where the model is only a family, such as ``TPU``.
    """
    found = _meant(model)
    for text in besides:
        if len(found) <= 1:
            break
        found = (found & _meant(text)) or found
    return all_chips()[next(iter(found))] if len(found) == 1 else None


@lru_cache(maxsize=1024)
def _meant(text: str) -> frozenset[str]:
    """Every accelerator that a text may mean; where it names several, those that all of its names allow."""
    meant: frozenset[str] = frozenset()
    for _, values in spelled().found(text[:LONGEST]):
        some = _known(values)
        meant = (meant & some) or some if meant else some
    return meant


def _known(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values) & all_chips().keys()
