"""The receipt: what was sealed, in words for the mail that confirms a submission."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from mlsub.commands.seal.keys import OpenSSL, Passphrase, Recipients, SealKey
from mlsub.io.plain import plain
from mlsub.io.version import VERSION

_WIDTH = 18


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was sealed.

    Sizes are in bytes, digests hexadecimal. ``tar_sha256`` is that of the tar before compression, the same wherever the
    same tree is sealed; ``archive_sha256`` is that of the tar.gz before encryption, the same where zlib is the same;
    ``sha256`` is that of the sealed file, which differs each time, for encryption is never the same twice.
    ``round`` is read off the folders, None where they do not name one.
    """

    organisation: str
    round: str | None
    sealed: datetime
    file: str
    size: int
    sha256: str
    sha1: str | None
    archive_size: int
    archive_sha256: str
    tar_sha256: str
    manifest_sha256: str
    files: int
    files_size: int
    encryption: str
    recipients: tuple[str, ...]
    version: str = VERSION


def render(receipt: Receipt) -> str:
    """The text, ending in a line feed; names are made safe to print."""
    rows = [
        ("organisation", receipt.organisation),
        ("round", receipt.round or "not named by the folders"),
        ("sealed", receipt.sealed.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")),
        ("files", f"{receipt.files} ({receipt.files_size} bytes)"),
        ("sealed file", receipt.file),
        ("  bytes", str(receipt.size)),
        ("  SHA-256", receipt.sha256),
        *([("  SHA-1", receipt.sha1)] if receipt.sha1 else []),
        ("  encryption", receipt.encryption),
        *(("  recipient", key) for key in receipt.recipients),
        ("archive inside", "tar.gz"),
        ("  bytes", str(receipt.archive_size)),
        ("  SHA-256", receipt.archive_sha256),
        ("  SHA-256 of tar", receipt.tar_sha256),
        ("manifest inside", f"{receipt.files} files"),
        ("  SHA-256", receipt.manifest_sha256),
        ("sealed with", f"mlsub {receipt.version}"),
    ]
    title = f"Receipt of the sealed submission of {plain(receipt.organisation)}"
    return "\n".join([title, "", *(f"{name:{_WIDTH}}{plain(value)}" for name, value in rows)]) + "\n"


def sealed_digest(text: str) -> tuple[int, str] | None:
    """Size in bytes and SHA-256 of the sealed file, as a receipt's text has them; None where it is not a receipt."""
    match = re.search(r"^sealed file .*\n  bytes +(\d{1,19})\n  SHA-256 +([0-9a-f]{64})$", text, re.MULTILINE)
    return (int(match[1]), match[2]) if match else None


def encryption_words(key: SealKey) -> str:
    """How it is encrypted, in words."""
    if isinstance(key, Recipients):
        return "age v1, for recipients"
    if isinstance(key, Passphrase):
        return f"age v1, with a passphrase (scrypt, work factor 2^{key.work_factor})"
    if isinstance(key, OpenSSL):
        return "openssl enc, AES-256-CBC with PBKDF2; not authenticated"
    return "none"


def recipient_words(key: SealKey) -> tuple[str, ...]:
    """The public keys, without the comments of SSH keys."""
    return tuple(" ".join(line.split()[:2]) for line in key.keys) if isinstance(key, Recipients) else ()
