"""Charts: one model, drawn as SVG and as text; readable, and harmless whatever names and values are."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io import MlsubError
from mlsub.io.show import in_digits, shorten_apart
from mlsub.present import html, markdown, svg, text
from mlsub.present.charts import Scale, draw, scale_of
from mlsub.present.document import Axis, Chart, Document, Section, Series, Text, document
from tests.conftest import ExpectedText

SVG = "{http://www.w3.org/2000/svg}"
ROWS = Chart(
    title="Minutes",
    about="Farther left is faster.",
    x=Axis("minutes", log=True),
    y=Axis("benchmark", names=("bert", "resnet", "a <b>&\x1b[31m")),
    series=(
        Series("H100", "marks", 0, ((1.5, 0), (20.0, 1))),
        Series("MI300X", "marks", 1, ((3.0, 0), (40.0, 2))),
        Series("spread", "spans", 2, ((2.0, 30.0, 1),)),
        Series("limit", "ticks", 3, ((10.0, 0), (10.0, 1), (10.0, 2))),
    ),
)
AXES = Chart(
    title="Epochs by batch size",
    x=Axis("batch size"),
    y=Axis("epochs"),
    series=(
        Series("stdev", "whiskers", 5, ((16, 30, 34), (32, 38, 46))),
        Series("line", "line", 2, ((16, 32), (32, 42))),
        Series("limit", "rule", 3, ((16, 30), (24, 33), (math.nan, math.nan), (25, 34), (32, 40))),
        Series("mean", "marks", 2, ((16, 32), (32, 42))),
        Series("pruned", "hollow", 5, ((24, 39),)),
        Series("here", "large", 6, ((20, 34.5),)),
        Series("both", "curve", 7, ((16, 31), (32, 41))),
    ),
)


@pytest.mark.parametrize("name", ["rows", "axes"])
@pytest.mark.parametrize("width", [40, 80])
def test_text_draws_a_row_a_line(name: str, width: int, expected_text: ExpectedText) -> None:
    drawn = text.render(document("Charts", {"rows": ROWS, "axes": AXES}[name]), width)
    assert drawn.isascii(), "the same on every terminal"
    assert all(len(line) <= width for line in drawn.splitlines())
    expected_text(f"chart-{name}-{width}.txt", drawn)


def test_numbers_that_an_axis_marks_have_words_where_there_is_room() -> None:
    ticks = (16.0, 16.1, 24.0, 32.0)
    chart = msgspec.structs.replace(AXES, x=Axis("batch size", ticks=ticks))
    picture = ET.fromstring(svg.render(document("Charts", chart)))  # noqa: S314  (our own)
    words = [one.text for one in picture.iter(f"{SVG}text") if one.get("text-anchor") == "middle"]
    assert words == ["16", "24", "32"]
    upright = [one.get("d") or "" for one in picture.iter(f"{SVG}path") if one.get("class") == "g"]
    assert len([path for path in upright if "v" in path]) == len(ticks), "each has its line"


@pytest.mark.parametrize("chart", [ROWS, AXES], ids=["rows", "axes"])
def test_a_picture_is_said_in_words_and_has_no_script(chart: Chart) -> None:
    page = svg.render(document("Charts", Section("below", (chart,))))
    whole = ET.fromstring(page)  # noqa: S314  (our own)
    (picture,) = whole.iter(f"{SVG}svg") if whole.get("role") else whole.findall(f"{SVG}svg")
    assert (picture.get("role"), picture.find(f"{SVG}title").text) == ("img", chart.title)  # type: ignore[union-attr]
    assert (picture.find(f"{SVG}desc").text or "") == chart.about  # type: ignore[union-attr]
    words = " ".join(one.text or "" for one in picture.iter(f"{SVG}text"))
    for said in (chart.title, chart.x.title, *(one.name for one in chart.series), *chart.y.names[:2]):
        assert said in words
    assert "prefers-color-scheme:dark" in page and "currentColor" in page
    assert not {"script", "href", "onload"} & {part.lower() for one in whole.iter() for part in (one.tag, *one.keys())}


def test_points_lie_where_their_values_are() -> None:
    legend, drawn = re.findall(r'class="p marks" d="([^"]+)"', svg.render(document("", AXES)))
    (left, low), (right, high) = ((float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)m-4.5", drawn))
    assert left < right and low > high, "more epochs lie higher, larger batches farther right"
    assert legend.count("M") == 1
    (gap,) = re.findall(r'class="l rule" d="([^"]+)"', svg.render(document("", AXES)))[1:]
    assert gap.count("M") == 2, "what is no number breaks a line"


def test_pages_have_the_picture_and_markdown_leaves_it_out() -> None:
    assert html.render(document("Charts", ROWS)).count("<svg") == 1
    assert markdown.render(document("Charts", Text("before"), ROWS)) == "# Charts\n\nbefore\n"


def test_charts_lie_below_each_other_and_none_is_an_error() -> None:
    both = svg.render(document("Charts", ROWS, Section("s", (AXES,))))
    first, second = ET.fromstring(both).findall(f"{SVG}svg")  # noqa: S314
    assert (first.get("y"), second.get("y")) == ("0", first.get("height"))
    with pytest.raises(MlsubError, match="no chart"):
        svg.render(Document("t", (Text("words"), Chart(kind="dots", title="of a script"))))


def test_where_a_chart_has_no_room_text_says_what_draws_it() -> None:
    many = Series("m", "marks", 0, tuple((float(n), 1.0) for n in range(61)))
    lines = Chart(title="Curves", series=(Series("A", "line", 0, ((0, 1), (1, 2))),))
    for chart in (lines, Chart(title="Curves", series=(many,))):
        assert text.render(document("t", chart), 80) == "t\n\nCurves: -o FILE.svg draws it.\n"


NUMBER = st.floats(-1e14, 1e14)


@given(values=st.lists(NUMBER, min_size=1, max_size=5), log=st.booleans())
def test_a_scale_holds_its_values_and_its_ticks_are_few_and_in_order(values: list[float], log: bool) -> None:
    scale = scale_of(Axis("x", log=log), values)
    assert all(-1e-6 <= scale.at(value) <= 1 + 1e-6 for value in values)
    ticks = scale.ticks(8)
    assert ticks == sorted(set(ticks)) and len(ticks) <= 9
    assert all(-1e-6 <= scale.at(tick) <= 1 + 1e-6 for tick in ticks)


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(0, 10), [0, 2, 4, 6, 8, 10]),
        (Scale(0.7, 130, log=True), [1, 2, 5, 10, 20, 50, 100]),
        (Scale(3, 5, log=True), [3, 3.5, 4, 4.5, 5]),
        (Scale(1, 1e12, log=True), [1, 100, 1e4, 1e6, 1e8, 1e10, 1e12]),
    ],
)
def test_ticks_are_round_numbers(scale: Scale, ticks: list[float]) -> None:
    assert scale.ticks(8) == pytest.approx(ticks)


def test_numbers_in_words() -> None:
    assert [in_digits(value, 4) for value in (0.93512, 5, 161109.0, 1e20)] == ["0.9351", "5", "161,109", "1e+20"]


NAMES = st.text(st.characters(exclude_categories=()), max_size=30)
STYLES = st.sampled_from(["marks", "large", "hollow", "ticks", "line", "dashed", "rule", "curve"])
POINTS = st.lists(st.tuples(st.floats(), st.floats()), max_size=4).map(tuple)


@given(title=NAMES, name=NAMES, style=STYLES, points=POINTS, log=st.booleans())
def test_any_chart_can_be_drawn(
    title: str, name: str, style: str, points: tuple[tuple[float, float], ...], log: bool
) -> None:
    chart = Chart(
        title=title, about=name, x=Axis(name, log=log), y=Axis(title, log=log), series=(Series(name, style, 3, points),)
    )
    found = document("t", chart)
    ET.fromstring(svg.render(found).encode("utf-8", "backslashreplace"))  # noqa: S314
    assert "\x1b" not in text.render(found) + svg.render(found) + html.render(found)


@given(names=st.lists(NAMES, min_size=1, max_size=3), spans=st.lists(st.tuples(st.floats(), st.floats()), max_size=3))
def test_any_rows_can_be_drawn(names: list[str], spans: list[tuple[float, float]]) -> None:
    points = tuple((low, high, n % len(names)) for n, (low, high) in enumerate(spans))
    chart = Chart(title="t", y=Axis("y", names=tuple(names)), series=(Series("s", "spans", 0, points),))
    ET.fromstring(svg.render(document("t", chart)).encode("utf-8", "backslashreplace"))  # noqa: S314
    assert "\x1b" not in text.render(document("t", chart))


def test_names_that_are_cut_stay_apart() -> None:
    systems = [f"Cray-XD670-H200-SXM5-141GB_n{count}_v5.0/llama2_70b_lora" for count in (2, 4, 8)]
    rows = Series("mean", "marks", 0, tuple((float(at), at) for at in range(3)))
    chart = Chart(title="Means", y=Axis("", names=tuple(systems)), series=(rows,))
    _, lines = draw(chart, 80)
    names = [line.partition("|")[0].strip() for line in lines[:3]]
    assert [name.replace("…", "") == name for name in names] == [False] * 3
    assert [name[-22:] for name in names] == [system[-22:] for system in systems]
    picture, _ = svg.draw(chart)
    assert [f"…{system[-22:]}<" in picture for system in systems] == [True] * 3
    assert shorten_apart(["abcdefgh", "abcdefgh", "abc"], 4) == ["ab…h", "ab…h", "abc"]
