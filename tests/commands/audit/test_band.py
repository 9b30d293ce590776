"""AcceptedRange arithmetic: what inputs allow is never told too narrow."""

from __future__ import annotations

from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.expression import MAX_BITS, ONE, Band, compare
from mlsub.commands.audit.functions import OPERATIONS

NUMBERS = st.fractions(min_value=-100, max_value=100, max_denominator=50)


@st.composite
def bands(draw: st.DrawFn) -> tuple[Band, Fraction]:
    """A band and a number in it."""
    low, inside, high = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return Band(low, high), inside


@given(bands(), bands(), st.sampled_from("+-*/"))
def test_a_combination_of_numbers_lies_in_that_of_their_bands(
    one: tuple[Band, Fraction], other: tuple[Band, Fraction], sign: str
) -> None:
    try:
        band = OPERATIONS[sign].how(None, one[0], other[0])
    except ZeroDivisionError:
        assert sign == "/"
        assert other[0].low <= 0 <= other[0].high
        return
    exact = OPERATIONS[sign].how(None, Band.of(one[1]), Band.of(other[1]))
    assert exact.certain
    assert band.low <= exact.low <= band.high


@given(bands(), bands(), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_a_comparison_is_certain_only_where_it_is(
    one: tuple[Band, Fraction], other: tuple[Band, Fraction], sign: str
) -> None:
    answer = compare(sign, one[0], other[0])
    exact = compare(sign, Band.of(one[1]), Band.of(other[1]))
    assert exact is not None
    assert answer in (None, exact)


@given(NUMBERS, NUMBERS)
def test_numbers_compare_as_numbers(a: Fraction, b: Fraction) -> None:
    one, other = Band.of(a), Band.of(b)
    signs = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}
    assert {sign: compare(sign, one, other) for sign in signs} == {sign: holds(a, b) for sign, holds in signs.items()}


def test_numbers_do_not_grow_without_end() -> None:
    value = Band.of(Fraction(2**MAX_BITS - 1))
    assert value * ONE == value
    with pytest.raises(OverflowError):
        value + ONE
    with pytest.raises(OverflowError):
        value * value
