"""What is replaced and what is not, and that whatever goes wrong leaves the old state."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

import pytest

from mlsub.commands.seal import run as sealing
from mlsub.commands.seal.run import seal_tree
from mlsub.io.errors import MlsubError
from mlsub.packing.tree import RefusedError, Tree
from mlsub.rules.catalogue import finding
from tests.commands.seal.test_roundtrip import pair
from tests.commands.seal.trees import PASSPHRASE, plant, snapshot, with_openssl


def test_without_force_nothing_is_replaced(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    for name in ("sealed", "sealed.receipt.txt", "sealed.MANIFEST.sha256", "sealed.sha1"):
        (tmp_path / name).write_text("mine")
        before = snapshot(tmp_path)
        with pytest.raises(MlsubError, match=r"exists\. Add --force"):
            seal_tree(tree, tmp_path / "sealed", None)
        assert snapshot(tmp_path) == before
        (tmp_path / name).unlink()


@pytest.mark.parametrize("form", ["recipient", "passphrase", "openssl"])
def test_what_goes_wrong_inside_is_told_by_every_form(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The libraries and the program that encrypt stand between, and must not swallow it."""
    if form == "openssl" and not shutil.which("openssl"):
        pytest.skip("no openssl here")
    key = {"recipient": pair()[0], "passphrase": PASSPHRASE, "openssl": with_openssl(b"correct horse battery")}[form]
    tree = plant(tmp_path)
    before = snapshot(tmp_path)
    for error in (KeyboardInterrupt(), RefusedError(finding("seal.changed", "ACME/a", "it changed"))):

        def broken(_: Tree, stream: BinaryIO, __: object, error: BaseException = error) -> None:
            stream.write(bytes(100000))
            raise error

        monkeypatch.setattr(sealing, "write_archive", broken)
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
