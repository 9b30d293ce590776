"""docs/deviations.md as docs/deviations.yaml has it: where mlsub and the official tool differ, one row each."""

from __future__ import annotations

import textwrap
from pathlib import Path

import msgspec
import yaml

DOCS = Path(__file__).resolve().parents[3] / "docs"
DATA, PAGE = DOCS / "deviations.yaml", DOCS / "deviations.md"
_HEAD = """\
# Where mlsub differs from the official tool, and why

The reference is the official checker **in force for the round**, the release that submitters had at the deadline.
These are all known differences; [deviations.yaml](deviations.yaml) has the source of each, and a test that shows it.
"""


class Area(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of the page."""

    id: str
    title: str
    text: str


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One difference; the words are explained in the data file."""

    id: str
    area: str
    case: str
    official: str
    source: str
    test: str
    mlsub: str = ""
    rounds: str = ""
    why: str = ""


class Deviations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file."""

    areas: tuple[Area, ...]
    rows: tuple[Row, ...]


def read() -> Deviations:
    """Read the data file.

    Raises:
        msgspec.ValidationError: a row lacks a field, or has another one.
    """
    return msgspec.convert(yaml.safe_load(DATA.read_text(encoding="utf-8")), Deviations)


def render(deviations: Deviations) -> str:
    """Render the page as Markdown."""
    return _HEAD + "".join(_section(area, deviations) for area in deviations.areas)


def _section(area: Area, deviations: Deviations) -> str:
    rows = "\n".join(_item(row) for row in deviations.rows if row.area == area.id)
    return f"\n## {area.title}\n\n{_filled(area.text)}\n\n{rows}\n"


def _item(row: Row) -> str:
    case = f"**{row.rounds}:** {row.case}" if row.rounds else row.case
    mlsub = f"; *mlsub:* {row.mlsub}" if row.mlsub else ""
    return _filled(f"- {case}. *Official tool:* {row.official}{mlsub}{f': {row.why}' if row.why else ''}.", "  ")


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
