"""Logs are read once: several processes give what one gives, the cache what was read, a defect of ours a finding."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mlsub.commands.review.run import observe_sides, sides_of
from mlsub.io import MlsubError
from mlsub.judge.log import judge_log
from mlsub.rounds import get_round
from mlsub.submission.model import LogReport
from mlsub.submission.report import Report
from mlsub.workspace import ANY, Context, Request, check_paths, check_with_logs
from mlsub.workspace.cache import Cache
from mlsub.workspace.logs import logs_job
from mlsub.workspace.runs import one_benchmark
from mlsub.workspace.schedule import read_logs
from tests.workspace.changes import CHANGES, symbolic_link, touched_back
from tools.support.corpus import CORPUS
from tools.support.effort import LONG
from tools.support.judging import deep, report_on
from tools.support.make_tree import Tree, make_tree

pytestmark = pytest.mark.usefixtures("settled")
VALUES = [
    "1", "1.0", "-0.0", "1e400", "-1e400", "NaN", "Infinity", "true", "null", '""', '"ä"', '"\\ud800"', '"\\u0000"',
    "9007199254740993", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1" * 400,
    "[1, [1.0, {}]]", '{"a": {"": null}}', "[" * 200 + "]" * 200,
]  # fmt: skip


Reports = tuple[LogReport, ...]
HERE = Context(jobs=1)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def files_of(tree: Tree) -> list[Path]:
    return sorted(tree.entry().glob("result_*"))


def reports(files: Sequence[Path], cache: Cache | None = None, context: Context = HERE, **asked: Any) -> Reports:
    """The reports on logs, called by their places below the folder that all lie in."""
    context = replace(context, request=Request(**asked), cache=cache)
    root = min((file.parent for file in files), key=lambda folder: len(folder.parts))
    job = logs_job(files, root, get_round("training", "1.0", context.request.overlay), context.request)
    return read_logs([job], context)[0]


def read(cache: Cache | None, files: Sequence[Path], **asked: Any) -> tuple[tuple[LogReport, ...], list[str]]:
    """The reports, and the names of the logs that were read."""
    opened: list[str] = []

    def judged(file: str, *words: Any, **more: Any) -> LogReport:
        opened.append(Path(file).name)
        return judge_log(file, *words, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlsub.workspace.reading.judge_log", judged)
        return reports(files, cache, **asked), opened


def test_runs_are_of_the_one_benchmark_of_the_round_that_some_of_them_name(tree: Tree) -> None:
    [log], round_ = reports(files_of(tree)[:1]), get_round("training", "1.0")

    def found(*names: str | None) -> str:
        return one_benchmark([replace(log, benchmark=name) for name in names], round_)

    assert found(None, "resnet", "resnet") == "resnet"
    for names, words in (
        ((None,), "No log states its submission_benchmark"),
        (("resnet", "bert", "resnet"), r"The runs are of 2 benchmarks \(bert, resnet\)"),
        (("resnett",), r"resnett is not a benchmark of MLPerf Training v1.0. Did you mean resnet\?"),
        (("zzz",), "zzz is not a benchmark of MLPerf Training v1.0. Name one of "),
        (("flux1",), "flux1 came in v5.1: wrong round"),
    ):
        with pytest.raises(MlsubError, match=words):
            found(*names)


def test_what_was_read_is_recalled_as_it_was(cache: Cache, tree: Tree) -> None:
    cold, opened = read(cache, files_of(tree))
    assert len(opened) == len(files_of(tree))
    warm, opened = read(Cache(cache.folder), files_of(tree))
    assert opened == []
    assert deep(warm) == deep(cold) == deep(reports(files_of(tree)))


@pytest.mark.parametrize("change", CHANGES)
def test_a_log_that_changed_is_read_again(cache: Cache, tree: Tree, change: Callable[[Path], None]) -> None:
    files = files_of(tree)
    before = read(cache, files)[0]
    change(files[1])
    after, opened = read(cache, files)
    assert opened == [files[1].name]
    assert after != before
    assert deep(after) == deep(reports(files))
    assert read(cache, files)[1] == []


def test_the_target_of_a_link_is_what_counts(cache: Cache, tree: Tree) -> None:
    files = files_of(tree)
    symbolic_link(files[1])
    before = read(cache, files)[0]
    touched_back(files[1].resolve())
    after, opened = read(cache, files)
    assert opened == [files[1].name]
    assert after != before


def test_logs_of_an_organisation_have_one_record(cache: Cache, tree: Tree) -> None:
    other = tree.entry().parents[1] / "other" / tree.entry().name
    shutil.copytree(tree.entry(), other)
    files = files_of(tree)
    more = [other / file.name for file in files]
    for some in (files, more):
        read(cache, some)
    assert len(list(cache.records())) == 1
    for some in (more, files):
        found, opened = read(cache, some)
        assert opened == []
        assert deep(list(found)) == deep([report_on(file, "training", "1.0") for file in some])
    touched_back(more[0])
    assert read(cache, more)[1] == [more[0].name]
    assert read(cache, files)[1] == []


def test_a_log_that_is_packed_is_another(cache: Cache, tree: Tree) -> None:
    file = files_of(tree)[0]
    packed = file.with_name("result_0.txt.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    file.with_name("result_9.txt").symlink_to(packed)
    cold = read(cache, files_of(tree))[0]
    warm, opened = read(cache, files_of(tree))
    assert opened == []
    assert deep(warm) == deep(cold) == deep(reports(files_of(tree)))
    packed.write_bytes(gzip.compress(file.read_bytes().replace(b"success", b"aborted")))
    assert sorted(read(cache, files_of(tree))[1]) == ["result_0.txt.gz", "result_9.txt"]


def test_what_is_too_young_is_not_kept(cache: Cache, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    read(cache, files_of(tree))
    assert not list(cache.records())


def test_a_new_run_is_the_only_one_that_is_read(cache: Cache, tree: Tree) -> None:
    files = files_of(tree)
    read(cache, files[:3])
    assert read(cache, files[2:])[1] == [file.name for file in files[3:]]
    assert read(cache, files)[1] == []
    files[0].unlink()
    touched_back(files[1])
    assert len(read(cache, files_of(tree))[1]) == 1
    (record,) = cache.records()
    assert b"result_0.txt" not in record.path.read_bytes(), "a log that is gone makes room"


def test_what_is_asked_besides_is_remembered_too(cache: Cache, tree: Tree) -> None:
    files = files_of(tree)
    read(cache, files)
    cold, opened = read(cache, files, trace=True, intervals=True)
    assert len(opened) == len(files), "others have not asked for it"
    warm, opened = read(cache, files, trace=True, intervals=True)
    assert opened == []
    assert deep(warm) == deep(cold)
    assert all(report.trace.keys and report.intervals is not None for report in warm)
    assert read(cache, files)[1] == []


def test_the_rules_of_the_user_count_with_their_content(cache: Cache, tree: Tree, tmp_path: Path) -> None:
    house, files = tmp_path / "rules.yaml", files_of(tree)
    house.write_text('title: Ours\ncommon:\n  "1.0":\n    both:\n      acme_ticket: {occurs: at_least_one}\n')
    read(cache, files)
    assert len(read(cache, files, overlay=str(house))[1]) == len(files)
    assert read(cache, files, overlay=str(house))[1] == []
    house.write_text(house.read_text().replace("acme_ticket", "other_ticket"))
    assert len(read(cache, files, overlay=str(house))[1]) == len(files)
    house.unlink()
    assert read(cache, files)[1] == []


def test_a_defect_of_ours_is_a_finding_never_a_pass_and_not_kept(
    cache: Cache, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("inside a rule")

    files = files_of(tree)[:1]
    with monkeypatch.context() as patch:
        patch.setattr("mlsub.workspace.reading.judge_log", broken)
        [report] = reports(files, cache)
    assert not report.compliant
    assert [(f.rule, f.rejects, f.actual) for f in report.findings] == [
        ("rule.crashed", True, "ZeroDivisionError: inside a rule")
    ]
    assert len(read(cache, files)[1]) == 1


def test_a_log_that_was_not_there_is_read_once_it_is(cache: Cache, tree: Tree) -> None:
    nowhere = [tree.entry() / "none.txt"]
    read(cache, nowhere)
    nowhere[0].write_bytes(tree.log(0).read_bytes())
    assert read(cache, nowhere)[1] == ["none.txt"]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:24])
@pytest.mark.parametrize("key", ["global_batch_size", "seed", "eval_accuracy", "submission_org", "odd"])
def test_any_value_comes_back_exactly_or_is_read_again(cache: Cache, tree: Tree, key: str, value: str) -> None:
    metadata = f'{{"file": {value}, "lineno": 1, "epoch_num": {value}}}'
    record = f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 5, "metadata": {metadata}}}\n'
    tree.log(0).write_text(record + tree.log(0).read_text() + record)
    cold, _ = read(cache, files_of(tree)[:1])
    warm, _ = read(cache, files_of(tree)[:1])
    assert deep(warm) == deep(cold)


def test_a_path_is_all_that_depends_on_the_path(tree: Tree) -> None:
    for file in files_of(tree):
        other = report_on(file, "training", "1.0", "some/other/path.txt")
        assert deep(report_on(file, "training", "1.0").at(other.path)) == deep(other)


def test_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    for number in range(40):
        records = [
            {"time_ms": 1000 * step + number, "key": key, "value": number, "metadata": {"status": "success"}}
            for step, key in enumerate(("init_start", "init_stop", "run_start", "run_stop"))
        ]
        text = "".join(f":::MLLOG {json.dumps(record)}\n" for record in records)
        (tmp_path / f"result_{number}.txt").write_text(text)
    files, seen = list(tmp_path.iterdir()), list[tuple[int, int]]()
    together = reports(files, context=Context(jobs=2, progress=lambda done, total: seen.append((done, total))))
    assert together == reports(files)
    assert [report.path for report in together] == [file.name for file in files]
    assert seen[-1] == (40, 40)


def test_what_changes_while_it_is_read_is_read_again(cache: Cache, tree: Tree) -> None:
    def changing(file: str, *words: Any, **asked: Any) -> LogReport:
        report = judge_log(file, *words, **asked)
        if file == str(tree.log(0)):
            touched_back(Path(file))
        return report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlsub.workspace.reading.judge_log", changing)
        reports(files_of(tree), cache)
    assert read(cache, files_of(tree))[1] == ["result_0.txt"]


# What published logs show comes back exactly, and every answer about them is the same, cold and warm.

published = pytest.mark.skipif(not CORPUS.is_dir(), reason="no published results")
#: Packages of every reader and format there is, and all of them.
SOME = ("hpc-v3.0", "v0.7/SIAT", "v1.0/Graphcore", "v5.1/MiTAC")


def places() -> list[str]:
    return [str(CORPUS)] if LONG else [str(CORPUS / name) for name in SOME]


@published
@pytest.mark.slow
@pytest.mark.parametrize("trace", [False, True], ids=["reports", "traces"])
def test_logs_come_back_as_they_were(folder: Path, trace: bool) -> None:
    cold = check_with_logs(places(), Context(Request(trace=trace), cache=Cache(folder)))
    cache = Cache(folder)
    warm = check_with_logs(places(), Context(Request(trace=trace), cache=cache))
    assert cache.asked["logs"] == cache.reused["logs"] == sum(len(one.logs) for one in cold) > 0
    assert deep(warm) == deep(cold)


@published
@pytest.mark.slow
def test_reports_come_back_as_they_were(folder: Path) -> None:
    def reports(cache: Cache | None, jobs: int | None = None) -> list[Report]:
        return check_paths(places(), Context(cache=cache, jobs=jobs))

    without = reports(None)
    cold = reports(Cache(folder), jobs=2)
    cache = Cache(folder)
    warm = reports(cache, jobs=1)
    assert cache.asked["packages"] == cache.reused["packages"] > 0
    assert deep(without) == deep(cold) == deep(warm)


@published
@pytest.mark.slow
def test_a_review_comes_back_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = observe_sides(sides_of(places(), ANY), Context())
    first = observe_sides(sides_of(places(), ANY), Context(cache=Cache(folder)))
    monkeypatch.delattr("mlsub.commands.review.run.read")
    again = observe_sides(sides_of(places(), ANY), Context(cache=Cache(folder)))
    assert deep(first) == deep(again) == deep(without)
