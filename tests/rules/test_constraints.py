"""Constraints: the semantics of the official checker's Python expressions."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.findings import Blocks
from mlsub.io.show import show
from mlsub.rules.constraints import OPERATORS, Constraint, Stated, is_whole
from mlsub.rules.model import expand, parse_rule

INF = math.inf
CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("equals", 2, [2, 2.0], [3, "2", None, [2]]),
    ("equals", True, [True, 1, 1.0], [False, 0, "true", None]),
    ("not_equal", "", ["x", 0, None, []], [""]),
    ("one_of", ["sgd", "lars"], ["sgd", "lars"], ["SGD", "", None, ["sgd"]]),
    ("one_of", [1, INF], [1, True, INF], [2, "1", None]),
    ("above", 0, [1, 0.1, True], [0, -1, False]),
    ("at_least", 1, [1, 2.5], [0, 0.999]),
    ("below", 1.0, [0.999, -INF], [1, 1.0, INF]),
    ("at_most", 0.058, [0.058, 0], [0.0581]),
    ("multiple_of", 0.001, [0.001, 0.25, 0, -0.002], [0.0005, 0.0015]),
    ("power_of_two_multiple_of", 0.0001, [0.0001, 0.0002, 0.00005, 0.0016], [0.0003]),
    ("tenths_of", 50.0, [50, 55, 45.0, 0, 5.00005], [51, 52.5]),
    ("length", 2, [[1, 2], "ab", {"a": 1, "b": 2}], [[], [1]]),
    ("integer", True, [6, True, -1], [6.0, "6", None]),
    ("fields", ["BBOX", "SEGM"], [{"BBOX": 1, "SEGM": 2}, "BBOX SEGM"], [{"BBOX": 1}, []]),
    ("item", {"index": 1, "multiple_of": 5}, [[40, 50], [0, 55.0]], [[40, 51]]),
    ("divides", 0.02, [0.02, 0.01, 0.005], [0.03, 0.04]),
    ("divisible_by", "=gbs * 2", [0, 512, 1024.0], [256, 511, 0.5]),
    ("close_to", 1e-6, [1e-6, 1.0000000001e-6], [1.1e-6, 0]),
    ("near", {"value": "=1e-3 * (gbs / 256) ** 0.5", "within": 1e-9}, [1e-3, 1e-3 + 9e-10], [1e-3 + 2e-9, 0]),
    ("near", {"value": 1, "within": 0.5}, [0.75, 1.25], [0.5, 1.5]),
    ("whole", True, [6, 6.0, 6.000001, True, 9.9e-6], [6.5, 1e-5]),
    ("whole", False, [6.5], [6]),
    ("boolean", True, [True, False], [1, 0, "true", None]),
    ("truthy", True, [True, 1, "False", [0]], [False, 0, "", None, []]),
    ("whole_part", {"equals": "=gbs"}, [256, 256.9, "256"], [255.9, 257]),
    (
        "any_of",
        [{"multiple_of": 0.02}, {"where": "=gbs < 512", "divides": 0.02}],
        [0.02, 0.04, 0.01],
        [0.03],
    ),
    ("satisfies", {"equation": "value * 2 == gbs", "value": "gbs / 2"}, [128, 128.0], [127, 256]),
    ("counts_up", {"from": "=gbs * 2", "by": "=gbs"}, [512, 768, 1024], [1024, 0]),
    ("length", {"above": 0}, [[1], "a"], [[], {}]),
    ("equals", "=gbs * 2 - warm", [508], [512, "508"]),
    ("at_most", "=0.5 if gbs < 1000 else 0.1", [0.5], [0.6]),
]
STATED = {"gbs": 256, "warm": 4}
RAISING: list[tuple[str, Any, list[Any]]] = [
    ("above", 0, ["1", None, [1], {}]),
    ("multiple_of", 0.001, ["1", None, INF, math.nan]),
    ("power_of_two_multiple_of", 0.0001, [0, -1, "x", None]),
    ("length", 2, [2, None]),
    ("fields", ["BBOX"], [0.5, None]),
    ("item", {"index": 1, "multiple_of": 5}, [[40], {"a": 1}, 3, "ab"]),
    ("divides", 0.02, [0, "x", None]),
    ("divisible_by", "=gbs", ["x", None, []]),
    ("equals", "=gbs * unlogged", [1]),
    ("whole_part", {"equals": 1}, ["x", None, INF]),
    ("whole", True, ["6", None, INF]),
]


@pytest.mark.parametrize(("operator", "operand", "good", "bad"), CASES)
def test_constraints_hold_for_the_right_values(operator: str, operand: Any, good: list[Any], bad: list[Any]) -> None:
    test, stated = Constraint(operator, operand).test(), _stated()
    assert [value for value in good if not test(value, stated)] == []
    assert [value for value in bad if test(value, stated)] == []


def _stated(**values: Any) -> Stated:
    stated = Stated()
    for key, value in {**STATED, **values}.items():
        stated.state(key, value)
    return stated


@pytest.mark.parametrize(("operator", "operand", "values"), RAISING)
def test_constraints_raise_where_python_cannot_compare(operator: str, operand: Any, values: list[Any]) -> None:
    test = Constraint(operator, operand).test()
    for value in values:
        with pytest.raises((TypeError, ValueError, LookupError, OverflowError, ZeroDivisionError)):
            test(value, _stated())


def test_every_operator_has_a_case_and_words() -> None:
    assert {case[0] for case in CASES} == set(OPERATORS)
    for operator, operand, _, bad in CASES:
        for values in (None, _stated(), Stated()):
            words = Constraint(operator, operand).words(values)
            assert words and "lambda" not in words and "=" not in words, bad


@pytest.mark.parametrize(
    ("constraint", "stated", "words"),
    [
        (("equals", "=12_000 - warm"), {"warm": 4}, "exactly 11996, which is 12,000 - warm"),
        (("equals", "=12_000 - warm"), {}, "exactly 12,000 - warm, with warm logged before it"),
        (("at_least", "=1 / gbs"), {"gbs": 0}, "at least 1 / gbs, which cannot be computed from gbs 0"),
        (
            ("satisfies", {"equation": "value * 1152 == gbs * 8e-5", "value": "gbs * 8e-5 / 1152"}),
            {"gbs": 1152},
            "exactly 8e-05, which is gbs × 8e-5 / 1152",
        ),
        (
            ("any_of", [{"multiple_of": 0.02}, {"where": "=gbs < 16", "divides": 0.02}]),
            {"gbs": 8},
            "a multiple of 0.02, or 0.02 divided by a whole number where gbs < 16",
        ),
        (
            ("counts_up", {"from": "=gbs * 2", "by": "=gbs"}),
            {"gbs": 8},
            "16: gbs × 2, and gbs more at each further one",
        ),
        (("item", {"index": 1, "multiple_of": 5}), {}, "item 2 a multiple of 5"),
    ],
)
def test_words_say_what_a_formula_comes_to(constraint: tuple[str, Any], stated: dict[str, Any], words: str) -> None:
    values = Stated()
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
