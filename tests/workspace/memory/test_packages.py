"""A package and its logs are remembered by one look at its tree before they are read and one after."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths
from mlsub.workspace.memory import Memory, tree_state
from tests.make_tree import Tree, make_tree
from tests.workspace.memory.test_logs import deep, touched_back

pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def check(tree: Tree, memory: Memory | None, change: Path | None = None) -> tuple[Report, list[str]]:
    """The report, and the names of the logs that were read; a file may change as the first of them is read."""
    opened: list[str] = []

    def judged(task: LogTask) -> LogReport:
        if change is not None and not opened:
            touched_back(change)
        opened.append(Path(task.file).name)
        return judge_log(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlsub.workspace.logs.judge_log", judged)
        (report,) = check_paths([tree.folder], Settings(round="1.0", jobs=1, memory=memory))
    return report, opened


def kinds(memory: Memory) -> Counter[str]:
    return Counter(one.kind for one in memory.store.kept())


def test_a_package_and_its_logs_are_two_records(memory: Memory, tree: Tree) -> None:
    cold, opened = check(tree, memory)
    assert len(opened) > 1
    assert kinds(memory) == {"logs": 1, "packages": 1}
    warm, opened = check(tree, memory)
    assert opened == []
    assert deep(warm) == deep(cold) == deep(check(tree, None)[0])


def test_what_changes_while_a_package_is_read_is_not_kept(memory: Memory, tree: Tree) -> None:
    first = tree.log(0)
    _, opened = check(tree, memory, first)
    assert kinds(memory) == {"logs": 1}, "the other logs are as they were"
    report, again = check(tree, memory)
    assert again == [first.name]
    assert len(opened) > 1
    assert deep(report) == deep(check(tree, None)[0])
    assert check(tree, memory)[1] == []


def test_nothing_is_believed_of_a_file_system_that_hides_a_change(
    memory: Memory, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlsub.workspace.memory.witness.ONE_IN", 1)
    frozen = tree_state(tree.folder)
    monkeypatch.setattr("mlsub.workspace.memory.packages.tree_state", lambda folder: frozen)
    _, opened = check(tree, memory)
    assert frozen is not None
    for path in frozen.files:
        Path(path).write_bytes(Path(path).read_bytes().replace(b"success", b"aborted") + b" ")
    report, again = check(tree, memory)
    assert sorted(again) == sorted(opened)
    assert len(memory.deceived) == 1
    assert deep(report) == deep(check(tree, None)[0])
