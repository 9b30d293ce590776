"""What is kept comes back as it was, or not at all; what is damaged or of others is never believed."""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.findings import Verdict
from mlsub.workspace.memory import Drawer, Memory, code, tree_state
from mlsub.workspace.memory.memory import exact
from mlsub.workspace.memory.store import MAX_RECORD, Store


class Thing(msgspec.Struct, frozen=True):
    """Something to remember."""

    value: Any
    minutes: float | None = None
    verdict: Verdict = Verdict.ACCEPTED
    of: tuple[int | float, ...] = ()


THING = Thing({"a": [1, 1.0, True, None, "ä", -0.0, float("inf")]}, 2.5, Verdict.REJECTED, (1, 1.0))
pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "log.txt").write_text("a log\n")
    return tmp_path / "tree"


def drawer(memory: Memory, tree: Path, *words: str) -> Drawer:
    return memory.drawer("packages", (str(tree), *words), partial(tree_state, tree))


def kept(memory: Memory, tree: Path, thing: Thing = THING) -> Path:
    """Keep a thing, and give the file that it lies in."""
    drawer(memory, tree).keep(thing)
    (record,) = memory.store.kept()
    return record.path


def test_it_comes_back_as_it_was(memory: Memory, folder: Path, tree: Path) -> None:
    assert drawer(memory, tree).recall(Thing) is None
    kept(memory, tree)
    found = drawer(Memory(folder), tree).recall(Thing)
    assert repr(found) == repr(THING)
    assert found is not None
    assert found.verdict is Verdict.REJECTED
    assert drawer(memory, tree, "other settings").recall(Thing) is None


