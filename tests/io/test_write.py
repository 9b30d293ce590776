"""A file or folder is put in place whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io import MlsubError, folders, look, write
from mlsub.io.folders import check_free, folder_digests, replace_folder
from mlsub.io.write import (
    back_up,
    check_output,
    make_folder,
    put_folder,
    replace_whole,
    staging_beside,
    sync_tree,
    write_file,
)
from tests.refused import Refusals

FILES = 20


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def refuse(*_: object, **__: object) -> None:
    raise OSError(30, "Read-only file system")


# Files.


def test_there_is_one_backup_and_its_replacement_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert back_up(file) == back_up(file) == tmp_path / "file.~1~"
    file.unlink()
    file.write_text("mine")
    assert back_up(file).name == "file.~1~"
    assert caplog.messages == []
    file.write_text("other")
    assert back_up(file).read_text() == "other"
    assert caplog.messages == [f"mlsub: replaced {tmp_path / 'file.~1~'}, an earlier backup"]
    assert names(tmp_path) == {"file", "file.~1~"}


def test_without_hard_links_the_backup_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(write.os, "link", refuse)
    assert back_up(tmp_path / "file").read_text() == "mine"
    assert names(tmp_path) == {"file", "file.~1~"}


def test_what_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(write, "put_file", refuse)
    with pytest.raises(MlsubError, match="Read-only"):
        write_file(tmp_path / "file", b"new", force=True)
    assert (tmp_path / "file").read_text() == "mine"
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


def test_a_file_may_be_executable_from_the_first(tmp_path: Path) -> None:
    write_file(tmp_path / "run.sh", b"#!/bin/sh\n", force=False, executable=True)
    assert os.access(tmp_path / "run.sh", os.X_OK)


def test_a_file_of_a_cache_is_written_and_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for content in (b"old", b"", b"new"):
        replace_whole("record", content, 0o600)
        assert Path("record").read_bytes() == content
        assert Path("record").stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(write.os, "replace", refuse)
    with pytest.raises(OSError, match="Read-only"):
        replace_whole(tmp_path / "record", b"other")
    assert (tmp_path / "record").read_bytes() == b"new"
    assert names(tmp_path) == {"record"}


# Folders.


def fill(folder: Path, word: str) -> None:
    (folder / "below").mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        (folder / "below" / f"{number}.txt").write_text(word)


def words(folder: Path) -> list[str]:
    return [file.read_text() for file in sorted((folder / "below").iterdir())]


@pytest.mark.parametrize("before", [None, "old"])
def test_a_folder_comes_whole_and_nothing_is_left_beside_it(before: str | None, tmp_path: Path) -> None:
    final = tmp_path / "deep" / "ACME"
    if before:
        fill(final, before)
        (final / "only-before.txt").write_text("")
    with staging_beside(final) as staging:
        fill(staging, "new")
        put_folder(staging, final)
    assert words(final) == ["new"] * FILES
    assert names(final) == {"below"}
    assert names(final.parent) == {"ACME"}


def test_a_new_folder_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    with staging_beside(tmp_path / "ACME") as staging:
        put_folder(staging, tmp_path / "ACME")
    assert (tmp_path / "ACME").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_staging_goes_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staging_beside(tmp_path / "ACME") as staging:
        fill(staging, "half")
        raise RuntimeError
    assert names(tmp_path) == set()


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "FIFO"])
def test_what_is_no_folder_is_never_replaced(kind: str, tmp_path: Path) -> None:
    final, staging = tmp_path / "ACME", tmp_path / "staging"
    fill(staging, "new")
    fill(tmp_path / "elsewhere", "old")
    if kind == "file":
        final.write_text("precious")
    elif kind == "FIFO":
        os.mkfifo(final)
    else:
        final.symlink_to("elsewhere" if kind == "link" else "nowhere")
    mode = final.lstat().st_mode
    with pytest.raises(MlsubError, match="ACME is not a folder, or is a link"):
        put_folder(staging, final)
    assert final.lstat().st_mode == mode
    assert words(staging) == ["new"] * FILES
    assert words(tmp_path / "elsewhere") == ["old"] * FILES


def test_where_the_second_rename_fails_the_old_folder_is_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    final, rename = tmp_path / "ACME", Path.rename
    fill(final, "old")
    fill(tmp_path / "staging", "new")
    monkeypatch.setattr(Path, "rename", lambda one, to: refuse() if one.name == "staging" else rename(one, to))
    with pytest.raises(MlsubError, match="ACME cannot be written: Read-only"):
        put_folder(tmp_path / "staging", final)
    assert words(final) == ["old"] * FILES


def test_a_replacement_that_was_killed_half_way_is_recovered(tmp_path: Path) -> None:
    final = tmp_path / "ACME"
    fill(tmp_path / ".ACME.mlsub-old", "old")
    with staging_beside(final):
        assert words(final) == ["old"] * FILES
    fill(tmp_path / ".ACME.mlsub-old", "older, and not removed any more")
    with staging_beside(final):
        assert words(final) == ["old"] * FILES


def test_a_name_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name, why in (
        ("A\0B", "(lstat: )?embedded null"),
        ("A" * 300, "File name too long"),
        ("file/ACME", "(Not a directory|File exists)"),
    ):
        with pytest.raises(MlsubError, match=rf"cannot be written: {why}"), staging_beside(tmp_path / name):
            pytest.fail("worked for nothing")
    assert names(tmp_path) == {"file"}


PUT_AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from mlsub.io.write import put_folder, staging_beside
from tests.io.test_write import fill

final = Path(sys.argv[1])
for generation in range(100_000):
    with staging_beside(final) as staging:
        fill(staging, f"{generation}")
        put_folder(staging, final)
    if generation == 2:
        print("ready", flush=True)
"""


