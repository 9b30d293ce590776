"""Whatever changes in a file or a tree changes its state, and looking changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.workspace.memory import file_state, states, tree_state
from tests.effort import HUNG

TEXT = "a log\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "results" / "deep").mkdir(parents=True)
    (tree / "empty").mkdir()
    (tree / "results" / "deep" / "a.txt").write_text(TEXT)
    (tree / "results" / "b.txt").write_text(TEXT)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "c.txt").write_text(TEXT)
    (tree / "to-folder").symlink_to(tmp_path / "outside")
    (tree / "to-file").symlink_to("../outside/c.txt")
    (tree / "to-nothing").symlink_to(tmp_path / "nothing")
    (tree / "circle").symlink_to(tree)
    return tree


def same_size(tree: Path) -> None:
    (tree / "results" / "b.txt").write_text(TEXT.upper())


def touched_back(tree: Path) -> None:
    file = tree / "results" / "b.txt"
    before = file.stat()
    file.write_text(TEXT.upper())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def renamed_over(tree: Path) -> None:
    other = tree.parent / "other.txt"
    other.write_text(TEXT.upper())
    shutil.copystat(tree / "results" / "b.txt", other)
    other.replace(tree / "results" / "b.txt")


def link_in_place(tree: Path) -> None:
    file = tree / "results" / "b.txt"
    file.unlink()
    file.symlink_to("deep/a.txt")


def second_name_in_place(tree: Path) -> None:
    file = tree / "results" / "b.txt"
    file.unlink()
    os.link(tree / "results" / "deep" / "a.txt", file)


CHANGES: tuple[Callable[[Path], object], ...] = (
    same_size,
    touched_back,
    renamed_over,
    link_in_place,
    second_name_in_place,
    lambda tree: (tree / "results" / "b.txt").unlink(),
    lambda tree: (tree / "results" / "b.txt").rename(tree / "results" / "c.txt"),
    lambda tree: (tree / "results" / "b.txt").chmod(0o600),
    lambda tree: (tree / "empty").rmdir(),
    lambda tree: (tree / "new").mkdir(),
    lambda tree: (tree.parent / "outside" / "c.txt").write_text(TEXT * 2),
    lambda tree: (tree.parent / "outside" / "d.txt").write_text(TEXT),
    lambda tree: (tree.parent / "nothing").write_text(TEXT),
    lambda tree: (tree / "to-file").unlink(),
)


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_a_tree_changes_its_state(tree: Path, change: Callable[[Path], object]) -> None:
    before = tree_state(tree)
    assert before == tree_state(tree)
    change(tree)
    after = tree_state(tree)
    assert before is not None
    assert after is not None
    assert before.digest != after.digest


@pytest.mark.parametrize("change", CHANGES[:5])
def test_each_change_of_a_file_changes_its_state(tree: Path, change: Callable[[Path], object]) -> None:
    file = tree / "results" / "b.txt"
    before = file_state(file)
    assert before == file_state(str(file))
    change(tree)
    after = file_state(file)
    assert before is not None
    assert after is not None
    assert before.digest != after.digest


def test_a_link_has_the_state_of_its_file(tree: Path) -> None:
    link, file = file_state(tree / "to-file"), file_state(tree.parent / "outside" / "c.txt")
    assert link is not None
    assert file is not None
    assert link.digest == file.digest


def test_what_is_no_file_has_no_state(tree: Path) -> None:
    os.mkfifo(tree / "fifo")
    for path in (tree, tree / "to-nothing", tree / "none", tree / "fifo", "a\0b"):
        assert file_state(path) is None
    assert tree_state(tree / "none") is None
    assert tree_state(tree) is not None  # The FIFO is not opened.


def test_a_tree_that_is_too_large_has_no_state(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MAX_NAMES", 5)
    assert tree_state(tree) is None


def test_one_file_of_a_tree_is_named(tree: Path) -> None:
    state = tree_state(tree)
    assert state is not None
    assert state.file is not None
    assert Path(state.file).is_file()


@pytest.fixture
def just_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test has written is of just now, however long it takes."""
    monkeypatch.setattr(states, "SETTLED_NS", int(HUNG * 1e9))


@pytest.mark.usefixtures("just_now")
def test_what_changed_just_now_is_not_settled(tree: Path) -> None:
    for state in (tree_state(tree), file_state(tree / "results" / "b.txt")):
        assert state is not None
        assert not state.settled
        assert state._replace(changed_ns=state.changed_ns - states.SETTLED_NS).settled
        assert not state._replace(changed_ns=state.changed_ns + 10**18).settled


@pytest.mark.usefixtures("just_now")
@pytest.mark.parametrize("year", [-400, -1, 0, 300, 470])
def test_odd_times_are_times(tree: Path, year: int) -> None:
    file = tree / "results" / "b.txt"
    os.utime(file, (0, year * 31_556_952))
    state = file_state(file)
    assert state is not None
    assert not state.settled
    assert tree_state(tree) is not None


def test_a_tree_knows_the_states_of_its_files(tree: Path) -> None:
    state, file = tree_state(tree), str(tree / "results" / "b.txt")
    own = file_state(file)
    assert state is not None
    assert own is not None
    assert own.digest == state.files[file]
    assert states.size_of(state.files[file]) == len(TEXT)
    linked = file_state(tree / "to-file")
    assert linked is not None
    assert state.links == {str(tree / "to-file"): linked.digest}
    same_size(tree)
    assert state.of(file) == own._replace(changed_ns=state.changed_ns)
    assert str(tree / "to-file") not in state.files
    assert state.of(str(tree / "to-file")) == file_state(tree / "to-file")
    assert state.of(str(tree / "none")) is None
