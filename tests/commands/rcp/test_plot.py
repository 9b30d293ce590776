"""The picture: its curves are those of the test, its files are what they say, and no name breaks it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from mlsub.commands.rcp.plot import VERDICTS, Picture, draw, picture_of, shorten
from mlsub.convergence.curves import (
    Reference,
    limit_lines,
    mean_line,
    plan_of,
    reference_of,
    reference_table,
    spans_a_decade,
)
from mlsub.io.errors import MlsubError
from mlsub.rounds import get_round
from mlsub.submission.report import EntryResult
from tests.commands.test_hostile import HOSTILE
from tests.convergence.test_margin import entry

SVG = "{http://www.w3.org/2000/svg}"
NAMES = (*HOSTILE.values(), "a$\\frac{1}$b", "<script>alert(1)</script>", "_under", "x" * 500, "--></svg>&amp;", "%s{}")


def reference(name: str = "bert", round_name: str = "4.0") -> Reference:
    return reference_of(get_round("training", round_name), name)


def picture(*entries: EntryResult, name: str = "bert", round_name: str = "4.0") -> Picture:
    return msgspec.structs.replace(picture_of(get_round("training", round_name), name), entries=entries)


def shown(number: int, batch_size: float, mean: float | None, verdict: str = "pass", **names: Any) -> EntryResult:
    points = (None,) if mean is None else (mean * 0.95, mean, mean, mean * 1.05)
    found = entry((*points, *points, *points)[:10], mean=mean, verdict=verdict, batch_size=batch_size)
    return msgspec.structs.replace(found, **({"organisation": "ACME", "system": f"rack{number}", "runs": 10} | names))


def series(svg: bytes) -> dict[str, ElementTree.Element]:
    """The parts of a picture by their ids."""
    root = ElementTree.fromstring(svg)  # noqa: S314  (made here)
    return {element.attrib["id"]: element for element in root.iter() if "id" in element.attrib}


def texts(svg: bytes) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314


# The curves.


@pytest.mark.parametrize(("name", "round_name"), [("bert", "1.0"), ("resnet", "4.0"), ("llama31_405b", "5.1")])
@pytest.mark.parametrize("log", [True, False])
def test_the_limit_is_that_of_the_test_everywhere(name: str, round_name: str, log: bool) -> None:
    found, round_ = reference(name, round_name), get_round("training", round_name)
    lines = limit_lines(found, found.kept[0].batch_size / 2, log=log)
    assert len(lines) == len(found.kept)
    for line in lines:
        for size, limit in line[:-1][:: len(line) // 5 or 1]:
            assert plan_of(round_, name, size).minimum == pytest.approx(limit, rel=1e-9)
    for point in found.kept:
        assert found.allowed(point).minimum == plan_of(round_, name, point.batch_size).minimum


def test_the_curve_is_what_interpolation_gives_and_ends_at_its_points() -> None:
    found = reference()
    line = mean_line(found.kept, log=True)
    assert [size for size, _ in line] == sorted({size for size, _ in line})
    assert {(point.batch_size, point.mean) for point in found.kept} <= set(line)
    for size, mean in line[::7]:
        assert plan_of(get_round("training", "4.0"), "bert", size).mean == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(("log", "even"), [(True, math.log), (False, float)])
def test_places_of_the_curve_are_even_on_the_axis(log: bool, even: Callable[[float], float]) -> None:
    low, high = reference().kept[:2]
    sizes = [even(size) for size, _ in mean_line((low, high), log=log)]
    gap = (sizes[-1] - sizes[0]) / (len(sizes) - 1)
    assert [after - before for before, after in pairwise(sizes)] == pytest.approx([gap] * (len(sizes) - 1))


def test_the_points_are_those_of_the_table() -> None:
    for name, round_name in (("bert", "4.0"), ("resnet", "2.0"), ("llama31_405b", "5.1")):
        found, table = reference(name, round_name), reference_table(get_round("training", round_name), name)
        assert [(p.batch_size, p.mean, found.allowed(p).minimum) for p in found.points] == [
            (row.batch_size, row.mean, row.minimum) for row in table.rows
        ]
        assert [p in found.kept for p in found.points] == [row.kept for row in table.rows]
        assert [p in found.hull for p in found.points] == [row.on_hull for row in table.rows]


def test_a_reference_of_ones_own_counts_for_the_benchmark_it_names(tmp_path: Path) -> None:
    own = tmp_path / "mine.json"
    record = {"Benchmark": "bert", "BS": 64, "Epochs to converge": [1, 2, 3, 4, 5]}
    own.write_bytes(msgspec.json.encode({"bert_ref_64": record}))
    found = reference_of(get_round("training", "4.0"), "bert", str(own))
    assert (found.source, [p.batch_size for p in found.points]) == ("mine.json", [64])
    other = reference_of(get_round("training", "4.0"), "resnet", str(own))
    assert len(other.points) == 10


@pytest.mark.parametrize(
    ("round_name", "name", "why"),
    [
        ("0.7", "bert", "had no convergence test"),
        ("1.0", "minigo", "not compared with a reference in any round"),
        ("1.0", "gpt3", "has no benchmark gpt3"),
    ],
)
def test_where_there_is_no_reference_it_says_why(round_name: str, name: str, why: str) -> None:
    with pytest.raises(MlsubError, match=why):
        reference_of(get_round("training", round_name), name)


@pytest.mark.parametrize(("sizes", "log"), [([8, 128], True), ([8, 80], False), ([32], False), ([0, 100], False)])
def test_more_than_a_decade_is_read_on_a_logarithmic_axis(sizes: list[float], log: bool) -> None:
    assert spans_a_decade(sizes) is log


# The entries of a picture.


def test_an_entry_that_cannot_be_drawn_says_why() -> None:
    entries = [
        entry((35.0, 36.0, 37.0, 38.0, None)),
        entry((), verdict="not-required", how="open-division"),
        entry((35.0,) * 5, batch_size=None),
        entry((35.0,) * 5, batch_size=0),
        entry((35.0,) * 5, batch_size=10**400),
        entry((35.0, 1e300, 35.0, 35.0, 35.0), mean=35.0),
    ]
    found = picture_of(get_round("training", "2.1"), "resnet", entries)
    assert found.entries == (entries[0],)
    assert [why for _, why in found.left_out] == [
        "the Open division has no convergence test",
        "its runs agree on no batch size",
        "its batch size is out of range",
        "its batch size is out of range",
        "a convergence point is beyond any real one",
    ]


def test_every_verdict_has_a_shape_of_its_own() -> None:
    assert set(VERDICTS) == {"pass", "fail", "missing", "bypassed", "open"}
    for looks in zip(*VERDICTS.values(), strict=True):
        assert len(set(looks)) == len(VERDICTS)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_cut_and_printable(name: str) -> None:
    assert len(shorten(name, 40)) <= 40
    assert shorten(name, 40).isprintable()
    assert shorten("a" * 40, 40) == "a" * 40


# The files. Drawing needs matplotlib.

EVERY = tuple(
    shown(number, size, mean, verdict)
    for number, (size, mean, verdict) in enumerate(
        [
            *((448, 2.6e6, "pass"), (448, 2.0e6, "fail"), (20_000, 6e6, "missing"), (6144, 3.1e6, "bypassed")),
            *((8192, 1.0, "fail"), (1e9, 3e6, "missing"), (4096, None, "fail")),
        ],
        1,
    )
)


@pytest.fixture(scope="module")
def drawn() -> bytes:
    pytest.importorskip("matplotlib")
    return draw([picture(*EVERY)], "svg")


def places(element: ElementTree.Element) -> list[tuple[float, float]]:
    """Where the marks of a part of a picture lie, from its left and from its top."""
    return [(float(use.attrib["x"]), float(use.attrib["y"])) for use in element.iter(f"{SVG}use")]


def test_the_svg_has_the_series_one_expects(drawn: bytes) -> None:
    found, of = series(drawn), picture().reference
    assert len(places(found["reference-kept"])) == len(of.kept) == len(places(found["limits"]))
    assert len(places(found["reference-pruned"])) == len(of.points) - len(of.kept)
    assert {f"limit-{number}" for number in range(len(limit_lines(of, 1, log=True)))} <= set(found)
    assert {"official-curve", "hull-of-the-rules"} <= set(found)
    counts = [len(places(found[f"mean-{number}"])) if f"mean-{number}" in found else 0 for number in range(1, 8)]
    assert counts == [1, 1, 1, 1, 1, 0, 0], "beyond the axis, and without a mean"


def test_the_svg_says_what_it_shows(drawn: bytes) -> None:
    found = texts(drawn)
    assert "bert, MLPerf Training v4.0: convergence against the reference" in found
    assert {"samples to converge", "global batch size (logarithmic)"} <= set(found)
    assert {"1  rack1: passes", "2  rack2: fails", "batch 448: mean 2600000, limit +13.25 %"} <= set(found)
    assert {"batch 1 000 000 000: mean 3000000, not drawn", "batch 4 096: no olympic mean"} <= set(found)
    assert any(line.startswith("Reference points: mlperf-logging ") for line in found)
    assert {"448", "16 384"} <= set(found), "the ends of the curve are named on the axis"


def test_marks_lie_where_the_axes_say() -> None:
    """The mean of an entry at the batch size and value of a reference point lies on that point."""
    pytest.importorskip("matplotlib")
    point = picture().reference.kept[1]
    found = series(draw([picture(shown(1, point.batch_size, point.mean))], "svg"))
    assert places(found["mean-1"])[0] == pytest.approx(places(found["reference-kept"])[1], abs=0.01)


def test_what_lies_far_off_is_marked_at_the_edge_and_does_not_squeeze_the_rest() -> None:
    pytest.importorskip("matplotlib")
    near, far = shown(1, 448, 3e6), (shown(2, 448, 1.0), shown(3, 448, 1e14), shown(4, 1e12, 3e6), shown(5, 2, 3e6))
    bare, found = series(draw([picture(near)], "svg")), series(draw([picture(near, *far)], "svg"))
    heights = [[y for _, y in places(one["reference-kept"])] for one in (bare, found)]
    assert max(heights[1]) - min(heights[1]) == pytest.approx(max(heights[0]) - min(heights[0]), rel=0.1)
    (_, below), (_, above) = (places(found[f"mean-{number}"])[0] for number in (2, 3))
    assert below > max(heights[1]) and above < min(heights[1])
    assert not {"mean-4", "mean-5"} & {name for name in found if name.startswith("mean-") and places(found[name])}


@pytest.mark.parametrize("round_name", ["1.0", "5.1", "hpc-2.0"])
def test_every_reference_can_be_drawn(round_name: str) -> None:
    pytest.importorskip("matplotlib")
    usage, _, name = round_name.rpartition("-")
    round_, seen = get_round(usage or "training", name), 0
    for benchmark in round_.benchmarks:
        try:
            found = picture_of(round_, benchmark)
        except MlsubError:
            continue
        svg, seen = draw([found], "svg"), seen + 1
        assert len(places(series(svg)["limits"])) == len(found.reference.kept)
        assert ("hull-of-the-rules" in series(svg)) == (found.reference.hull != found.reference.kept)
    assert seen >= 3


@pytest.mark.parametrize("format_", ["svg", "png", "pdf"])
def test_the_same_picture_is_the_same_file_and_tells_no_date(format_: str) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    found = draw([picture(*EVERY)], format_)
    with matplotlib.rc_context({"font.size": 30.0, "svg.hashsalt": None, "axes.grid": True}):
        assert draw([picture(*EVERY)], format_) == found, "a matplotlibrc does not count"
        assert matplotlib.rcParams["font.size"] == 30.0, "the caller's settings come back"
    assert not re.search(rb"CreationDate|<dc:date>|20\d\d-\d\d-\d\d", found)


def test_hostile_names_break_no_picture_and_are_never_formulas() -> None:
    pytest.importorskip("matplotlib")
    entries = [shown(n, 448, 2.6e6 + 1e5 * n, organisation=name, system=name) for n, name in enumerate(NAMES, 1)]
    for some in (entries, entries[:3], entries * 5):
        svg = draw([picture(*some)], "svg")
        assert all(line.isprintable() for line in texts(svg))
        assert not list(ElementTree.fromstring(svg).iter(f"{SVG}script"))  # noqa: S314
        assert draw([picture(*some)], "png")
    assert "1  a$x^2$: passes" in texts(draw([picture(shown(1, 448, 2.6e6, system="a$x^2$"))], "svg"))


def test_many_entries_keep_the_file_small() -> None:
    pytest.importorskip("matplotlib")
    svg = draw([picture(*(shown(n, 448 + n, 2.6e6) for n in range(1, 400)))], "svg")
    assert any(line == "and 375 more" for line in texts(svg))
    assert not any(line.startswith("25  ") for line in texts(svg))
    assert len(svg) < 3_000_000


def test_a_picture_without_spread_or_with_one_point_can_be_drawn() -> None:
    pytest.importorskip("matplotlib")
    one = picture(name="stable_diffusion", round_name="3.1")
    (point,) = one.reference.kept
    flat = msgspec.structs.replace(point, stdev=0.0, minimum=point.mean)
    for points in ((point,), (flat,)):
        only = msgspec.structs.replace(one.reference, points=points, kept=points, hull=points)
        svg = draw([msgspec.structs.replace(one, reference=only)], "svg")
        assert "official curve" not in texts(svg)
        assert len(places(series(svg)["reference-kept"])) == 1 and "limits" in series(svg)
        assert b"nan" not in svg and b"inf" not in svg
