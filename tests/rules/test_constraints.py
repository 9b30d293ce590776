"""Constraints: the semantics of the official checker's Python expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.findings import Blocks
from mlsub.io.data import load_yaml
from mlsub.io.show import show
from mlsub.rules.constraints import OPERATORS, Constraint, StatedValues, is_whole
from mlsub.rules.model import expand, parse_rule

TABLES = load_yaml(Path(__file__).with_name("constraints.yaml"))
STATED = {"gbs": 256, "warm": 4}


@pytest.mark.parametrize(("operator", "operand", "good", "bad"), TABLES["cases"])
def test_constraints_hold_for_the_right_values(operator: str, operand: Any, good: list[Any], bad: list[Any]) -> None:
    test, stated = Constraint(operator, operand).test(), _stated()
    assert [value for value in good if not test(value, stated)] == []
    assert [value for value in bad if test(value, stated)] == []


def _stated(**values: Any) -> StatedValues:
    stated = StatedValues()
    for key, value in {**STATED, **values}.items():
        stated.state(key, value)
    return stated


@pytest.mark.parametrize(("operator", "operand", "values"), TABLES["raising"])
def test_constraints_raise_where_python_cannot_compare(operator: str, operand: Any, values: list[Any]) -> None:
    test = Constraint(operator, operand).test()
    for value in values:
        with pytest.raises((TypeError, ValueError, LookupError, OverflowError, ZeroDivisionError)):
            test(value, _stated())


def test_every_operator_has_a_case_and_words() -> None:
    assert {case[0] for case in TABLES["cases"]} == set(OPERATORS)
    for operator, operand, _, bad in TABLES["cases"]:
        for values in (None, _stated(), StatedValues()):
            words = Constraint(operator, operand).words(values)
            assert words and "lambda" not in words and "=" not in words, bad


@pytest.mark.parametrize(("constraint", "stated", "words"), TABLES["words"])
def test_words_say_what_a_formula_comes_to(constraint: tuple[str, Any], stated: dict[str, Any], words: str) -> None:
    values = StatedValues()
    for key, value in stated.items():
        values.state(key, value)
    assert Constraint(*constraint).words(values) == words


def test_a_series_starts_anew_where_its_batch_size_is_logged_again() -> None:
    test, stated = Constraint("counts_up", {"from": "=gbs * 2", "by": "=gbs"}).test(), _stated()
    assert [test(value, stated) for value in (512, 512, 768)] == [True, False, True]
    stated.state("other", 1)
    assert test(1024, stated)
    stated.state("gbs", 256)
    assert [test(value, stated) for value in (1280, 512)] == [False, True]


def test_submission_keys_keep_their_first_value() -> None:
    stated = _stated(submission_division="open")
    stated.state("submission_division", "closed")
    assert stated["submission_division"] == "open"


@given(st.integers(-(10**9), 10**9), st.floats(-0.4, 0.4))
def test_whole_means_within_the_official_tolerance(number: int, offset: float) -> None:
    value = number + offset
    assert is_whole(value) == (abs(round(value) - value) < 0.00001)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner)))
def test_any_value_can_be_shown_in_one_short_line(value: Any) -> None:
    assert len(show(value)) <= 80
    assert "\n" not in show(value)


def test_deep_values_can_be_shown() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert "nested too deeply" in show(value)


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["a"], ("a",)),
        (["a{1..3}"], ("a1", "a2", "a3")),
        (["{x,y}{0..1}"], ("x0", "x1", "y0", "y1")),
        (["c{,_1}"], ("c", "c_1")),
        (["b", "a"], ("a", "b")),
    ],
)
def test_patterns_stand_for_names(patterns: list[str], names: tuple[str, ...]) -> None:
    assert expand(patterns) == names


@pytest.mark.parametrize("demands", [{"bigger": 1}, {"occurs": "twice"}, {"metadata": {"x": {"bigger": 1}}}])
def test_a_word_outside_the_vocabulary_is_refused(demands: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"bigger|twice"):
        parse_rule("key", demands, Blocks.BOTH, "file.yaml", ())
