"""The table of the founding documents: what it names is there, and no line of a document is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from mlsub.commands.audit.read import read_claims
from mlsub.commands.db.records import read_records
from mlsub.commands.site.performance import performance
from tests.commands.db.records.test_graphcore import FILES, lines_of
from tests.commands.site.sites import RECORDS, rounds
from tests.differential.shared import ABSENT, folder, present
from tests.docs.pages import REPOSITORY

PAGE = (REPOSITORY / "docs" / "founding.md").read_text("utf-8")
CLAIMS = [REPOSITORY / "submissions" / f"graphcore-{name}" / "claims.yaml" for name in ("v1.0", "v1.1")]
_NAME = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """A row: the lines of the document that it is about, what they give, and where that is."""

    lines: list[int]
    given: str
    where: str


def numbers(text: str) -> list[int]:
    """The lines of a text such as "1, 3-5"."""
    found = [part.strip().partition("-") for part in text.split(",")]
    return [number for first, _, last in found for number in range(int(first), int(last or first) + 1)]


def parts() -> Iterator[tuple[str, str]]:
    """Each document, by its short name in the file of records, with its part of the page."""
    for part in PAGE.split("\n## ")[1:]:
        yield next(name for name in _NAME.findall(part) if name in FILES), part


def rows(part: str) -> list[Row]:
    cells = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in re.findall(r"^\| \d.*$", part, re.MULTILINE)
    ]
    assert all(len(row) == 3 for row in cells)
    return [Row(numbers(lines), given, where) for lines, given, where in cells]


def listed(part: str, words: str) -> list[int]:
    found = re.search(rf"^Lines {words}: ([\d, -]+)\.$", part, re.MULTILINE)
    return numbers(found[1]) if found else []


DOCUMENTS = dict(parts())


def test_the_documents_are_those_of_the_records_by_title_publisher_and_date() -> None:
    documents = read_records(RECORDS).documents
    assert set(DOCUMENTS) == set(documents) == set(FILES)
    for name, part in DOCUMENTS.items():
        title, _, rest = part.partition("\n")
        date = documents[name].date
        assert date is not None
        assert title == documents[name].title
        assert f"{documents[name].publisher}, {date.day} {date:%B %Y}" in rest, name


def test_every_name_of_a_row_leads_somewhere() -> None:
    records = read_records(RECORDS)
    known = {record.name for record in records.records} | set(records.systems)
    known |= {claim.id for file in CLAIMS for claim in read_claims(file).claims}
    named = {name for part in DOCUMENTS.values() for row in rows(part) for name in _NAME.findall(row.where)}
    assert sorted(name for name in named - known if not name.startswith("performance.html#")) == []
    every = {record.name for record in records.records} | {claim for claim in known if re.match(r"S\d-", claim)}
    assert sorted(every - named) == [], "a record or a claim that no row names"
    for part in DOCUMENTS.values():
        for row in rows(part):
            assert _NAME.search(row.where), row


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_every_anchor_is_on_the_performance_page() -> None:
    paths = [*(folder(name) / "Graphcore" for name in ("1.0", "1.1", "2.0")), folder("1.0") / "NVIDIA"]
    (page,) = performance(rounds(*paths), [read_records(RECORDS)])
    named = set(re.findall(r"`performance\.html#([^`]+)`", PAGE))
    assert len(named) >= 12
    assert sorted(named - {section.key for section in page.sections}) == []


@pytest.mark.parametrize("document", FILES)
def test_every_line_of_a_document_is_in_a_row_or_has_no_figure(document: str) -> None:
    part, lines = DOCUMENTS[document], lines_of(document)
    covered = [number for row in rows(part) for number in row.lines]
    plain = listed(part, "without digits and figures")
    names = listed(part, "whose digits are names, dates or markup")
    everywhere = [*covered, *plain, *names]
    assert len(set(everywhere)) == len(everywhere), "a line that stands twice"
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    assert sorted(set(written) - set(everywhere)) == []
    assert max(everywhere) <= len(lines)
    assert [number for number in plain if re.search(r"\d", lines[number - 1])] == []
    assert [number for number in names if not re.search(r"\d", lines[number - 1])] == []
