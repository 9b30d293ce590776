"""A folder is put in place whole or not at all, whatever stops the process."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlsub.io import output_folder
from mlsub.io.errors import MlsubError
from mlsub.io.output_folder import put_folder, recover_folder, staging_beside
from tests.io.clearing import cleared_once

FILES = 20


def fill(folder: Path, word: str) -> None:
    (folder / "below").mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        (folder / "below" / f"{number}.txt").write_text(word)


def words(folder: Path) -> list[str]:
    return [file.read_text() for file in sorted((folder / "below").iterdir())]


@pytest.fixture(params=["exchange", "two renames"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of replacing, whatever the file system of the tests can do."""
    if request.param == "two renames":
        monkeypatch.setattr(output_folder, "exchange", lambda one, other: False)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("before", [None, "old"])
def test_a_folder_comes_whole_and_nothing_is_left_beside_it(before: str | None, tmp_path: Path) -> None:
    final = tmp_path / "deep" / "ACME"
    if before:
        fill(final, before)
        (final / "only-before.txt").write_text("")
        (final / "below").chmod(0o500)
    with staging_beside(final) as staging:
        fill(staging, "new")
        put_folder(staging, final)
    assert words(final) == ["new"] * FILES
    assert sorted(path.name for path in final.iterdir()) == ["below"]
    assert [path.name for path in final.parent.iterdir()] == ["ACME"]


def test_a_new_folder_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    with staging_beside(tmp_path / "ACME") as staging:
        put_folder(staging, tmp_path / "ACME")
    assert (tmp_path / "ACME").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_staging_goes_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staging_beside(tmp_path / "ACME") as staging:
        fill(staging, "half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


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
    final = tmp_path / "ACME"
    fill(final, "old")
    monkeypatch.setattr(output_folder, "exchange", lambda one, other: False)
    with pytest.raises(MlsubError, match="ACME cannot be written: No such file"):
        put_folder(tmp_path / "gone", final)
    assert words(final) == ["old"] * FILES
    assert [path.name for path in tmp_path.iterdir()] == ["ACME"]


def test_a_refused_exchange_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "ACME", "old")
    fill(tmp_path / "staging", "new")

    def refuse(one: Path, other: Path) -> bool:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(output_folder, "exchange", refuse)
    with pytest.raises(MlsubError, match="ACME cannot be written: Permission denied"):
        put_folder(tmp_path / "staging", tmp_path / "ACME")
    assert words(tmp_path / "ACME") == ["old"] * FILES


def test_a_replacement_that_was_killed_half_way_is_recovered(tmp_path: Path) -> None:
    final = tmp_path / "ACME"
    fill(tmp_path / ".ACME.mlsub-old", "old")
    assert recover_folder(final)
    assert words(final) == ["old"] * FILES
    assert not recover_folder(final)
    fill(tmp_path / ".ACME.mlsub-old", "older, and not removed any more")
    assert not recover_folder(final)
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
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


PUT_AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from mlsub.io import leftovers, output_folder
from mlsub.io.output_folder import put_folder, staging_beside
from tests.io.test_output_folder import fill

if sys.argv[2] == "two renames":
    output_folder.exchange = lambda one, other: False
final = Path(sys.argv[1])
for generation in range(100_000):
    with staging_beside(final) as staging:
        fill(staging, f"{generation}")
        put_folder(staging, final)
    if generation == 2:
        print("ready", flush=True)
"""


@pytest.mark.parametrize("way", ["exchange", "two renames"])
def test_after_a_kill_there_is_one_whole_folder(way: str, tmp_path: Path) -> None:
    if way == "exchange" and not _can_exchange(tmp_path):
        pytest.skip("this file system cannot exchange two names")
    final = tmp_path / "ACME"
    for delay in (0.0, 0.003, 0.007, 0.011):
        process = subprocess.Popen(
            [sys.executable, "-c", PUT_AGAIN_AND_AGAIN, str(final), way],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        if way == "two renames":
            recover_folder(final)
        assert len(set(words(final))) == 1
        assert len(words(final)) == FILES


def _can_exchange(tmp_path: Path) -> bool:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    return output_folder.exchange(tmp_path / "one", tmp_path / "other")


def test_a_staging_folder_that_is_in_use_stays_and_one_that_nobody_uses_goes(tmp_path: Path) -> None:
    (tmp_path / ".mlsub-0123456789abcdef.part" / "half").mkdir(parents=True)
    (tmp_path / ".mlsub-0123456789abcdef.new").mkdir()
    (tmp_path / ".mlsub-link.part").symlink_to(tmp_path)
    (tmp_path / ".mlsub-file.part").write_text("")
    with staging_beside(tmp_path / "one") as one, staging_beside(tmp_path / "other") as other:
        assert one.is_dir()
        assert other.is_dir()
        assert {path.name for path in tmp_path.iterdir()} == {
            one.name,
            other.name,
            ".mlsub-link.part",
            ".mlsub-file.part",
        }


def test_a_folder_that_another_process_clears_away_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = cleared_once(tmp_path, monkeypatch)
    with staging_beside(tmp_path / "ACME") as staging:
        assert staging.is_dir()
    assert len(calls) == 2
