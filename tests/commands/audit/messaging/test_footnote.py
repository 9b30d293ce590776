"""What is a footnote, and what stands in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.footnotes import (
    ID,
    cites_results,
    footnote_hits,
    trademark_hits,
)
from mlsub.commands.audit.quoting import find_footnote, guidelines


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("1.0-1025", True),
        ("0.5-12", True),
        ("1.0-1025.bert", True),
        ("1.0", False),
        ("1-1025", False),
        ("v1.0-1025", False),
        ("1.0-", False),
        ("1.0-1025.", False),
        ("1.0-abc", False),
    ],
)
def test_the_form_of_an_id(written: str, right: bool) -> None:
    assert bool(ID.fullmatch(written)) is right


@pytest.mark.parametrize(
    ("footnote", "date", "source"),
    [
        ("Retrieved from https://mlcommons.org/en/training-normal-05/ 21 December 2018", True, True),
        ("Accessed on 2021-06-30 at mlcommons.org", True, True),
        ("Retrieved Dec. 1st, 2021", True, False),
        ("retrieved 1/12/2021 from GitHub", True, True),
        ("Retrieved June 2021, mlcommons.org", True, True),
        ("30 June 2021, mlcommons.org", False, False),
        ("Retrieved. The MLPerf name and logo are trademarks. See www.mlcommons.org, 2021-06-30", False, False),
    ],
)
def test_date_and_source_of_retrieval(footnote: str, date: bool, source: bool) -> None:
    told = " ".join(hit.message for hit in footnote_hits(footnote, (), None) if hit.rule == "R04")
    assert (" when " not in told, "from where" not in told) == (date, source)


@pytest.mark.parametrize(
    ("footnote", "lacks"),
    [
        ("MLPerf Training, MLPerf ID: 1.0-1025", True),
        *((f"MLPerf™ {text} BERT", False) for text in ("Training 1.0", "version 2.0", "v3.1")),
    ],
)
def test_versions_are_not_ids(footnote: str, lacks: bool) -> None:
    [told] = [hit.message for hit in footnote_hits(footnote, (), None) if hit.rule == "R03"]
    assert ("the version" in told) is lacks


def test_footnotes_are_found_among_other_lines() -> None:
    text = (
        "We are faster by 1.0-1.5 times.\nMLPerf v1.0 | MLPerf ID: 1.0-1025\nUnauthorized use strictly prohibited.\nEnd"
    )
    assert find_footnote(text) == "MLPerf v1.0 | MLPerf ID: 1.0-1025\nUnauthorized use strictly prohibited."
    assert find_footnote("MLPerf is a benchmark.\n") is None
    assert cites_results(text)
    assert cites_results("MLPerf Training, 1.0-1025")
    assert cites_results("MLPerf Training, entry 0.5-12")
    assert not cites_results("MLPerf is 1.0-1.5 times as good\n2.1-88 elsewhere")


@given(st.text(alphabet=st.sampled_from("MLPerf ID:.,;|-01259 retrieved\n[]™\x00é")) | st.text())
def test_any_footnote_is_looked_at(text: str) -> None:
    list(footnote_hits(text, (), None))
    for rules in guidelines().texts.values():
        assert len(list(trademark_hits(text, None, rules))) <= 1
