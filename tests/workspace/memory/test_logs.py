"""A log is recalled as long as nothing about its file has changed, and comes back as it was."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.intervals import IntervalFold, Intervals
from mlsub.log.report import LogReport
from mlsub.log.trace import Traced, TraceFold
from mlsub.workspace import Settings
from mlsub.workspace.logs import in_order, judge_safely, read_logs
from mlsub.workspace.memory import Memory, file_state, logs
from mlsub.workspace.memory.logs import REPORTS, Shelves, placed
from tests.make_tree import Tree, make_tree
from tests.typed import deep

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


def read(memory: Memory | None, tasks: list[LogTask]) -> tuple[list[LogReport], list[str]]:
    """The reports, and the names of the logs that were read."""
    opened: list[str] = []

    def judged(task: LogTask) -> LogReport:
        opened.append(Path(task.file).name)
        return judge_log(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlsub.workspace.logs.judge_log", judged)
        reports = in_order(read_logs(tasks, Settings(jobs=1, memory=memory)))
    return reports, opened


def test_what_was_read_is_recalled_as_it_was(memory: Memory, tree: Tree) -> None:
    tasks = tasks_of(tree)
    cold, opened = read(memory, tasks)
    assert len(opened) == len(tasks)
    warm, opened = read(Memory(memory.store.folder), tasks)
    assert opened == []
    assert deep(warm) == deep(cold) == deep(read(None, tasks)[0])


def same_size(file: Path) -> None:
    content = file.read_bytes()
    old, new = (b"success", b"aborted") if b"success" in content else (b"aborted", b"success")
    file.write_bytes(content.replace(old, new))
    assert file.stat().st_size == len(content)


def touched_back(file: Path) -> None:
    before = file.stat()
    same_size(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def renamed_over(file: Path) -> None:
    other = file.with_name("other")
    shutil.copy2(file, other)
    touched_back(other)
    other.replace(file)


def _other(file: Path) -> Path:
    other = file.parents[1] / "other.txt"
    shutil.copy2(file, other)
    touched_back(other)
    file.unlink()
    return other


def symbolic_link(file: Path) -> None:
    file.symlink_to(_other(file))


def hard_link(file: Path) -> None:
    os.link(_other(file), file)


@pytest.mark.parametrize("change", [same_size, touched_back, renamed_over, symbolic_link, hard_link])
def test_a_log_that_changed_is_read_again(memory: Memory, tree: Tree, change: Callable[[Path], None]) -> None:
    tasks = tasks_of(tree)
    before = read(memory, tasks)[0]
    change(Path(tasks[1].file))
    after, opened = read(memory, tasks)
    assert opened == [Path(tasks[1].file).name]
    assert after != before
    assert deep(after) == deep(read(None, tasks)[0])
    assert read(memory, tasks)[1] == []


def test_the_target_of_a_link_is_what_counts(memory: Memory, tree: Tree) -> None:
    tasks = tasks_of(tree)
    symbolic_link(Path(tasks[1].file))
    before = read(memory, tasks)[0]
    touched_back(Path(tasks[1].file).resolve())
    after, opened = read(memory, tasks)
    assert opened == [Path(tasks[1].file).name]
    assert after != before


def test_many_ways_lead_to_one_log(memory: Memory, tree: Tree, tmp_path: Path) -> None:
    tasks = tasks_of(tree)
    read(memory, tasks)
    (tmp_path / "links").mkdir()
    (tmp_path / "above").symlink_to(tree.folder)
    ways = []
    for number, task in enumerate(tasks):
        link = tmp_path / "links" / f"run_{number}.txt"
        link.symlink_to(task.file)
        other = tmp_path / "above" / Path(task.file).relative_to(tree.folder)
        ways += [msgspec.structs.replace(task, file=str(file), path=f"other/{file.name}") for file in (link, other)]
    reports, opened = read(memory, ways)
    assert opened == []
    assert deep(reports) == deep(list(map(judge_log, ways)))


def test_logs_of_an_organisation_lie_on_one_shelf(memory: Memory, tree: Tree) -> None:
    other = tree.entry().parents[1] / "other" / tree.entry().name
    shutil.copytree(tree.entry(), other)
    tasks = tasks_of(tree)
    more = [msgspec.structs.replace(task, file=str(other / Path(task.file).name)) for task in tasks]
    read(memory, [*tasks, *more])
    assert len(list(memory.store.kept())) == 1
    for some in (more, tasks):
        reports, opened = read(memory, some)
        assert opened == []
        assert deep(reports) == deep(list(map(judge_log, some)))
    touched_back(Path(more[0].file))
    assert read(memory, more)[1] == [Path(more[0].file).name]
    assert read(memory, tasks)[1] == []


def test_a_log_that_is_packed_is_another(memory: Memory, tree: Tree) -> None:
    file = Path(tasks_of(tree)[0].file)
    packed = file.with_name("result_0.txt.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    as_text = file.with_name("result_9.txt")
    as_text.symlink_to(packed)
    tasks = tasks_of(tree)
    cold = read(memory, tasks)[0]
    warm, opened = read(memory, tasks)
    assert opened == []
    assert deep(warm) == deep(cold) == deep(read(None, tasks)[0])
    packed.write_bytes(gzip.compress(file.read_bytes().replace(b"success", b"aborted")))
    assert sorted(read(memory, tasks)[1]) == ["result_0.txt.gz", "result_9.txt"]


def test_what_is_written_while_it_is_read_is_not_kept(memory: Memory, tree: Tree) -> None:
    tasks = tasks_of(tree)
    shelves = Shelves(memory, tasks, REPORTS)
    assert dict(shelves.recall()) == {}
    for index, task in enumerate(tasks):
        report = judge_log(task)
        if index == 0:
            touched_back(Path(task.file))
        shelves.keep(index, report)
    shelves.close()
    assert read(memory, tasks)[1] == ["result_0.txt"]


def test_what_is_too_young_is_not_kept(memory: Memory, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    read(memory, tasks_of(tree))
    assert not list(memory.store.kept())


def test_a_new_run_is_the_only_one_that_is_read(memory: Memory, tree: Tree) -> None:
    read(memory, tasks_of(tree)[:3])
    assert read(memory, tasks_of(tree)[2:])[1] == [Path(task.file).name for task in tasks_of(tree)[3:]]
    assert read(memory, tasks_of(tree))[1] == []
    Path(tasks_of(tree)[0].file).unlink()
    touched_back(Path(tasks_of(tree)[0].file))
    assert len(read(memory, tasks_of(tree))[1]) == 1
    (shelf,) = memory.store.kept()
    assert b"result_0.txt" not in shelf.path.read_bytes(), "a log that is gone makes room"


def test_what_is_asked_besides_is_remembered_too(memory: Memory, tree: Tree) -> None:
    read(memory, tasks_of(tree))
    tasks = tasks_of(tree, folds=(TraceFold, IntervalFold))
    cold, opened = read(memory, tasks)
    assert len(opened) == len(tasks), "others have not asked for it"
    warm, opened = read(memory, tasks)
    assert opened == []
    assert deep(warm) == deep(cold)
    assert all(report.fact(Traced) is not None and report.fact(Intervals) is not None for report in warm)
    assert read(memory, tasks_of(tree))[1] == []
    unknown = tasks_of(tree, folds=(lambda: TraceFold(),))
    assert len(read(memory, unknown)[1]) == len(read(memory, unknown)[1]) == len(tasks)


def test_the_rules_of_the_user_count_with_their_content(memory: Memory, tree: Tree, tmp_path: Path) -> None:
    house = tmp_path / "rules.yaml"
    house.write_text('title: Ours\ncommon:\n  "1.0":\n    both:\n      acme_ticket: {occurs: at_least_one}\n')
    tasks = tasks_of(tree, overlay=str(house))
    read(memory, tasks_of(tree))
    assert len(read(memory, tasks)[1]) == len(tasks)
    assert read(memory, tasks)[1] == []
    house.write_text(house.read_text().replace("acme_ticket", "other_ticket"))
    assert len(read(memory, tasks)[1]) == len(tasks)
    house.unlink()
    shelves = Shelves(memory, tasks, REPORTS)
    assert dict(shelves.recall()) == {}


def test_what_goes_wrong_for_once_is_not_kept(memory: Memory, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(tree)[:1]

    def fails(task: LogTask) -> LogReport:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("mlsub.workspace.logs.judge_log", fails)
        assert judge_safely(tasks[0]).findings[0].rule == "rule.crashed"
        list(read_logs(tasks, Settings(jobs=1, memory=memory)))
    assert len(read(memory, tasks)[1]) == 1
    nowhere = [LogTask(str(tree.entry() / "none.txt"), "none.txt", "training", "1.0")]
    read(memory, nowhere)
    (tree.entry() / "none.txt").write_bytes(Path(tasks[0].file).read_bytes())
    assert read(memory, nowhere)[1] == ["none.txt"]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:24])
@pytest.mark.parametrize("key", ["global_batch_size", "seed", "eval_accuracy", "submission_org", "odd"])
def test_any_value_comes_back_exactly_or_is_read_again(memory: Memory, tree: Tree, key: str, value: str) -> None:
    metadata = f'{{"file": {value}, "lineno": 1, "epoch_num": {value}}}'
    record = f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 5, "metadata": {metadata}}}\n'
    tree.log(0).write_text(record + tree.log(0).read_text() + record)
    tasks = tasks_of(tree)[:1]
    cold, _ = read(memory, tasks)
    warm, _ = read(memory, tasks)
    assert deep(warm) == deep(cold)


def test_a_path_is_all_that_depends_on_the_path(tree: Tree) -> None:
    for task in tasks_of(tree):
        other = msgspec.structs.replace(task, path="some/other/path.txt")
        assert deep(placed(judge_log(task), other.path)) == deep(judge_log(other))


def test_a_full_shelf_leaves_the_oldest_out(memory: Memory, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(tree)
    read(memory, tasks[:1])
    (shelf,) = memory.store.kept()
    monkeypatch.setattr(logs, "MAX_RECORD", 3 * shelf.bytes + (1 << 10))
    for task in tasks:
        read(memory, [task])
    assert read(memory, tasks[-1:])[1] == []
    assert 0 < len(read(memory, tasks)[1]) < len(tasks)


def test_content_that_its_state_does_not_show_is_found_out(
    memory: Memory, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlsub.workspace.memory.witness.ONE_IN", 1)
    tasks = tasks_of(tree)
    states = {task.file: file_state(task.file) for task in tasks}
    monkeypatch.setattr(logs, "file_state", lambda file: states[file])
    read(memory, tasks)
    assert read(memory, tasks)[1] == []
    same_size(Path(tasks[0].file))
    after, opened = read(memory, tasks)
    assert len(opened) == len(tasks), "nothing is believed of such a file system"
    assert memory.deceived == [tasks[0].file]
    assert after[0].status == "aborted"
