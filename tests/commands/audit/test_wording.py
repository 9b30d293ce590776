"""Wordings: what each allows, as examples and as laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.wording import (
    AcceptedRange,
    NumberError,
    Stated,
    accepted,
    decimal,
    fits,
    fixed,
    number,
    phrases,
    plus_minus,
    step_of,
    truncated,
    understated,
    wordings,
)
from tests.commands.audit.claims import CASES


def said(written: dict[str, Any]) -> Stated:
    return Stated(**written).checked()


def of(text: str) -> AcceptedRange:
    window = accepted(said(parts(text)))
    assert window is not None
    return window


def parts(text: str) -> dict[str, str]:
    node = yaml.compose(f"{{{text}}}", Loader=yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
    return {key.value: value.value for key, value in node.value}


@pytest.mark.parametrize(("statement", "window"), CASES["accepts"], ids=str)
def test_what_a_statement_allows(statement: dict[str, Any], window: str) -> None:
    allowed = accepted(said({name: str(value) for name, value in statement.items()}))
    assert allowed is not None and allowed.words() == window


def test_an_unknown_wording_has_a_hint() -> None:
    with pytest.raises(NumberError, match=r"unknown wording .jsut over.\. Did you mean just over\?"):
        of("value: 1, wording: jsut over")


def test_a_wording_without_a_value_needs_one() -> None:
    with pytest.raises(NumberError, match="a value is needed beside the wording 'over'"):
        of("wording: over")


@pytest.mark.parametrize("text", ["", "1e5", "nan", "inf", "1,00", "0x10", "1_000", "1" * 41, "१", "1/3", "--1"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(NumberError):
        number(text)


@given(st.integers(0, 10**12), st.integers(0, 6))
def test_a_number_has_the_digits_it_is_written_with(units: int, digits: int) -> None:
    value = Fraction(units, 10**digits)
    written = fixed(value, digits)
    assert number(written) == value
    assert step_of(written) == Fraction(1, 10**digits)


VALUES = st.fractions(min_value=Fraction(1, 100), max_value=10**6, max_denominator=1000)


@given(st.decimals(min_value="0.01", max_value=10**6, places=2), VALUES)
def test_exactly_the_values_that_round_to_a_statement_are_accepted(written: object, value: Fraction) -> None:
    text = str(written)
    rounded = Fraction(int(value * 100 + Fraction(1, 2)), 100)
    assert (value in of(f"value: '{text}'")) == (rounded == Fraction(text))


@given(st.sampled_from(sorted(phrases())), st.integers(1, 10**6), VALUES)
def test_wordings_agree_with_one_another(phrase: str, whole: int, value: Fraction) -> None:
    text = f"value: {whole}, wording: '{phrase}'"
    window = of(text)
    assert window.low is None or window.high is None or window.low < window.high
    kind = phrases()[phrase]
    if kind in ("over", "just over"):
        assert Fraction(whole) not in window
        assert value not in window or value > whole
    if kind in ("exact", "about", "at least", "at most", "half", "the same"):
        assert Fraction(whole) in window


@given(st.integers(1, 10**6), VALUES)
def test_every_value_is_under_at_or_over(whole: int, value: Fraction) -> None:
    told = [value in of(f"value: {whole}, wording: {word}") for word in ("under", "over")]
    assert sum(told) == (value != whole)


@given(VALUES, VALUES, VALUES, VALUES, st.booleans(), st.booleans())
def test_windows_meet_where_a_value_lies_in_both(
    a: Fraction, b: Fraction, c: Fraction, d: Fraction, low_in: bool, high_in: bool
) -> None:
    one, other = AcceptedRange(min(a, b), max(a, b), low_in, high_in), AcceptedRange(min(c, d), max(c, d), True, True)
    assert one.meets(other) == other.meets(one)
    inside = [(low + high) / 2 for low in (a, b, c, d) for high in (a, b, c, d)]
    if any(value in one and value in other for value in inside):
        assert one.meets(other)


def test_windows_that_only_touch() -> None:
    closed, below = AcceptedRange(Fraction(1), Fraction(2), high_included=True), AcceptedRange(Fraction(1), Fraction(2))
    after = AcceptedRange(Fraction(2), None)
    assert closed.meets(after)
    assert not below.meets(after)
    assert not closed.meets(AcceptedRange(Fraction(2), None, low_included=False))
    assert AcceptedRange(None, None).meets(below)
    assert not AcceptedRange(Fraction(-2), Fraction(-1)).meets(AcceptedRange(None, Fraction(-3)))


def test_digits_may_be_cut_off_from_percentages_alone() -> None:
    beyond = truncated(said(parts("value: 31, unit: '%'")))
    assert beyond is not None
    assert beyond.words() == "[31.5, 32)"
    assert truncated(said(parts("value: 1.6, unit: x"))) is None
    assert truncated(said(parts("value: 31, unit: '%', wording: over"))) is None


@pytest.mark.parametrize(
    ("text", "value", "allowed"),
    [
        *(("value: 12", "11.5", True), ("value: 12", "12.5", True), ("value: 12", "12.51", False)),
        *(("value: 12, unit: '%'", "12.9", True), ("value: 12, unit: '%'", "13", False)),
        *(("value: 12, wording: just over", "12.5", True), ("value: 12, wording: nearly", "12", False)),
    ],
)
def test_a_figure_may_be_rounded_down_at_the_half(text: str, value: str, allowed: bool) -> None:
    assert fits(said(parts(text)), Fraction(value)) is allowed


def test_far_above_is_understated() -> None:
    far = said(parts("value: 5, wording: over"))
    assert understated(far, Fraction(8))
    assert not understated(far, Fraction(15, 2))
    assert not understated(said(parts("value: 5")), Fraction(80))


@pytest.mark.parametrize(
    ("value", "text"),
    [("0", "0"), ("-1/3", "-0.333333"), ("1/2", "0.5"), ("1234567", "1,234,567"), ("-1/10000000", "0"), ("10", "10")],
)
def test_decimals(value: str, text: str) -> None:
    assert decimal(Fraction(value)) == text


def test_a_huge_number_is_shown_without_a_double() -> None:
    assert len(fixed(Fraction(10) ** 400)) == 401 + 133 + 7


def test_percentages_and_amounts() -> None:
    assert plus_minus("5%", Fraction(300)) == 15
    assert plus_minus("2.5", Fraction(300)) == Fraction(5, 2)


def test_every_wording_has_an_end() -> None:
    for name, wording in wordings().items():
        assert any((wording.least, wording.above, wording.most, wording.below)), name
