"""The reference points at a round's deadline, and what the later ones change."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.convergence.algorithm import algorithm_of
from mlsub.convergence.deadline import later_in, points_at_deadline, sizes_that_differ
from mlsub.convergence.entry import Convergence, Options
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.convergence.table import reference_table
from mlsub.rounds import get_round, known_rounds
from mlsub.rules.load import benchmark as needs
from tests.convergence.logs import judged, log_of, write_logs

DEADLINE = Options(points="deadline")
ROUNDS = [name for name in known_rounds("training") if algorithm_of("training", name)]
CHANGED = [
    (name, benchmark)
    for name in ROUNDS
    for benchmark in get_round("training", name).benchmarks
    if sizes_that_differ(benchmark, get_round("training", name))
]


def sizes(round_name: str, name: str, which: str) -> list[float]:
    table = reference_table(get_round("training", round_name), name, "deadline" if which == "deadline" else "final")
    assert table.reference_points == which
    return [row.batch_size for row in table.rows]


def final_points(round_name: str, name: str) -> tuple[Point, ...]:
    round_, algorithm = get_round("training", round_name), algorithm_of("training", round_name)
    file = reference_file("training", round_.ruleset, name)
    assert file is not None and algorithm is not None
    return points_of(file, name, needs("training", round_name, name).runs, algorithm)


def entry(tmp_path: Path, round_name: str, name: str, size: float, point: float, options: Options) -> Convergence:
    unit = "samples_count" if name == "llama31_8b" else "epoch_num"
    write_logs(tmp_path / name, [log_of(name, size, point, unit=unit)] * needs("training", round_name, name).runs)
    return judged(tmp_path / name, round_name, options=options)


def told(found: Convergence, rule: str) -> list[tuple[str, str | None, str | None]]:
    return [(f.message, f.expected, f.actual) for f in found.findings if f.rule == rule]


@pytest.mark.parametrize(
    ("round_name", "name", "size", "point"), [("5.1", "llama31_8b", 16, 170_000), ("1.0", "unet3d", 80, 2_400)]
)
def test_a_point_that_came_after_the_deadline_is_named(
    round_name: str, name: str, size: float, point: float, tmp_path: Path
) -> None:
    final = entry(tmp_path, round_name, name, size, point, Options())
    assert (final.result.verdict, final.result.how, final.result.reference_points) == ("pass", "exact", "final")
    assert not any(f.rejects for f in final.findings)
    ((message, other, actual),) = told(final, "rcp.other-points")
    assert message == "With the reference points at the deadline the convergence test would give another answer"
    assert other is not None and actual is not None
    assert "which count here: passes from" in actual
    deadline = entry(tmp_path, round_name, name, size, point, DEADLINE)
    assert (deadline.result.verdict, deadline.result.reference_points) == ("missing", "deadline")
    assert [f.rule for f in deadline.findings if f.rejects] == ["rcp.missing"]
    ((message, other, _),) = told(deadline, "rcp.other-points")
    assert message.startswith("With the round's final reference points")
    assert other is not None and other.startswith("passes from")


def test_where_both_answers_agree_nothing_is_said(tmp_path: Path) -> None:
    found = entry(tmp_path, "5.1", "llama31_8b", 32, 200_000, Options())
    assert (found.result.verdict, told(found, "rcp.other-points")) == ("pass", [])


def test_what_is_known_of_the_deadline_is_said_where_it_counts(tmp_path: Path) -> None:
    ((_, _, known),) = told(entry(tmp_path, "5.1", "llama31_8b", 32, 200_000, DEADLINE), "rcp.deadline-points")
    assert known is not None and known.startswith(
        "different from the final ones at llama31_8b 16: not in 4.1.35 of 2025-10-09"
    )
    ((_, _, known),) = told(entry(tmp_path, "5.1", "retinanet", 256, 9, DEADLINE), "rcp.deadline-points")
    assert known == "no difference from the final ones is known for retinanet"
    ((_, _, known),) = told(entry(tmp_path, "2.1", "bert", 16384, 9e9, DEADLINE), "rcp.deadline-points")
    assert known is not None and "unknown: whether PR 280 and 281" in known


def test_of_hpc_nothing_is_known_and_the_final_points_count(tmp_path: Path) -> None:
    write_logs(tmp_path / "cosmoflow", [log_of("cosmoflow", 512, 30)] * 10)
    found = judged(tmp_path / "cosmoflow", "2.0", usage="hpc", options=DEADLINE)
    assert found.result.verdict == "pass"
    ((_, _, known),) = told(found, "rcp.deadline-points")
    assert known == "those of MLPerf HPC v2.0 are unknown, so the final ones are used"


def test_a_file_of_ones_own_has_no_deadline(tmp_path: Path) -> None:
    file = reference_file("training", "5.1.0", "llama31_8b")
    own = Options(reference=str(file), points="deadline")
    found = entry(tmp_path, "5.1", "llama31_8b", 16, 170_000, own)
    assert (found.result.verdict, found.result.reference_points) == ("pass", "own")
    assert not told(found, "rcp.deadline-points") and not told(found, "rcp.other-points")


@pytest.mark.parametrize(("round_name", "name"), CHANGED)
def test_the_data_fit_the_installed_points(round_name: str, name: str) -> None:
    round_, algorithm = get_round("training", round_name), algorithm_of("training", round_name)
    later = later_in("training", round_name)
    assert later is not None and algorithm is not None
    final = final_points(round_name, name)
    early = points_at_deadline(final, name, round_, needs("training", round_name, name).runs, algorithm)
    by_size = {point.batch_size: point for point in early}
    assert len(by_size) == len(early) >= 2
    assert set(later.added.get(name, ())) <= {point.batch_size for point in final} - set(by_size)
    assert set(later.replaced.get(name, {})) <= set(by_size)
    assert all(by_size[size] not in final for size in later.replaced.get(name, {}))


def test_every_round_says_where_its_difference_is_known_from() -> None:
    assert len(CHANGED) == 19
    for name in ROUNDS:
        later = later_in("training", name)
        assert later is not None and later.source
        assert set(later.added) | set(later.replaced) <= set(get_round("training", name).benchmarks)
    assert later_in("training", "0.7") is None


def test_a_point_that_went_counts_at_the_deadline() -> None:
    assert sizes("1.1", "resnet", "final") == [1632, 3264, 4096, 8192, 13056, 32768, 49152, 58880, 65536]
    assert sizes("1.1", "resnet", "deadline") == [1632, 2048, 3264, 4096, 8192, 13056, 32768, 64480, 65536]
    assert sizes("1.0", "unet3d", "deadline") == [2, 32]
