"""A single flipped bit, anywhere in a sealed file, is told; and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed, verify_tree
from mlsub.io.errors import MlsubError
from mlsub.packing.forms import Key
from mlsub.packing.tree import RefusedError
from tests.commands.seal.test_roundtrip import forms
from tools.support.effort import ALL


def small(folder: Path) -> Path:
    tree = folder / "T"
    tree.mkdir()
    (tree / "a").write_text("a log\n")
    return tree


FORMS = {name: (seal_key, open_key) for name, seal_key, open_key in forms()}


def told(file: Path, key: Key | None) -> str:
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


@pytest.mark.parametrize("form", FORMS)
def test_every_bit_of_a_sealed_file(form: str, tmp_path: Path) -> None:
    """No key guards an archive, only checksums; but not even padding and header fields are left out."""
    file, (seal_key, open_key) = tmp_path / "sealed", FORMS[form]
    # The program openssl starts anew for each; the SHA-1 beside its file is not even needed.
    step = 67 if form == "openssl" else 1 if ALL else 5
    seal_tree(small(tmp_path), file, seal_key)
    (tmp_path / "sealed.receipt.txt").unlink()
    (tmp_path / "sealed.sha1").unlink(missing_ok=True)
    content = file.read_bytes()
    assert told(file, open_key) == ""
    ways = []
    for bit in range(0, 8 * len(content), step):
        put(file, flipped(content, bit))
        ways.append(told(file, open_key))
    assert [step * number for number, way in enumerate(ways) if not way] == []
    # A damaged beginning looks like another key, or like no sealed file; all else is damage, and is called that.
    assert set(ways[3 * len(ways) // 4 :]) == {"finding"}


@pytest.mark.parametrize("form", ["passphrase", "recipient", "open"])
def test_another_length_is_told_and_leaves_nothing(form: str, tmp_path: Path) -> None:
    file, (seal_key, open_key) = tmp_path / "sealed", FORMS[form]
    seal_tree(small(tmp_path), file, seal_key)
    (tmp_path / "sealed.receipt.txt").unlink()
    content, before = file.read_bytes(), sorted(tmp_path.iterdir())
    for longer in (content + b"\0", content * 2):
        file.write_bytes(longer)
        with pytest.raises((RefusedError, MlsubError)):
            unseal(file, tmp_path / "out", open_key)
        assert sorted(tmp_path.iterdir()) == before
    file.write_bytes(content)
    for length in range(len(content) - 1, -1, -1):
        os.truncate(file, length)
        assert told(file, open_key), length
    with pytest.raises((RefusedError, MlsubError)):
        unseal(file, tmp_path / "out", open_key)
    assert sorted(tmp_path.iterdir()) == before


def test_every_bit_of_the_manifest_and_of_the_files_of_a_tree(tmp_path: Path) -> None:
    tree = small(tmp_path)
    seal_tree(tree, tmp_path / "sealed", None)
    manifest, file = tmp_path / "sealed.MANIFEST.sha256", tree / "a"
    listed, content = manifest.read_bytes(), file.read_bytes()
    assert verify_tree(tree, manifest).findings == ()
    for bit in range(8 * len(content)):
        put(file, flipped(content, bit))
        [finding] = verify_tree(tree, manifest).findings
        assert (finding.rule, finding.path) == ("seal.differs", "T/a")
    put(file, content)
    for bit in range(8 * len(listed)):
        put(manifest, flipped(listed, bit))
        with contextlib.suppress(MlsubError):
            assert verify_tree(tree, manifest).findings, bit
