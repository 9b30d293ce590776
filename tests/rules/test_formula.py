"""The formula language: Python's arithmetic on logged values, and nothing else of Python."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.rules.arithmetic import ExpressionError
from mlsub.rules.formula import UnknownValueError, parse, readable

FORMULAS = load_yaml(Path(__file__).with_name("formulas.yaml"))


def _python(text: str, values: dict[str, Any]) -> Any:
    """The oracle: the same text as Python, with Python's own functions."""
    names = {name: getattr(math, name) for name in ("ceil", "floor", "sqrt")}
    return eval(text, {**names, **values})  # noqa: S307


@given(st.sampled_from(FORMULAS), st.integers(1, 10**7) | st.floats(0.01, 1e7), st.integers(1, 10**6))
def test_formulas_compute_what_python_computes(text: str, g: float, h: int) -> None:
    values = {"g": g, "h": h}
    assert parse(text).compute(values) == _python(text, values)


BAD = [
    ("", "it ends"),
    ("1 +", "it ends"),
    ("f(1)", "no function 'f'; there are abs, ceil"),
    ("(1", "column 3: ')' is missing"),
    ("1 2", "column 3"),
    ("__import__('os')", "column 1: no function '__import__'"),
    ("a.b", "column 2: cannot read"),
    ("min(1)", "min takes 2 to 8 arguments, not 1"),
    ("1 if 2", "column 7: 'else' is missing"),
    ("1 if 2 3", "column 8: '3' is not expected here"),
    ("'x", "cannot read"),
    ("a[0]", "cannot read"),
    ("lambda: 1", "cannot read"),
    ("(" * 200, "nested too deeply"),
    ("1**" * 200 + "1", "column 452: more than 150 operations"),
    ("1+" * 600 + "1", "1000 are the limit"),
    ("and 1", "'and' is not expected"),
    ("1 + not 2", "column 5: 'not' is not expected here"),
    ("1, 2", "column 2: ',' is not expected here"),
    ("()", "column 1: '(' is not expected here"),
    ("min(*a)", "column 5: '*' is not expected here"),
    ("min(**a)", "column 1: 'min' is not expected here"),
    ("(1)(2)", "column 4: '(' is not expected here"),
    ("f'{x}'", "column 2: \"'{x}'\" is not expected here"),
    ("1 \0 2", "column 3: cannot read"),
    ("-" * 999, "more than 150 operations"),
    ("9" * 401, "a number of more than 400 digits"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_no_formula_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(text)
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["1.0 ** 1024", "2.0 ** -1024", "(2 ** 63) ** 1024"])
def test_a_power_up_to_its_bounds_is_that_of_python(text: str) -> None:
    assert parse(text).compute({}) == _python(text, {})


@pytest.mark.parametrize("text", ["1.0 ** 1025", "1.0 ** -1025", "(2 ** 64) ** 1024"])
def test_a_power_beyond_its_bounds_is_refused(text: str) -> None:
    with pytest.raises(OverflowError, match="power out of bounds"):
        parse(text).compute({})


@given(st.text(alphabet="gh0123456789.+-*/%()<>=!,' andorifelse_", max_size=60))
def test_any_text_is_a_formula_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        parse(text)


def test_a_value_not_logged_yet_is_named() -> None:
    formula = parse("global_batch_size * missing + global_batch_size")
    assert formula.names == ("global_batch_size", "missing")
    with pytest.raises(UnknownValueError) as error:
        formula.compute({"global_batch_size": 1})
    assert error.value.args == ("missing",)


@pytest.mark.parametrize("text", ["1000000000 * g", "-g", "+g"])
@pytest.mark.parametrize("value", ["text", None, [1], {}])
def test_only_numbers_are_computed_with(value: Any, text: str) -> None:
    with pytest.raises(TypeError):
        parse(text).compute({"g": value})


def test_a_sign_makes_a_number_of_a_truth_as_in_python() -> None:
    assert repr(parse("+(1 < g)").compute({"g": 2})) == "1"


#: Without a bound on products, dividing such numbers takes a second.
PRODUCT = "*".join(["(g ** 64) ** 32"] * 20)


@pytest.mark.parametrize(
    "text", ["10 ** g", "((9 ** 1024) ** 1024) ** 1024", "round(5, 0 - g)", f"({PRODUCT}) // ({PRODUCT})"]
)
def test_powers_and_digits_are_bounded(text: str) -> None:
    with pytest.raises(OverflowError):
        parse(text).compute({"g": 10**9})


def test_formulas_read_like_arithmetic() -> None:
    shown = readable("ceil(1_200_000 * 1152 / global_batch_size) ** 2 <= 3")
    assert shown == "ceil(1,200,000 × 1152 / global_batch_size) ^ 2 ≤ 3"
