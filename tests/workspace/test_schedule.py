"""Answers do not depend on where and in which chunks logs are read."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mlsub.findings import Finding, Verdict
from mlsub.rules.catalogue import finding
from mlsub.workspace import Settings, check_apart, check_each, check_paths, check_with_logs, find_places, schedule
from mlsub.workspace.executors import Pool
from tools.support.corpus import CORPUS
from tools.support.effort import LONG
from tools.support.make_tree import make_tree, spoil

#: Small packages, of several rounds; some have copies of logs, some are rejected.
SOME = ("v0.7/SIAT", "v1.1/NVIDIA", "v2.0/MosaicML", "v3.1/Google", "v5.1/MiTAC", "hpc-v3.0/TACC")


def published() -> list[Path]:
    if LONG:
        return [CORPUS]
    found = [CORPUS / name for name in SOME if (CORPUS / name).is_dir()]
    return found or pytest.skip("no published packages here")


def rounds(tmp_path: Path) -> Path:
    """Two rounds; of one, two organisations."""
    for name, benchmarks in (("v1.0", ("resnet", "bert")), ("v1.1", ("resnet",))):
        make_tree(tmp_path, name, benchmarks=benchmarks)
    make_tree(tmp_path, "v1.0", org="OTHER")
    return tmp_path


def encoded(found: object) -> bytes:
    return msgspec.json.encode(found)


@pytest.fixture(params=[pytest.param(False, marks=pytest.mark.slow), True], ids=["whole", "cut"])
def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether each package is cut into chunks."""
    if request.param:
        monkeypatch.setattr(schedule, "most_in_one", lambda *_: 0)
    return bool(request.param)


@pytest.mark.slow
@pytest.mark.usefixtures("cut")
def test_one_process_and_two_give_the_same_bytes() -> None:
    paths = published()
    assert encoded(check_paths(paths, Settings(jobs=2))) == encoded(check_paths(paths, Settings(jobs=1)))


@pytest.mark.usefixtures("cut")
def test_what_was_read_of_the_logs_is_the_same_too(tmp_path: Path) -> None:
    tree = rounds(tmp_path)
    alone = check_with_logs([tree], Settings(jobs=1))
    assert [len(one.logs) for one in alone] == [len(one.report.logs) for one in alone]
    assert [log.path for one in alone for log in one.logs] == [log.path for one in alone for log in one.report.logs]
    assert check_with_logs([tree], Settings(jobs=2)) == alone


def test_reports_come_in_order_as_soon_as_they_can(tmp_path: Path) -> None:
    tree = rounds(tmp_path)
    seen: list[tuple[int, int]] = []
    count, reports = check_each([tree], Settings(jobs=1, progress=lambda done, total: seen.append((done, total))))
    assert (count, seen) == (2, [])
    first = next(reports)
    assert (first.round, seen[-1]) == ("1.0", (20, 25)), "the second round has not been read"
    assert [report.round for report in reports] == ["1.1"]
    assert seen[-1] == (25, 25)


def test_no_more_packages_are_begun_than_so_many_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    class Lazy(Executor):
        def submit(self, work: Any, *words: Any) -> Any:  # type: ignore[override]
            begun.append(work)
            return SimpleNamespace(result=partial(work, *words))

    monkeypatch.setattr(schedule, "AHEAD", 3)
    monkeypatch.setattr(schedule, "open_pool", lambda *_: nullcontext(Pool(Lazy(), 2)))
    places, _ = find_places([make_tree(tmp_path).folder], Settings())
    answers = check_apart(places * 8, Settings())
    assert (len(next(answers).report.logs), len(begun)) == (5, 6)
    next(answers)
    assert len(begun) == 7


def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes begin as forks, which know what a test has replaced, whatever threads earlier tests left."""
    monkeypatch.setattr("threading.active_count", lambda: 1)


def test_a_defect_of_ours_is_raised_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(schedule, "judge_package", broken)
    forks(monkeypatch)
    for jobs in (1, 2):
        with pytest.raises(ZeroDivisionError):
            check_paths([make_tree(tmp_path / str(jobs)).folder], Settings(jobs=jobs))


@pytest.mark.parametrize("at", ["packages", "listing", "judging"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_round_that_goes_away_does_not_keep_others_from_being_checked(
    at: str, cut: bool, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlsub.workspace import check

    tree = rounds(tmp_path)
    [good, _] = check_paths([tree], Settings())
    module, name = {
        "packages": (check, "packages"),
        "listing": (schedule, "list_package"),
        "judging": (schedule, "judge_package"),
    }[at]
    real = getattr(module, name)

    def gone(*words: Any) -> Any:
        if "v1.1" in str(words):
            raise PermissionError(13, "Permission denied", "v1.1/ACME")
        return real(*words)

    monkeypatch.setattr(module, name, gone)
    forks(monkeypatch)
    first, second = check_paths([tree], Settings(jobs=jobs))
    assert first == good
    assert second.official is Verdict.NOT_CHECKED
    assert [(f.rule, f.actual) for f in second.findings] == [("tree.unreadable", "v1.1/ACME")]


def test_a_log_beside_its_package_is_reported_once(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    log, other = tree.log(), tmp_path / "v1.0" / "result_9.txt"
    other.write_bytes(log.read_bytes())
    for jobs in (1, 2):
        [checked] = check_with_logs([tree.folder, log, other], Settings("1.0", jobs=jobs))
        paths = [one.path for one in checked.report.logs]
        assert len(paths) == len(set(paths)) == len(checked.logs) == 6
        assert paths[-1] == "result_9.txt"
        assert [f.path for f in checked.report.findings if f.rule == "entry.same-log-twice"] == ["result_9.txt"]


@pytest.mark.parametrize("keep", [False, True])
def test_little_comes_back_and_it_is_what_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: bool) -> None:
    judge, made = schedule.judge, []

    def judged(*words: Any) -> schedule.Checked:
        made.append(judge(*words))
        return made[-1]

    monkeypatch.setattr(schedule, "judge", judged)
    (check_with_logs if keep else check_paths)([make_tree(tmp_path).folder], Settings("1.0", jobs=1))
    assert [bool(one.logs) for one in made] == [keep]
    problems: list[Finding] = [finding("log.empty", "\udcff.txt", line=None), finding("log.empty", "a", actual="nan")]
    made += [msgspec.structs.replace(one, crashed=(problem,)) for one in made for problem in problems]
    again = pickle.loads(pickle.dumps(made))  # noqa: S301  (made here)
    assert again == made
    assert repr(again) == repr(made)


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_place_has_the_report_it_has_alone(tmp_path: Path, jobs: int) -> None:
    trees = [make_tree(tmp_path, "v1.0", "ACME"), make_tree(tmp_path, "v1.0", "Bolt"), make_tree(tmp_path, "v1.1")]
    spoil(trees[1], 0)
    paths = [*(tree.folder for tree in trees), trees[0].folder / "results" / "rack1"]
    places = [one for path in paths for one in find_places([path], Settings())[0]]
    found = list(check_apart(places, Settings(jobs=jobs)))
    assert len(found) == 4
    for at, path in enumerate(paths):
        assert [found[at]] == check_with_logs([path], Settings(jobs=1)), path


def test_nothing_to_check_is_no_report() -> None:
    assert list(check_apart([], Settings())) == []