@pytest.mark.slow
def test_after_a_kill_there_is_one_whole_folder(tmp_path: Path) -> None:
    final = tmp_path / "ACME"
    for delay in (0.0, 0.003, 0.007, 0.011):
        process = subprocess.Popen(
            [sys.executable, "-c", PUT_AGAIN_AND_AGAIN, str(final)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        with staging_beside(final):
            assert len(set(words(final))) == 1
            assert len(words(final)) == FILES


# The disk.


def test_a_folder_is_brought_to_the_disk_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "file").write_text("")
    (tmp_path / "a" / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "a" / "pipe")
    seen = []
    monkeypatch.setattr(os, "fsync", lambda opened: seen.append(Path(f"/proc/self/fd/{opened}").readlink()))
    sync_tree(tmp_path / "a")
    assert set(seen[:2]) == {tmp_path / "a" / name for name in ("b/file", "pipe")}
    assert seen[2:] == [tmp_path / "a" / "b", tmp_path / "a"]


def test_many_files_are_brought_to_the_disk_and_what_fails_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        (tmp_path / str(number)).touch()
    seen: set[Path] = set()

    def sync(opened: int) -> None:
        place = Path(f"/proc/self/fd/{opened}").readlink()
        if place.name == "299" and place in seen:
            raise OSError(5, "Input/output error")
        seen.add(place)

    monkeypatch.setattr(os, "fsync", sync)
    sync_tree(tmp_path)
    assert seen == {tmp_path, *tmp_path.iterdir()}
    with pytest.raises(OSError, match="Input/output error"):
        sync_tree(tmp_path)


def test_a_new_file_is_written_with_the_usual_permissions(tmp_path: Path) -> None:
    file, usual = tmp_path / "out.csv", tmp_path / "usual"
    usual.touch()
    write_file(file, b"content", force=False)
    assert file.read_bytes() == b"content"
    assert file.stat().st_mode == usual.stat().st_mode
    assert sorted(tmp_path.iterdir()) == [file, usual]


def test_the_same_content_is_kept_once(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    assert write_file(file, b"content", force=True) is None
    assert write_file(file, b"content", force=True) is None
    assert list(tmp_path.iterdir()) == [file]


def _made(file: Path, make: Callable[[Path], object]) -> Path:
    make(file)
    return file


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda tmp: tmp / "none" / "out.csv", "There is no folder "),
        (lambda tmp: tmp, "is a folder. Name a file in it."),
        (lambda tmp: tmp / ("x" * 300), "cannot be written: File name too long"),
        (lambda tmp: tmp / "a\0b", "cannot be written: "),
        (lambda tmp: _made(tmp / "pipe", os.mkfifo), ""),
        (lambda tmp: _made(tmp / "link", lambda link: link.symlink_to("nowhere")), ""),
        (lambda tmp: Path(os.devnull), ""),
    ],
)
def test_what_cannot_be_written_is_refused_beforehand(
    make: Callable[[Path], Path], message: str, force: bool, tmp_path: Path
) -> None:
    file = make(tmp_path)
    expected = message or ("is not a regular file. Name another" if force else "exists. Add --force to replace it.")
    with pytest.raises(MlsubError, match=expected):
        check_output(file, force=force)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(MlsubError, match=expected):
        write_file(file, b"content", force=force)
    assert sorted(tmp_path.iterdir()) == before


