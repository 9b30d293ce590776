"""Logs are read once: several processes give what one gives, the cache what was read, a defect of ours a finding."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.workspace import Settings
from mlsub.workspace.cache import Cache
from mlsub.workspace.logs import judge_safely, read_logs
from tests.make_tree import Tree, make_tree
from tests.typed import deep
from tests.workspace.changes import CHANGES, symbolic_link, touched_back

pytestmark = pytest.mark.usefixtures("settled")
VALUES = [
    "1", "1.0", "-0.0", "1e400", "-1e400", "NaN", "Infinity", "true", "null", '""', '"ä"', '"\\ud800"', '"\\u0000"',
    "9007199254740993", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1" * 400,
    "[1, [1.0, {}]]", '{"a": {"": null}}', "[" * 200 + "]" * 200,
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def tasks_of(tree: Tree, **words: Any) -> list[LogTask]:
    files = sorted(tree.entry().glob("result_*"))
    return [LogTask(str(file), f"ACME/{file.name}", "training", "1.0", **words) for file in files]


def read(cache: Cache | None, tasks: list[LogTask]) -> tuple[list[LogReport], list[str]]:
    """The reports, and the names of the logs that were read."""
    opened: list[str] = []

    def judged(task: LogTask) -> LogReport:
        opened.append(Path(task.file).name)
        return judge_log(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlsub.workspace.logs.judge_log", judged)
        reports = read_logs(tasks, Settings(jobs=1, cache=cache))
    return reports, opened


def test_what_was_read_is_recalled_as_it_was(cache: Cache, tree: Tree) -> None:
    tasks = tasks_of(tree)
    cold, opened = read(cache, tasks)
    assert len(opened) == len(tasks)
    warm, opened = read(Cache(cache.folder), tasks)
    assert opened == []
    assert deep(warm) == deep(cold) == deep(read(None, tasks)[0])


@pytest.mark.parametrize("change", CHANGES)
def test_a_log_that_changed_is_read_again(cache: Cache, tree: Tree, change: Callable[[Path], None]) -> None:
    tasks = tasks_of(tree)
    before = read(cache, tasks)[0]
    change(Path(tasks[1].file))
    after, opened = read(cache, tasks)
    assert opened == [Path(tasks[1].file).name]
    assert after != before
    assert deep(after) == deep(read(None, tasks)[0])
    assert read(cache, tasks)[1] == []


def test_the_target_of_a_link_is_what_counts(cache: Cache, tree: Tree) -> None:
    tasks = tasks_of(tree)
    symbolic_link(Path(tasks[1].file))
    before = read(cache, tasks)[0]
    touched_back(Path(tasks[1].file).resolve())
    after, opened = read(cache, tasks)
    assert opened == [Path(tasks[1].file).name]
    assert after != before


def test_logs_of_an_organisation_lie_on_one_shelf(cache: Cache, tree: Tree) -> None:
    other = tree.entry().parents[1] / "other" / tree.entry().name
    shutil.copytree(tree.entry(), other)
    tasks = tasks_of(tree)
    more = [msgspec.structs.replace(task, file=str(other / Path(task.file).name)) for task in tasks]
    read(cache, [*tasks, *more])
    assert len(list(cache.records())) == 1
    for some in (more, tasks):
        reports, opened = read(cache, some)
        assert opened == []
        assert deep(reports) == deep(list(map(judge_log, some)))
    touched_back(Path(more[0].file))
    assert read(cache, more)[1] == [Path(more[0].file).name]
    assert read(cache, tasks)[1] == []


def test_a_log_that_is_packed_is_another(cache: Cache, tree: Tree) -> None:
    file = Path(tasks_of(tree)[0].file)
    packed = file.with_name("result_0.txt.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    as_text = file.with_name("result_9.txt")
    as_text.symlink_to(packed)
    tasks = tasks_of(tree)
    cold = read(cache, tasks)[0]
    warm, opened = read(cache, tasks)
    assert opened == []
    assert deep(warm) == deep(cold) == deep(read(None, tasks)[0])
    packed.write_bytes(gzip.compress(file.read_bytes().replace(b"success", b"aborted")))
    assert sorted(read(cache, tasks)[1]) == ["result_0.txt.gz", "result_9.txt"]


def test_what_is_too_young_is_not_kept(cache: Cache, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    read(cache, tasks_of(tree))
    assert not list(cache.records())


def test_a_new_run_is_the_only_one_that_is_read(cache: Cache, tree: Tree) -> None:
    read(cache, tasks_of(tree)[:3])
    assert read(cache, tasks_of(tree)[2:])[1] == [Path(task.file).name for task in tasks_of(tree)[3:]]
    assert read(cache, tasks_of(tree))[1] == []
    Path(tasks_of(tree)[0].file).unlink()
    touched_back(Path(tasks_of(tree)[0].file))
    assert len(read(cache, tasks_of(tree))[1]) == 1
    (record,) = cache.records()
    assert b"result_0.txt" not in record.path.read_bytes(), "a log that is gone makes room"


def test_what_is_asked_besides_is_remembered_too(cache: Cache, tree: Tree) -> None:
    read(cache, tasks_of(tree))
    tasks = tasks_of(tree, trace=True, intervals=True)
    cold, opened = read(cache, tasks)
    assert len(opened) == len(tasks), "others have not asked for it"
    warm, opened = read(cache, tasks)
    assert opened == []
    assert deep(warm) == deep(cold)
    assert all(report.trace is not None and report.intervals is not None for report in warm)
    assert read(cache, tasks_of(tree))[1] == []


def test_the_rules_of_the_user_count_with_their_content(cache: Cache, tree: Tree, tmp_path: Path) -> None:
    house = tmp_path / "rules.yaml"
    house.write_text('title: Ours\ncommon:\n  "1.0":\n    both:\n      acme_ticket: {occurs: at_least_one}\n')
    tasks = tasks_of(tree, overlay=str(house))
    read(cache, tasks_of(tree))
    assert len(read(cache, tasks)[1]) == len(tasks)
    assert read(cache, tasks)[1] == []
    house.write_text(house.read_text().replace("acme_ticket", "other_ticket"))
    assert len(read(cache, tasks)[1]) == len(tasks)
    house.unlink()
    assert read(cache, tasks_of(tree))[1] == []


def test_what_goes_wrong_for_once_is_not_kept(cache: Cache, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(tree)[:1]

    def fails(task: LogTask) -> LogReport:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("mlsub.workspace.logs.judge_log", fails)
        assert judge_safely(tasks[0]).findings[0].rule == "rule.crashed"
        list(read_logs(tasks, Settings(jobs=1, cache=cache)))
    assert len(read(cache, tasks)[1]) == 1
    nowhere = [LogTask(str(tree.entry() / "none.txt"), "none.txt", "training", "1.0")]
    read(cache, nowhere)
    (tree.entry() / "none.txt").write_bytes(Path(tasks[0].file).read_bytes())
    assert read(cache, nowhere)[1] == ["none.txt"]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:24])
@pytest.mark.parametrize("key", ["global_batch_size", "seed", "eval_accuracy", "submission_org", "odd"])
def test_any_value_comes_back_exactly_or_is_read_again(cache: Cache, tree: Tree, key: str, value: str) -> None:
    metadata = f'{{"file": {value}, "lineno": 1, "epoch_num": {value}}}'
    record = f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 5, "metadata": {metadata}}}\n'
    tree.log(0).write_text(record + tree.log(0).read_text() + record)
    tasks = tasks_of(tree)[:1]
    cold, _ = read(cache, tasks)
    warm, _ = read(cache, tasks)
    assert deep(warm) == deep(cold)


def test_a_path_is_all_that_depends_on_the_path(tree: Tree) -> None:
    for task in tasks_of(tree):
        other = msgspec.structs.replace(task, path="some/other/path.txt")
        assert deep(judge_log(task).at(other.path)) == deep(judge_log(other))


def small_logs(folder: Path, count: int) -> list[LogTask]:
    made = []
    for number in range(count):
        log = folder / f"result_{number}.txt"
        records = [
            {"time_ms": 1000 * step + number, "key": key, "value": number, "metadata": {"status": "success"}}
            for step, key in enumerate(("init_start", "init_stop", "run_start", "run_stop"))
        ]
        log.write_text("".join(f":::MLLOG {json.dumps(record)}\n" for record in records))
        made.append(LogTask(str(log), log.name, "training", "1.0"))
    return made


def test_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    work = small_logs(tmp_path, 40)
    seen: list[tuple[int, int]] = []
    alone = read_logs(work, Settings(jobs=1))
    together = read_logs(work, Settings(jobs=2, progress=lambda done, total: seen.append((done, total))))
    assert together == alone
    assert [report.path for report in together] == [task.path for task in work]
    assert seen[-1] == (40, 40)


def test_a_defect_of_ours_is_a_finding_and_never_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: LogTask) -> None:
        raise ZeroDivisionError("inside a rule")

    monkeypatch.setattr("mlsub.workspace.logs.judge_log", broken)
    [report] = read_logs(small_logs(tmp_path, 1), Settings())
    assert not report.compliant
    assert [(f.rule, f.rejects) for f in report.findings] == [("rule.crashed", True)]
    assert report.findings[0].actual == "ZeroDivisionError: inside a rule"


def test_what_changes_while_it_is_read_is_read_again(cache: Cache, tree: Tree) -> None:
    tasks = tasks_of(tree)

    def changing(task: LogTask) -> LogReport:
        report = judge_log(task)
        if task is tasks[0]:
            touched_back(Path(task.file))
        return report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlsub.workspace.logs.judge_log", changing)
        read_logs(tasks, Settings(jobs=1, cache=cache))
    assert read(cache, tasks)[1] == ["result_0.txt"]
