"""What stands in a page: tables as HTML, data of charts as JSON, nothing of it twice or longer than it has to be."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.site.page import Cell, Series, Table, number_cell
from mlsub.commands.site.render import render_table, safe_json
from tests.commands.site.sites import Html


def table(*cells: Cell) -> str:
    found = Table(caption="C", heads=("name", *"abcd"[: len(cells)]), rows=((Cell("x"), *cells),))
    return render_table(found, "../")


def test_a_number_that_a_cell_shows_is_not_there_once_more() -> None:
    shown = table(number_cell(1234.5), number_cell(0.123456789), number_cell(3.0, "3 of 4"))
    assert "<td>1,234.5<td>0.123457<td data-sort=3>3 of 4</table>" in shown
    assert '<table class="n2 n3" data-sortable>' in shown
    assert "<table class=n data-sortable>" in table(number_cell(1.0))
    assert '<table class="n3" data-sortable>' in table(Cell("words"), number_cell(1))
    assert "<td data-sort=1>one<td>2</table>" in table(number_cell(1.0, "one"), number_cell(2.0))


@given(st.text(), st.text())
def test_text_from_outside_is_text_in_every_part_of_a_table(text: str, note: str) -> None:
    text, note = (part.encode("utf-8", "replace").decode() for part in (text, note))
    cells = (Cell(text, note=note), Cell(text, href="a.html"), Cell(text, badge="good"))
    rows = ((Cell(text), *cells),)
    found = Html(render_table(Table(caption=text, heads=(text, *"abc"), rows=rows), "").encode())
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
