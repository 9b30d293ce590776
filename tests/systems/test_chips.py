"""Accelerators by the name that people use: the table beside this file, and every published description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.systems.chips import all_chips, chip_of, families
from tests.differential import shared

CHIPS = load_yaml(Path(__file__).parent / "chips.yaml")


@pytest.mark.parametrize(("said", "meant"), CHIPS.items())
def test_accelerators(said: str, meant: list[Any] | None) -> None:
    model, _, besides = said.partition(" | ")
    found = chip_of(model, besides)
    shown = [found.name, found.vendor[0], found.family, found.memory_of(model)] if found else None
    assert shown == meant


def test_an_accelerator_in_its_own_spelling_is_itself() -> None:
    for name, one in all_chips().items():
        for text in one.spelled:
            found = chip_of(text)
            assert found is not None, text
            assert found.name == name
    assert {member for family in families().values() for member in family.of} <= all_chips().keys()


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
def test_published_packages_name_accelerators_that_are_known() -> None:
    unknown = set()
    for file in shared.CORPUS.glob("*/*/systems/*.json"):
        try:
            said = json.loads(file.read_bytes())
        except ValueError:
            continue
        model = str(said.get("accelerator_model_name", ""))
        if chip_of(model, str(said.get("system_name")), file.stem) is None:
            unknown.add(model)
    assert unknown == {"N/A"}  # Systems that train on their processors.


@given(st.text(max_size=300))
def test_no_name_is_too_odd(text: str) -> None:
    chip_of(text, text)
