"""age's format with a passphrase: the same bytes as the library's, in both directions, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.errors import MlsubError
from mlsub.packing.age import WrongKeyError, decrypt, encrypt
from mlsub.packing.tree import DamagedError

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
