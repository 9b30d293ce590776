"""JSON is read to the same depth by every Python and from every depth of calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import MAX_LEVELS, SHALLOW, loads, too_deep


def arrays(levels: int, inside: str = "") -> str:
    return "[" * levels + inside + "]" * levels


def objects(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize("made", [arrays, objects])
def test_the_deepest_is_read_and_one_level_more_is_not(made: Any) -> None:
    assert loads(made(MAX_LEVELS)) == json.loads(made(MAX_LEVELS))
    assert loads(made(MAX_LEVELS).encode("utf-16")) == json.loads(made(MAX_LEVELS))
    for text in (made(MAX_LEVELS + 1), made(MAX_LEVELS + 1).encode(), made(100_000)):
        with pytest.raises(RecursionError):
            loads(text)


def test_nothing_short_is_deep() -> None:
    assert len(arrays(MAX_LEVELS)) == SHALLOW


@pytest.mark.parametrize(
    "text",
    [
        arrays(1, ",".join(["[]"] * 1000)),
        arrays(1, '"' + "[" * 1000 + '"'),
        arrays(1, r'"\"' + "[{" * 1000 + '"'),
        arrays(MAX_LEVELS, r'"\\",' + '"]["'),
    ],
    ids=["side by side", "in a string", "behind an escaped quote", "behind an escaped backslash"],
)
def test_brackets_that_are_no_levels(text: str) -> None:
    assert loads(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[" * MAX_LEVELS, ValueError),
        ("[" * (MAX_LEVELS + 1), RecursionError),
        ("[" * (MAX_LEVELS + 1) + "x", RecursionError),
        ("x" + "[" * 100_000, ValueError),
        (arrays(1) + "[" * 100_000, ValueError),
        (arrays(1, "1" * 5000), ValueError),
    ],
)
def test_what_is_not_json_is_deep_only_up_to_the_error(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        loads(text)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_json, st.integers(0, 5))
def test_depth_is_that_of_the_value(value: object, more: int) -> None:
    for _ in range(MAX_LEVELS - _levels(value) + more):
        value = [value]
    assert too_deep(json.dumps(value)) == (more > 0)


def _levels(value: object) -> int:
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else None
    return 0 if inner is None else 1 + max(map(_levels, inner), default=0)
