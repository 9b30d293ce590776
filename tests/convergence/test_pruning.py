"""Reference points: reading, pruning, hull, interpolation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence.algorithm import Algorithm, algorithm_of
from mlsub.convergence.curves import interpolated, lower_hull, pruned, pruned_by
from mlsub.convergence.reference import Point, benchmark_in, points_of, reference_file
from mlsub.io.errors import MlsubError
from mlsub.rounds import get_round, known_rounds

MEAN = Algorithm(stdev="full", pruning="mean", normalise=True, name="logs")


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
            on = low.mean if low is high else interpolated(point.batch_size, low, high, 10).mean
            assert on <= point.mean * (1 + 1e-9)


@given(points)
def test_pruning_keeps_the_fastest_and_the_largest(found: list[Point]) -> None:
    kept = pruned(found, MEAN, 10)
    assert set(kept) <= set(found)
    assert kept[0].mean == min(point.mean for point in found)
    assert kept[-1] == found[-1]
    assert pruned(found, Algorithm("full", "none", True, "logs"), 10) == tuple(found)


def test_official_pruning_is_not_the_hull() -> None:
    """The left neighbour of a point that stays is never tested again (logging issue 368)."""
    found = [_point(1, 10), _point(2, 12), _point(3, 14.1), _point(4, 10.5)]
    assert [p.batch_size for p in pruned(found, MEAN, 10)] == [1, 2, 4]
    assert [p.batch_size for p in lower_hull(found)] == [1, 4]


def test_a_point_on_the_line_of_its_neighbours_is_none_of_the_hull_and_is_not_pruned() -> None:
    found = [_point(1, 10), _point(2, 11), _point(3, 12)]
    assert [p.batch_size for p in lower_hull(found)] == [1, 3]
    assert [p.batch_size for p in pruned(found, MEAN, 10)] == [1, 2, 3]


def test_points_of_a_batch_size_that_one_of_them_keeps_all_stay() -> None:
    found = [_point(1, 12), *(_point(2, 10), _point(4, 20), _point(4, 11), _point(5, 20), _point(8, 13))]
    assert pruned_by(found, MEAN, 10) == {1: (2,), 5: (4, 8)}


@given(st.floats(1, 1e4), st.floats(1, 1e4), st.floats(0.1, 10), st.floats(0.1, 10))
def test_interpolation_meets_its_ends(one: float, other: float, low_stdev: float, high_stdev: float) -> None:
    low, high = _point(10, one, low_stdev), _point(30, other, high_stdev)
    for end in (low, high):
        between = interpolated(end.batch_size, low, high, 10)
        assert (between.mean, between.stdev) == (pytest.approx(end.mean), pytest.approx(end.stdev))
        assert between.runs == 0
    assert interpolated(20, low, high, 10).mean == pytest.approx((one + other) / 2)


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
        points_of(file, "x", 10, MEAN)
    assert "\n" not in str(error.value)


def test_a_missing_reference_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(MlsubError, match="No such file"):
        points_of(tmp_path / "rcps_none.json", "none", 10, MEAN)
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
                found = points_of(file, benchmark, 10, algorithm)
                assert all(0 < point.minimum <= point.mean for point in found), file
                read += 1
    assert read > 5


@pytest.mark.parametrize("name", [None, 7, [], {"a": []}])
def test_a_benchmark_that_is_not_a_name_is_none(name: Any, tmp_path: Path) -> None:
    file = tmp_path / "rcps_x.json"
    file.write_text(json.dumps({"a": {"Benchmark": name}}))
    assert benchmark_in(file) is None
