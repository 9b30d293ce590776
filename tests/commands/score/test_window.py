"""``mlsub score --window``: which runs of many the rules let one submit, what people read, and how it ends."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.judge.log import judge_log
from mlsub.judge.window import Selection, TimedRun, notes_on, overlapping, select_window, starting_together, timed_run
from mlsub.rounds import get_round
from mlsub.rules.load import EntryRequirements
from mlsub.score import olympic_mean
from tests.conftest import ExpectedText
from tests.review.runs.build import log_of
from tools.oracle.shared import ABSENT, CORPUS, present, recorded_entries
from tools.support.make_tree import Log, Tree, make_tree, spoil
from tools.support.runner import run


def loose(tmp_path: Path, count: int = 7) -> Tree:
    """So many runs of an entry, of which the first is noncompliant."""
    tree = make_tree(tmp_path)
    for file in tree.entry().glob("result_*.txt"):
        file.unlink()
    tree.add_entry(runs=count)
    spoil(tree, 0)
    return tree


def test_the_window_nearest_the_median_is_selected(tmp_path: Path, expected_text: ExpectedText) -> None:
    outcome = run("score", "--window", 5, loose(tmp_path).entry())
    assert outcome.status == 0
    expected_text("window.txt", outcome.stdout)


def test_the_json_has_the_same(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    document = json.loads(run("score", "--window", 5, tree.entry(), "--format", "json").stdout)
    assert document["submit"] == [f"result_{n}.txt" for n in range(5)]
    selection = document["selection"]
    assert (selection["chosen"], len(selection["windows"])) == (0, 3)
    assert (document["benchmark"], document["round"], selection["median"]) == ("resnet", "1.0", 13.0)


def test_files_in_any_order_come_to_the_same(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    folder = run("score", "--window", 5, tree.entry()).stdout
    files = sorted(tree.entry().glob("*.txt"), reverse=True)
    assert run("score", "--window", 5, *files).stdout == folder


def test_where_half_of_the_windows_are_invalid_there_is_no_result(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    spoil(tree, 3, 4)
    outcome = run("score", "--window", 5, tree.entry())
    assert outcome.status == 1
    assert "no result: 3 of 3 windows are invalid, so that the median is infinite" in outcome.stdout


Paths = list[object]
#: What is changed, and the paths and options where they are others; the window, and what is said.
REFUSED: dict[str, tuple[Callable[[Tree], Paths | None], int, str]] = {
    "two benchmarks": (
        lambda tree: [tree.entry(), tree.add_entry("bert", runs=1)], 5,
        "the runs are of more than one benchmark (bert, resnet); name those of one",
    ),
    "two batch sizes": (
        lambda tree: tree.edit(lambda log: log.put("global_batch_size", value=4096), 2), 5,
        "the runs are of more than one batch size (global_batch_size: 3200, 4096)",
    ),
    "two platforms": (
        lambda tree: tree.edit(lambda log: log.put("submission_platform", value="x"), 2), 5,
        'the runs are of more than one system (submission_platform: "rack1", "x")',
    ),
    "too few": (lambda tree: None, 8, "there are 7 runs, and a window has 8"),
    "too small a window": (
        lambda tree: None, 2,
        "a window of 2 has no olympic score, which leaves out 2 runs; name 3 or more",
    ),
    "a copy": (
        lambda tree: tree.log(4).write_bytes(tree.log(3).read_bytes()) and None, 5,
        "result_4.txt contains a run that is there already: "
        "number and times of all records as in result_3.txt",
    ),
}  # fmt: skip
#: Paths of which nothing could be read.
UNREAD: dict[str, tuple[Callable[[Tree], Paths], str]] = {
    "no log": (lambda tree: [tree.folder], "has no result_*.txt. Name the folder of the logs, or the logs.\n"),
    "nothing": (lambda tree: [tree.folder / "gone"], "Name logs, or folders of them.\n"),
    "no such round": (
        lambda tree: [tree.entry(), "--round", "1.9"], "4.0, 4.1, 5.0, 5.1, 6.0, 6.1. Did you mean 1.1?\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_runs_that_do_not_belong_together_are_refused(case: str, tmp_path: Path) -> None:
    """The answer says why, in every format."""
    change, size, said = REFUSED[case]
    tree = loose(tmp_path)
    asked = ("score", "--window", size, *(change(tree) or [tree.entry()]))
    text, document = run(*asked), run(*asked, "--format", "json")
    assert (text.status, text.stderr, document.status) == (1, "", 1)
    assert said in " ".join(text.stdout.split())
    answer = json.loads(document.stdout)
    assert (answer["problems"], answer["selection"], answer["submit"]) == ([said], None, [])
    assert answer["benchmark"] == (None if case == "two benchmarks" else "resnet")
    assert all("othing is selected" in run(*asked, "--format", page).stdout for page in ("markdown", "html"))


@pytest.mark.parametrize("case", UNREAD)
def test_what_cannot_be_read_is_told(case: str, tmp_path: Path) -> None:
    paths, said = UNREAD[case]
    outcome = run("score", "--window", 5, *paths(loose(tmp_path)))
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.endswith(said)


def test_runs_that_start_together_are_named(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    (start,) = (record["time_ms"] for record in Log.read(tree.log(2)).records("run_start"))
    tree.edit(lambda log: log.put("run_start", time_ms=start), 3)
    notes = json.loads(run("score", "--window", 5, tree.entry(), "--format", "json").stdout)["notes"]
    assert notes == ["runs start in the same millisecond, so that only their file names order them: 3 and 4"]


def test_another_number_than_the_benchmarks_is_told(tmp_path: Path) -> None:
    outcome = run("score", "--window", 3, loose(tmp_path).entry())
    assert outcome.status == 0
    assert outcome.stdout.splitlines()[-1] == "note:   an entry of resnet has 5 runs, not 3"


def test_a_run_that_died_before_its_clock_started_counts_as_infinite(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    tree.edit(lambda log: log.drop("run_start", "run_stop"), 2)
    document = json.loads(run("score", "--window", 5, tree.entry(), "--format", "json").stdout)
    endless = [entry["minutes"] is None for entry in document["selection"]["runs"]]
    assert endless == [True, False, True, False, False, False, False]


def test_other_formats_are_refused(tmp_path: Path) -> None:
    assert run("score", "--window", 5, tmp_path, "--format", "csv").status == 2


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_as_many_published_runs_as_an_entry_has_score_as_the_entry() -> None:
    folder = CORPUS / "v1.0" / "Google" / "results" / "tpu-v4-1024-JAX" / "unet3d"
    document = json.loads(run("score", "--window", 40, folder, "--format", "json").stdout)
    recorded = recorded_entries("1.0")["Google/results/tpu-v4-1024-JAX/unet3d"]["score"]["unscaled"]
    assert document["selection"]["median"] == pytest.approx(recorded, rel=1e-12)
    assert (document["selection"]["chosen"], len(document["selection"]["windows"])) == (0, 1)


HOUR = 3_600_000


def runs(*minutes: float | None) -> list[TimedRun]:
    """Runs that start an hour after one another."""
    return [TimedRun(f"result_{n}.txt", 1e12 + n * HOUR, value) for n, value in enumerate(minutes)]


# Minutes in the order of start, N: minutes of the windows, the number of the selected one (None for none), the median.
BY_HAND: dict[str, tuple[list[float | None], int, list[float | None], int | None, float | None]] = {
    "as many as needed": ([3, 1, 2], 3, [2], 0, 2),
    "three windows": ([10, 20, 30, 40, 50], 3, [20, 30, 40], 1, 30),
    "the middle one is not in the middle": ([30, 30, 30, 10, 10, 10, 20, 20], 3, [30, 30, 10, 10, 10, 20], 5, 15),
    "an even number: the slower of two": ([10, 20, 30, 40], 3, [20, 30], 1, 25),
    "equal scores: the earlier": ([10, 10, 10, 10, 10], 3, [10, 10, 10], 0, 10),
    "one failed run is forgiven": ([10, None, 20, 30], 3, [20, 30], 1, 25),
    "a window with two failures is invalid": ([None, 10, None, 20, 30], 3, [None, 20, 30], 2, 30),
    "half of the windows invalid": ([None, None, 10, 20], 3, [None, 20], None, None),
    "all invalid": ([None, None, None, None], 3, [None, None], None, None),
    "a single run a window has no olympic mean": ([10, 20], 1, [None, None], None, None),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_windows_worked_out_by_hand(name: str) -> None:
    minutes, size, scores, chosen, middle = BY_HAND[name]
    selection = select_window(runs(*minutes), size, 1)
    assert [window.minutes for window in selection.windows] == scores
    assert (selection.chosen, selection.median) == (chosen, middle)
    if chosen is not None:
        assert [run.path for run in selection.submitted] == [f"result_{chosen + n}.txt" for n in range(size)]
    else:
        assert selection.submitted == ()


def test_unet3d_drops_four_and_four() -> None:
    selection = select_window(runs(*[10.0] * 36, *[None] * 4, 10.0), 40, 4)
    assert [window.minutes for window in selection.windows] == [10, 10]
    assert select_window(runs(*[10.0] * 35, *[None] * 5), 40, 4).chosen is None


def test_runs_that_start_together_are_ordered_by_path() -> None:
    together = [TimedRun(name, 1e12, 10) for name in ("b", "c", "a")]
    assert [run.path for run in select_window(together, 3, 1).runs] == ["a", "b", "c"]


@pytest.mark.parametrize(("count", "size"), [(2, 3), (0, 1), (3, 0), (3, -1)])
def test_too_few_runs_have_no_window(count: int, size: int) -> None:
    with pytest.raises(ValueError, match="have no window of"):
        select_window(runs(*[10.0] * count), size, 1)


def test_overlapping_runs_are_found() -> None:
    hours = runs(30, 70, 30, None, 30)
    assert overlapping(hours) == [(1, 2)]


def test_a_long_run_overlaps_all_that_begin_while_it_runs() -> None:
    assert overlapping(runs(150, 30, 30, 30)) == [(0, 1), (0, 2)]


def test_runs_that_start_together_are_found_and_do_not_overlap() -> None:
    together = [TimedRun("a", 1e12, 90), TimedRun("b", 1e12, None), TimedRun("c", 1e12 + HOUR, 10)]
    assert starting_together(together) == [(0, 1)]
    assert overlapping(together) == [(0, 2)]


def test_the_example_of_the_rules() -> None:
    """N=5 of M=10: six windows, of which the third and the fourth fastest are in the middle; a failed run is forgiven.

    Windows: 1 3 5 7 9 is 5, 3 5 7 9 11 is 7, 5 7 9 11 - is 9, 7 9 11 - 2 is 9, 9 11 - 2 4 is 8, 11 - 2 4 6 is 7.
    """
    selection = select_window(runs(1, 3, 5, 7, 9, 11, None, 2, 4, 6), 5, 1)
    assert [window.minutes for window in selection.windows] == [5, 7, 9, 9, 8, 7]
    assert (selection.median, selection.chosen) == (7.5, 4)


def test_notes_say_what_a_reader_should_know() -> None:
    needs = EntryRequirements("resnet", "", 5, 1)
    assert list(notes_on(select_window(runs(*[10] * 6), 5, 1), needs)) == []
    assert list(notes_on(select_window(runs(*[10] * 5), 5, 1), needs)) == [
        "there are no more runs than one window has, so that nothing is selected"
    ]
    notes = list(notes_on(select_window(runs(*[90] * 8), 3, 1), needs))
    assert notes[0] == "an entry of resnet has 5 runs, not 3"
    assert notes[1].endswith("wrong: 1 and 2, 2 and 3, 3 and 4, 4 and 5, 5 and 6, and 2 more")


minutes_of_runs = st.lists(st.one_of(st.none(), st.floats(0.1, 1e4)), min_size=3, max_size=14)


def scores(selection: Selection) -> list[float]:
    return [math.inf if window.minutes is None else window.minutes for window in selection.windows]


@given(minutes_of_runs, st.integers(3, 10), st.integers())
def test_the_order_of_the_arguments_does_not_matter(minutes: list[float | None], size: int, seed: int) -> None:
    size = min(size, len(minutes))
    ordered = runs(*minutes)
    shuffled = random.Random(seed).sample(ordered, len(ordered))
    assert select_window(shuffled, size, 1) == select_window(ordered, size, 1)


@given(minutes_of_runs, st.integers(3, 10))
def test_no_window_is_nearer_to_the_median_than_the_selected(minutes: list[float | None], size: int) -> None:
    size = min(size, len(minutes))
    selection = select_window(runs(*minutes), size, 1)
    found = scores(selection)
    assert found == [
        math.inf if (score := olympic_mean(minutes[n : n + size], 1)) is None else score for n in range(len(found))
    ]
    middle = median(found)
    if selection.chosen is None:
        assert math.isinf(middle)
        assert sum(map(math.isinf, found)) >= len(found) / 2
    else:
        off = abs(found[selection.chosen] - middle)
        assert all(abs(score - middle) >= off - 1e-12 * middle for score in found)
        assert len(selection.submitted) == size


@given(st.lists(st.floats(0.1, 1e4), min_size=4, max_size=14), st.integers(3, 10))
def test_of_two_windows_in_the_middle_the_slower_is_selected(minutes: list[float], size: int) -> None:
    """Whatever the rounding: the distances of two scores from the mean of both are equal on paper only."""
    selection = select_window(runs(*minutes), min(size, len(minutes)), 1)
    found = scores(selection)
    assert selection.chosen is not None
    chosen = found[selection.chosen]
    assert sum(score > chosen for score in found) < len(found) / 2
    assert sum(score < chosen for score in found) <= len(found) / 2
    assert selection.chosen == found.index(chosen)
    if len(found) % 2 == 0:
        assert chosen == min(score for score in found if sum(other > score for other in found) < len(found) / 2)


@given(minutes_of_runs, st.integers(3, 10), st.integers(0, 13))
def test_a_run_that_fails_never_makes_the_result_better(minutes: list[float | None], size: int, which: int) -> None:
    size, which = min(size, len(minutes)), which % len(minutes)
    before = select_window(runs(*minutes), size, 1)
    after = select_window(runs(*[None if n == which else value for n, value in enumerate(minutes)]), size, 1)
    if after.chosen is not None:
        assert before.chosen is not None
        assert scores(after)[after.chosen] >= scores(before)[before.chosen]


def test_a_log_without_a_time_has_no_place_in_the_order(tmp_path: Path) -> None:
    (tmp_path / "result_0.txt").write_text("no record\n", encoding="utf-8")
    assert timed_run(judge_log(str(tmp_path / "result_0.txt"), "result_0.txt", get_round("training", "1.0"))) is None


@pytest.mark.parametrize(
    ("keys", "compliant", "status", "expected"),
    [
        ("a init_start run_start run_stop", True, "success", (3_000, 1.0, None)),
        ("a init_start run_start run_stop", True, "aborted", (3_000, None, "did not converge")),
        ("a init_start run_start run_stop", False, "success", (3_000, None, "noncompliant")),
        ("a init_start run_stop", False, "success", (2_000, None, "noncompliant")),
        ("a run_stop", False, "success", (1_000, None, "noncompliant")),
        ("a init_start run_stop", True, "success", None),
    ],
)
def test_a_run_that_failed_has_its_place_by_its_first_sign_of_life(
    keys: str, compliant: bool, status: str, expected: tuple[float, float | None, str | None] | None
) -> None:
    times = {"a": 1_000, "init_start": 2_000, "run_start": 3_000, "run_stop": 63_000}
    made = [{"time_ms": times[key], "key": key, "value": 1, "metadata": {"status": status}} for key in keys.split()]
    log = replace(log_of(made, "run"), compliant=compliant)
    assert timed_run(log) == (None if expected is None else TimedRun("run", *expected))
