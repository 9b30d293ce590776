"""Reference points: reading, pruning, hull, interpolation, and the lines of the limit along the batch size."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence import Algorithm, algorithm_of
from mlsub.convergence.curves import (
    RcpReference,
    find_pruned,
    interpolate,
    limit_lines,
    lower_hull,
    mean_lines,
    plan_of,
    prune,
    reference_of,
    reference_table,
    spans_a_decade,
)
from mlsub.convergence.reference import Point, benchmark_in, read_points, reference_file
from mlsub.io import MlsubError
from mlsub.rounds import get_round, known_rounds

MEAN = Algorithm(stdev="full", pruning="mean", normalise=True, named_by="logs")


def _point(batch_size: float, mean: float, stdev: float = 1.0) -> Point:
    return Point(batch_size, 20, mean, stdev, mean - stdev)


points = st.lists(
    st.tuples(st.integers(1, 10_000), st.floats(1, 1e4)), min_size=1, max_size=12, unique_by=lambda pair: pair[0]
).map(lambda pairs: [_point(size, mean) for size, mean in sorted(pairs)])


@given(points)
def test_the_hull_never_lies_above_a_point(found: list[Point]) -> None:
    hull = lower_hull(found)
    assert set(hull) <= set(found)
    for point in found:
        sides = (
            [p for p in hull if p.batch_size <= point.batch_size],
            [p for p in hull if p.batch_size >= point.batch_size],
        )
        if sides[0] and sides[1]:
            low, high = sides[0][-1], sides[1][0]
            on = low.mean if low is high else interpolate(point.batch_size, low, high, 10).mean
            assert on <= point.mean * (1 + 1e-9)


@given(points)
def test_pruning_keeps_the_fastest_and_the_largest(found: list[Point]) -> None:
    kept = prune(found, MEAN, 10)
    assert set(kept) <= set(found)
    assert kept[0].mean == min(point.mean for point in found)
    assert kept[-1] == found[-1]
    assert prune(found, Algorithm("full", "none", True, "logs"), 10) == tuple(found)


def test_official_pruning_is_not_the_hull() -> None:
    """The left neighbour of a point that stays is never tested again (logging issue 368)."""
    found = [_point(1, 10), _point(2, 12), _point(3, 14.1), _point(4, 10.5)]
    assert [p.batch_size for p in prune(found, MEAN, 10)] == [1, 2, 4]
    assert [p.batch_size for p in lower_hull(found)] == [1, 4]


def test_a_point_on_the_line_of_its_neighbours_is_none_of_the_hull_and_is_not_pruned() -> None:
    found = [_point(1, 10), _point(2, 11), _point(3, 12)]
    assert [p.batch_size for p in lower_hull(found)] == [1, 3]
    assert [p.batch_size for p in prune(found, MEAN, 10)] == [1, 2, 3]


def test_points_of_a_batch_size_that_one_of_them_keeps_all_stay() -> None:
    found = [_point(1, 12), *(_point(2, 10), _point(4, 20), _point(4, 11), _point(5, 20), _point(8, 13))]
    assert find_pruned(found, MEAN, 10) == {1: (2,), 5: (4, 8)}


@given(st.floats(1, 1e4), st.floats(1, 1e4), st.floats(0.1, 10), st.floats(0.1, 10))
def test_interpolation_meets_its_ends(one: float, other: float, low_stdev: float, high_stdev: float) -> None:
    low, high = _point(10, one, low_stdev), _point(30, other, high_stdev)
    for end in (low, high):
        between = interpolate(end.batch_size, low, high, 10)
        assert (between.mean, between.stdev) == (pytest.approx(end.mean), pytest.approx(end.stdev))
        assert between.runs == 0
    assert interpolate(20, low, high, 10).mean == pytest.approx((one + other) / 2)


BROKEN: list[tuple[Any, str]] = [
    *((b"", "not JSON"), (b"[" * 100_000, "not JSON"), (b"[]", "an object of reference points is needed")),
    *((b"{}", "no reference points"), ({"a": 1}, "no batch size")),
    ({"a": {"BS": "64", "Epochs to converge": [1, 2, 3]}}, "no batch size"),
    ({"a": {"BS": 64}}, "no list of numbers"),
    ({"a": {"BS": 64, "Epochs to converge": [1, "2", 3]}}, "no list of numbers"),
    ({"a": {"BS": 64, "Epochs to converge": [1, float("nan"), 3]}}, "no list of numbers"),
    ({"a": {"BS": 64, "Epochs to converge": [1, 2]}}, "2 runs are too few"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_a_broken_reference_file_is_told_in_one_line(content: Any, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rcps_x.json"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(MlsubError, match=message) as error:
        read_points(file, "x", 10, MEAN)
    assert "\n" not in str(error.value)


def test_a_missing_reference_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(MlsubError, match="No such file"):
        read_points(tmp_path / "rcps_none.json", "none", 10, MEAN)
    assert reference_file("training", "1.0.0", "digits") is None


@pytest.mark.parametrize("usage", ["training", "hpc"])
def test_every_reference_that_is_installed_can_be_read(usage: str) -> None:
    read = 0
    for name in known_rounds(usage):
        algorithm, round_ = algorithm_of(usage, name), get_round(usage, name)
        assert (algorithm is None) == (name in ("0.6", "0.7"))
        for benchmark in round_.benchmarks if algorithm else ():
            file = reference_file(usage, round_.ruleset, benchmark)
            if file is not None and algorithm is not None:
                found = read_points(file, benchmark, 10, algorithm)
                assert all(0 < point.minimum <= point.mean for point in found), file
                read += 1
    assert read > 5


@pytest.mark.parametrize("name", [None, 7, [], {"a": []}])
def test_a_benchmark_that_is_not_a_name_is_none(name: Any, tmp_path: Path) -> None:
    file = tmp_path / "rcps_x.json"
    file.write_text(json.dumps({"a": {"Benchmark": name}}))
    assert benchmark_in(file) is None


def reference(name: str = "bert", round_name: str = "4.0") -> RcpReference:
    return reference_of(get_round("training", round_name), name)


@pytest.mark.parametrize(("name", "round_name"), [("bert", "1.0"), ("resnet", "4.0"), ("llama31_405b", "5.1")])
def test_the_limit_is_that_of_the_test_everywhere(name: str, round_name: str) -> None:
    found, round_ = reference(name, round_name), get_round("training", round_name)
    lines = limit_lines(found)
    assert len(lines) == len(found.kept) - 1
    for line in lines:
        for size, limit in line[:-1][:: len(line) // 5 or 1]:
            assert plan_of(round_, name, size).minimum == pytest.approx(limit, rel=1e-9)
    for point in found.kept:
        assert found.with_allowance(point).minimum == plan_of(round_, name, point.batch_size).minimum


def test_the_curve_is_what_interpolation_gives_and_ends_at_its_points() -> None:
    found = reference()
    (line,) = mean_lines(found.kept)
    assert [size for size, _ in line] == sorted({size for size, _ in line})
    assert {(point.batch_size, point.mean) for point in found.kept} <= set(line)
    for size, mean in line[::7]:
        assert plan_of(get_round("training", "4.0"), "bert", size).mean == pytest.approx(mean, rel=1e-12)


def test_places_of_the_curve_are_even_on_a_logarithmic_axis() -> None:
    low, high = reference().kept[:2]
    (line,) = mean_lines((low, high))
    sizes = [math.log(size) for size, _ in line]
    gap = (sizes[-1] - sizes[0]) / (len(sizes) - 1)
    assert [after - before for before, after in pairwise(sizes)] == pytest.approx([gap] * (len(sizes) - 1), rel=0.05)


def test_a_curve_from_a_batch_size_of_zero_has_even_places() -> None:
    """Reference points of the user's own may begin there."""
    low, high = (Point(size, 5, 1.0 + size, 0.1, 1.0) for size in (0, 60))
    assert mean_lines((low, high))[0][1:3] == ((15, 16), (30, 31))


