"""age's format for recipients, by the library ``pyrage``, fed and read in chunks."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from mlsub.commands.seal.age import AgeError
from mlsub.commands.seal.errors import SealError
from mlsub.commands.seal.keys import Identities, Recipients

#: Chunks (64 KiB each) that wait between the library and the reader.
_WAITING = 16


class NoKeyError(AgeError):
    """None of the keys opens it (or the header is damaged; the two look alike)."""


def check_recipients(recipients: Recipients) -> None:
    """Refuse what is no public key.

    Raises:
        SealError: names the one.
    """
    for key in recipients.keys:
        _recipient(key)


def encrypt_into(chunks: Iterable[bytes], stream: BinaryIO, recipients: Recipients) -> None:
    """Seal chunks into a stream; whatever the chunks or the stream raise is raised."""
    pyrage = _pyrage()
    keys = [_recipient(key) for key in recipients.keys]
    source, target = _Source(chunks), _Stream(stream)
    try:
        pyrage.encrypt_io(source, target, keys)
    except pyrage.EncryptError as error:
        raise source.error or target.error or SealError(f"it cannot be sealed: {error}") from error


def decrypt(stream: BinaryIO, identities: Identities) -> Iterator[bytes]:
    """Open a stream; each chunk is authentic, and damage or a cut may show only after some were given.

    The library writes what it opens, so it runs in a thread of its own that waits when the reader is slow.

    Raises:
        NoKeyError: no key fits.
        AgeError: damaged.
        SealError: the key file is none.
    """
    pyrage = _pyrage()
    keys = _identities(identities)
    pipe, source = _Pipe(), _Stream(stream)

    def work() -> None:
        outcome: Exception | None = None
        try:
            pyrage.decrypt_io(source, pipe, keys)
        except pyrage.DecryptError as error:
            outcome = NoKeyError(str(error)) if "o matching keys" in str(error) else AgeError("its header is damaged")
        except OSError:
            # The library tells damage as it tells a disk that cannot be read.
            outcome = AgeError("its content is damaged or cut short")
        except BaseException as error:
            # Whatever it is, whoever waits must hear of it; a panic of the library is no Exception.
            outcome = SealError(f"it cannot be opened: {error}")
        pipe.put(source.error or outcome)

    thread = threading.Thread(target=work, name="mlsub-unseal", daemon=True)
    thread.start()
    try:
        yield from pipe.chunks()
    finally:
        pipe.stop()
        thread.join()


class _Source:
    """Chunks as a file that is read."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")
        self.error: BaseException | None = None

    def read(self, size: int) -> bytes:
        try:
            while not self._rest:
                chunk = next(self._chunks, None)
                if chunk is None:
                    return b""
                self._rest = memoryview(chunk)
        except BaseException as error:
            self.error = error  # The library would keep nothing of it but the words.
            raise
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)


class _Stream:
    """A stream that remembers why it could not be read or written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.error: Exception | None = None

    def read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except Exception as error:
            self.error = error
            raise

    def write(self, content: bytes) -> int:
        try:
            return self._stream.write(content)
        except Exception as error:
            self.error = error
            raise

    def flush(self) -> None:
        self._stream.flush()


class _Pipe:
    """Carries what a thread writes to whoever reads, a few chunks at a time."""

    def __init__(self) -> None:
        self._queue: queue.Queue[bytes | Exception | None] = queue.Queue(_WAITING)
        self._stopped = threading.Event()

    def write(self, content: bytes) -> int:
        if content:
            self.put(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Nothing is held back."""

    def put(self, item: bytes | Exception | None) -> None:
        while not self._stopped.is_set():
            try:
                return self._queue.put(item, timeout=0.1)
            except queue.Full:
                continue
        if isinstance(item, bytes):
            raise BrokenPipeError("nobody reads any more")
        return None

    def chunks(self) -> Iterator[bytes]:
        while isinstance(item := self._queue.get(), bytes):
            yield item
        if item is not None:
            raise item

    def stop(self) -> None:
        self._stopped.set()


def _pyrage() -> Any:
    try:
        import pyrage
        import pyrage.ssh
        import pyrage.x25519
    except ImportError as error:
        raise SealError("recipients and keys need the package pyrage: pip install pyrage") from error
    return pyrage


def _recipient(key: str) -> Any:
    pyrage = _pyrage()
    kind = pyrage.ssh if key.startswith("ssh-") else pyrage.x25519
    try:
        return kind.Recipient.from_str(key.strip())
    except pyrage.RecipientError as error:
        if key.startswith("AGE-SECRET-KEY-"):
            raise SealError(
                "a secret key is given as recipient. Give the public key, which begins with age1."
            ) from error
        raise SealError(f"{key[:80]!r} is no public key. Expected age1..., ssh-ed25519 ... or ssh-rsa ...") from error


def _identities(identities: Identities) -> list[Any]:
    """The keys of a file: one SSH key, or lines of age's."""
    pyrage = _pyrage()
    content = identities.content
    try:
        if content.lstrip().startswith(b"-----BEGIN"):
            return [pyrage.ssh.Identity.from_buffer(content)]
        lines = [line.strip() for line in content.decode().splitlines()]
        keys = [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except (pyrage.IdentityError, UnicodeDecodeError) as error:
        raise SealError(
            "the key file is none: expected AGE-SECRET-KEY-1... a line, or an SSH key that has no passphrase"
        ) from error
    if not keys:
        raise SealError("the key file holds no key: expected AGE-SECRET-KEY-1... a line")
    return keys
