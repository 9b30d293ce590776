"""Passphrases and keys from files: what is taken, and what is refused in plain words."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from pathlib import Path

import pyrage
import pytest

from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed
from mlsub.io import MlsubError
from mlsub.packing.age import VERSION
from mlsub.packing.forms import check_key, read_identities, read_passphrase, read_recipients
from mlsub.packing.tree import RefusedError
from tests.commands.seal.test_roundtrip import pair
from tests.commands.seal.trees import for_keys, plant, with_keys, with_phrase


def secret(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    file = folder / "secret"
    file.write_bytes(content)
    file.chmod(mode)
    return file


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\nsecond line\n"])
def test_the_first_line_is_the_passphrase(end: bytes, tmp_path: Path) -> None:
    assert read_passphrase(secret(tmp_path, b" correct horse " + end)) == b" correct horse "


SHORT = "fewer than 12 characters"
NO_PASSPHRASE = {
    **dict.fromkeys((b"", b"short\n", "ä".encode() * 11, b"\nthe second line is long"), SHORT),
    b"x" * 1001: "more than 1000 bytes",
    b"NUL in\0the middle": "NUL in it",
    b"x" * 70000: "too long",
}


@pytest.mark.parametrize("content", NO_PASSPHRASE, ids=lambda content: content[:20])
def test_what_is_no_passphrase(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(MlsubError, match=NO_PASSPHRASE[content]):
        read_passphrase(secret(tmp_path, content))


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o602, 0o666, 0o640, 0o660, 0o620, 0o610, 0o601])
def test_a_secret_that_is_not_its_owners_alone_is_none(mode: int, tmp_path: Path) -> None:
    file = secret(tmp_path, b"correct horse battery", mode)
    with pytest.raises(MlsubError, match=r"the passphrase in .* is open to other users: chmod 600 it first"):
        read_passphrase(file)
    with pytest.raises(MlsubError, match=r"the key in .* is open to other users: chmod 600"):
        read_identities(file)


def test_files_that_are_none_do_not_stop_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", tmp_path / "nothing", Path("/dev/zero"), Path("a\0b")):
        for read in (read_passphrase, read_identities, read_recipients):
            with pytest.raises(MlsubError, match="cannot be read"):
                read(path)


def test_recipients_from_a_file(tmp_path: Path) -> None:
    file = secret(tmp_path, b"# ours\n\n age1abc \nssh-ed25519 AAAA me@home\n")
    assert read_recipients(file) == ("age1abc", "ssh-ed25519 AAAA me@home")
    for content, why in ((b"# none\n", "names no recipient"), (b"\xff\n", "not UTF-8")):
        with pytest.raises(MlsubError, match=why):
            read_recipients(secret(tmp_path, content))


@pytest.mark.parametrize("key", ["age1x", "", "ssh-ed25519 zzz", "x" * 10000, "\x1b[2J", "AGE-SECRET-KEY-1QQQ"])
def test_what_is_no_recipient(key: str) -> None:
    why = "a secret key is given as recipient" if "SECRET" in key else "is not a public key"
    with pytest.raises(MlsubError, match=why) as caught:
        check_key(for_keys((key,)))
    assert len(str(caught.value)) < 300
    assert "SECRET-KEY-1" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"# none\n", b"junk\n", b"\xff\xff", b"-----BEGIN OPENSSH PRIVATE KEY-----\nzzz\n"]
)
def test_what_is_no_key(content: bytes, tmp_path: Path) -> None:
    seal_tree(plant(tmp_path), tmp_path / "sealed", pair()[0])
    with pytest.raises(MlsubError, match="the key file"):
        unseal(tmp_path / "sealed", tmp_path / "out", with_keys(content))
    assert not (tmp_path / "out").exists()


def test_an_ssh_key_with_a_passphrase_is_refused(tmp_path: Path) -> None:
    if not shutil.which("ssh-keygen"):
        pytest.skip("no ssh-keygen here")
    file = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f", str(file)], check=True)
    seal_tree(plant(tmp_path), tmp_path / "sealed", for_keys(((tmp_path / "key.pub").read_text(),)))
    with pytest.raises(MlsubError, match=r"not opened by this key|SSH key that has no passphrase"):
        unseal(tmp_path / "sealed", tmp_path / "out", with_keys(read_identities(file)))


def test_secrets_are_never_shown() -> None:
    assert "horse" not in repr(with_phrase(b"correct horse battery")) + repr(with_keys(b"horse"))


def _wire(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _private(*numbers: bytes) -> bytes:
    """An OpenSSH file of an RSA key with these numbers: n, e, d, iqmp, p, q."""
    public, private = _wire(b"ssh-rsa", b"\3", b"\5"), bytes(8) + _wire(b"ssh-rsa", *numbers, b"")
    private += bytes(range(1, 1 + -len(private) % 8))
    inside = b"openssh-key-v1\0" + _wire(b"none", b"none", b"") + b"\0\0\0\1" + _wire(public, private)
    whole = base64.encodebytes(inside)
    return b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + whole + b"-----END OPENSSH PRIVATE KEY-----\n"


def test_keys_on_which_the_library_panics_are_refused_in_one_line(tmp_path: Path) -> None:
    """A panic is not an Exception to Python, and would end the program with a traceback."""
    public = "ssh-rsa " + base64.b64encode(_wire(b"ssh-rsa", b"\0", b"\5")).decode()
    with pytest.raises(MlsubError, match="is not a public key"):
        check_key(for_keys((public,)))
    recipients, _ = pair()
    seal_tree(plant(tmp_path), tmp_path / "sealed", recipients)
    for numbers in ((b"\5", b"\3", b"\1", b"\1", b"", b""), (b"\x0f", b"\3", b"\3", b"\1", b"\0", b"\0")):
        with pytest.raises(MlsubError, match="the key file cannot be used"):
            unseal(tmp_path / "sealed", tmp_path / "out", with_keys(_private(*numbers)))


HEADERS = {
    "recipients": b"-> X25519 " + b"A" * 43 + b"\n" + b"A" * 43 + b"\n",
    "the shortest stanzas": b"-> a\n\n",
    "one stanza": b"-> a " + b"A" * 70_000 + b"\n\n",
}


@pytest.mark.parametrize("stanza", HEADERS.values(), ids=HEADERS)
def test_a_long_header_is_refused_before_the_library_reads_it(
    stanza: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(pyrage, "decrypt_io", refuse)
    _, identity = pair()
    file = tmp_path / "Acme.tar.gz.age"
    file.write_bytes(VERSION + stanza * max(1_001, 70_000 // len(stanza)) + b"--- " + b"A" * 43 + b"\n" + bytes(99))
    with pytest.raises(RefusedError) as error:
        unseal(file, tmp_path / "out", identity)
    assert not (tmp_path / "out").exists()
    for found in (error.value.findings, verify_sealed(file, identity).findings):
        assert [one.rule for one in found] == ["seal.damaged"]
        assert "its header has more than 64 KiB or 1,000 recipients" in found[0].message


def test_nothing_is_sealed_for_more_recipients_than_can_be_opened() -> None:
    [public] = pair()[0].recipients
    check_key(for_keys((public,) * 600))
    with pytest.raises(MlsubError, match="it cannot be sealed for 700 recipients: its header has more than 64 KiB"):
        check_key(for_keys((public,) * 700))
