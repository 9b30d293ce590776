"""The fingerprint of a tree changes with any of it, and comes to an end on any tree."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.db.fingerprint import Files, Fingerprint, files_below
from mlsub.commands.db.fingerprint import fingerprint as fingerprint_of
from mlsub.workspace import Settings
from mlsub.workspace.cache import Cache
from tests.refused import Refusals

_NAMES = st.sampled_from(["a", "b", "c/d", "c/e", "f/g/h"])
_TREES = st.dictionaries(_NAMES, st.binary(max_size=4), max_size=5)


def fingerprint(folder: Path, *also: str, cache: Cache | None = None) -> Fingerprint:
    (files,) = files_below([folder], Settings(cache=cache))
    assert isinstance(files, Files)
    return fingerprint_of(files, *also)


def lay(folder: Path, tree: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@given(_TREES, _TREES)
def test_trees_have_one_digest_if_and_only_if_they_are_equal(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    above = tmp_path_factory.mktemp("trees")
    first, second = fingerprint(lay(above / "one", one)), fingerprint(lay(above / "other", other))
    assert (first.digest == second.digest) == (one == other)
    assert first.bytes == sum(map(len, one.values()))


def test_files_are_marked_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    mark = fingerprint(tmp_path).files["a"]
    assert (mark.sha256, mark.bytes) == (hashlib.sha256(b"x" * 3_000_000).hexdigest(), 3_000_000)


def test_version_and_round_are_part_of_it(tmp_path: Path) -> None:
    assert len({fingerprint(tmp_path, *also).digest for also in ((), ("1",), ("1", "2"), ("12",))}) == 4


def test_circles_of_links_pipes_and_links_to_nowhere_come_to_an_end(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "up").symlink_to(tmp_path, target_is_directory=True)
    (inner / "self").symlink_to("self")
    (inner / "nowhere").symlink_to("gone")
    os.mkfifo(inner / "pipe")
    before = fingerprint(tmp_path)
    assert before.files["a/b/pipe"].sha256 == "no regular file"
    assert before.files["a/b/nowhere"].sha256 == "unreadable: No such file or directory"
    (inner / "gone").write_text("")
    assert fingerprint(tmp_path).digest != before.digest


def test_the_target_of_a_link_counts(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("one")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(outside)
    before = fingerprint(tmp_path / "tree").digest
    outside.write_text("two")
    assert fingerprint(tmp_path / "tree").digest != before


def test_what_has_not_changed_is_not_read_again(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lay(tmp_path / "tree", {"a": b"1", "c/d": b"2"})
    first = fingerprint(folder, "x", cache=cache)
    assert first == fingerprint(folder, "x")
    opened: list[str] = []
    read = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, *how, **more: (opened.append(self.name), read(self, *how, **more))[1]
    )
    assert fingerprint(folder, "x", cache=cache) == first
    assert not {"a", "d"} & set(opened)
    (folder / "c" / "d").write_bytes(b"3")
    changed = fingerprint(folder, "x", cache=cache)
    assert {"a", "d"} <= set(opened)
    assert changed == fingerprint(folder, "x") != first


def test_what_cannot_be_read_is_looked_at_again(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to("nowhere")
    fingerprint(tmp_path / "tree", cache=cache)
    assert list(cache.records()) == []


@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES], ids=errno.errorcode.get)
@pytest.mark.usefixtures("cache")
def test_a_folder_that_cannot_be_listed_for_a_moment_is_looked_at_again(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lay(tmp_path / "tree", {"a": b"1", "c/d": b"2"})
    healthy = fingerprint(folder)
    refusals = Refusals(folder, monkeypatch)
    refusals.at_call(-1, 0)
    fingerprint(folder, cache=Cache(tmp_path / "counted"))
    for number in range(refusals.calls):
        cache = Cache(tmp_path / f"cache-{number}")
        refusals.at_call(number, error)
        files_below([folder], Settings(cache=cache))
        refusals.at_call(-1, 0)
        assert fingerprint(folder, cache=cache) == healthy, number


def test_folders_are_read_by_several_processes_and_stay_in_order(tmp_path: Path) -> None:
    folders = [lay(tmp_path / name, {name: name.encode()}) for name in "abc"]
    found = files_below([*folders, tmp_path / "nowhere"], Settings(jobs=2))
    assert found[:3] == files_below(folders, Settings(jobs=1))
    assert [list(files.marks) for files in found[:3] if isinstance(files, Files)] == [["a"], ["b"], ["c"]]
    assert found[3] == Files({})
