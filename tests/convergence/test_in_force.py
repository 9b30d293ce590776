"""The reference points at a round's publication, at its deadline and now: the data, proven by the upstream history."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.convergence import CUTOFFS, Cutoff, Options, algorithm_of
from mlsub.convergence.curves import reference_of, reference_table
from mlsub.convergence.entry import Convergence
from mlsub.convergence.reference import (
    cutoff_day,
    history_of,
    merged_between,
    parse_cutoff,
    read_points,
    reference_file,
    runs_in_force,
    runs_of,
)
from mlsub.rounds import Round, get_round, known_rounds
from mlsub.rules.load import entry_requirements as needs
from tests.convergence import upstream
from tools.support.entry_logs import judged, log_of, write_logs

PUBLISHED, DEADLINE, NEWEST = (Options(points=cutoff) for cutoff in CUTOFFS)
ROUNDS = [
    get_round(usage, name)
    for usage in ("training", "hpc")
    for name in known_rounds(usage)
    if algorithm_of(usage, name) is not None
]
with_history = pytest.mark.skipif(not upstream.BUNDLE.is_file(), reason=upstream.ABSENT)
each_round = pytest.mark.parametrize("round_", ROUNDS, ids=lambda round_: f"{round_.usage}-{round_.name}")


def sizes(round_name: str, name: str, cutoff: Cutoff) -> list[float]:
    table = reference_table(get_round("training", round_name), name, cutoff)
    assert table.reference_points == cutoff
    return [row.batch_size for row in table.rows]


def entry(tmp_path: Path, round_name: str, name: str, size: float, point: float, options: Options) -> Convergence:
    unit = "samples_count" if name == "llama31_8b" else "epoch_num"
    write_logs(tmp_path / name, [log_of(name, size, point, unit=unit)] * needs("training", round_name, name).runs)
    return judged(tmp_path / name, round_name, options=options)


def told(found: Convergence, rule: str) -> list[tuple[str, str | None, str | None]]:
    return [(f.message, f.expected, f.actual) for f in found.findings if f.rule == rule]


def files_of(round_: Round) -> dict[str, Path]:
    files = {name: reference_file(round_.usage, round_.ruleset, name) for name in round_.benchmarks}
    return {name: file for name, file in files.items() if file is not None}


# The data.


@with_history
@each_round
def test_the_changes_are_those_of_the_history(round_: Round) -> None:
    history = history_of(round_.usage, round_.name)
    assert history is not None and history.deadline.source
    assert history.changes == upstream.changes_of(round_)


@with_history
@each_round
def test_the_points_of_a_day_are_those_on_the_master_branch_at_its_end(round_: Round) -> None:
    compared = 0
    for name, file in files_of(round_).items():
        installed = upstream.by_size(runs_of(file))
        if name == "dlrmv4":
            continue  # It came after the end of the history that is kept.
        assert installed == upstream.points_on(upstream.merges()[-1].day, round_, name)
        for cutoff in CUTOFFS:
            day = cutoff_day(cutoff, round_)
            found = upstream.by_size(runs_in_force(file, name, round_, cutoff))
            assert found == (installed if day is None else upstream.points_on(day, round_, name)), (name, cutoff)
            compared += 1
    assert compared >= 9


@with_history
def test_a_merge_counts_from_the_day_on_which_it_came_to_the_master_branch() -> None:
    # The commit that adds it is of 2023-10-09.
    (merge,) = [one for one in upstream.merges() if one.commit == "74132ed"]
    assert merge.day.isoformat() == "2024-02-05"


@each_round
def test_each_day_leaves_points_to_compare_with(round_: Round) -> None:
    algorithm = algorithm_of(round_.usage, round_.name)
    assert algorithm is not None
    for name, file in files_of(round_).items():
        runs = needs(round_.usage, round_.name, name).runs
        assert reference_of(round_, name, cutoff="newest").points == read_points(file, name, runs, algorithm)
        for cutoff in CUTOFFS:
            found = [p.batch_size for p in reference_of(round_, name, cutoff=cutoff).points]
            assert found and found == sorted(set(found)), (name, cutoff)


def test_of_a_month_the_last_day_counts_and_of_a_round_to_come_every_point() -> None:
    days = {
        (name, cutoff): cutoff_day(cutoff, get_round("training", name))
        for name in ("2.1", "4.0", "6.1")
        for cutoff in CUTOFFS
    }
    assert [str(days["2.1", cutoff]) for cutoff in CUTOFFS] == ["2022-11-30", "2022-10-14", "None"]
    assert [str(days["4.0", cutoff]) for cutoff in CUTOFFS] == ["2024-06-30", "2024-05-10", "None"]
    assert [str(days["6.1", cutoff]) for cutoff in CUTOFFS] == ["None", "2026-10-16", "None"]
    assert [cutoff_day(cutoff, get_round("rehearsal", "1.0")) for cutoff in CUTOFFS] == [None, None, None]


def test_points_that_came_changed_or_went() -> None:
    now = [1632, 3264, 4096, 8192, 13056, 32768, 49152, 58880, 65536]
    assert sizes("1.1", "resnet", "newest") == sizes("1.1", "resnet", "published") == now
    assert sizes("1.1", "resnet", "deadline") == [1632, 2048, 3264, 4096, 8192, 13056, 32768, 64480, 65536]
    assert sizes("1.0", "unet3d", "deadline") == [2, 32]
    # Added after publication.
    assert set(sizes("2.0", "maskrcnn", "newest")) - set(sizes("2.0", "maskrcnn", "published")) == {8}
    assert set(sizes("3.0", "ssd", "newest")) - set(sizes("3.0", "ssd", "published")) == {768, 1024}
    assert set(sizes("3.1", "ssd", "newest")) - set(sizes("3.1", "ssd", "published")) == {320}
    # Merged on the day before the deadline of v2.1, and a week after it.
    assert 8 in sizes("2.1", "maskrcnn", "deadline")
    assert set(sizes("2.1", "ssd", "published")) - set(sizes("2.1", "ssd", "deadline")) == {1280, 2048}


def test_runs_of_a_point_that_was_replaced_count_at_the_deadline() -> None:
    means = {
        cutoff: {row.batch_size: row.mean for row in reference_table(get_round("training", "1.0"), "rnnt", cutoff).rows}
        for cutoff in CUTOFFS
    }
    assert (means["deadline"][2048], means["published"][2048]) == (pytest.approx(1132 / 18), pytest.approx(1051 / 18))


def test_what_was_merged_between_two_days_is_named() -> None:
    round_ = get_round("training", "1.0")
    assert merged_between("bert", round_, "published", "deadline") == merged_between(
        "bert", round_, "deadline", "newest"
    )
    assert merged_between("bert", round_, "deadline", "newest") == (
        "6144, 6912, 8192 on 2021-06-11 (ef0e797); 12288 on 2021-06-15 (c6062e3)"
    )
    assert merged_between("bert", round_, "published", "newest") == ""


def test_a_result_says_which_points_it_was_compared_with() -> None:
    assert [parse_cutoff(stated) for stated in (*CUTOFFS, "own", None)] == [*CUTOFFS, "published", "published"]


# The test of an entry.


def test_a_point_merged_after_publication_does_not_count(tmp_path: Path) -> None:
    """As for 23 entries of v3.1: 4 epochs at batch size 256, where the fastest point of that day was this one."""
    found = entry(tmp_path, "3.1", "ssd", 256, 4, PUBLISHED)
    assert (found.result.verdict, found.result.how, found.result.scaling) == ("pass", "exact", 1.0)
    assert found.result.reference_points == "published"
    ((message, other, actual),) = told(found, "rcp.other-points")
    assert message == "With the newest reference points the convergence test would give another answer"
    assert other == "passes from 3.7722 epochs on, scaled by 1.027778; merged: ssd 320 on 2024-02-05 (74132ed)"
    assert (
        actual
        == "4 epochs at batch size 256; with the reference points at publication, which count here: passes "
        + ("from 4 epochs on")
    )
    newest = entry(tmp_path, "3.1", "ssd", 256, 4, NEWEST)
    assert newest.result.scaling == pytest.approx(1.0277777777777777)
    assert (newest.result.how, newest.result.reference_points) == ("smaller-batch", "newest")
    # Those at publication and at the deadline are the same, and named once.
    ((message, _, _),) = told(newest, "rcp.other-points")
    assert message.startswith("With the reference points at publication")


@pytest.mark.parametrize(
    ("round_name", "name", "size", "point"), [("5.1", "llama31_8b", 16, 170_000), ("1.0", "unet3d", 80, 2_400)]
)
def test_a_point_that_came_after_the_deadline_is_named(
    round_name: str, name: str, size: float, point: float, tmp_path: Path
) -> None:
    usual = entry(tmp_path, round_name, name, size, point, Options())
    assert (usual.result.verdict, usual.result.how, usual.result.reference_points) == ("pass", "exact", "published")
    assert not any(f.rejects for f in usual.findings)
    ((message, other, actual),) = told(usual, "rcp.other-points")
    assert message == "With the reference points at the deadline the convergence test would give another answer"
    assert other is not None and actual is not None
    assert "which count here: passes from" in actual
    deadline = entry(tmp_path, round_name, name, size, point, DEADLINE)
    assert (deadline.result.verdict, deadline.result.reference_points) == ("missing", "deadline")
    assert [f.rule for f in deadline.findings if f.rejects] == ["rcp.missing"]
    ((message, other, _),) = told(deadline, "rcp.other-points")
    assert message.startswith("With the reference points at publication")
    assert other is not None and other.startswith("passes from")


def test_where_the_answers_agree_nothing_is_said(tmp_path: Path) -> None:
    found = entry(tmp_path, "5.1", "llama31_8b", 32, 200_000, Options())
    assert (found.result.verdict, told(found, "rcp.other-points")) == ("pass", [])


def test_what_was_merged_after_the_deadline_is_said_where_it_counts(tmp_path: Path) -> None:
    ((_, _, known),) = told(entry(tmp_path, "5.1", "llama31_8b", 32, 200_000, DEADLINE), "rcp.deadline-points")
    assert known == "merged after 2025-10-10: llama31_8b 16 on 2025-10-16 (3580a1e)"
    ((_, _, known),) = told(entry(tmp_path, "5.1", "retinanet", 256, 9, DEADLINE), "rcp.deadline-points")
    assert known == "none of retinanet was merged after 2025-10-10"
    assert not told(entry(tmp_path, "5.1", "retinanet", 256, 9, NEWEST), "rcp.deadline-points")


def test_of_hpc_the_deadline_is_known_too(tmp_path: Path) -> None:
    write_logs(tmp_path / "cosmoflow", [log_of("cosmoflow", 512, 30)] * 10)
    found = judged(tmp_path / "cosmoflow", "1.0", usage="hpc", options=DEADLINE)
    assert found.result.verdict == "pass"
    ((_, _, known),) = told(found, "rcp.deadline-points")
    assert known == "merged after 2021-10-08: cosmoflow 512 on 2021-10-15 (ad1b6e8)"


def test_without_a_known_deadline_every_point_counts(tmp_path: Path) -> None:
    write_logs(tmp_path / "digits", [log_of("digits", 64, 900)] * 5)
    found = judged(tmp_path / "digits", "1.0", usage="rehearsal", options=DEADLINE)
    ((_, _, known),) = told(found, "rcp.deadline-points")
    assert known == "the deadline of mlsub rehearsal (no MLPerf result) v1.0 is not known, so all points count"


def test_a_file_of_ones_own_has_no_deadline(tmp_path: Path) -> None:
    file = reference_file("training", "5.1.0", "llama31_8b")
    own = Options(reference=str(file), points="deadline")
    found = entry(tmp_path, "5.1", "llama31_8b", 16, 170_000, own)
    assert (found.result.verdict, found.result.reference_points) == ("pass", "own")
    assert not told(found, "rcp.deadline-points") and not told(found, "rcp.other-points")