def test_a_link_to_a_file_is_replaced_and_the_file_is_left(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new", force=True)
    assert (link.read_bytes(), target.read_bytes()) == (b"new", b"old")


# Nothing at a path is an answer; what cannot be looked at is an error, whatever Python there is.

LOOKS: dict[str, Callable[[Path], object]] = {
    "status_of": look.status_of,
    "is_folder": look.is_folder,
    "is_link": look.is_link,
    "exists": look.exists,
    "names_in": look.names_in,
}
looks = pytest.mark.parametrize("name", LOOKS)


@looks
@pytest.mark.parametrize("place", ["gone", "file/below", "n" * 300, "zero\0", "gone/below"])
def test_where_nothing_can_be_there_is_nothing(name: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not LOOKS[name](tmp_path / place)


@looks
@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES, errno.ESTALE, errno.EMFILE, errno.ETIMEDOUT])
def test_what_the_system_refuses_is_an_error_that_names_the_path(
    name: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Refusals(tmp_path, monkeypatch).at_call(0, error)
    with pytest.raises(OSError) as raised:
        LOOKS[name](tmp_path)
    assert (raised.value.errno, raised.value.filename) == (error, str(tmp_path))


def test_links_are_followed_unless_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, target in {"link": "folder", "broken": "gone", "circle": "circle"}.items():
        (tmp_path / name).symlink_to(target)
    names = sorted(look.names_in(tmp_path))
    assert names == ["broken", "circle", "folder", "link"]
    assert [look.is_folder(tmp_path / name) for name in names] == [False, False, True, True]
    assert [look.is_link(tmp_path / name) for name in names] == [True, True, False, True]
    assert all(look.exists(tmp_path / name) for name in names)
    assert [look.status_of(tmp_path / name) is None for name in names] == [True, True, False, False]


# What mlsub wrote is known again, and everything else is somebody's.


def put(final: Path, files: dict[str, str]) -> None:
    """Put a folder in place with these files."""
    with staging_beside(final) as staging:
        new = staging / "new"
        new.mkdir()
        for path, content in files.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_text(content)
        replace_folder(new, final)


def contents(folder: Path) -> dict[str, str]:
    return {path: (folder / path).read_text() for path in folder_digests(folder)}


@pytest.fixture
def final(tmp_path: Path) -> Path:
    put(tmp_path / "ACME", {"a/one": "1", "two": "2"})
    return tmp_path / "ACME"


def test_what_was_written_is_replaced_and_goes(final: Path) -> None:
    check_free(final)
    put(final, {"two": "other", "three": "3"})
    assert contents(final) == {"two": "other", "three": "3"}
    put(final, {"two": "again"})
    assert contents(final) == {"two": "again"}


#: What somebody does to the folder, and the name that is told.
CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (lambda final: (final / "two").write_text("mine"), "two"),
    "added": (lambda final: (final / "a" / "mine").write_text("mine"), "a/mine"),
    "hidden": (lambda final: (final / ".mine").write_text("mine"), ".mine"),
    "deep": (
        lambda final: ((final / "b" / "c").mkdir(parents=True), (final / "b/c/mine").write_text("mine")),
        "b/c/mine",
    ),
    "no text": (lambda final: (final / "caf\udce9").write_text(""), "caf\udce9"),
    "linked": (lambda final: ((final / "two").unlink(), (final / "two").symlink_to("a/one")), "two"),
    "a linked folder": (lambda final: (final / "link").symlink_to("a"), "link"),
    "a pipe": (lambda final: os.mkfifo(final / "fifo"), "fifo"),
    "moved": (lambda final: (final / "two").rename(final / "three"), "three"),
}


