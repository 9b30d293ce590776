"""Whatever changes in a file or a tree changes its fingerprint; a record comes back exactly, or not at all."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.workspace import cache as caches
from mlsub.workspace.cache import Cache, encode_lossless, file_fingerprint, scan_tree
from tests.workspace.changes import CHANGES
from tools.support.effort import HUNG

TEXT = "success\n"
STATE = b"s" * 16


class Thing(msgspec.Struct, frozen=True):
    value: Any
    minutes: float = 0.0
    of: tuple[Any, ...] = ()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "results" / "deep").mkdir(parents=True)
    (tree / "empty").mkdir()
    (tree / "results" / "deep" / "result_1.txt").write_text(TEXT)
    (tree / "results" / "b.txt").write_text(TEXT)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "c.txt").write_text(TEXT)
    (tree / "to-folder").symlink_to(tmp_path / "outside")
    (tree / "to-file").symlink_to("../outside/c.txt")
    (tree / "to-nothing").symlink_to(tmp_path / "nothing")
    (tree / "circle").symlink_to(tree)
    return tree


OF_TREES: tuple[Callable[[Path], object], ...] = (
    *(lambda tree, change=change: change(tree / "results" / "b.txt") for change in CHANGES),
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


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", OF_TREES)
def test_each_change_of_a_tree_changes_its_fingerprint(tree: Path, change: Callable[[Path], object]) -> None:
    before = scan_tree(tree)
    assert before == scan_tree(tree) and before.fingerprint is not None
    assert (before.size, before.logs) == (len(TEXT), 1)
    change(tree)
    assert scan_tree(tree).fingerprint not in (before.fingerprint, None)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_a_file_changes_its_fingerprint(tree: Path, change: Callable[[Path], None]) -> None:
    file = tree / "results" / "b.txt"
    before = file_fingerprint(file)
    assert before == file_fingerprint(str(file)) is not None
    change(file)
    assert file_fingerprint(file) not in (before, None)
    assert file_fingerprint(tree / "to-file") == file_fingerprint(tree.parent / "outside" / "c.txt")


@pytest.mark.usefixtures("settled")
def test_what_is_no_file_has_no_fingerprint(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tree / "fifo")
    for path in (tree, tree / "to-nothing", tree / "none", tree / "fifo", "a\0b"):
        assert file_fingerprint(path) is None
    assert scan_tree(tree / "none").fingerprint is None
    assert scan_tree(tree).fingerprint is not None  # The FIFO is not opened.
    monkeypatch.setattr(caches, "MAX_NAMES", 5)
    assert scan_tree(tree).fingerprint is None


@pytest.mark.parametrize("year", [-400, -1, 0, 300, 470])
def test_what_changed_just_now_has_no_fingerprint(tree: Path, year: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "SETTLED_NS", int(HUNG * 1e9))
    file = tree / "results" / "b.txt"
    os.utime(file, (0, year * 31_556_952))
    assert file_fingerprint(file) is scan_tree(tree).fingerprint is None


# Records.


def test_a_record_comes_back_for_its_state_code_and_type_alone(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "0" * 32
    cache.write(name, STATE, Thing(1))
    assert cache.read(name, STATE, Thing) == Thing(1)
    assert cache.read(name, b"t" * 16, Thing) is None
    with monkeypatch.context() as patch:
        patch.setattr(caches, "code_digest", lambda: b"other code")
        assert cache.read(name, STATE, Thing) is None
    assert cache.read(name, STATE, Thing) == Thing(1)
    assert cache.read(name, STATE, int) is None
    assert not list(cache.records()), "it was of another type, and is gone"


@pytest.mark.parametrize("seed", range(20))
def test_a_record_that_does_not_decode_is_dropped_and_replaced(cache: Cache, seed: int) -> None:
    draw = random.Random(seed)
    cache.write("0" * 32, STATE, Thing({"a": [1.5] * 9}))
    [record] = cache.records()
    content = record.path.read_bytes()
    record.path.write_bytes(b"mlsub-1\n" + content if seed == 0 else content[: draw.randrange(len(content))])
    assert cache.read("0" * 32, STATE, Thing) is None
    assert not record.path.exists()
    cache.write("0" * 32, STATE, Thing(2))
    assert cache.read("0" * 32, STATE, Thing) == Thing(2)


@pytest.mark.parametrize(
    "value", [2**64, -(2**63) - 1, "\ud800", {"a": ["\udfff"]}, object(), 1j], ids=lambda value: repr(value)[:20]
)
def test_what_would_not_come_back_is_not_kept(value: object) -> None:
    assert encode_lossless(Thing(value)) is None


def test_an_integer_in_the_place_of_a_float_or_a_value_too_deep_is_not_kept() -> None:
    assert encode_lossless(Thing(0, minutes=3)) is None
    assert encode_lossless(Thing(0, minutes=3.0)) is not None
    assert encode_lossless(Thing(0, of=(3, 3.0))) is not None
    nested: list[Any] = []
    assert encode_lossless(Thing(reduce(lambda inner, _: [inner], range(500_000), nested))) is None


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text()
values = st.recursive(scalars, lambda of: st.lists(of) | st.dictionaries(st.text(), of), max_leaves=20)


@given(values)
def test_any_value_of_a_log_comes_back_exactly(value: object) -> None:
    text = encode_lossless(Thing(value))
    assert text is not None
    assert repr(msgspec.msgpack.decode(text, type=Thing)) == repr(Thing(value))


def test_a_folder_that_cannot_be_written_to_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "cache", Path("/dev/null/mlsub"), Path("/proc/mlsub")):
        cache = Cache(place)
        cache.write("0" * 32, STATE, Thing(1))
        assert cache.read("0" * 32, STATE, Thing) is None
        cache.close()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    cache = Cache(tmp_path / "cache")
    monkeypatch.setattr("mlsub.io.write.os.replace", full)
    cache.write("0" * 32, STATE, Thing(1))
    assert not list(cache.records())


def test_the_oldest_go_first(folder: Path) -> None:
    cache = Cache(folder)
    names = [f"{number:032x}" for number in range(10)]
    for age, name in enumerate(names):
        cache.write(name, STATE, Thing("x" * 1000))
        os.utime(folder / "packages" / name, (10_000 - age, 10_000 - age))
    assert cache.read(names[9], STATE, Thing) is not None  # It was of use just now.
    (folder / "packages" / "somebody's.txt").write_text("x" * 5000)
    cache.limit = 3 * next(one.bytes for one in cache.records())
    cache.close()
    assert sorted(one.path.name for one in cache.records()) == sorted([names[0], names[1], names[9]])
    assert (folder / "packages" / "somebody's.txt").exists()


def test_what_writers_left_behind_goes(cache: Cache, folder: Path) -> None:
    cache.write("0" * 32, STATE, Thing(1))
    for name, age in (("a", 0), ("b", 10_000)):
        part = folder / "packages" / f".mlsub-{name * 16}.part"
        part.write_text("")
        os.utime(part, (part.stat().st_mtime - age,) * 2)
    cache.close()
    assert sorted(path.name for path in (folder / "packages").iterdir()) == [".mlsub-aaaaaaaaaaaaaaaa.part", "0" * 32]
