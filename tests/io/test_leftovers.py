"""What a killed process leaves goes with the next one and is named; what a living one has stays."""

from __future__ import annotations

import logging
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mlsub.io import leftovers, output
from mlsub.io.durable import make_folder, settle_tree
from mlsub.io.errors import MlsubError
from mlsub.io.leftovers import alone_in, clear_leftovers, new_folder, new_part, scratch
from mlsub.io.output import set_aside, write_file
from tests.io.clearing import cleared_once

PART, FOLDER = ".mlsub-0123456789abcdef.part", ".mlsub-fedcba9876543210.part"


def leave(folder: Path) -> None:
    (folder / PART).write_text("half")
    (folder / FOLDER / "below").mkdir(parents=True)
    (folder / FOLDER / "below").chmod(0)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_is_nobodys_goes_and_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    leave(tmp_path)
    (tmp_path / ".mlsub-mine.part").touch()
    (tmp_path / ".mlsub-0.part").symlink_to(".mlsub-mine.part")
    with caplog.at_level(logging.WARNING):
        clear_leftovers(tmp_path)
    assert names(tmp_path) == {".mlsub-mine.part", ".mlsub-0.part"}
    assert caplog.messages == [
        f"mlsub: removed {tmp_path / name}, left by a process that was killed" for name in (PART, FOLDER)
    ]


def test_without_a_program_that_says_otherwise_it_is_named_on_standard_error(tmp_path: Path) -> None:
    leave(tmp_path)
    words = ["system", "new", "--from", "ipu-pod64", "-o", str(tmp_path / "pod64.json")]
    done = subprocess.run([sys.executable, "-m", "mlsub", *words], capture_output=True, text=True, check=True)
    assert [line.split(",")[0] for line in done.stderr.splitlines()] == [
        f"mlsub: removed {tmp_path / name}" for name in (PART, FOLDER)
    ]
    assert names(tmp_path) == {"pod64.json"}


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    with new_part(tmp_path) as (part, stream), new_folder(tmp_path) as folder:
        stream.write(b"half")
        clear_leftovers(tmp_path)
        assert {part, folder} == set(tmp_path.iterdir())
    assert names(tmp_path) == set()


def test_a_part_that_is_taken_for_a_leftover_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = cleared_once(tmp_path, monkeypatch)
    with new_part(tmp_path) as (part, _):
        assert part.exists()
    assert len(calls) == 2


def test_where_there_are_no_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    leave(tmp_path)
    monkeypatch.setattr(leftovers.fcntl, "flock", refuse)
    assert write_file(tmp_path / "file", b"new", force=False) is None
    assert names(tmp_path) == {PART, FOLDER, "file"}


def test_scratch_is_for_its_user_alone_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    leave(tmp_path)
    with scratch() as folder:
        assert set(tmp_path.iterdir()) == {folder}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert names(tmp_path) == set()


def test_one_process_at_a_time_puts_things_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "_PATIENCE_S", 0.0)
    with alone_in(tmp_path), pytest.raises(MlsubError, match="locked by another process"), alone_in(tmp_path):
        pytest.fail("two are alone")
    with alone_in(tmp_path):
        pass


def test_there_is_one_backup_and_its_replacement_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert set_aside(file) == set_aside(file) == tmp_path / "file.~1~"
    file.unlink()
    file.write_text("mine")
    assert set_aside(file).name == "file.~1~"
    assert caplog.messages == []
    file.write_text("other")
    assert set_aside(file).read_text() == "other"
    assert caplog.messages == [f"mlsub: replaced {tmp_path / 'file.~1~'}, an earlier backup"]
    assert names(tmp_path) == {"file", "file.~1~"}


def test_what_is_not_replaced_after_all_has_no_further_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(output, "put_in_place", refuse)
    with pytest.raises(MlsubError, match="Read-only"):
        write_file(tmp_path / "file", b"new", force=True)
    assert names(tmp_path) == {"file"}


def test_without_hard_links_the_copy_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(output.os, "link", refuse)
    assert set_aside(tmp_path / "file").read_text() == "mine"
    assert names(tmp_path) == {"file", "file.~1~"}


def test_a_file_may_be_executable_from_the_first(tmp_path: Path) -> None:
    write_file(tmp_path / "run.sh", b"#!/bin/sh\n", force=False, executable=True)
    assert os.access(tmp_path / "run.sh", os.X_OK)


def test_a_folder_is_brought_to_the_disk_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "file").write_text("")
    (tmp_path / "a" / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "a" / "pipe")
    seen = []
    monkeypatch.setattr(os, "fsync", lambda opened: seen.append(Path(f"/proc/self/fd/{opened}").readlink()))
    settle_tree(tmp_path / "a")
    assert seen == [tmp_path / "a" / name for name in ("b/file", "pipe", "b", "")]


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
    settle_tree(tmp_path)
    assert seen == {tmp_path, *tmp_path.iterdir()}
    with pytest.raises(OSError, match="Input/output error"):
        settle_tree(tmp_path)


def test_a_lock_ends_with_its_process_however_it_ends(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom mlsub.io.leftovers import new_folder\n"
        "with new_folder(Path(sys.argv[1])):\n    print('ready', flush=True)\n    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        clear_leftovers(tmp_path)
        assert len(names(tmp_path)) == 1
        process.send_signal(signal.SIGKILL)
    clear_leftovers(tmp_path)
    assert names(tmp_path) == set()
