"""What a submission is sealed for and opened with, and the files that secrets are read from."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.commands.seal.age import WORK_FACTOR
from mlsub.commands.seal.files import failing_as, open_regular
from mlsub.io.errors import MlsubError

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
