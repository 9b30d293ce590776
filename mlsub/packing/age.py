"""Seal and open age's format v1 with a passphrase, as a stream, by the primitives of ``cryptography``.

pyrage, which seals for recipients, has passphrases too, but keeps the whole file in memory, chooses the work of scrypt
by measuring the machine, up to 1 GiB, and ends the process where memory does not suffice. The format is that of
https://age-encryption.org/v1: a file key of 16 bytes, wrapped by scrypt and ChaCha20-Poly1305; a header under
HMAC-SHA-256; the payload in chunks of 64 KiB, each under ChaCha20-Poly1305 with a nonce made of its number and whether
it is the last.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from mlsub.io import MlsubError
from mlsub.packing.tree import DamagedError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

VERSION = b"age-encryption.org/v1\n"
#: What a file begins with that is sealed with a passphrase.
PASSPHRASE_START = VERSION + b"-> scrypt "
#: log2 of scrypt's N: what is written (256 MiB and about a second), and the most that is worked on (1 GiB).
WORK_FACTOR = 18
MAX_WORK_FACTOR = 20
#: Bytes of a header up to its MAC, and its stanzas, one a recipient: pyrage takes time in the square of their number.
MAX_HEADER, MAX_STANZAS = 64 << 10, 1_000
_SALT_LABEL = b"age-encryption.org/v1/scrypt"
_CHUNK = 64 * 1024
_TAG = 16
_MAX_LINE = 256
#: 32 bytes in base64 without padding, in the one way they can be written.
_BYTES_32 = rb"([A-Za-z\d+/]{42}[AEIMQUYcgkosw048])"
#: Salt, work factor, wrapped file key and MAC.
_HEADER = re.compile(
    rb"age-encryption\.org/v1\n-> scrypt ([A-Za-z\d+/]{21}[AQgw]) ([1-9]\d?)\n%s\n--- %s\n" % (_BYTES_32, _BYTES_32)
)


class WrongKeyError(DamagedError):
    """The key does not open it, or the beginning is damaged; the two look alike."""


def encrypt(source: IO[bytes], passphrase: bytes, work_factor: int = WORK_FACTOR) -> Iterator[bytes]:
    """Yield a stream sealed with a passphrase; ``work_factor`` is log2 of scrypt's N."""
    file_key, salt, nonce = os.urandom(16), os.urandom(16), os.urandom(16)
    body = _cipher(_scrypt(passphrase, salt, work_factor)).encrypt(bytes(12), file_key, None)
    header = PASSPHRASE_START + b"%s %d\n%s\n---" % (_encode(salt), work_factor, _encode(body))
    yield header + b" " + _encode(_mac(file_key, header)) + b"\n" + nonce
    cipher = _cipher(_derive(file_key, nonce, b"payload"))
    for _, chunk_nonce, block in _chunks(source, _CHUNK):
        yield cipher.encrypt(chunk_nonce, block, None)


def decrypt(source: IO[bytes], passphrase: bytes) -> Iterator[bytes]:
    """Yield what is sealed with a passphrase; each chunk is authentic, and the last says that it was the last.

    Raises:
        DamagedError: damaged, also after chunks were given; WrongKeyError before any is.
        MlsubError: it asks for more work than is reasonable.
    """
    file_key = _open_header(source, passphrase)
    nonce = source.read(16)
    if len(nonce) != 16:
        raise DamagedError("it is cut short")
    cipher = _cipher(_derive(file_key, nonce, b"payload"))
    for number, chunk_nonce, block in _chunks(source, _CHUNK + _TAG):
        plain = _open(cipher, chunk_nonce, block)
        if not plain and number:
            raise DamagedError("its last part is empty")
        yield plain


def check_header(source: IO[bytes]) -> None:
    """Look at the header for recipients, and go back to its beginning.

    Raises:
        DamagedError: it has no end, is too long, or has too many stanzas.
    """
    start = source.read(MAX_HEADER)
    source.seek(0)
    header, mac, _ = start.partition(b"\n--- ")
    if (len(start) == MAX_HEADER and not mac) or header.count(b"\n-> ") > MAX_STANZAS:
        raise DamagedError(f"its header has more than {MAX_HEADER >> 10} KiB or {MAX_STANZAS:,} recipients")


def _open_header(source: IO[bytes], passphrase: bytes) -> bytes:
    """Read and authenticate the header; return the file key."""
    header = b"".join(source.readline(_MAX_LINE) for _ in range(4))
    match = _HEADER.fullmatch(header)
    if match is None:
        raise DamagedError("its header is damaged")
    salt, factor, wrapped, mac = match.groups()
    work_factor = int(factor)
    if work_factor > MAX_WORK_FACTOR:
        raise MlsubError(
            f"its passphrase has the work factor 2^{work_factor}; more than 2^{MAX_WORK_FACTOR} is refused, "
            "for it takes that many KiB of memory. Open it with age."
        )
    cipher = _cipher(_scrypt(passphrase, _decode(salt), work_factor))
    try:
        file_key = _open(cipher, bytes(12), _decode(wrapped))
    except DamagedError as error:
        raise WrongKeyError("the passphrase does not fit, or the header is damaged") from error
    if not hmac.compare_digest(_decode(mac), _mac(file_key, header[: match.start(4) - 1])):
        raise DamagedError("its header is damaged")
    return file_key


def _open(cipher: ChaCha20Poly1305, nonce: bytes, sealed: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(nonce, sealed, None)
    except InvalidTag as error:
        raise DamagedError("its content is damaged or cut short") from error


def _chunks(source: IO[bytes], size: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the chunks of a payload, at least one, each with its number and its nonce, which marks the last."""
    block, number = source.read(size), 0
    while block or not number:
        following = source.read(size)
        yield number, number.to_bytes(11, "big") + bytes([not following]), block
        block, number = following, number + 1


def _scrypt(passphrase: bytes, salt: bytes, work_factor: int) -> bytes:
    """N = 2^work_factor, r = 8, p = 1; needs 2^work_factor KiB of memory."""
    memory = (1 << work_factor) * 1024
    try:
        return hashlib.scrypt(
            passphrase, salt=_SALT_LABEL + salt, n=1 << work_factor, r=8, p=1, maxmem=memory + (1 << 20), dklen=32
        )
    except (MemoryError, ValueError) as error:
        raise MlsubError(
            f"a passphrase of work factor 2^{work_factor} needs {max(memory >> 20, 1)} MiB of memory."
        ) from error


def _cipher(key: bytes) -> ChaCha20Poly1305:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    except ImportError as error:
        raise MlsubError("a passphrase needs the package cryptography: pip install cryptography") from error
    return ChaCha20Poly1305(key)


def _derive(key: bytes, salt: bytes | None, info: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), 32, salt, info).derive(key)


def _mac(file_key: bytes, header: bytes) -> bytes:
    return hmac.digest(_derive(file_key, None, b"header"), header, "sha256")


def _encode(content: bytes) -> bytes:
    return base64.b64encode(content).rstrip(b"=")


def _decode(text: bytes) -> bytes:
    return base64.b64decode(text + b"=" * (-len(text) % 4))
