"""Organisations in one spelling: the table beside this file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.submission.find import known_organisations, organisation

HERE = Path(__file__).parent


@pytest.mark.parametrize(("said", "meant"), load_yaml(HERE / "organisations.yaml").items())
def test_organisations(said: str, meant: str) -> None:
    assert organisation(said) == meant


def test_an_organisation_in_its_own_spelling_is_itself() -> None:
    assert {name: organisation(name) for name in known_organisations()} == {
        name: name for name in known_organisations()
    }


@given(st.text(max_size=300))
def test_no_name_is_too_odd(text: str) -> None:
    assert isinstance(organisation(text), str)