def test_only_its_owner_can_read_it(memory: Memory, folder: Path, tree: Path) -> None:
    record = kept(memory, tree)
    assert [oct(path.stat().st_mode & 0o777) for path in (folder, record.parent, record)] == ["0o700", "0o700", "0o600"]
    assert (folder / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")


def test_a_change_while_it_was_made_keeps_nothing(memory: Memory, tree: Path) -> None:
    open_drawer = drawer(memory, tree)
    (tree / "log.txt").write_text("A LOG\n")
    open_drawer.keep(THING)
    assert not list(memory.store.kept())


def test_a_state_that_was_taken_afterwards_counts(memory: Memory, tree: Path) -> None:
    open_drawer = drawer(memory, tree)
    same = open_drawer.look()
    (tree / "log.txt").write_text("A LOG\n")
    open_drawer.keep(THING, tree_state(tree))
    assert not list(memory.store.kept())
    open_drawer.of(Memory(memory.store.folder)).keep(THING, same)
    assert len(list(memory.store.kept())) == 1


def test_what_is_too_young_is_not_kept(memory: Memory, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    drawer(memory, tree).keep(THING)
    assert not list(memory.store.kept())


def test_a_change_afterwards_is_a_miss_and_replaces_the_record(memory: Memory, tree: Path) -> None:
    record = kept(memory, tree)
    (tree / "log.txt").write_text("A LOG\n")
    assert drawer(memory, tree).recall(Thing) is None
    assert kept(memory, tree, Thing(2)) == record
    assert drawer(memory, tree).recall(Thing) == Thing(2)
    assert (memory.hits["packages"], memory.misses["packages"]) == (1, 1)


def test_other_code_is_a_miss(memory: Memory, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(memory, tree)
    monkeypatch.setattr("mlsub.workspace.memory.memory.code_digest", lambda: b"other code")
    assert drawer(memory, tree).recall(Thing) is None
    monkeypatch.setattr("mlsub.workspace.memory.memory.code_digest", lambda: None)
    drawer(memory, tree).keep(THING)
    assert drawer(memory, tree).recall(Thing) is None


def test_every_file_of_the_program_counts(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    rules = tmp_path / "rules" / "rules.yaml"
    rules.write_text("a: 1")
    before = code.digest_of(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("")
    assert code.digest_of(tmp_path) == before
    rules.write_text("a: 2")
    assert code.digest_of(tmp_path) != before
    assert code.digest_of(tmp_path / "none") is None


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_record_is_dropped(memory: Memory, tree: Path, seed: int) -> None:
    draw = random.Random(seed)
    record = kept(memory, tree)
    content = bytearray(record.read_bytes())
    if seed % 2:
        del content[draw.randrange(len(content)) :]
    else:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    record.write_bytes(content)
    assert drawer(memory, tree).recall(Thing) is None
    kept(memory, tree)
    assert drawer(memory, tree).recall(Thing) is not None


def test_a_whole_record_in_the_place_of_another_is_not_believed(memory: Memory, tree: Path) -> None:
    record = kept(memory, tree)
    drawer(memory, tree, "other").keep(Thing(2))
    (other,) = (one.path for one in memory.store.kept() if one.path != record)
    other.write_bytes(record.read_bytes())
    assert drawer(memory, tree, "other").recall(Thing) is None
    assert drawer(memory, tree).recall(Thing) is not None


def test_a_record_of_another_type_is_dropped(memory: Memory, tree: Path) -> None:
    class Other(msgspec.Struct, frozen=True):
        value: int

    kept(memory, tree)
    assert drawer(memory, tree).recall(Other) is None
    assert not list(memory.store.kept())


def test_what_others_can_write_to_is_not_believed(memory: Memory, tree: Path) -> None:
    record = kept(memory, tree)
    record.chmod(0o666)
    assert drawer(memory, tree).recall(Thing) is None
    record.chmod(0o600)
    assert drawer(memory, tree).recall(Thing) is not None
    target = record.with_name("0" * 32)
    record.rename(target)
    record.symlink_to(target)
    assert drawer(memory, tree).recall(Thing) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_records_of_others_are_not_believed(memory: Memory, folder: Path, tree: Path) -> None:
    record = kept(memory, tree)
    os.chown(record, 12345, 12345)
    assert drawer(memory, tree).recall(Thing) is None
    os.chown(record.parent, 12345, 12345)
    drawer(memory, tree, "more").keep(THING)
    assert not memory.store.writable


def test_an_odd_file_costs_nothing(memory: Memory, tree: Path) -> None:
    record = kept(memory, tree)
    record.unlink()
    os.mkfifo(record)
    assert drawer(memory, tree).recall(Thing) is None
    record.unlink()
    with record.open("wb") as stream:
        stream.truncate(MAX_RECORD + 1)
    record.chmod(0o600)
    assert drawer(memory, tree).recall(Thing) is None


@pytest.mark.parametrize(
    "value",
    [2**64, -(2**63) - 1, "\ud800", {"a": ["\udfff"]}, object(), 1j],
    ids=lambda value: repr(value)[:20],
)
def test_what_would_not_come_back_is_not_kept(value: object) -> None:
    assert exact(Thing(value)) is None


def test_an_integer_in_the_place_of_a_float_is_not_kept() -> None:
    assert exact(Thing(0, minutes=3)) is None
    assert exact(Thing(0, minutes=3.0)) is not None
    assert exact(Thing(0, of=(3, 3.0))) is not None
    nested: Any = []
    for _ in range(5000):
        nested = [nested]
    assert exact(Thing(nested)) is None


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text()
values = st.recursive(scalars, lambda of: st.lists(of) | st.dictionaries(st.text(), of), max_leaves=20)


@given(values)
def test_any_value_of_a_log_comes_back_exactly(value: object) -> None:
    text = exact(Thing(value))
    assert text is not None
    assert repr(msgspec.msgpack.decode(text, type=Thing)) == repr(Thing(value))


@pytest.mark.usefixtures("every_one_asked")
def test_content_that_its_state_does_not_show_is_found_out(memory: Memory, tree: Path) -> None:
    state = tree_state(tree)
    memory.drawer("packages", ("a",), lambda: state).keep(THING)
    drawer(memory, tree).keep(THING)
    assert memory.drawer("packages", ("a",), lambda: state).recall(Thing) is not None
    (tree / "log.txt").write_text("another log\n")
    assert memory.drawer("packages", ("a",), lambda: state).recall(Thing) is None
    assert memory.deceived == [str(tree / "log.txt")]
    # Nothing is believed any more, not even what nobody has found out.
    assert drawer(memory, tree).recall(Thing) is None


def test_a_folder_that_cannot_be_written_to_is_no_trouble(tmp_path: Path, tree: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "cache", Path("/dev/null/mlsub"), Path("/proc/mlsub")):
        memory = Memory(place)
        drawer(memory, tree).keep(THING)
        assert drawer(memory, tree).recall(Thing) is None
        assert not memory.store.writable
        memory.close()


def test_a_full_disk_is_no_trouble(memory: Memory, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mlsub.io.write.os.replace", full)
    drawer(memory, tree).keep(THING)
    assert not list(memory.store.kept())
    assert not memory.store.writable


def test_the_oldest_go_first(folder: Path) -> None:
    store, state = Store(folder), b"s" * 16
    names = [f"{number:032x}" for number in range(10)]
    for age, name in enumerate(names):
        store.write("packages", name, state, b"x" * 1000)
        os.utime(folder / "packages" / name, (10_000 - age, 10_000 - age))
    assert store.read("packages", names[9], state) is not None  # It was of use just now.
    (folder / "packages" / "somebody's.txt").write_text("x" * 5000)
    sizes = [one.bytes for one in store.kept()]
    assert store.shrink(3 * sizes[0]) == 7
    assert sorted(one.path.name for one in store.kept()) == sorted([names[0], names[1], names[9]])
    assert (folder / "packages" / "somebody's.txt").exists()


def test_what_writers_left_behind_goes(folder: Path) -> None:
    store = Store(folder)
    store.write("logs", "0" * 32, b"s" * 16, b"")
    for name, age in (("a", 0), ("b", 10_000)):
        part = folder / "logs" / f".mlsub-{name * 16}.part"
        part.write_text("")
        os.utime(part, (part.stat().st_mtime - age,) * 2)
    store.shrink(10_000)
    assert sorted(path.name for path in (folder / "logs").iterdir()) == [".mlsub-aaaaaaaaaaaaaaaa.part", "0" * 32]
