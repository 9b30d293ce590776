"""Killed at any moment: what is there is the old state or the new one, whole, and litter does not stay."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlsub.commands.seal import run as sealing
from mlsub.commands.seal.forms import OpenSSL, Unencrypted
from mlsub.commands.seal.run import seal_tree
from mlsub.commands.seal.streams import RefusedError, file_digest
from mlsub.commands.unseal.run import unseal
from mlsub.io.errors import MlsubError
from mlsub.io.write import staging_beside
from mlsub.rules.catalogue import finding
from tests.commands.runner import REPOSITORY
from tests.commands.seal.test_roundtrip import pair
from tests.commands.seal.trees import PASSPHRASE, plant, snapshot
from tests.effort import HUNG

TIMES = 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_hundred_kills(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.commands.seal.killing", str(tmp_path), str(TIMES), "20261121"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=HUNG, check=False)
    assert done.returncode == 0, done.stderr
    # What a killed process left is named as the next one removes it, and nothing else is said.
    lines = done.stderr.splitlines()
    assert lines
    assert all(line.startswith(f"mlsub: removed {tmp_path}/.mlsub-") for line in lines)
    nothing, old, new, receipts, litter = map(int, done.stdout.split())
    assert nothing + old + new == TIMES
    assert litter == 0
    # The blows fell before, within and after.
    assert min(nothing, old, new) > 0
    assert receipts > 0


STEPS = ["put_file", "sync_file", "sync_folder"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_end_before_each_step_leaves_no_receipt_of_another_file(
    step: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, out = plant(tmp_path), tmp_path / "sealed"
    old = seal_tree(tree, out, PASSPHRASE)
    real, calls = getattr(sealing, step), []

    def stop(*args: object, **options: object) -> None:
        if len(calls) == number:
            raise KeyboardInterrupt
        calls.append(args)
        real(*args, **options)

    monkeypatch.setattr(sealing, step, stop)
    with contextlib.suppress(KeyboardInterrupt):
        seal_tree(tree, out, PASSPHRASE, force=True)
    digest = file_digest(out)
    receipt = tmp_path / "sealed.receipt.txt"
    if receipt.exists():
        assert digest in receipt.read_text()
    elif (step, number) in (("put_file", 0), ("sync_file", 0)):
        assert digest == old.sha256
    assert list(tmp_path.glob(".mlsub*")) == []


def test_litter_of_the_dead_is_cleared_and_that_of_the_living_is_not(tmp_path: Path) -> None:
    tree, mine = plant(tmp_path / "from"), tmp_path / ".mlsub-of mine"
    (tmp_path / ".mlsub-4567.part").mkdir()
    (tmp_path / ".mlsub-4567.part" / "file").write_text("of a killed process")
    mine.touch()
    with staging_beside(tmp_path / "another") as living:
        seal_tree(tree, tmp_path / "sealed", PASSPHRASE)
        unseal(tmp_path / "sealed", tmp_path / "out", PASSPHRASE)
        assert set(tmp_path.glob(".mlsub*")) == {living, mine}
    assert list(tmp_path.glob(".mlsub*")) == [mine]


def test_a_link_called_like_litter_leads_nobody_astray(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").touch()
    (tmp_path / ".mlsub-0123.part").symlink_to("victim")
    seal_tree(plant(tmp_path / "from"), tmp_path / "sealed", PASSPHRASE)
    assert (tmp_path / "victim" / "file").exists()


def test_without_force_nothing_is_replaced(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    for name in ("sealed", "sealed.receipt.txt", "sealed.MANIFEST.sha256", "sealed.sha1"):
        (tmp_path / name).write_text("mine")
        before = snapshot(tmp_path)
        with pytest.raises(MlsubError, match=r"exists\. Add --force"):
            seal_tree(tree, tmp_path / "sealed", Unencrypted())
        assert snapshot(tmp_path) == before
        (tmp_path / name).unlink()


def test_one_that_comes_meanwhile_is_not_replaced_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = plant(tmp_path)
    real = sealing.put_file

    def late(part: Path, file: Path, *, force: bool) -> None:
        file.write_text("mine")
        real(part, file, force=force)

    monkeypatch.setattr(sealing, "put_file", late)
    with pytest.raises(MlsubError, match="exists"):
        seal_tree(tree, tmp_path / "sealed", Unencrypted())
    assert (tmp_path / "sealed").read_text() == "mine"
    assert list(tmp_path.glob(".mlsub*")) == []


@pytest.mark.parametrize("form", ["recipient", "passphrase", "openssl"])
def test_what_goes_wrong_inside_is_told_by_every_form(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The libraries and the program that encrypt stand between, and must not swallow it."""
    if form == "openssl" and not shutil.which("openssl"):
        pytest.skip("no openssl here")
    key = {"recipient": pair()[0], "passphrase": PASSPHRASE, "openssl": OpenSSL(b"correct horse battery")}[form]
    tree = plant(tmp_path)
    before = snapshot(tmp_path)
    for error in (KeyboardInterrupt(), RefusedError(finding("seal.changed", "ACME/a", "it changed"))):

        def broken(_: object, error: BaseException = error) -> Iterator[bytes]:
            yield bytes(100000)
            raise error

        monkeypatch.setattr(sealing.TarWriter, "chunks", broken)
        with pytest.raises(type(error)):
            seal_tree(tree, tmp_path / "sealed", key)
        assert snapshot(tmp_path) == before


def test_a_full_disk_is_told_and_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = plant(tmp_path)
    seal_tree(tree, tmp_path / "sealed", PASSPHRASE)
    before = snapshot(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sealing, "sync_file", full)
    with pytest.raises(MlsubError, match="cannot be written: No space left on device"):
        seal_tree(tree, tmp_path / "sealed", PASSPHRASE, force=True)
    assert snapshot(tmp_path) == before
