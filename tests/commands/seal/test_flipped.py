"""A single flipped bit, anywhere in a sealed file, is told; and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed, verify_tree
from mlsub.io.errors import MlsubError
from mlsub.packing.forms import Key
from mlsub.packing.tree import RefusedError
from tests.commands.seal.test_roundtrip import pair
from tests.commands.seal.trees import PASSPHRASE, plant, with_openssl, with_phrase


def small(folder: Path) -> Path:
    tree = folder / "T"
    tree.mkdir()
    (tree / "a").write_text("a log\n")
    return tree


def told(file: Path, key: object) -> str:
    """How it is told: a finding, or that it cannot be opened at all; empty where it is not."""
    try:
        return "finding" if verify_sealed(file, key).findings else ""
    except MlsubError:
        return "not opened"


def put(file: Path, content: bytes) -> None:
    """Write over a file of the same length; a new one each time would wait for the disk."""
    with file.open("r+b") as stream:
        stream.write(content)


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def check_every_bit(folder: Path, seal_key: Key | None, open_key: object, step: int = 1) -> None:
    file = folder / "sealed"
    seal_tree(small(folder), file, seal_key)
    (folder / "sealed.receipt.txt").unlink()
    (folder / "sealed.sha1").unlink(missing_ok=True)
    content = file.read_bytes()
    assert told(file, open_key) == ""
    ways = []
    for bit in range(0, 8 * len(content), step):
        put(file, flipped(content, bit))
        ways.append(told(file, open_key))
    assert [step * number for number, way in enumerate(ways) if not way] == []
    # A damaged beginning looks like another key, or like no sealed file; all else is damage, and is called that.
    assert set(ways[3 * len(ways) // 4 :]) == {"finding"}


def test_every_bit_of_a_file_with_a_passphrase(tmp_path: Path) -> None:
    check_every_bit(tmp_path, PASSPHRASE, PASSPHRASE)


def test_every_bit_of_a_file_for_a_recipient(tmp_path: Path) -> None:
    check_every_bit(tmp_path, *pair())


def test_every_bit_of_an_archive(tmp_path: Path) -> None:
    """No key guards it, only checksums; but not even padding and header fields are left out."""
    check_every_bit(tmp_path, None, None)


@pytest.mark.parametrize("form", ["passphrase", "recipient", "archive"])
def test_a_cut_anywhere_is_told(form: str, tmp_path: Path) -> None:
    recipients, identities = pair()
    seal_key, open_key = {
        "passphrase": (PASSPHRASE, PASSPHRASE),
        "recipient": (recipients, identities),
        "archive": (None, None),
    }[form]
    file = tmp_path / "sealed"
    seal_tree(small(tmp_path), file, seal_key)
    (tmp_path / "sealed.receipt.txt").unlink()
    for length in range(file.stat().st_size - 1, -1, -1):
        os.truncate(file, length)
        assert told(file, open_key), length


def test_bits_of_a_file_of_openssl(tmp_path: Path) -> None:
    """The program starts anew for each, so every 67th bit; the SHA-1 beside it is not even needed."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl here")
    secret = b"correct horse battery staple"
    check_every_bit(tmp_path, with_openssl(secret), with_phrase(secret), step=67)


def test_every_bit_of_the_manifest(tmp_path: Path) -> None:
    tree = small(tmp_path)
    seal_tree(tree, tmp_path / "sealed", None)
    manifest = tmp_path / "sealed.MANIFEST.sha256"
    content = manifest.read_bytes()
    assert verify_tree(tree, manifest).findings == ()
    for bit in range(8 * len(content)):
        put(manifest, flipped(content, bit))
        with contextlib.suppress(MlsubError):
            assert verify_tree(tree, manifest).findings, bit


def test_every_bit_of_the_files_of_a_tree(tmp_path: Path) -> None:
    tree = small(tmp_path)
    seal_tree(tree, tmp_path / "sealed", None)
    content = (tree / "a").read_bytes()
    for bit in range(8 * len(content)):
        put(tree / "a", flipped(content, bit))
        [finding] = verify_tree(tree, tmp_path / "sealed.MANIFEST.sha256").findings
        assert (finding.rule, finding.path) == ("seal.differs", "T/a")


@pytest.mark.parametrize("change", ["cut", "longer", "doubled", "empty"])
@pytest.mark.parametrize("form", ["passphrase", "recipient", "archive"])
def test_a_file_of_another_length_is_told_and_leaves_nothing(form: str, change: str, tmp_path: Path) -> None:
    recipients, identities = pair()
    seal_key, open_key = {
        "passphrase": (PASSPHRASE, PASSPHRASE),
        "recipient": (recipients, identities),
        "archive": (None, None),
    }[form]
    file = tmp_path / "sealed"
    seal_tree(plant(tmp_path), file, seal_key)
    content = file.read_bytes()
    file.write_bytes({"cut": content[:-1], "longer": content + b"\0", "doubled": content * 2, "empty": b""}[change])
    before = sorted(tmp_path.iterdir())
    with pytest.raises((RefusedError, MlsubError)):
        unseal(file, tmp_path / "out", open_key)
    assert sorted(tmp_path.iterdir()) == before
