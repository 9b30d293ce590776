"""Claims files: what is read, and what is wrong with them, each with its line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.expression import parse
from mlsub.commands.audit.read import read_claims
from mlsub.rules.arithmetic import ExpressionError
from tests.commands.audit.claims import CASES, flow, problems

HEAD = """claims_version: 1
source: {title: A post, date: 2021-06-30}
results:
  a: {round: v1.0, submitter: Graphcore, system: ipu-pod16-TF1, benchmark: resnet, division: closed}
  b: {round: v1.0, submitter: NVIDIA, system: dgxa100_ngc21.05_mxnet, benchmark: resnet, division: closed}
inputs:
  price: {value: 300000, unit: USD, source: a guess, plus_minus: 5%}
"""
CLAIM = "claims:\n  - {{id: one, expr: {expr!r}, stated: {{value: '1.6', unit: x}}}}\n"


def write(folder: Path, text: str) -> Path:
    file = folder / "claims.yaml"
    file.write_text(text)
    return file


def test_a_file_is_read_with_exact_numbers_and_lines(tmp_path: Path) -> None:
    file = read_claims(write(tmp_path, HEAD + CLAIM.format(expr="ratio(a, b) * price / 149995")))
    [claim] = file.claims
    assert (claim.id, claim.line, claim.source.date) == ("one", 9, "2021-06-30")
    assert claim.figure is not None
    assert (claim.figure.amount, claim.figure.step, claim.figure.wording) == (Fraction(8, 5), Fraction(1, 10), "exact")
    assert (file.inputs["price"].amount, file.inputs["price"].spread) == (300_000, 15_000)
    assert file.names_in(claim.expr or "") == ("a", "b", "price")
    assert file.results["a"].round == "1.0"


#: What is too long or too deep to be read, and the one message.
BOUNDED = {
    "(" * 1001 + "1" + ")" * 1001: "column 1: an expression of 2003 characters; 2000",
    "(" * 900 + "1" + ")" * 900: "column 41: nested too deeply; 40 levels are the limit",
    "minutes(" * 100 + "a": "column 321: nested too deeply; 40 levels are the limit",
    "+".join("1" * 200): "column 302: more than 150 operations",
}


@pytest.mark.parametrize(
    ("expression", "expected"), [*CASES["expressions"], *BOUNDED.items()], ids=lambda text: text[:30]
)
def test_what_is_wrong_with_an_expression(expression: str, expected: str, tmp_path: Path) -> None:
    [problem] = problems(tmp_path, HEAD + CLAIM.format(expr=expression))
    part = "expr" if expected.startswith("column") else "stated"
    assert problem.startswith(f"9: claims.one.{part}: {expected}")


@pytest.mark.parametrize("change", CASES["flaws"], ids=lambda change: change[1][:30])
def test_what_is_wrong_with_a_file(change: list[str], tmp_path: Path) -> None:
    old, new, *messages = change
    good = HEAD + CLAIM.format(expr="minutes(a) * (price) / (minutes(b) * price)")
    assert good.count(old) == 1
    assert problems(tmp_path, good.replace(old, new)) == messages


def test_all_flaws_are_told_at_once(tmp_path: Path) -> None:
    text = HEAD.replace("value: 300000", "value: x") + CLAIM.format(expr="minute(a)")
    assert [problem.split(":")[0] for problem in problems(tmp_path, text)] == ["7", "9"]


def test_a_value_may_use_one_that_stands_below(tmp_path: Path) -> None:
    text = HEAD + "values:\n  x: y + 1\n  y: minutes(a)\n" + CLAIM.format(expr="x / y")
    assert list(read_claims(write(tmp_path, text)).values) == ["y", "x"]


@given(st.text(alphabet="()+-*/<>=!,.'\"ab1 andortminutes", max_size=200))
def test_parsing_ends_in_a_tree_or_an_error_with_its_place(text: str) -> None:
    try:
        parse(text)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1


@pytest.mark.parametrize("case", CASES["unread"], ids=str)
def test_what_is_wrong_with_values_and_claims(case: list[Any], tmp_path: Path) -> None:
    below, *messages = case
    text = HEAD + "".join(f"{flow({part: content})}\n" for part, content in below.items())
    assert problems(tmp_path, text) == messages


def test_several_figures_with_their_expressions(tmp_path: Path) -> None:
    claim = "{id: one, stated: [{value: 3, unit: min}, {value: 8, expr: chips(a)}], expr: minutes(a), also: minutes(b)}"
    [found] = read_claims(write(tmp_path, f"{HEAD}claims:\n  - {claim}\n")).claims
    assert [[one.expr for one in figure.judged] for figure in found.figures] == [
        ["minutes(a)", "minutes(b)"],
        ["chips(a)"],
    ]
    assert [one.figure.amount for one in found.figures if one.figure] == [3, 8]


def test_readings_are_those_of_the_figure_of_the_claim(tmp_path: Path) -> None:
    """A further figure with an expression of its own may have another unit than they have."""
    share = '{value: 50, unit: "%", expr: "reduction(a, b)"}'
    claim = f"{{id: one, stated: [{{value: 3, unit: min}}, {share}], expr: minutes(a), also: minutes(b)}}"
    assert problems(tmp_path, f"{HEAD}claims:\n  - {claim}\n") == []
