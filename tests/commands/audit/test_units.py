"""Units of expressions: what is added, compared and stated is measured in the same."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.functions import FUNCTIONS
from mlsub.commands.audit.kinds import Typed, Unit, quantities, type_of, unit_named
from mlsub.commands.audit.read import read_claims
from mlsub.io.problems import FileProblemsError
from mlsub.rules.arithmetic import ExpressionError

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


def problems(folder: Path, claim: str) -> list[str]:
    file = folder / "claims.yaml"
    file.write_text(f"{HEAD}  - id: one\n    {claim}\n")
    try:
        read_claims(file)
    except FileProblemsError as error:
        return [f"{problem.line}: {problem.message}" for problem in error.problems]
    return []


def claim(expression: str, unit: str | None = None) -> str:
    return f'expr: "{expression}"\n    stated: {{value: 8{f", unit: {unit!r}" if unit else ""}}}'


#: Expression and stated unit -> the one message, on line 20.
WRONG = {
    ("chips(a)", "min"): "column 1: the expression is in chips, and what is stated in min",
    ("minutes(a)", "x"): "column 1: the expression is in minutes, and what is stated in x",
    ("minutes(a)", "USD"): "column 1: the expression is in minutes, and what is stated in USD",
    ("ratio(a, b)", "min"): "column 1: the expression is a plain ratio, and what is stated in min",
    ("reduction(a, b)", "h"): "column 1: the expression is a plain ratio, and what is stated in h",
    ("minutes(a) * chips(a)", "min"): "column 1: the expression is in chips*minutes, and what is stated in min",
    ("chip_minutes", "min"): "column 1: the expression is in chips*minutes, and what is stated in min",
    ("chip_minutes", "GPU-hours"): "column 1: the expression is in chips*minutes; convert it to GPU-hours: times 1/60",
    ("minutes(a)", "days"): "column 1: the expression is in minutes; convert it to days: times 1/1440",
    ("secs", "min"): "column 1: the expression is in s; convert it to minutes: times 1/60",
    ("minutes(a) / secs", "x"): "column 1: the expression is a plain ratio times 1/60; convert it to x: times 60",
    ("per_chip(a)", "x"): "column 1: the expression is in 1/chips/minutes, and what is stated in x",
    ("per_dollar(a, usd)", "x"): "column 1: the expression is in 1/minutes/USD, and what is stated in x",
    ("minutes(a) + chips(a)", None): "column 12: what is in minutes cannot be added to what is in chips",
    ("minutes(a) * 2 + chips(a)", None): "column 16: what is in minutes cannot be added to what is in chips",
    ("chip_minutes + minutes(a)", None): "column 14: what is in chips*minutes cannot be added to what is in minutes",
    ("minutes(a) - ratio(a, b)", None): (
        "column 12: what is a plain ratio cannot be subtracted from what is in minutes"
    ),
    ("minutes(a) + secs", None): "column 12: what is in minutes cannot be added to what is in s",
    ("usd + eur", None): "column 5: what is in USD cannot be added to what is in EUR",
    ("max(minutes(a), chips(a))", None): "column 1: what is in minutes cannot be compared with what is in chips",
    ("chips(a) + nodes(a)", None): "column 10: what is in chips cannot be added to what is in nodes",
    ("chips(a)", "minutes"): "column 1: the expression is in chips, and what is stated in min",
    ("chips(a)", "percent"): "column 1: the expression is in chips, and what is stated in %",
    ("minutes(a)", "times"): "column 1: the expression is in minutes, and what is stated in x",
    ("chips(a)", "minuts"): "column 1: there is no unit 'minuts'. Did you mean minutes?",
    ("minutes(a)", "imges/s"): "column 1: there is no unit 'imges'. Did you mean images?",
    ("count('v1.0', 'Graphcore')", "min"): "column 1: the expression is in result sets, and what is stated in min",
    ("count('v1.0', 'Graphcore') + systems('v1.0', 'Graphcore')", None): (
        "column 28: what is in result sets cannot be added to what is in systems"
    ),
    ("epochs(a) - samples(a)", None): "column 11: what is in samples cannot be subtracted from what is in epochs",
}


@pytest.mark.parametrize(("expression", "unit"), WRONG, ids=lambda text: str(text))
def test_units_that_do_not_fit_are_told_with_line_and_column(expression: str, unit: str | None, tmp_path: Path) -> None:
    assert problems(tmp_path, claim(expression, unit)) == [f"20: claims.one.expr: {WRONG[expression, unit]}"]


def test_comparisons_other_readings_and_nearest_figures_are_looked_at_too(tmp_path: Path) -> None:
    wrong = "minutes(a) < chips(a)"
    message = "column 12: what is in minutes cannot be compared with what is in chips"
    assert problems(tmp_path, f'expr: "{wrong}"\n    stated: {{value: true}}') == [f"20: claims.one.expr: {message}"]
    assert problems(tmp_path, f'unverifiable: no log\n    nearest: "{wrong}"') == [f"21: claims.one.nearest: {message}"]
    also = claim("minutes(a)", "min") + "\n    also: [minutes(b),\n      {expr: chips(b), label: chips}]"
    assert problems(tmp_path, also) == [
        "23: claims.one.also.1.expr: column 1: the expression is in chips, and what is stated in min"
    ]


#: Expression and stated unit that fit, or of which nobody knows better.
RIGHT = [
    ("minutes(a)", "min"),
    ("minutes(a)", "h"),
    ("minutes(a)", "s"),
    ("minutes(a)", None),
    ("minutes(a) * 60 + secs", None),
    ("minutes(a) + mins", "min"),
    ("minutes(a) / 11.69", "x"),
    ("minutes(a) / 2", "min"),
    ("1 - minutes(a) / 11.69", "%"),
    ("1 - minutes(a) / mins", "%"),
    ("chips(a) / 4", "machines"),
    ("chips(a) / cpus(a)", "x"),
    ("chips(a) + 8", "IPUs"),
    ("chip_minutes / 60", "chip-hours"),
    ("chip_minutes / minutes(b) / chips(b)", "x"),
    ("samples(a) / minutes(a) / 60", "images/s"),
    ("rate / rate", "x"),
    ("minutes(a) / 60 * usd", "USD"),
    ("minutes(a) * hourly / 60", "USD"),
    ("minutes(a) * usd / (minutes(b) * usd)", "x"),
    ("ratio(a, b) * usd / 149995", "x"),
    ("per_dollar(a, usd) / per_dollar(b, usd)", "x"),
    ("per_chip(a) / per_chip(b)", "x"),
    ("kw * minutes(a) * 60", "J"),
    ("minutes(a) + plain", "min"),
    ("odd + minutes(a)", "min"),
    ("minutes(a)", "trainings"),
    ("hyper(a, 'global_batch_size') + chips(a)", None),
    ("max(chips(a), 8, chips(b))", "chips"),
    ("best(a, b)", "min"),
    ("minutes(a)", "minutes"),
    ("minutes(a)", "hours"),
    ("reduction(a, b)", "percent"),
    ("ratio(a, b)", "times"),
    ("systems('v1.0', 'Graphcore')", "systems"),
    ("count('v1.0', 'Graphcore') / systems('v1.0', 'Graphcore')", "x"),
    ("chips(a)", "racks"),
]


@pytest.mark.parametrize(("expression", "unit"), RIGHT, ids=lambda text: str(text))
def test_units_that_fit(expression: str, unit: str | None, tmp_path: Path) -> None:
    assert problems(tmp_path, claim(expression, unit)) == []


def test_units_as_people_write_them() -> None:
    def same(one: str, other: str) -> bool:
        return unit_named(one) == unit_named(other) != None  # noqa: E711

    assert same("GPU-hours", "chip hours")
    assert same("images per second", "samples/s")
    assert same("USD", "dollars")
    assert unit_named("kWh") == Unit(frozenset({(("energy", 1),)}), Fraction(3_600_000))
    assert unit_named("widgets") is None
    assert unit_named(None) is None


def test_every_function_that_gives_a_number_says_in_what() -> None:
    known = {"x", "same", "trainings/price"}
    for name, function in FUNCTIONS.items():
        if function.gives == "number":
            assert function.unit in known or unit_named(function.unit), name
    words = [word for quantity in quantities().values() for word in quantity.units]
    assert len(words) == len(set(words))


@given(st.text(alphabet="/*- pernsUSDh€min", max_size=40), st.text(alphabet="()+-*/<ab1. usdmintes", max_size=60))
def test_whatever_is_written_there_is_a_unit_or_none_or_an_error(text: str, expression: str) -> None:
    unit_named(text)
    try:
        type_of(expression, {"a": Typed("number", unit_named(text)), "b": Typed("number", unit_named("min"))})
    except ExpressionError as error:
        assert error.column >= 1
