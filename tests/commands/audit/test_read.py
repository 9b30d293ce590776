"""Claims files: what is read, and what is wrong with them, each with its line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.claims import claims_schema
from mlsub.commands.audit.expression import MAX_LENGTH, parse
from mlsub.commands.audit.read import read_claims
from mlsub.io.problems import FileProblemsError
from mlsub.rules.arithmetic import ExpressionError

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


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(FileProblemsError) as caught:
        read_claims(write(folder, text))
    return [f"{problem.line}: {problem.message}" for problem in caught.value.problems]


def test_a_file_is_read_with_exact_numbers_and_lines(tmp_path: Path) -> None:
    file = read_claims(write(tmp_path, HEAD + CLAIM.format(expr="ratio(a, b) * price / 149995")))
    [claim] = file.claims
    assert (claim.id, claim.line, claim.source.date) == ("one", 9, "2021-06-30")
    assert claim.figure is not None
    assert (claim.figure.amount, claim.figure.step, claim.figure.wording) == (Fraction(8, 5), Fraction(1, 10), "exact")
    assert (file.inputs["price"].low, file.inputs["price"].high) == (285_000, 315_000)
    assert file.names_in(claim.expr or "") == ("a", "b", "price")
    assert file.results["a"].round == "1.0"


#: Expression -> the one message.
EXPRESSIONS = {
    "minutes(c)": "column 9: there is no result, input or value 'c'; there are a, b, price",
    "minutes(pric)": "column 9: there is no result, input or value 'pric'. Did you mean price?",
    "minuts(a)": "column 1: no function 'minuts'. Did you mean minutes?",
    "minutes(price)": "column 1: a result is needed as an argument of minutes, not a number",
    "minutes(a, 3)": "column 1: minutes takes a basis second; there are published, unscaled, expected, rcp_mean",
    "ratio(a)": "column 1: ratio takes 2 arguments (result, result), not 1",
    "a * 2": "column 3: a number is needed beside '*', not a result; minutes(...) is its time",
    "a": "column 1: a is a result, not a number; minutes(a) is its time",
    "1 +": "column 4: it ends where a number or a name should stand",
    "1 < 2 < 3": "column 7: comparisons cannot be chained; join two with 'and'",
    "__import__('os')": "column 1: no function '__import__'; there are ",
    "a.system": "column 2: cannot read '.system'",
    "2 ** 9": "column 4: '*' is not expected here",
    "1e9": "column 1: cannot read '1e9'",
    "count('v9.9', 'X')": "column 1: there is no round 'v9.9'; there are v0.6, ",
    "count('v1.0', 'X', divison='open')": "column 1: count takes no 'divison'. Did you mean division?",
    "count('v1.0', division='open', 'X')": "column 35: what is given by name comes last",
    "count('v1.0', 'X', division=3)": "column 29: count: what is given by name is text in quotes",
    "minutes(*a)": "column 9: '*' is not expected here",
    "f'{a}'": "column 2: \"'{a}'\" is not expected here",
    "minutes(a": "column 10: ')' is missing",
    "(" * 1001 + "1" + ")" * 1001: "column 1: an expression of 2003 characters; 2000",
    "(" * 900 + "1" + ")" * 900: "column 41: nested too deeply; 40 levels are the limit",
    "minutes(" * 100 + "a": "column 321: nested too deeply; 40 levels are the limit",
    "+".join("1" * 200): "column 302: more than 150 operations",
    "9" * 41: "column 1: a number of more than 40 digits",
    "minutes(a) and true": "column 12: true or false is needed beside 'and', not a number",
    "minutes(a) > 1": "the expression is truth, what is stated is not",
}


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda text: text[:30])
def test_what_is_wrong_with_an_expression(expression: str, tmp_path: Path) -> None:
    expected = EXPRESSIONS[expression]
    [problem] = problems(tmp_path, HEAD + CLAIM.format(expr=expression))
    part = "expr" if expected.startswith("column") else "stated"
    assert problem.startswith(f"9: claims.one.{part}: {expected}")


#: What replaces what in a good file -> the messages.
FLAWS = {
    ("results:", "result:"): ["3: result: unknown word. Did you mean results?"],
    ("division: closed}\n  b", "divison: closed}\n  b"): ["4: results.a.divison: unknown word. Did you mean division?"],
    ("round: v1.0, submitter: N", "round: v1.7, submitter: N"): [
        "5: results.b.round: there is no training round 'v1.7'. Did you mean v1.1?"
    ],
    ("system: ipu-pod16-TF1", "system: ../x"): [
        "4: results.a.system: '../x' is not the name of a folder below the results"
    ],
    ("submitter: NVIDIA, ", ""): ["5: results.b: submitter missing; or give path, the benchmark's folder"],
    ("value: 300000", "value: many"): [
        "7: inputs.price.value: 'many' is not a number; write it in digits, such as 14.5"
    ],
    ("plus_minus: 5%", "plus_minus: -5%"): ["7: inputs.price.plus_minus: '-5%' is negative; an uncertainty is not"],
    ("value: '1.6'", "value: '1.6', wording: jus over"): [
        "9: claims.one.stated: unknown wording 'jus over'. Did you mean just over?"
    ],
    ("price: {", "a: {"): [
        "7: inputs.a: 'a' is given twice: a result, or a basis, has that name",
        "9: claims.one.expr: column 15: there is no result, input or value 'price'; there are a, b",
    ],
    ("claims_version: 1", "claims_version: 2"): ["1: claims_version: expected 1, found 2"],
    ("stated: {", "state: {"): ["9: claims.one.state: unknown word. Did you mean stated?"],
    (", stated: {value: '1.6', unit: x}", ""): ["9: claims.one: expr needs stated, the value it is checked against"],
    ("source: {title: A post, date: 2021-06-30}", "source: {date: June}"): [
        "2: source.date: 'June' is not a day of the calendar; write it as 2021-06-30"
    ],
}


@pytest.mark.parametrize("change", FLAWS, ids=lambda change: change[1][:30])
def test_what_is_wrong_with_a_file(change: tuple[str, str], tmp_path: Path) -> None:
    good = HEAD + CLAIM.format(expr="minutes(a) * (price) / (minutes(b) * price)")
    assert good.count(change[0]) == 1
    assert problems(tmp_path, good.replace(*change)) == FLAWS[change]


def test_all_flaws_are_told_at_once(tmp_path: Path) -> None:
    text = HEAD.replace("value: 300000", "value: x") + CLAIM.format(expr="minute(a)")
    assert [problem.split(":")[0] for problem in problems(tmp_path, text)] == ["7", "9"]


def test_a_circular_name_is_told_with_its_circle(tmp_path: Path) -> None:
    text = HEAD + "values:\n  x: y + 1\n  y: z\n  z: x * 2\n  w: x\n" + CLAIM.format(expr="x")
    assert problems(tmp_path, text)[0] == "9: values.x: circular: x -> y -> z -> x"


def test_a_value_may_use_one_that_stands_below(tmp_path: Path) -> None:
    text = HEAD + "values:\n  x: y + 1\n  y: minutes(a)\n" + CLAIM.format(expr="x / y")
    assert list(read_claims(write(tmp_path, text)).values) == ["y", "x"]


def test_claims_refer_to_claims(tmp_path: Path) -> None:
    text = HEAD + "claims:\n  - {id: mcmc, same_quantity: [{claim: mcnc}, {value: 3}, {value: 3, claim: mcmc}]}\n"
    assert problems(tmp_path, text) == [
        "9: claims.mcmc.same_quantity.2: a statement has either value, or claim with the id of another one",
        "9: claims.mcmc.same_quantity.0: there is no claim 'mcnc'. Did you mean mcmc?",
        "9: claims.mcmc.same_quantity.2: claim 'mcmc' states no value",
    ]


def test_statements_of_one_quantity_have_one_unit(tmp_path: Path) -> None:
    same = "same_quantity: [{value: 3, unit: h}, {value: 3, unit: x}]"
    text = HEAD + f"claims:\n  - {{id: mcmc, unverifiable: no log, {same}}}\n"
    assert problems(tmp_path, text) == ["9: claims.mcmc.same_quantity: the statements have several units: h, x"]


@given(st.text(alphabet="()+-*/<>=!,.'\"ab1 andortminutes", max_size=200))
def test_parsing_ends_in_a_tree_or_an_error_with_its_place(text: str) -> None:
    try:
        parse(text)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1


def test_length_is_bounded() -> None:
    with pytest.raises(ExpressionError, match="2001 characters"):
        parse("1" * (MAX_LENGTH + 1))


def test_the_schema_is_one() -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(claims_schema())


#: What is stated as several figures -> the one message.
SEVERAL = {
    "stated: [{value: 1, expr: minutes(a)}, {value: 2}]": (
        "9: claims.one.stated.1: a further figure needs expr, what it is"
    ),
    "stated: [{value: 1, unit: min, expr: chips(a)}]": (
        "9: claims.one.stated.0.expr: column 1: the expression is in chips, and what is stated in min"
    ),
    "stated: [{value: 1}, {value: true}], expr: minutes(a)": (
        "9: claims.one.stated.1: the expression is number, what is stated is not"
    ),
    "stated: [{value: 1}, {value: 2, unit: min}], expr: chips(a)": (
        "9: claims.one.expr: column 1: the expression is in chips, and what is stated in min"
    ),
}


@pytest.mark.parametrize("claim", SEVERAL)
def test_each_of_several_figures_has_an_expression_that_fits(claim: str, tmp_path: Path) -> None:
    assert problems(tmp_path, HEAD + f"claims:\n  - {{id: one, {claim}}}\n") == [SEVERAL[claim]]


def test_several_figures_with_their_expressions(tmp_path: Path) -> None:
    claim = "{id: one, stated: [{value: 3, unit: min}, {value: 8, expr: chips(a)}], expr: minutes(a), also: minutes(b)}"
    [found] = read_claims(write(tmp_path, f"{HEAD}claims:\n  - {claim}\n")).claims
    assert [[one.expr for one in figure.judged] for figure in found.figures] == [
        ["minutes(a)", "minutes(b)"],
        ["chips(a)"],
    ]
    assert [one.figure.amount for one in found.figures if one.figure] == [3, 8]
