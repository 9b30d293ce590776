"""Divisions: one spelling decides on verdicts, any that people use gives the name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.divisions import DIVISIONS, division_meant, division_name, division_of


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("closed", "closed"), ("Closed", "closed"), ("CLOSED ", "closed"), ("close", "closed"),
        (" Closed Division", "closed"), ("closed_division", "closed"), ("open", "open"), ("Open", "open"),
        ("open\n", "open"), ("OPEN-division", "open"), ("", None), ("closed or open", None), ("enclosed", None),
        ("opens", None), ("data center", None), (None, None), (1, None), (["closed"], None),
    ],
)  # fmt: skip
def test_a_division_is_known_however_it_is_written(written: object, meant: str | None) -> None:
    found = division_meant(written)
    assert (found.name if found else None) == meant


@pytest.mark.parametrize(
    ("written", "name"),
    [("Close", "closed"), ("open division", "open"), ("Research", "research"), ("", None), (None, None)],
)
def test_the_name_of_any_other_text_is_the_text(written: str | None, name: str | None) -> None:
    assert division_name(written) == name


@given(st.text(max_size=300) | st.sampled_from(["closed", "Closed", "close", "open", "OPEN "]))
def test_verdicts_know_one_spelling_only(text: str) -> None:
    exact, meant = division_of(text), division_meant(text)
    assert (exact is not None) is (text in DIVISIONS)
    assert exact is None or exact is meant
