"""What stands in a page: tables as HTML, data of charts as JSON, nothing of it twice or longer than it has to be."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.site.page import Cell, Chart, Series, Table, number_cell
from mlsub.commands.site.render import chart_json, render_table, shared_series
from tests.commands.site.sites import Html


def table(*cells: Cell) -> str:
    found = Table(caption="C", heads=("name", *"abcd"[: len(cells)]), rows=((Cell("x"), *cells),))
    return render_table(found, "../")


def test_a_number_that_a_cell_shows_is_not_there_once_more() -> None:
    shown = table(number_cell(1234.5), number_cell(0.123456789), number_cell(3.0, "3 of 4"))
    assert "<td>1,234.5<td>0.123457<td data-sort=3.0>3 of 4</table>" in shown
    assert '<table class="n2 n3" data-sortable>' in shown
    assert "<table class=n data-sortable>" in table(number_cell(1.0))
    assert '<table class="n3" data-sortable>' in table(Cell("words"), number_cell(1))
    assert "<td data-sort=1.0>one<td>2</table>" in table(number_cell(1.0, "one"), number_cell(2.0))


@given(st.text(), st.text())
def test_text_from_outside_is_text_in_every_part_of_a_table(text: str, note: str) -> None:
    text, note = (part.encode("utf-8", "replace").decode() for part in (text, note))
    cells = (Cell(text, note=note), Cell(text, href="a.html"), Cell(text, badge="good"))
    rows = ((Cell(text), *cells),)
    found = Html(render_table(Table(caption=text, heads=(text, *"abc"), rows=rows), "").encode())
    assert [tag for tag, _ in found.elements] == (
        ["div", "table", "caption", "thead", "tr", *["th"] * 4, "tbody", "tr", "th", "td", "td", "a", "td", "span"]
    )


def chart(*series: Series, shared: tuple[Series, ...] = ()) -> Chart:
    return Chart(kind="series", title="t", about="a", data={"series": series}, shared=shared)


@pytest.mark.parametrize(
    ("value", "written"),
    [(40.0, 40), (1 / 3, 0.333333), (1234567.0, 1234570), (1e-9, 1e-9), (math.inf, None), (math.nan, None)],
)
def test_numbers_of_charts_have_the_digits_that_tooltips_show(value: float, written: float | None) -> None:
    (series,) = json.loads(
        chart_json(chart(Series(name="s", style="line", colour=1, points=((value, 1.0), (2.0, 3.0)))))
    )["series"]
    assert series["points"] == [[written, 2], [1, 3]]


def test_series_that_pages_share_are_called_by_what_they_are() -> None:
    reference = Series(name="</script><!--", style="marks", colour=1, points=((1.0, 2.0),))
    own = Series(name="own", style="marks", colour=1, points=((3.0, 4.0),))
    name, script = shared_series((reference,))
    data = json.loads(chart_json(chart(own, shared=(reference,))))
    assert (data["shared"], [series["name"] for series in data["series"]]) == (name, ["own"])
    assert name.encode() in script
    assert b"<" not in script
    assert shared_series((own,))[0] != name
