"""The columns of the results table."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from mlsub.io.data import shipped


class ColumnKind(StrEnum):
    """What a column holds; any cell may be empty."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"


class Shown(StrEnum):
    """Where Markdown has a column."""

    ALWAYS = "always"
    FILLED = "filled"
    NEVER = "never"


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One column; see columns.yaml."""

    name: str
    title: str
    kind: ColumnKind
    decimals: int = 0
    link: bool = False
    markdown: Shown = Shown.ALWAYS


def columns() -> tuple[Column, ...]:
    """All columns, in their order."""
    return shipped(__file__, "columns.yaml", tuple[Column, ...])
