"""What a logged count is, asked of one value or of all at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlsub.log.reading import BEYOND, usable_number
from mlsub.review.cadence import all_numbers
from mlsub.review.cross import text_of

_values = st.integers() | st.floats() | st.booleans() | st.none() | st.text(max_size=2) | st.just([1])


@given(st.lists(st.integers(-10, 10**16) | st.floats()) | st.lists(_values))
@example([])
@example([10**400, 1.0])
@example([1, float("nan")])
@example([float("nan"), 1])
@example([BEYOND, 1])
@example([-BEYOND])
@example([True])
def test_all_are_numbers_where_each_is(values: list[Any]) -> None:
    assert all_numbers(values) == all(usable_number(value) is not None for value in values)


@pytest.mark.parametrize("value", ["\ud800", 2**70, [float("inf")], {"a": ["\udfff"]}])
def test_any_value_has_a_text_of_its_own(value: Any) -> None:
    texts = {text_of(one, 1000) for one in (value, [value], "a", 1, 1.0, "1", True, [])}
    assert len(texts) == 8
    assert text_of([value] * 1000, 10) == text_of([value] * 2000, 10)
