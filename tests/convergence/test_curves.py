"""The lines of the reference along the batch size are what the test compares with."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from mlsub.convergence.curves import (
    Reference,
    limit_lines,
    mean_line,
    plan_of,
    reference_of,
    reference_table,
    spans_a_decade,
)
from mlsub.convergence.reference import Point
from mlsub.io.errors import MlsubError
from mlsub.rounds import get_round


def reference(name: str = "bert", round_name: str = "4.0") -> Reference:
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
        assert found.allowed(point).minimum == plan_of(round_, name, point.batch_size).minimum


def test_the_curve_is_what_interpolation_gives_and_ends_at_its_points() -> None:
    found = reference()
    line = mean_line(found.kept)
    assert [size for size, _ in line] == sorted({size for size, _ in line})
    assert {(point.batch_size, point.mean) for point in found.kept} <= set(line)
    for size, mean in line[::7]:
        assert plan_of(get_round("training", "4.0"), "bert", size).mean == pytest.approx(mean, rel=1e-12)


def test_places_of_the_curve_are_even_on_a_logarithmic_axis() -> None:
    low, high = reference().kept[:2]
    sizes = [math.log(size) for size, _ in mean_line((low, high))]
    gap = (sizes[-1] - sizes[0]) / (len(sizes) - 1)
    assert [after - before for before, after in pairwise(sizes)] == pytest.approx([gap] * (len(sizes) - 1))


def test_a_curve_from_a_batch_size_of_zero_has_even_places() -> None:
    """Reference points of the user's own may begin there."""
    low, high = (Point(size, 5, 1.0 + size, 0.1, 1.0) for size in (0, 60))
    assert mean_line((low, high))[1:3] == ((10, 11), (20, 21))


def test_the_limits_at_the_points_belong_to_no_line() -> None:
    """Between these two a double has one batch size, and one place is no line."""
    low, high = (Point(2.0**53 + more, 5, 10.0, 0.1, 9.5) for more in (0, 4))
    assert limit_lines(msgspec.structs.replace(reference(), kept=(low, high))) == ()


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
    assert (found.file.name, found.which, [p.batch_size for p in found.points]) == ("mine.json", "own", [64])
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
