"""What is a footnote, what stands in it, and the footnotes that mlsub writes, which pass its own rules."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.documents import (
    ID,
    cites_results,
    footnote_hits,
    footnote_of,
    footnotes,
    trademark_hits,
)
from mlsub.commands.audit.quoting import find_footnote, guidelines
from tests.commands.audit.messaging.made import LEGEND_2021, PRICE, document, judged, message, operand, theirs


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


TEXTS = guidelines().texts


def test_a_footnote_marks_what_is_missing() -> None:
    [written] = footnotes([message(operand(), theirs(id="1.1-2002"))])
    assert written.footnote == (
        "MLPerf™ Training v1.1 Closed, Image classification, ResNet-50 v1.5 on ImageNet: Acme acme8, "
        f"entry [ID 1.1-...]; Ucme ucme8, entry 1.1-2002. Retrieved from [source] on [date]. {LEGEND_2021}"
    )
    assert written.missing == ("result ID of Acme acme8 (resnet)", "source and date of retrieval")
    assert (written.claim, written.rules) == ("one", "2021-06")


def test_a_sentence_without_scores_needs_none() -> None:
    assert footnotes([message(scored=())]) == ()


def test_a_derived_metric_under_todays_text() -> None:
    said = message(
        operand(),
        derived=True,
        figures=(PRICE,),
        says={"derived_metric_basis": "list price", "ids": ["1.1-2001"], "retrieved": "2025-11-12 from mlcommons.org"},
        document=document(date=date(2025, 11, 12)),
    )
    [written] = footnotes([said])
    assert written.missing == ()
    assert written.footnote == (
        "MLPerf® Training v1.1 Closed, Image classification, ResNet-50 v1.5 on ImageNet: Acme acme8, entry 1.1-2001. "
        "Retrieved: 2025-11-12 from mlcommons.org. "
        "Derived metric, not the primary metric of MLPerf® Training; it rests on: list price. "
        "Result not verified by MLCommons Association. "
        f"{TEXTS['2025-07'].legend}"
    )


def test_an_unreviewed_result_has_neither_entry_nor_retrieval() -> None:
    [written] = footnotes([message(operand(reviewed=False))])
    assert written.missing == ()
    assert written.footnote.startswith("Unverified MLPerf™ Training v1.1 Closed, Image classification")
    assert "Result not verified by MLCommons Association." in written.footnote
    assert "entry" not in written.footnote and "Retrieved" not in written.footnote


_OPERANDS = st.builds(
    lambda division, benchmark, verified: {"division": division, "benchmark": benchmark, "reviewed": verified},
    st.sampled_from(["open", "closed"]),
    st.sampled_from(["resnet", "bert", "rnnt", "unet3d"]),
    st.booleans(),
)


@given(_OPERANDS, _OPERANDS, st.booleans(), st.sampled_from(sorted(TEXTS)))
def test_a_footnote_that_is_filled_in_passes_the_rules(
    one: dict[str, Any], other: dict[str, Any], derived: bool, text: str
) -> None:
    """Whatever is quoted, the rules on footnotes find nothing in a footnote of mlsub's own."""
    pair = (operand(id="1.1-2001", **one), theirs(id="1.1-2002", **other))
    says = {"retrieved": "2 December 2021 from mlcommons.org", "derived_metric_basis": "list price of the systems"}
    says |= {"composite_method": "geometric mean"}
    said = message(*pair, derived=derived, says=says, text="unverified")
    written = footnote_of(said, TEXTS[text])
    assert written.missing == ()
    noted = message(*pair, derived=derived, says=says, text="unverified", document=document(footnote=written.footnote))
    about = {remark.rule for remark in judged(noted, wanted=text).findings}
    assert not about & {f"claim.r{number:02}" for number in (3, 4, 5, 6, 7, 13, 16, 17)}
