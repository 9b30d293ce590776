"""Accelerators: which one a name means, who made it, its line and generation, and how much memory it has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import LONGEST, Spellings, flat, spellings

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


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    accelerators: dict[str, Chip]
    families: dict[str, Family]
    series: tuple[str, ...]
    boards: dict[str, str]
    models: dict[str, dict[str, dict[str, Any]]]


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


def models() -> dict[str, dict[str, Any]]:
    """What ``accelerator_model_name`` is to say of each variant of each accelerator, with its other spellings."""
    return {name: known for variants in _table().models.values() for name, known in variants.items()}


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


@lru_cache(maxsize=1024)
def named_in(text: str) -> frozenset[str]:
    """The accelerators that the name of a system or a platform contains, such as ``a100`` in ``dgxa100_n8``.

    Variants of one are the same here (MI300X and MI300A, v5e and v5p), as are a board and the accelerator on it. Such a
    name is made of words that are joined in any way, so a spelling counts within a word too; names of several
    accelerators that have no number, such as TPU, do not count.
    """
    return frozenset(_stem(match) for match in _within().finditer(flat(text[:LONGEST])))


@lru_cache(maxsize=1)
def _within() -> re.Pattern[str]:
    known = sorted((text for text in spelled().meanings if _one(text)), key=len, reverse=True)
    # A number ends where the digits end, a word where the letters do.
    exact = "|".join(re.escape(text) + ("(?![0-9])" if text[-1].isdigit() else "(?![a-z0-9])") for text in known)
    series = "|".join(name.replace(" ", " ?") for name in _table().series)
    return re.compile(rf"(?:(?<![a-z])|(?<=dgx)|(?<=hgx))(?:{exact})|(?:{series}) ?(?:pro ?)?\d+(?![0-9])")


def _one(text: str) -> str | None:
    """The accelerator that a spelling means, or the name of several that has a number, such as MI300."""
    known = spelled().meanings[text]
    if len(known) == 1:
        return next(iter(known))
    return next((name for name in known - all_chips().keys() if any(map(str.isdigit, name))), None)


def _stem(match: re.Match[str]) -> str:
    """A name without what distinguishes variants: letters behind its number."""
    name = _one(match[0]) if match[0] in spelled().meanings else None
    name = _table().boards.get(name or "", name or match[0])
    plain = re.sub(r"[-_ ]|pro", "", name.lower())
    return re.sub(r"(?<=[0-9])[a-z]+$", "", plain)
