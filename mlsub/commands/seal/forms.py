"""The forms of a sealed file: keys to seal and open with, and the way from the file to the tar in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, ClassVar

import msgspec

from mlsub.commands.seal import age, openssl, recipients
from mlsub.commands.seal.age import WORK_FACTOR
from mlsub.commands.seal.streams import (
    DamagedError,
    RefusedError,
    WrongKeyError,
    decompress,
    failing_as,
    file_digest,
    open_regular,
)
from mlsub.io.errors import MlsubError
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

#: Characters of the shortest passphrase that is taken.
MIN_PASSPHRASE = 12
#: Bytes of the longest; more is cut off by openssl without a word.
MAX_PASSPHRASE = 1000
_MAX_FILE = 64 * 1024


class Recipients(msgspec.Struct, frozen=True):
    """Public keys, each of which can open it alone: ``age1...``, ``ssh-ed25519 ...`` or ``ssh-rsa ...``."""

    keys: tuple[str, ...]
    ending: ClassVar[str] = ".age"
    words: ClassVar[str] = "age v1, for recipients"


class Identities(msgspec.Struct, frozen=True):
    """The content of a file of secret keys: of age-keygen, or an SSH key that has no passphrase."""

    content: bytes

    def __repr__(self) -> str:
        return "Identities(...)"


class Passphrase(msgspec.Struct, frozen=True):
    """A passphrase, for age's format; ``work_factor`` is log2 of scrypt's N."""

    secret: bytes
    work_factor: int = WORK_FACTOR
    ending: ClassVar[str] = ".age"

    @property
    def words(self) -> str:
        """How it is encrypted."""
        return f"age v1, with a passphrase (scrypt, work factor 2^{self.work_factor})"

    def __repr__(self) -> str:
        return "Passphrase(...)"


class OpenSSL(msgspec.Struct, frozen=True):
    """A passphrase, for ``openssl enc``."""

    secret: bytes
    ending: ClassVar[str] = ".enc"
    words: ClassVar[str] = "openssl enc, AES-256-CBC with PBKDF2; not authenticated"

    def __repr__(self) -> str:
        return "OpenSSL(...)"


class Unencrypted(msgspec.Struct, frozen=True):
    """No encryption."""

    ending: ClassVar[str] = ""
    words: ClassVar[str] = "none"


SealKey = Recipients | Passphrase | OpenSSL | Unencrypted
OpenKey = Identities | Passphrase | None


def read_passphrase(file: Path) -> bytes:
    """The first line of a file, without its line end.

    Raises:
        MlsubError: no such file, others may read it, or the line is not a passphrase.
    """
    line = _content(file, "passphrase").split(b"\n", 1)[0].removesuffix(b"\r")
    if len(line.decode("utf-8", "replace")) < MIN_PASSPHRASE:
        raise MlsubError(f"the first line of {file} has fewer than {MIN_PASSPHRASE} characters. Take a longer one.")
    if len(line) > MAX_PASSPHRASE or b"\x00" in line:
        raise MlsubError(
            f"the first line of {file} is not a passphrase: more than {MAX_PASSPHRASE} bytes, or NUL in it."
        )
    return line


def read_identities(file: Path) -> Identities:
    """The content of a key file; whether it is one shows when it is used.

    Raises:
        MlsubError: no such file, or others may read it.
    """
    return Identities(_content(file, "key"))


def read_recipients(file: Path) -> tuple[str, ...]:
    """The public keys of a file, one a line; empty lines and comments (#) do not count.

    Raises:
        MlsubError: it cannot be read, or contains none.
    """
    try:
        lines = _content(file).decode().splitlines()
    except UnicodeDecodeError as error:
        raise MlsubError(f"{file} is not a file of recipients: not UTF-8") from error
    keys = tuple(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))
    if not keys:
        raise MlsubError(f"{file} names no recipient. One public key a line is expected.")
    return keys


def _content(file: Path, secret: str | None = None) -> bytes:
    """A small regular file, opened in a way that never waits."""
    with failing_as(f"{file} cannot be read"), open_regular(file) as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if secret and os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise MlsubError(f"the {secret} in {file} is open to other users: chmod 600 it first.")
        content = stream.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE:
        raise MlsubError(f"{file} is too long for what it should hold.")
    return content


_CHUNK = 1 << 16


class Form(StrEnum):
    """The forms of a sealed file."""

    RECIPIENTS = "age v1, for recipients"
    PASSPHRASE = "age v1, with a passphrase"  # noqa: S105  (words, not a secret)
    OPENSSL = "openssl enc, not authenticated"
    ARCHIVE = "archive, not encrypted"


#: The first bytes of each form; the first that fits counts.
_STARTS = (
    (age.PASSPHRASE_START, Form.PASSPHRASE),
    (age.VERSION, Form.RECIPIENTS),
    (openssl.MAGIC, Form.OPENSSL),
    (b"\x1f\x8b", Form.ARCHIVE),
)


def form_of(file: Path) -> Form:
    """What the first bytes say; whether the rest fits, opening shows.

    Raises:
        MlsubError: it cannot be read, or is none of the forms.
    """
    with _opened(file) as stream:
        start = stream.read(256)
    for first, form in _STARTS:
        if start.startswith(first):
            return form
    if start.startswith(b"-----BEGIN AGE ENCRYPTED FILE-----"):
        raise MlsubError(f"{file} is age's text form (armor). Open it with age -d, and give the archive.")
    raise MlsubError(f"{file} is not a sealed file: not an age file, an openssl enc file or an archive.")


def check_key(file: Path, form: Form, key: OpenKey) -> None:
    """Whether the key is of the kind the file needs.

    A key for a file that is not encrypted is refused, not ignored: whoever gives one expects
    that nobody else wrote the file.

    Raises:
        MlsubError: it is not.
    """
    if form is Form.RECIPIENTS and not isinstance(key, Identities):
        raise MlsubError(f"{file} is sealed for recipients. Give the secret key of one with --identity.")
    if form in (Form.PASSPHRASE, Form.OPENSSL) and not isinstance(key, Passphrase):
        raise MlsubError(f"{file} is sealed with a passphrase. Give it with --passphrase-file.")
    if form is Form.ARCHIVE and key is not None:
        raise MlsubError(f"{file} is not encrypted, so no key says who made it. Leave the key out if that is expected.")


@contextmanager
def opened(file: Path, key: OpenKey, progress: Progress | None = None) -> Iterator[Iterator[bytes]]:
    """The tar in a sealed file, in chunks; what the block raises of damage becomes a finding.

    ``progress`` is called with the bytes that were read of the file, and those it has.

    Raises:
        MlsubError: it cannot be read, or the key does not fit.
        RefusedError: damaged, cut short, or holding what is never unpacked.
    """
    form = form_of(file)
    check_key(file, form, key)
    with _opened(file) as stream:
        chunks = _begun(file, form, _archive(stream, form, key))
        try:
            yield chunks if progress is None else _with_progress(chunks, stream, progress)
        except DamagedError as error:
            raise RefusedError(
                finding("seal.damaged", file.name, f"the file is not as it was sealed: {error}")
            ) from error
        finally:
            chunks.close()


def _with_progress(chunks: Iterator[bytes], stream: BinaryIO, progress: Progress) -> Iterator[bytes]:
    size = os.fstat(stream.fileno()).st_size
    for chunk in chunks:
        progress(min(stream.tell(), size), size)
        yield chunk


def _archive(stream: BinaryIO, form: Form, key: OpenKey) -> Iterator[bytes]:
    """The tar.gz."""
    if form is Form.RECIPIENTS:
        assert isinstance(key, Identities)  # noqa: S101  (check_key)
        return recipients.decrypt(stream, key.content)
    if form is Form.ARCHIVE:
        return iter(lambda: stream.read(_CHUNK), b"")
    assert isinstance(key, Passphrase)  # noqa: S101  (check_key)
    return age.decrypt(stream, key.secret) if form is Form.PASSPHRASE else openssl.decrypt(stream, key.secret)


def _begun(file: Path, form: Form, archive: Iterator[bytes]) -> Generator[bytes, None, None]:
    """Unpack; where not even the beginning can be had, it may well be the wrong key."""
    begun = False
    try:
        with failing_as(f"{file} cannot be read"):
            for chunk in decompress(archive):
                begun = True
                yield chunk
    except WrongKeyError as error:
        what = "passphrase" if form is Form.PASSPHRASE else "key"
        raise MlsubError(f"{file} is not opened by this {what}, or its beginning is damaged.") from error
    except DamagedError as error:
        if form is Form.OPENSSL and not begun:
            raise MlsubError(f"{file} is not opened by this passphrase, or it is damaged.") from error
        raise
    finally:
        if isinstance(archive, Generator):
            archive.close()


def _opened(file: Path) -> BinaryIO:
    """A regular file, opened in a way that never waits."""
    with failing_as(f"{file} cannot be read", ". Name a sealed file."):
        return open_regular(file)


def legacy_notes(file: Path) -> tuple[str, ...]:
    """Compare a file of ``openssl enc`` with the SHA-1 beside it; what there is to mind.

    Raises:
        RefusedError: the SHA-1 is another.
        MlsubError: it cannot be read.
    """
    note = "openssl enc is not authenticated: whoever carried the file could have changed it"
    beside = file.with_name(f"{file.name}.sha1")
    with failing_as(f"{file} cannot be compared with its SHA-1"):
        if not beside.is_file():
            return (note, f"there is no {beside.name} beside it: its SHA-1 was not checked")
        with beside.open("rb") as stream:
            expected = stream.read(40).decode("ascii", "replace").lower()
        actual = file_digest(file, "sha1")
    if actual != expected:
        message = "the SHA-1 of the file is not that beside it"
        raise RefusedError(finding("seal.damaged", file.name, message, expected=expected, actual=actual))
    return (note,)
