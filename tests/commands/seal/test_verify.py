"""Sealed files against keys, receipts and manifests, trees against manifests; a single flipped bit is told."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_receipt, verify_sealed, verify_tree
from mlsub.io import MlsubError
from mlsub.packing.forms import Key
from mlsub.packing.tree import Checksums, RefusedError, parse_checksums
from tests.commands.seal.test_roundtrip import forms, pair
from tests.commands.seal.trees import PASSPHRASE, plant, snapshot, with_openssl, with_phrase
from tools.support.effort import ALL

SECRET = b"correct horse battery staple"


def sealed(folder: Path) -> tuple[Path, Path]:
    tree = plant(folder)
    seal_tree(tree, folder / "sealed", PASSPHRASE)
    return tree, folder / "sealed"


def rules(path: Path, manifest: Path | None = None) -> list[tuple[str, str]]:
    return [(finding.rule, finding.path) for finding in verify_tree(path, manifest).findings]


def test_an_opened_tree_and_a_copy_agree(tmp_path: Path) -> None:
    tree, file = sealed(tmp_path)
    manifest = tmp_path / "sealed.MANIFEST.sha256"
    unseal(file, tmp_path / "out", PASSPHRASE)
    assert rules(tmp_path / "out") == rules(tree, manifest) == rules(tmp_path / "out" / "ACME", manifest) == []


def test_each_kind_of_difference_is_told(tmp_path: Path) -> None:
    tree, _ = sealed(tmp_path)
    (tree / "systems" / "rack1.json").write_text("{}")
    (tree / "run.sh").unlink()
    (tree / "new").touch()
    (tree / "latest").unlink()
    (tree / "latest").symlink_to("systems")
    (tree / "results" / "empty").rmdir()
    (tree / "void").mkdir()
    os.mkfifo(tree / "fifo")
    assert rules(tree, tmp_path / "sealed.MANIFEST.sha256") == [
        ("seal.special-file", "ACME/fifo"),
        ("seal.differs", "ACME/latest"),
        ("seal.extra", "ACME/new"),
        ("seal.missing", "ACME/results/empty"),
        ("seal.missing", "ACME/run.sh"),
        ("seal.differs", "ACME/systems/rack1.json"),
        ("seal.extra", "ACME/void"),
    ]


def test_a_tree_of_another_name_is_another_tree(tmp_path: Path) -> None:
    tree, _ = sealed(tmp_path)
    tree.rename(tmp_path / "OTHER")
    with pytest.raises(MlsubError, match=r"the manifest is of ACME, and .*/OTHER has another name"):
        verify_tree(tmp_path / "OTHER", tmp_path / "sealed.MANIFEST.sha256")


def test_a_link_in_place_of_the_tree_is_no_tree(tmp_path: Path) -> None:
    tree, file = sealed(tmp_path)
    unseal(file, tmp_path / "out", PASSPHRASE)
    (tmp_path / "out" / "ACME").rename(tmp_path / "elsewhere")
    (tmp_path / "out" / "ACME").symlink_to(tree)
    with pytest.raises(MlsubError, match=r"which .*/out does not contain"):
        verify_tree(tmp_path / "out")


def test_a_tree_in_a_tree_of_the_same_name(tmp_path: Path) -> None:
    tree = tmp_path / "T"
    (tree / "T").mkdir(parents=True)
    (tree / "T" / "a").touch()
    seal_tree(tree, tmp_path / "sealed", None)
    manifest = tmp_path / "sealed.MANIFEST.sha256"
    (tmp_path / "opened").mkdir()
    unseal(tmp_path / "sealed", tmp_path / "opened" / "T")
    assert rules(tree, manifest) == rules(tmp_path / "opened" / "T") == []


def _with_copy_inside(tree: Path) -> Path:
    """A changed tree with a copy of what it was before in it, as if it lay in a folder of its own name."""
    shutil.copytree(tree, tree.parent / "copy", symlinks=True)
    (tree.parent / "copy").rename(tree / "ACME")
    (tree / "MANIFEST.sha256").touch()
    (tree / "systems" / "rack1.json").write_text("{}")
    return tree


def _linked(tree: Path) -> Path:
    (tree.parent / "link").symlink_to(_with_copy_inside(tree))
    return tree.parent / "link"


#: The folder that is named, of a tree ACME, and what differs from the manifest beside the sealed file.
NAMED: dict[str, tuple[Callable[[Path], Path], set[tuple[str, str]]]] = {
    "a copy inside": (_with_copy_inside, {("differs", "ACME/systems/rack1.json"), ("extra", "ACME/MANIFEST.sha256")}),
    "a link to it": (_linked, {("differs", "ACME/systems/rack1.json"), ("extra", "ACME/MANIFEST.sha256")}),
}


@pytest.mark.parametrize(("change", "expected"), NAMED.values(), ids=NAMED)
def test_with_a_manifest_the_folder_that_is_named_is_the_tree(
    change: Callable[[Path], Path], expected: set[tuple[str, str]], tmp_path: Path
) -> None:
    tree, _ = sealed(tmp_path)
    found = rules(change(tree), tmp_path / "sealed.MANIFEST.sha256")
    outside = {(rule, path) for rule, path in found if not path.startswith("ACME/ACME")}
    assert outside == {(f"seal.{rule}", path) for rule, path in expected}
    assert bool(set(found) - outside) is (tree / "ACME").exists()


def test_what_was_opened_lies_alone_with_its_manifest(tmp_path: Path) -> None:
    _, file = sealed(tmp_path)
    out, manifest = tmp_path / "out", tmp_path / "sealed.MANIFEST.sha256"
    unseal(file, out, PASSPHRASE)
    assert rules(out) == rules(out / "ACME", manifest) == []
    with pytest.raises(MlsubError, match=r"the manifest is of ACME, and .*/out has another name"):
        verify_tree(out, manifest)
    (out / "more").mkdir()
    (out / "results").mkdir()
    (out / "results" / "result_0.txt").touch()
    assert rules(out) == [("seal.extra", "more"), ("seal.extra", "results")]
    assert rules(out / "ACME", manifest) == []
    (out / "ACME").rename(tmp_path / "ACME")
    shutil.copy(out / "MANIFEST.sha256", tmp_path / "ACME")
    with pytest.raises(MlsubError, match=r"which .*/ACME does not contain"):
        verify_tree(tmp_path / "ACME")


def test_without_a_key_the_receipt_speaks(tmp_path: Path) -> None:
    _, file = sealed(tmp_path)
    checked = verify_sealed(file, None)
    assert (checked.compared, checked.findings) == ("sealed with sealed.receipt.txt", ())
    assert "its content was not checked" in checked.notes[0]
    content = file.read_bytes()
    for changed in (content[:-1] + bytes([content[-1] ^ 1]), content[:-1]):
        file.write_bytes(changed)
        assert [finding.rule for finding in verify_sealed(file, None).findings] == ["seal.damaged"]
    (tmp_path / "sealed.receipt.txt").write_text("no receipt")
    with pytest.raises(MlsubError, match="is not a receipt of mlsub seal"):
        verify_receipt(file, tmp_path / "sealed.receipt.txt")
    (tmp_path / "sealed.receipt.txt").unlink()
    with pytest.raises(MlsubError, match=r"is sealed with a passphrase\. Give it with --passphrase-file"):
        verify_sealed(file, None)


def test_the_wrong_kind_of_key_is_told(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    recipients, identities = pair()
    seal_tree(tree, tmp_path / "r", recipients)
    seal_tree(tree, tmp_path / "p", PASSPHRASE)
    seal_tree(tree, tmp_path / "a", None)
    cases: list[tuple[str, Key | None, str]] = [
        ("r", PASSPHRASE, "is sealed for recipients. Give the secret key of one with --identity."),
        ("r", None, "is sealed for recipients. Give the secret key of one with --identity."),
        ("r", pair()[1], "is not opened by this key, or its beginning is damaged."),
        ("p", identities, "is sealed with a passphrase. Give it with --passphrase-file."),
        ("p", with_phrase(b"another phrase"), "is not opened by this passphrase, or its beginning is damaged."),
        ("a", PASSPHRASE, "is not encrypted, so no key says who made it. Leave the key out if that is expected."),
    ]
    for name, key, why in cases:
        with pytest.raises(MlsubError) as caught:
            unseal(tmp_path / name, tmp_path / "out", key)
        assert str(caught.value) == f"{tmp_path / name} {why}"
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"junk", b"\xff", b"\0" * 70, b"0" * 64 + b"  /etc/passwd\n"])
def test_what_is_no_manifest(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "manifest").write_bytes(content)
    with pytest.raises(MlsubError):
        verify_tree(tmp_path, tmp_path / "manifest")


def test_a_manifest_of_sha256sum_is_one(tmp_path: Path) -> None:
    if not shutil.which("sha256sum"):
        pytest.skip("no sha256sum here")
    (tmp_path / "T").mkdir()
    (tmp_path / "T" / "a").write_text("x")
    done = subprocess.run(["sha256sum", "-b", "T/a"], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "manifest").write_bytes(done.stdout)
    assert rules(tmp_path / "T", tmp_path / "manifest") == []


def test_a_manifest_is_read_as_it_was_written() -> None:
    manifest = Checksums(files={"T/b": "0" * 64, "T/a b": "f" * 64}, links={"T/l": "a b"}, folders=("T/e",))
    assert parse_checksums(manifest.render(), "m") == manifest
    assert manifest.render().decode() == f"{'f' * 64}  T/a b\n{'0' * 64}  T/b\n# link\tT/l\ta b\n# folder\tT/e\n"


def test_unsealing_never_writes_over_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, file = sealed(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    before = snapshot(tmp_path)
    for name in ("full", "file", "link", "nowhere/out", "a\0b"):
        with pytest.raises(MlsubError):
            unseal(file, tmp_path / name, PASSPHRASE)
        assert snapshot(tmp_path) == before
    unseal(file, tmp_path / "empty", PASSPHRASE)
    assert (tmp_path / "empty" / "ACME").is_dir()
    monkeypatch.chdir(tmp_path / "empty" / "ACME" / "results" / "empty")
    unseal(file, Path(), PASSPHRASE)
    assert (tmp_path / "empty" / "ACME" / "results" / "empty" / "ACME" / "run.sh").is_file()


openssl_there = pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl here")


@openssl_there
def test_the_program_and_this_one_open_what_the_other_sealed(tmp_path: Path) -> None:
    """With the options an upload names, and nothing of this program."""
    tree = plant(tmp_path)
    receipt = seal_tree(tree, tmp_path / "s.enc", with_openssl(SECRET))
    (tmp_path / "pass").write_bytes(SECRET + b"\n")
    command = ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-salt", "-pass", "file:pass"]
    subprocess.run([*command, "-d", "-in", "s.enc", "-out", "s.tar.gz"], cwd=tmp_path, check=True)
    unseal(tmp_path / "s.tar.gz", tmp_path / "out")
    assert snapshot(tmp_path / "out" / "ACME") == snapshot(tree)
    assert (tmp_path / "s.enc.sha1").read_text() == f"{receipt.sha1}  s.enc\n"
    if shutil.which("sha1sum"):
        subprocess.run(["sha1sum", "--check", "--strict", "--quiet", "s.enc.sha1"], cwd=tmp_path, check=True)
    subprocess.run([*command, "-in", "s.tar.gz", "-out", "theirs.enc"], cwd=tmp_path, check=True)
    opened = unseal(tmp_path / "theirs.enc", tmp_path / "again", with_phrase(SECRET))
    assert opened.notes[1] == "there is no theirs.enc.sha1 beside it: its SHA-1 was not checked"
    assert snapshot(tmp_path / "again" / "ACME") == snapshot(tree)


@openssl_there
def test_another_sha1_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    seal_tree(plant(tmp_path), tmp_path / "s.enc", with_openssl(SECRET))
    (tmp_path / "s.enc.sha1").write_text("0" * 40 + "  s.enc\n")
    with pytest.raises(RefusedError) as caught:
        unseal(tmp_path / "s.enc", tmp_path / "out", with_phrase(SECRET))
    assert caught.value.findings[0].message == "the SHA-1 of the file is not that beside it"
    [found] = verify_sealed(tmp_path / "s.enc", with_phrase(SECRET)).findings
    assert found.rule == "seal.damaged"


@openssl_there
def test_another_passphrase_is_told_of_openssl_too(tmp_path: Path) -> None:
    """Where the padding happens to fit, the archive does not; so many, to meet both."""
    seal_tree(plant(tmp_path), tmp_path / "s.enc", with_openssl(SECRET))
    for number in range(20):
        with pytest.raises(MlsubError, match="is not opened by this passphrase, or it is damaged"):
            unseal(tmp_path / "s.enc", tmp_path / "out", with_phrase(b"another passphrase %d" % number))


def test_without_the_program_it_is_said_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = plant(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    before = snapshot(tmp_path)
    with pytest.raises(MlsubError, match="there is no program openssl"):
        seal_tree(tree, tmp_path / "s.enc", with_openssl(SECRET))
    assert snapshot(tmp_path) == before


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for the program")
def test_a_program_that_fails_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = plant(tmp_path)
    (tmp_path / "openssl").write_text("#!/bin/sh\necho 'unknown option -pbkdf2' >&2\nexit 1\n")
    (tmp_path / "openssl").chmod(0o755)
    monkeypatch.setattr("mlsub.packing.forms.find_openssl", lambda: str(tmp_path / "openssl"))
    before = snapshot(tmp_path)
    with pytest.raises(MlsubError, match="openssl failed: unknown option -pbkdf2"):
        seal_tree(tree, tmp_path / "s.enc", with_openssl(SECRET))
    assert snapshot(tmp_path) == before


@openssl_there
def test_the_passphrase_is_on_no_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    real = subprocess.Popen

    def popen(arguments: list[str], **options: object) -> object:
        seen.append((arguments, options.get("env"), options.get("shell")))
        return real(arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", popen)
    seal_tree(plant(tmp_path), tmp_path / "s.enc", with_openssl(SECRET))
    assert len(seen) == 1
    assert "horse" not in repr(seen)


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
