"""The footnotes that mlsub writes, and what it says itself of them once they are filled in."""

from __future__ import annotations

from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.footnotes import footnote_of, footnotes
from mlsub.commands.audit.quoting import guidelines
from tests.commands.audit.messaging.made import LEGEND_2021, PRICE, document, judged, message, operand, theirs

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
