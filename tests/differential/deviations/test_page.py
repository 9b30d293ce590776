"""docs/deviations.md is what docs/deviations.yaml says, and each row of it names a test that exists."""

from __future__ import annotations

from collections import Counter

from tests.conftest import ExpectedText
from tests.differential.deviations.page import PAGE, read, render
from tools.oracle import entries, faults, scores
from tools.oracle.compare import KNOWN_DEVIATIONS

DEVIATIONS = read()


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
