"""What mlsub wrote is known again, and everything else is somebody's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io import folders
from mlsub.io.errors import MlsubError
from mlsub.io.folders import check_free, digests, replace_folder
from mlsub.io.write import staging_beside


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
    return {path: (folder / path).read_text() for path in digests(folder)}


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
    assert not digests(tmp_path / "ACME")


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
