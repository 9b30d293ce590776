"""A file is written whole or not at all, and none is replaced unasked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io.errors import MlsubError
from mlsub.io.write import check_output, write_file


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


def _missing_folder(tmp_path: Path) -> Path:
    return tmp_path / "none" / "out.csv"


def _folder(tmp_path: Path) -> Path:
    return tmp_path


def _pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def _dangling(tmp_path: Path) -> Path:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    return tmp_path / "link"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        *((_missing_folder, "There is no folder "), (_folder, "is a folder. Name a file in it.")),
        (lambda tmp: tmp / ("x" * 300), "cannot be written: File name too long"),
        *((lambda tmp: tmp / "a\0b", "cannot be written: "), (_pipe, ""), (_dangling, "")),
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
