"""Files that grow, are cut, replaced and taken away, and pipes: each byte comes once, and a new start is noticed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.commands.watch.source import LIMIT, UNFINISHED, FileSource, PipeSource


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "result_0.txt"


def touch(file: Path) -> None:
    """Another time of change, however coarse the clock of the file system is."""
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1_000_000_000))


def test_a_file_that_comes_late_and_grows(file: Path) -> None:
    source = FileSource(str(file))
    assert source.look().state == "absent"
    file.write_bytes(b"one\ntw")
    look = source.look()
    assert (look.state, look.data, look.unfinished) == ("there", b"one\n", b"tw")
    assert (look.restart, look.more) == (None, False)
    with file.open("ab") as stream:
        stream.write(b"o\n")
    look = source.look()
    assert (look.data, look.unfinished) == (b"two\n", b"")
    assert source.look().data == b""
    assert source.look().modified == file.stat().st_mtime


def test_a_large_file_comes_in_parts(file: Path) -> None:
    data = random.Random(1).randbytes(LIMIT + 5)
    file.write_bytes(data)
    source = FileSource(str(file))
    first, second, third = source.look(), source.look(), source.look()
    assert first.data + second.data + second.unfinished == data and first.more and not second.more
    assert (third.data, third.unfinished, third.more) == (b"", second.unfinished, False)


def replaced(file: Path, content: bytes) -> None:
    """Another file takes the place."""
    other = file.with_suffix(".new")
    other.write_bytes(content)
    other.replace(file)


def rotated(file: Path, content: bytes) -> None:
    file.rename(file.with_suffix(".1"))
    file.write_bytes(content)


def in_place(file: Path, content: bytes) -> None:
    """The same file is written anew from its beginning, at another time."""
    with file.open("r+b") as stream:
        stream.write(content)
    touch(file)


def in_place_anew(file: Path, content: bytes) -> None:
    """The same, and cut to its new length."""
    file.write_bytes(content)
    touch(file)


def emptied(file: Path, _: bytes) -> None:
    os.truncate(file, 0)


CHANGED: dict[str, tuple[bytes, Callable[[Path, bytes], object], bytes, str | None, bytes]] = {
    "cut": (b"one\ntwo\n", Path.write_bytes, b"new\n", "truncated", b"new\n"),
    "cut to nothing": (b"one\n", emptied, b"", "truncated", b""),
    "rotated": (b"one\n", rotated, b"another one\n", "replaced", b"another one\n"),
    "replaced by a shorter one": (b"a long line\n", replaced, b"new\n", "replaced", b"new\n"),
    "a copy that is made anew each time": (b"one\n", replaced, b"one\ntwo\n", None, b"two\n"),
    "written anew in place": (b"one\n", in_place, b"another log, longer\n", "rewritten", b"another log, longer\n"),
    "whole lines that a network file system fills in later": (
        b"one\n\0\0\0\n", in_place, b"one\ntwo\nthree\n", "rewritten", b"one\ntwo\nthree\n",
    ),
    "bytes that a network file system fills in later": (
        b"one\n\0\0\0\0", in_place, b"one\ntwo\nthree\n", None, b"two\nthree\n",
    ),
    **{
        f"a torn line, and {after!r} in its place": (
            b"zero\none\ntorn rec", in_place_anew, b"zero\none\n" + after, None, after
        )
        for after in (b"", b"tw", b"two\n", b"two and much more than was there before\n")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_what_becomes_of_a_file(name: str, file: Path) -> None:
    before, change, content, restart, data = CHANGED[name]
    file.write_bytes(before)
    source = FileSource(str(file))
    source.look()
    change(file, content)
    look = source.look()
    assert (look.restart, look.data + look.unfinished) == (restart, data)
    with file.open("ab") as stream:
        stream.write(b"end\n")
    after = source.look()
    assert (after.restart, after.data) == (None, look.unfinished + b"end\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\ntorn", b"on"),
        (b"one\ntorn", b"own\ntorn"),
        (b"one\n" + b"x" * (UNFINISHED + 1), b"one\n"),
        (b"one\ntwo\n", b"one\n"),
    ],
    ids=["into a whole line", "another line", "a very long line", "a whole line"],
)
def test_anything_more_than_that_starts_over(before: bytes, after: bytes, file: Path) -> None:
    file.write_bytes(before)
    source = FileSource(str(file))
    source.look()
    file.write_bytes(after)
    touch(file)
    look = source.look()
    assert (look.restart is not None, look.data + look.unfinished) == (True, after)


def test_a_file_that_goes_and_comes_back(file: Path) -> None:
    file.write_bytes(b"one\n")
    source = FileSource(str(file))
    source.look()
    hidden = file.with_suffix(".hidden")
    file.rename(hidden)
    assert source.look().state == "absent"
    hidden.rename(file)
    look = source.look()
    assert (look.state, look.data, look.restart) == ("there", b"", None)


def test_what_is_no_file(tmp_path: Path) -> None:
    assert FileSource(str(tmp_path)).look().problem == "a folder"
    os.mkfifo(tmp_path / "pipe")
    assert FileSource(str(tmp_path / "pipe")).look().problem == "not a regular file"
    if os.access("/proc/kmsg", os.R_OK):
        assert str(FileSource("/proc/kmsg").look().problem).startswith("not stored anywhere")
    (tmp_path / "loop").symlink_to("loop")
    look = FileSource(str(tmp_path / "loop")).look()
    assert look.state == "unreadable" and look.problem
    assert FileSource("a\0b").look().state == "unreadable"
    (tmp_path / "log").write_text("")
    assert FileSource(str(tmp_path / "log" / "below")).look().state == "absent"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(file: Path) -> None:
    file.write_bytes(b"one\n")
    file.chmod(0)
    look = FileSource(str(file)).look()
    assert (look.state, look.problem) == ("unreadable", "Permission denied")


def test_any_history_of_appending(file: Path) -> None:
    chance = random.Random(3)
    source = FileSource(str(file))
    written, read = b"", b""
    for _ in range(200):
        part = chance.randbytes(chance.choice([0, 1, 3, 60, 5000]))
        with file.open("ab") as stream:
            stream.write(part)
        written += part
        if chance.random() < 0.6:
            look = source.look()
            assert look.restart is None
            read += look.data
    look = source.look()
    assert read + look.data + look.unfinished == written


def test_a_pipe() -> None:
    reading, writing = os.pipe()
    source = PipeSource(reading)
    assert source.descriptors == (reading,)
    look = source.look()
    assert (look.state, look.data) == ("there", b"")
    os.write(writing, b"one\n")
    assert source.look().data == b"one\n"
    os.write(writing, b"tw")
    os.close(writing)
    look = source.look()
    assert (look.state, look.data) == ("closed", b"tw")
    assert source.descriptors == ()
    assert source.look().state == "closed"
    os.close(reading)


def test_a_descriptor_that_is_none() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    look = PipeSource(reading).look()
    assert look.state == "closed" and look.problem
