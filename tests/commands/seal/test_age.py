"""age's format: the same bytes as the library's and the official program's, in both directions, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.io import MlsubError
from mlsub.packing.age import WrongKeyError, decrypt, encrypt
from mlsub.packing.forms import Key, read_identities
from mlsub.packing.tree import DamagedError
from tests.commands.seal.trees import for_keys, plant, snapshot, with_keys, with_phrase

pyrage = pytest.importorskip("pyrage")
SECRET = b"correct horse battery staple"
CHUNK = 64 * 1024


def sealed(content: bytes) -> bytes:
    return b"".join(encrypt(io.BytesIO(content), SECRET, 1))


def opened(content: bytes, secret: bytes = SECRET) -> bytes:
    return b"".join(decrypt(io.BytesIO(content), secret))


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7])
def test_the_library_and_this_one_open_each_other(size: int) -> None:
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)
    assert pyrage.passphrase.decrypt(sealed(content), SECRET.decode()) == content
    assert opened(sealed(content)) == content


#: What pyrage 1.4.0 made of a line; recorded, for it chooses a work factor (here 20) that takes it seconds.
THEIRS = (
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBwQnlNelI0VXpaRmtOd0NGWWpwMG1RIDIwCnNJdmFjNnJaYUVSN3JsVVZT"
    "MTJkdUx1T0tmNkNmRzJ6UzRTV2hZZVRsb0kKLS0tIGU4dkpCRVBPcFJ0M21sZzlxeEZqUjl1L1hjWllmWXpJNzI2NWhUTEhvOTQK"
    "BRcAz0wIjL517Yccb08SdfB6RSxS9nAoIkY48lyQQZq1XwrW6hGk33ZKfayeQUy7MA=="
)


@pytest.mark.slow
def test_what_the_library_seals_is_opened() -> None:
    assert opened(base64.b64decode(THEIRS)) == b"sealed elsewhere\n"


def test_another_passphrase_does_not_open_it() -> None:
    with pytest.raises(WrongKeyError):
        opened(sealed(b"x"), b"another passphrase")


@pytest.mark.parametrize("cut", [0, 10, 60, 150, 170, CHUNK, -1])
def test_what_is_cut_short_is_told(cut: int) -> None:
    with pytest.raises(DamagedError):
        opened(sealed(bytes(2 * CHUNK))[:cut])


def test_chunks_cannot_be_missing_change_places_nor_be_doubled() -> None:
    """Each is authentic; of those that are cut off at the end, only that the last one does not say so shows it."""
    whole = sealed(b"".join(bytes([n]) * CHUNK for n in range(3)))
    size = CHUNK + 16
    header, body = whole[: -3 * size], whole[-3 * size :]
    parts = [body[:size], body[size : 2 * size], body[2 * size :]]
    for order in ([0], [0, 1], [1, 0, 2], [0, 0, 1, 2], [0, 2], [0, 1, 2, 2]):
        with pytest.raises(DamagedError):
            opened(header + b"".join(parts[n] for n in order))


@pytest.mark.parametrize("factor", ["21", "30", "63", "64", "99", "0", "01", "-1", "1 ", "", "one", "100"])
def test_a_work_factor_is_a_number_of_reasonable_size(factor: str) -> None:
    content = re.sub(rb"(-> scrypt \S+) 1\n", rb"\1 %s\n" % factor.encode(), sealed(b"x"))
    much = factor.isdigit() and 20 < int(factor) < 100
    with pytest.raises(MlsubError if much else DamagedError, match=f"2\\^{factor}; more" if much else "header"):
        opened(content)


def test_as_much_work_as_is_reasonable_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.packing.age.MAX_WORK_FACTOR", 1)
    assert opened(sealed(b"x")) == b"x"
    monkeypatch.setattr("mlsub.packing.age.MAX_WORK_FACTOR", 0)
    with pytest.raises(MlsubError, match=r"work factor 2\^1; more than 2\^0 is refused"):
        opened(sealed(b"x"))


def test_too_little_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def scrypt(*_: object, **__: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(hashlib, "scrypt", scrypt)
    with pytest.raises(MlsubError, match=r"work factor 2\^18 needs 256 MiB of memory"):
        list(encrypt(io.BytesIO(b"x"), SECRET))


@given(st.binary(max_size=300))
def test_junk_is_no_file(junk: bytes) -> None:
    for content in (junk, b"age-encryption.org/v1\n" + junk, b"age-encryption.org/v1\n-> scrypt " + junk):
        with pytest.raises((DamagedError, MlsubError)):
            opened(content)


needs_age = pytest.mark.skipif(
    not shutil.which("age") or sys.platform == "win32", reason="the age program, or a terminal for it, is not here"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the archive that mlsub seals, unencrypted."""
    seal_tree(plant(tmp_path), tmp_path / "archive", None)
    return tmp_path


def keys(place: Path) -> tuple[Key, Key]:
    """A pair of keys made by age-keygen."""
    subprocess.run(["age-keygen", "-o", "key"], cwd=place, check=True, capture_output=True)
    public = subprocess.run(["age-keygen", "-y", "key"], cwd=place, check=True, capture_output=True, text=True)
    return for_keys((public.stdout.strip(),)), with_keys(read_identities(place / "key"))


def typed(arguments: Sequence[str], folder: Path) -> None:
    """Run age in a terminal of its own, where it asks for the passphrase, and type that as often as it asks."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvp("age", ["age", *arguments])  # noqa: S606  (the program under test)
    said = b""
    answered = 0
    while True:
        try:
            said += os.read(terminal, 1024)
        except OSError:
            break
        if said.count(b"assphrase") > said[:answered].count(b"assphrase") and said.rstrip().endswith(b":"):
            answered = len(said)
            os.write(terminal, SECRET + b"\n")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said.decode()


@needs_age
def test_age_opens_what_is_sealed_for_a_recipient(place: Path) -> None:
    recipients, _ = keys(place)
    seal_tree(plant(place / "again"), place / "sealed", recipients)
    subprocess.run(["age", "-d", "-i", "key", "-o", "theirs", "sealed"], cwd=place, check=True)
    assert (place / "theirs").read_bytes() == (place / "archive").read_bytes()


@needs_age
def test_age_opens_what_is_sealed_with_a_passphrase(place: Path) -> None:
    """With the work factor that users get."""
    seal_tree(plant(place / "again"), place / "sealed", with_phrase(SECRET))
    typed(["-d", "-o", "theirs", "sealed"], place)
    assert (place / "theirs").read_bytes() == (place / "archive").read_bytes()


@needs_age
@pytest.mark.parametrize("form", ["recipient", "passphrase"])
def test_what_age_seals_is_opened(form: str, place: Path) -> None:
    if form == "recipient":
        recipients, key = keys(place)
        subprocess.run(["age", "-r", *recipients.recipients, "-o", "theirs", "archive"], cwd=place, check=True)
        unseal(place / "theirs", place / "out", key)
    else:
        typed(["-p", "-o", "theirs", "archive"], place)
        unseal(place / "theirs", place / "out", with_phrase(SECRET))
    assert snapshot(place / "out" / "ACME") == snapshot(place / "training_results_v1.0" / "ACME")
