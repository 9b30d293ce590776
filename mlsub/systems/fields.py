"""The fields of a system description: one table for the checker, the schemas, the catalogue and the capture."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Literal

import msgspec

from mlsub.io.data import shipped


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One required field; what its parts mean stands in fields.yaml."""

    title: str
    about: str
    example: str
    text: bool = False
    may_be_empty: bool = False
    kind: Literal["count", "capacity", "clock"] | None = None
    least: int = 0
    must: bool = False
    suggest: tuple[str, ...] = ()


class Fields(msgspec.Struct, frozen=True, dict=True):
    """Which fields a description must have, and how."""

    fields: dict[str, Field]
    placeholders: tuple[str, ...]
    unsaid: tuple[str, ...]

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Every field that must be there, in the official order."""
        return tuple(self.fields)

    @cached_property
    def text(self) -> tuple[str, ...]:
        """Those that must be text."""
        return tuple(name for name, field in self.fields.items() if field.text)

    @cached_property
    def may_be_empty(self) -> tuple[str, ...]:
        """Those where an empty text is an answer."""
        return tuple(name for name, field in self.fields.items() if field.may_be_empty)


@cache
def fields() -> Fields:
    """The table of fields."""
    return shipped(__file__, "fields.yaml", Fields)