@pytest.mark.parametrize(
    ("name", "round_name"), [("llama2_70b_lora", "5.1"), ("resnet", "3.0"), ("llama31_405b", "5.0")]
)
def test_the_hull_is_nowhere_drawn_above_the_means(name: str, round_name: str) -> None:
    found = reference(name, round_name)
    hull, mean = map(dict, mean_lines(found.hull, found.kept))
    own = {point.batch_size for point in found.hull}
    assert own <= hull.keys()
    assert mean.keys() - hull.keys() <= {size for size in mean if not min(own) <= size <= max(own)}
    assert all(hull[size] <= mean[size] * (1 + 1e-12) for size in hull.keys() & mean.keys())


def test_the_limits_at_the_points_belong_to_no_line() -> None:
    """Between these two a double has one batch size, and one place is no line."""
    low, high = (Point(2.0**53 + more, 5, 10.0, 0.1, 9.5) for more in (0, 4))
    assert limit_lines(msgspec.structs.replace(reference(), kept=(low, high))) == ()


def test_the_points_are_those_of_the_table() -> None:
    for name, round_name in (("bert", "4.0"), ("resnet", "2.0"), ("llama31_405b", "5.1")):
        found, table = reference(name, round_name), reference_table(get_round("training", round_name), name)
        assert [(p.batch_size, p.mean, found.with_allowance(p).minimum) for p in found.points] == [
            (row.batch_size, row.mean, row.minimum) for row in table.rows
        ]
        assert [p in found.kept for p in found.points] == [row.kept for row in table.rows]
        assert [p in found.hull for p in found.points] == [row.on_hull for row in table.rows]


def test_a_reference_of_ones_own_counts_for_the_benchmark_it_names(tmp_path: Path) -> None:
    own = tmp_path / "mine.json"
    record = {"Benchmark": "bert", "BS": 64, "Epochs to converge": [1, 2, 3, 4, 5]}
    own.write_bytes(msgspec.json.encode({"bert_ref_64": record}))
    found = reference_of(get_round("training", "4.0"), "bert", str(own))
    assert (found.file.name, found.cutoff, [p.batch_size for p in found.points]) == ("mine.json", "own", [64])
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