@pytest.mark.parametrize(("change", "name"), CHANGES.values(), ids=CHANGES)
def test_what_somebody_did_keeps_it_and_is_named(change: Callable[[Path], object], name: str, final: Path) -> None:
    change(final)
    before = sorted(os.walk(final))
    for attempt in (lambda: check_free(final), lambda: put(final, {"two": "new"})):
        with pytest.raises(MlsubError) as refused:
            attempt()
        assert name in str(refused.value)
        assert "a/one" not in str(refused.value)
    assert sorted(os.walk(final)) == before


def test_names_that_are_no_text_are_known_again(tmp_path: Path) -> None:
    put(tmp_path / "ACME", {"caf\udce9": "1", "café": "2"})
    put(tmp_path / "ACME", {})
    assert not folder_digests(tmp_path / "ACME")


def test_links_that_were_put_there_are_known_again(final: Path) -> None:
    with staging_beside(final) as staging:
        (staging / "new").mkdir()
        (staging / "new" / "link").symlink_to("nowhere")
        replace_folder(staging / "new", final)
    put(final, {"two": "2"})
    assert contents(final) == {"two": "2"}


def test_the_same_content_is_never_in_the_way(final: Path) -> None:
    (final / "three").write_text("3")
    put(final, {"three": "3"})
    assert contents(final) == {"three": "3"}


def test_empty_folders_are_nothing_that_is_lost(final: Path) -> None:
    (final / "empty").mkdir()
    put(final, {"two": "2"})
    assert not (final / "empty").exists()


@pytest.mark.parametrize("put_first", [False, True])
def test_a_process_that_ends_on_the_way_leaves_a_folder_that_is_known(
    put_first: bool, final: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_put = folders.put_folder

    def stop_put(staging: Path, place: Path) -> None:
        if put_first:
            real_put(staging, place)
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "put_folder", stop_put)
    with pytest.raises(KeyboardInterrupt):
        put(final, {"two": "new"})
    monkeypatch.undo()
    check_free(final)
    put(final, {"two": "newer"})
    assert contents(final) == {"two": "newer"}


def test_a_record_that_cannot_be_written_leaves_the_old_folder(final: Path) -> None:
    record = final.parent / ".ACME.mlsub-written"
    record.unlink()
    record.mkdir()
    (record / "mine").write_text("")
    before = contents(final)
    with pytest.raises(MlsubError):
        put(final, {**before, "three": "3"})
    assert contents(final) == before


def test_a_link_is_no_record(final: Path, tmp_path: Path) -> None:
    record = final.parent / ".ACME.mlsub-written"
    record.rename(tmp_path / "elsewhere")
    record.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MlsubError, match="a/one"):
        check_free(final)
