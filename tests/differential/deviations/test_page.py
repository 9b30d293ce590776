"""docs/deviations.md is what docs/deviations.yaml says, and each row of it names a test that exists."""

from __future__ import annotations

import textwrap
from collections import Counter
from pathlib import Path

import msgspec
import yaml

from tests.conftest import ExpectedText
from tools.oracle import entries, faults, scores
from tools.oracle.compare import KNOWN_DEVIATIONS

DOCS = Path(__file__).resolve().parents[3] / "docs"
DATA, PAGE = DOCS / "deviations.yaml", DOCS / "deviations.md"
_HEAD = """\
# Where mlsub differs from the official tool, and why

The reference is the official checker **in force for the round**, the release that submitters had at the deadline.
These are all known differences between *official* tools and *mlsub*; [deviations.yaml](deviations.yaml) has the
source of each, and a test that shows it.
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
    source: str
    test: str
    official: str = ""
    mlsub: str = ""
    rounds: str = ""
    why: str = ""


class Deviations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file."""

    areas: tuple[Area, ...]
    rows: tuple[Row, ...]


def render(deviations: Deviations) -> str:
    """Render the page as Markdown."""
    return _HEAD + "".join(_section(area, deviations) for area in deviations.areas)


def _section(area: Area, deviations: Deviations) -> str:
    rows = "\n".join(_item(row) for row in deviations.rows if row.area == area.id)
    return f"\n## {area.title}\n\n{_filled(area.text)}\n\n{rows}\n"


def _item(row: Row) -> str:
    case = f"**{row.rounds}:** {row.case}" if row.rounds else row.case
    sides = {"Official": row.official, "mlsub": row.mlsub}
    answers = "; ".join(f"*{side}:* {answer}" for side, answer in sides.items() if answer)
    return _filled(f"- {case}. {answers}{f': {row.why}' if row.why else ''}.", "  ")


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


DEVIATIONS = msgspec.convert(yaml.safe_load(DATA.read_text(encoding="utf-8")), Deviations)


def test_the_page_is_rendered_from_the_data(expected_text: ExpectedText) -> None:
    expected_text(str(PAGE), render(DEVIATIONS))


def test_each_row_is_one_and_in_an_area() -> None:
    assert [name for name, count in Counter(row.id for row in DEVIATIONS.rows).items() if count > 1] == []
    assert {row.area for row in DEVIATIONS.rows} == {area.id for area in DEVIATIONS.areas}


def test_each_difference_that_a_search_passes_over_has_a_row() -> None:
    passed_over = {*KNOWN_DEVIATIONS, *entries.KNOWN, *scores.KNOWN, *faults.STRICTER.values()}
    assert passed_over <= {row.id for row in DEVIATIONS.rows}


def test_each_row_names_a_test() -> None:
    named = {tuple(row.test.partition("[")[0].split("::")) for row in DEVIATIONS.rows}
    missing = [(file, name) for file, name in named if f"\ndef {name}(" not in (PAGE.parents[1] / file).read_text()]
    assert missing == []
