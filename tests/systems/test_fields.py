"""The fields of descriptions: one table of aliases for availability, and facts out of whatever JSON holds."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import mlsub.systems.fields
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.systems.fields import (
    MAX_COUNT,
    MAX_TEXT,
    SystemFacts,
    aliases,
    category,
    close_category,
    count,
    facts_of,
    shorten_text,
    show_status,
)
from tools.oracle import shared
from tools.support.make_tree import make_description

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
        assert category(status) == show_status(status) == EXPECTED[alias]


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
    assert show_status(status) == f"{status} (unknown)"
    assert close_category(status) == meant


@given(st.text(max_size=200))
def test_any_text_has_an_answer(status: str) -> None:
    assert (category(status) is None) == show_status(status).endswith(" (unknown)")
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


# Facts of a system come out of JSON that may hold anything: bounded, typed, and never with a traceback.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


#: Numbers, and values that are each of them.
COUNTS: dict[int | None, tuple[Any, ...]] = {
    8: ("8", " 8 ", "8.0", 8, 8.0),
    0: ("0",),
    864: ("0864",),
    MAX_COUNT: (MAX_COUNT, str(MAX_COUNT)),
    None: (
        *(MAX_COUNT + 1, 10**400, "9" * 5000, "1e3", "8.5", 8.5, "-1", -1, -0.5, "8 nodes", "٨", "", " " * 10_000_000),
        *(True, None, [8], {"nodes": 8}, math.inf, -math.inf, math.nan),
    ),
}


@pytest.mark.parametrize("number", COUNTS)
def test_a_count_is_a_whole_number_however_it_is_written(number: int | None) -> None:
    for value in COUNTS[number]:
        assert count(value) == number, str(value)[:40]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, None),
        (15, "15"),
        (1.5, "1.5"),
        (True, "true"),
        (["a", 1], '["a", 1]'),
        ({"a": None}, '{"a": null}'),
        (math.nan, "NaN"),
        ("x" * MAX_TEXT, "x" * MAX_TEXT),
        ("x" * (MAX_TEXT + 1), "x" * (MAX_TEXT - 1) + "…"),
        ("x" * 4_000_000, "x" * (MAX_TEXT - 1) + "…"),
        ("\udcff\x00", "\udcff\x00"),
    ],
)
def test_text_is_as_written_and_anything_else_as_json_has_it(value: Any, text: str | None) -> None:
    assert shorten_text(value) == text


def test_a_value_nested_too_deeply_is_named() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    text = shorten_text(value)
    assert text is not None
    assert "nested too deeply" in text


def test_without_content_there_are_no_facts() -> None:
    assert facts_of(None) is None
    assert facts_of({}) == SystemFacts()


def test_each_fact_is_the_field_of_its_name() -> None:
    content = make_description(number_of_nodes="4", host_processors_per_node="2", accelerators_per_node="8")
    facts = facts_of(content)
    assert facts is not None
    for name, value in msgspec.structs.asdict(facts).items():
        assert str(value) == content[name], name


@given(st.dictionaries(st.sampled_from(SystemFacts.__struct_fields__), JSON))
def test_whatever_json_holds_the_facts_are_bounded_and_of_their_type(content: dict[str, Any]) -> None:
    facts = facts_of(content)
    assert facts is not None
    hash(facts)
    again = msgspec.convert(msgspec.to_builtins(facts), SystemFacts)
    assert again == facts
    for name, value in msgspec.structs.asdict(facts).items():
        assert value is None or (0 <= value <= MAX_COUNT if isinstance(value, int) else len(value) <= MAX_TEXT)
        if content.get(name) is None:
            assert value is None
    json.dumps(msgspec.to_builtins(facts), allow_nan=False)
