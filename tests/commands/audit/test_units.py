"""Units of expressions: what is added, compared and stated is measured in the same."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.functions import FUNCTIONS
from mlsub.commands.audit.kinds import Typed, Unit, parse_unit, quantities, type_of
from mlsub.rules.arithmetic import ExpressionError
from tests.commands.audit.claims import CASES, problems

HEAD = """claims_version: 1
source: {title: A post}
results:
  a: {round: v1.0, submitter: Graphcore, system: ipu-pod16-TF1, benchmark: resnet}
  b: {round: v1.0, submitter: NVIDIA, system: dgxa100_ngc21.05_mxnet, benchmark: resnet}
inputs:
  usd: {value: 300000, unit: USD, source: a list}
  eur: {value: 300000, unit: EUR, source: a list}
  hourly: {value: 12, unit: USD/h, source: a list}
  kw: {value: 6, unit: kW, kind: power, source: a list}
  secs: {value: 90, unit: s, source: a log}
  mins: {value: 28, unit: min, source: a log}
  rate: {value: 58, unit: images/s, source: a chart}
  plain: {value: 7, source: nobody}
  odd: {value: 7, unit: widgets, source: nobody}
values:
  chip_minutes: minutes(a) * chips(a)
claims:
"""


def found(folder: Path, claim: str) -> list[str]:
    return problems(folder, f"{HEAD}  - id: one\n    {claim}\n")


def claim(expression: str, unit: str | None = None) -> str:
    return f'expr: "{expression}"\n    stated: {{value: 8{f", unit: {unit!r}" if unit else ""}}}'


@pytest.mark.parametrize(("expression", "unit", "message"), CASES["units_wrong"])
def test_units_that_do_not_fit_are_told_with_line_and_column(
    expression: str, unit: str | None, message: str, tmp_path: Path
) -> None:
    assert found(tmp_path, claim(expression, unit)) == [f"20: claims.one.expr: {message}"]


def test_comparisons_other_readings_and_nearest_figures_are_looked_at_too(tmp_path: Path) -> None:
    wrong = "minutes(a) < chips(a)"
    message = "column 12: what is in minutes cannot be compared with what is in chips"
    assert found(tmp_path, f'expr: "{wrong}"\n    stated: {{value: true}}') == [f"20: claims.one.expr: {message}"]
    assert found(tmp_path, f'unverifiable: no log\n    nearest: "{wrong}"') == [f"21: claims.one.nearest: {message}"]
    also = claim("minutes(a)", "min") + "\n    also: [minutes(b),\n      {expr: chips(b), label: chips}]"
    assert found(tmp_path, also) == [
        "23: claims.one.also.1.expr: column 1: the expression is in chips, and what is stated in min"
    ]


@pytest.mark.parametrize(("expression", "unit"), CASES["units_right"])
def test_units_that_fit(expression: str, unit: str | None, tmp_path: Path) -> None:
    assert found(tmp_path, claim(expression, unit)) == []


def test_units_as_people_write_them() -> None:
    def same(one: str, other: str) -> bool:
        return parse_unit(one) == parse_unit(other) != None  # noqa: E711

    assert same("GPU-hours", "chip hours")
    assert same("images per second", "samples/s")
    assert same("USD", "dollars")
    assert parse_unit("kWh") == Unit(frozenset({(("energy", 1),)}), Fraction(3_600_000))
    assert parse_unit("widgets") is None
    assert parse_unit(None) is None


def test_every_function_that_gives_a_number_says_in_what() -> None:
    known = {"x", "same", "trainings/price"}
    for name, function in FUNCTIONS.items():
        if function.gives == "number":
            assert function.unit in known or parse_unit(function.unit), name
    words = [word for quantity in quantities().values() for word in quantity.units]
    assert len(words) == len(set(words))


@given(st.text(alphabet="/*- pernsUSDh€min", max_size=40), st.text(alphabet="()+-*/<ab1. usdmintes", max_size=60))
def test_whatever_is_written_there_is_a_unit_or_none_or_an_error(text: str, expression: str) -> None:
    parse_unit(text)
    try:
        type_of(expression, {"a": Typed("number", parse_unit(text)), "b": Typed("number", parse_unit("min"))})
    except ExpressionError as error:
        assert error.column >= 1
