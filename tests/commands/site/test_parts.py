"""What stands in a page: numbers and texts as people read them, tables as HTML, data of charts as JSON."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.site.page import clean, minutes_cell, number_cell, number_text, plain_table, render_table, safe_json
from mlsub.present.document import Series, Span
from tests.commands.site.sites import Html


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((None, "–"), (math.nan, "–"), (math.inf, "–"), (0, "0"), (3072, "3,072"), (2_515_625.0, "2,515,625")),
        *((2_663_812.4, "2,663,812"), (35.15384615, "35.1538"), (0.720106, "0.720106"), (0.5, "0.5")),
        *((-1.25, "-1.25"), (0.00001234, "1.234e-05"), (1e300, "1e+300")),
    ],
)
def test_numbers_are_short_and_keep_their_size(value: float | None, shown: str) -> None:
    assert number_text(value) == shown


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        *((123.4, 2, "123"), (9.96, 2, "10"), (999.7, 3, "1,000"), (99.97, 3, "100"), (1.5, 1, "2")),
        (999.9999999, 6, "1,000"),
    ],
)
def test_few_digits_are_no_powers_of_ten(value: float, digits: int, shown: str) -> None:
    assert number_text(value, digits) == shown


@given(st.floats(1e-4, 1e9), st.integers(1, 6))
def test_digits_before_the_point_are_never_left_out(value: float, digits: int) -> None:
    shown = number_text(value, digits)
    assert "e" not in shown
    assert len(shown.partition(".")[0].replace(",", "")) in (len(f"{int(value)}"), len(f"{round(value)}"))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_that_is_shown_is_near_the_true_one(value: float) -> None:
    assert float(number_text(value).replace(",", "")) == pytest.approx(value, rel=1e-5, abs=1e-300)


def test_minutes_have_six_decimals_and_sort_by_their_value() -> None:
    assert (minutes_cell(32.6967561).text, minutes_cell(32.6967561).value) == ("32.696756", 32.6967561)
    assert (minutes_cell(None).text, minutes_cell(None).value) == ("–", None)
    assert number_cell(math.inf).value is None, "what is not finite is no number in JSON or in an attribute"


@given(st.text(), st.integers(2, 50))
def test_text_from_outside_is_printable_and_has_an_end(text: str, limit: int) -> None:
    shown = clean(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit


def test_text_that_was_read_as_latin_1_is_as_it_was_written() -> None:
    assert clean("Zürich".encode().decode("latin-1")) == "Zürich"
    assert clean("\x1b[31mred") == "\\x1b[31mred"


def table(*cells: Span) -> str:
    return render_table(plain_table("C", ("name", *"abcd"[: len(cells)]), [("x", *cells)]), "../")


def test_a_number_that_a_cell_shows_is_not_there_once_more() -> None:
    shown = table(number_cell(1234.5), number_cell(0.123456789), number_cell(3.0, "3 of 4"))
    assert "<td>1,234.5<td>0.123457<td data-sort=3>3 of 4</table>" in shown
    assert '<table class="n2 n3" data-sortable>' in shown
    assert "<table class=n data-sortable>" in table(number_cell(1.0))
    assert '<table class="n3" data-sortable>' in table(Span("words"), number_cell(1))
    assert "<td data-sort=1>one<td>2</table>" in table(number_cell(1.0, "one"), number_cell(2.0))


@given(st.text(), st.text())
def test_text_from_outside_is_text_in_every_part_of_a_table(text: str, note: str) -> None:
    text, note = (part.encode("utf-8", "replace").decode() for part in (text, note))
    cells = (Span(text, note=note), Span(text, link="a.html"), Span(text, "good"))
    found = Html(render_table(plain_table(text, (text, *"abc"), [(Span(text), *cells)]), "").encode())
    assert [tag for tag, _ in found.elements] == (
        ["div", "table", "caption", "thead", "tr", *["th"] * 4, "tbody", "tr", "th", "td", "td", "a", "td", "span"]
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [(40.0, 40), (1 / 3, 0.333333), (1234567.0, 1234570), (1e-9, 1e-9), (math.inf, None), (math.nan, None)],
)
def test_numbers_of_charts_have_the_digits_that_tooltips_show(value: float, written: float | None) -> None:
    series = json.loads(
        safe_json(Series(name="</script><!--", style="line", colour=1, points=((value, 1.0), (2.0, 3.0))))
    )
    assert (series["name"], series["points"]) == ("</script><!--", [[written, 2], [1, 3]])
    assert "<" not in safe_json(Series("</script><!--", "line", 1, ()))


def test_long_names_break_behind_their_signs_and_badges_do_not() -> None:
    cells = [
        Span("8_node_64_A100_PaddlePaddle", link="x"),
        "Azure+HazyResearch",
        "a_b",
        Span("pass by train_samples", "good"),
    ]
    page = render_table(plain_table("", list("abcd"), [cells]), "")
    assert "8_<wbr>node_<wbr>64_<wbr>A100_<wbr>PaddlePaddle</a>" in page
    assert "Azure+<wbr>HazyResearch" in page
    assert ("a_b" in page, "train_samples" in page) == (True, True)
