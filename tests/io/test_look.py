"""What is opened for reading: a file whose content is stored, and nothing that blocks, never ends or is made up."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io import look
from mlsub.io.look import content_digest, open_regular

#: Where the system makes the content of files when they are read.
MADE_UP = ("/proc/kmsg", "/proc/version", "/proc/self/ns/net", "/sys/kernel/mm/transparent_hugepage/enabled")
NONE = "not stored anywhere, but made by the system when it is read"


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "a link to it"])
@pytest.mark.parametrize("place", MADE_UP)
def test_what_the_system_makes_is_not_read(place: str, linked: bool, tmp_path: Path) -> None:
    if not os.access(place, os.R_OK):
        pytest.skip(f"{place} cannot be read here")
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(OSError, match=NONE):
        open_regular(tmp_path / "link" if linked else place)
    assert content_digest(place) is None


def _swap(file: Path, make: Callable[[Path], object]) -> Callable[..., os.stat_result]:
    """Return ``os.stat`` that changes a file right after it looked at it."""
    stat = os.stat

    def swapping(path: str | os.PathLike[str], **options: bool) -> os.stat_result:
        found = stat(path, **options)
        if os.fspath(path) == os.fspath(file):
            file.unlink()
            make(file)
        return found

    return swapping


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "not a regular file"),
        (lambda file: file.symlink_to("/dev/zero"), "not a regular file"),
        (lambda file: file.symlink_to("/proc/version"), NONE),
        (lambda file: file.mkdir(), "Is a directory"),
    ],
    ids=["FIFO", "device", "proc", "folder"],
)
def test_what_takes_the_place_of_a_file_meanwhile_is_not_read(
    make: Callable[[Path], object], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why is NONE and not Path("/proc/version").exists():
        pytest.skip("there is no /proc here")
    file = tmp_path / "log"
    file.touch()
    monkeypatch.setattr(look.os, "stat", _swap(file, make))
    with pytest.raises(OSError, match=why):
        open_regular(file)


def test_devices_are_not_even_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look.os, "open", None)
    with pytest.raises(OSError, match="not a regular file"):
        open_regular("/dev/null")


@pytest.mark.parametrize("folder", ["here", "/dev/shm"])
@pytest.mark.parametrize("size", [0, 1, 1 << 20])
def test_files_without_a_block_of_their_own_are_read_where_others_are_stored(
    folder: str, size: int, tmp_path: Path
) -> None:
    """Empty, with holes, in memory: none has blocks, and each is a file."""
    place = tmp_path if folder == "here" else Path(folder)
    if not os.access(place, os.W_OK):
        pytest.skip(f"there is no {place} to write to")
    file = place / f"mlsub-test-{os.getpid()}"
    try:
        file.touch()
        os.truncate(file, size)
        with open_regular(file) as stream:
            assert stream.read() == bytes(size)
    finally:
        file.unlink()


def test_a_file_is_read_where_the_file_system_names_no_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_text("x")

    class Unlimited:
        f_blocks = 0

    monkeypatch.setattr(look.os, "statvfs", lambda _: Unlimited)
    with open_regular(tmp_path / "log") as stream:
        assert stream.read() == b"x"
