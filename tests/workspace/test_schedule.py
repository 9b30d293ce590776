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
from mlsub.rounds import get_round
from mlsub.rules.catalogue import finding
from mlsub.workspace import (
    ANY,
    Context,
    Request,
    check_apart,
    check_each,
    check_paths,
    check_with_logs,
    executors,
    find_places,
    reading,
    schedule,
)
from mlsub.workspace.executors import Pool
from mlsub.workspace.logs import PackageRecord, package_job
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
    assert encoded(check_paths(paths, Context(jobs=2))) == encoded(check_paths(paths, Context(jobs=1)))


@pytest.mark.usefixtures("cut")
def test_what_was_read_of_the_logs_is_the_same_too(tmp_path: Path) -> None:
    tree = rounds(tmp_path)
    alone = check_with_logs([tree], Context(jobs=1))
    assert [len(one.logs) for one in alone] == [len(one.report.logs) for one in alone]
    assert [log.path for one in alone for log in one.logs] == [log.path for one in alone for log in one.report.logs]
    assert check_with_logs([tree], Context(jobs=2)) == alone


def test_reports_come_in_order_as_soon_as_they_can(tmp_path: Path) -> None:
    tree = rounds(tmp_path)
    seen: list[tuple[int, int]] = []
    count, reports = check_each([tree], Context(jobs=1, progress=lambda done, total: seen.append((done, total))))
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

    monkeypatch.setattr(executors, "BEGUN_PER_PROCESS", 3)
    monkeypatch.setattr(executors, "open_pool", lambda *_: nullcontext(Pool(Lazy(), 2)))
    places, _ = find_places([make_tree(tmp_path).folder], ANY)
    answers = check_apart(places * 8, Context())
    assert (len(next(answers).report.logs), len(begun)) == (5, 6)
    next(answers)
    assert len(begun) == 7


def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes begin as forks, which know what a test has replaced, whatever threads earlier tests left."""
    monkeypatch.setattr("threading.active_count", lambda: 1)


def test_a_defect_of_ours_is_raised_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(reading, "judge_package", broken)
    forks(monkeypatch)
    for jobs in (1, 2):
        with pytest.raises(ZeroDivisionError):
            check_paths([make_tree(tmp_path / str(jobs)).folder], Context(jobs=jobs))


@pytest.mark.parametrize("at", ["packages", "listing", "judging"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_round_that_goes_away_does_not_keep_others_from_being_checked(
    at: str, cut: bool, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlsub.workspace as check

    tree = rounds(tmp_path)
    [good, _] = check_paths([tree], Context())
    module, name = {
        "packages": (check, "packages"),
        "listing": (reading, "list_package"),
        "judging": (reading, "judge_package"),
    }[at]
    real = getattr(module, name)

    def gone(*words: Any) -> Any:
        if "v1.1" in str(words):
            raise PermissionError(13, "Permission denied", "v1.1/ACME")
        return real(*words)

    monkeypatch.setattr(module, name, gone)
    forks(monkeypatch)
    first, second = check_paths([tree], Context(jobs=jobs))
    assert first == good
    assert second.official is Verdict.NOT_CHECKED
    assert [(f.rule, f.actual) for f in second.findings] == [("tree.unreadable", "v1.1/ACME")]


def test_a_log_beside_its_package_is_reported_once(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    log, other = tree.log(), tmp_path / "v1.0" / "result_9.txt"
    other.write_bytes(log.read_bytes())
    for jobs in (1, 2):
        [checked] = check_with_logs([tree.folder, log, other], Context(Request("1.0"), jobs=jobs))
        paths = [one.path for one in checked.report.logs]
        assert len(paths) == len(set(paths)) == len(checked.logs) == 6
        assert paths[-1] == "result_9.txt"
        assert [f.path for f in checked.report.findings if f.rule == "entry.same-log-twice"] == ["result_9.txt"]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("keep", [False, True])
def test_little_comes_back_and_it_is_what_was_made(tmp_path: Path, keep: bool) -> None:
    [place], _ = find_places([make_tree(tmp_path).folder], ANY)
    job = package_job(place, place.path, get_round("training", "1.0"), ANY, keep=keep)
    checked, record = reading.judge(msgspec.structs.replace(job, record=PackageRecord()))
    assert bool(checked.logs) is keep
    assert record is not None and len(record.logs) == 5
    made = [checked]
    problems: list[Finding] = [finding("log.empty", "\udcff.txt", line=None), finding("log.empty", "a", actual="nan")]
    made += [msgspec.structs.replace(one, crashed=(problem,)) for one in made for problem in problems]
    again = pickle.loads(pickle.dumps((made, record)))  # noqa: S301  (made here)
    assert again == (made, record)
    assert repr(again[0]) == repr(made)


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_place_has_the_report_it_has_alone(tmp_path: Path, jobs: int) -> None:
    trees = [make_tree(tmp_path, "v1.0", "ACME"), make_tree(tmp_path, "v1.0", "Bolt"), make_tree(tmp_path, "v1.1")]
    spoil(trees[1], 0)
    paths = [*(tree.folder for tree in trees), trees[0].folder / "results" / "rack1"]
    places = [one for path in paths for one in find_places([path], ANY)[0]]
    found = list(check_apart(places, Context(jobs=jobs)))
    assert len(found) == 4
    for at, path in enumerate(paths):
        assert [found[at]] == check_with_logs([path], Context(jobs=1)), path


def test_nothing_to_check_is_no_report() -> None:
    assert list(check_apart([], Context())) == []
