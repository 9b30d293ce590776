"""Availability goes through one table of aliases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import mlsub.systems.fields
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.systems.fields import aliases, category, close_category, shown
from tools.oracle import shared

ON_PREMISE, CLOUD = "Available on-premise", "Available cloud"
RDI = "Research, Development, or Internal (RDI)"
#: Written down here again, so that an alias that moves to another category is seen.
CATEGORIES = {
    ON_PREMISE: ["available on-premise", "onprem", "available", "available onprem", "available on premise"],
    CLOUD: ["available cloud", "cloud", "available in cloud"],
    "Preview": ["preview"],
    RDI: ["research, development, or internal (rdi)", "rdi", "research", "development", "internal"],
}
EXPECTED = {alias: category for category, some in CATEGORIES.items() for alias in some}


def test_the_table_holds_what_it_should_and_no_alias_twice() -> None:
    assert aliases() == EXPECTED
    content = yaml.safe_load(Path(mlsub.systems.fields.__file__).with_name("availability.yaml").read_text())
    listed = [alias for groups in content.values() for spellings in groups.values() for alias in spellings]
    assert (list(content), len(listed)) == (list(CATEGORIES), len(set(listed)))


@pytest.mark.parametrize("alias", EXPECTED)
def test_every_alias_maps_in_any_case_and_spacing(alias: str) -> None:
    assert category(EXPECTED[alias]) == EXPECTED[alias]
    for status in (alias, alias.upper(), alias.title(), f"  {alias.replace(' ', '  ')} "):
        assert category(status) == shown(status) == EXPECTED[alias]


def test_every_status_that_a_round_allows_is_known() -> None:
    statuses = {
        status
        for usage in usages()
        for name in known_rounds(usage)
        if (allowed := get_round(usage, name).statuses) is not None
        for status in allowed.one_of
    }
    assert len(statuses) > 10
    assert [status for status in statuses if category(status) is None] == []


@pytest.mark.parametrize(
    ("status", "meant"),
    [("onprems", ON_PREMISE), ("Avalable cloud", CLOUD), ("previw", "Preview"), ("reserch", RDI), ("12345", None)],
)
def test_an_unknown_status_is_shown_as_written_and_marked_with_a_guess(status: str, meant: str | None) -> None:
    assert category(status) is None
    assert shown(status) == f"{status} (unknown)"
    assert close_category(status) == meant


@given(st.text(max_size=200))
def test_any_text_has_an_answer(status: str) -> None:
    assert (category(status) is None) == shown(status).endswith(" (unknown)")
    close_category(status)


def test_a_huge_status_costs_nothing() -> None:
    huge = "cloud " * 1_000_000
    assert category(huge) is None
    close_category(huge)


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
def test_every_published_status_is_known() -> None:
    statuses = {json.loads(file.read_bytes())["status"] for file in shared.CORPUS.glob("*/*/systems/*.json")}
    assert len(statuses) >= 10
    assert [status for status in statuses if category(status) is None] == []
