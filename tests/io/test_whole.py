"""A file of a cache is the old one or the new one, and what fails leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mlsub.io.whole import replace_whole


def test_it_is_written_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "record"
    for content in (b"old", b"", b"new"):
        replace_whole(file, content, 0o600)
        assert file.read_bytes() == content
        assert file.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["record"]  # noqa: PTH208


def test_a_name_without_a_folder_lies_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replace_whole("record", b"new")
    assert (tmp_path / "record").read_bytes() == b"new"


def test_what_fails_leaves_the_old_one_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "record"
    file.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mlsub.io.whole.os.replace", full)
    with pytest.raises(OSError, match="No space"):
        replace_whole(file, b"new")
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["record"]
