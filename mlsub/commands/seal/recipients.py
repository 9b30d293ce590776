"""age's format for recipients, by the library ``pyrage``, fed and read in chunks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from mlsub.commands.seal.streams import Blocks, DamagedError, WrongKeyError
from mlsub.io.errors import MlsubError

_CHUNK = 1 << 16


def check_recipients(keys: Iterable[str]) -> None:
    """Refuse what is not a public key.

    Raises:
        MlsubError: names the one.
    """
    for key in keys:
        _recipient(key)


def encrypt_into(chunks: Iterable[bytes], stream: BinaryIO, public: Iterable[str]) -> None:
    """Seal chunks into a stream; whatever the chunks or the stream raise is raised."""
    pyrage = _pyrage()
    keys = [_recipient(key) for key in public]
    source, target = _Watched(Blocks(chunks).read), _Watched(stream.write)
    try:
        pyrage.encrypt_io(source, target, keys)
    except pyrage.EncryptError as error:
        raise source.error or target.error or MlsubError(f"it cannot be sealed: {error}") from error
    except BaseException as error:
        if not _is_panic(error):
            raise
        raise source.error or target.error or MlsubError(f"it cannot be sealed: {error}") from error


def decrypt(stream: BinaryIO, content: bytes) -> Iterator[bytes]:
    """Open a stream; each chunk is authentic, and damage or a cut may show only after some were given.

    The library writes what it opens, so it runs in a thread that writes into a pipe and waits when the reader is slow.

    Raises:
        WrongKeyError: no key fits.
        DamagedError: damaged.
        MlsubError: the key file does not hold keys.
    """
    keys = _identities(content)
    reading, writing = os.pipe()
    outcome: list[BaseException] = []

    def work() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            outcome.extend(_decrypt_into(stream, pipe, keys))

    thread = threading.Thread(target=work, name="mlsub-unseal", daemon=True)
    thread.start()
    try:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while chunk := pipe.read(_CHUNK):
                yield chunk
    finally:
        thread.join()
    if outcome:
        raise outcome[0]


def _decrypt_into(stream: BinaryIO, pipe: Any, keys: list[Any]) -> Iterator[BaseException]:
    """Open a stream into a pipe; what went wrong, for the one who reads from the pipe."""
    pyrage = _pyrage()
    source = _Watched(stream.read)
    try:
        pyrage.decrypt_io(source, pipe, keys)
    except pyrage.DecryptError as error:
        no_key = "o matching keys" in str(error)
        yield source.error or (WrongKeyError(str(error)) if no_key else DamagedError("its header is damaged"))
    except OSError:
        # The library reports damage as it reports a disk that cannot be read.
        yield source.error or DamagedError("its content is damaged or cut short")
    except BaseException as error:
        # A panic of the library is not an Exception.
        yield source.error or MlsubError(f"it cannot be opened: {error}")


class _Watched:
    """Reading or writing for the library, which keeps only the words of what is raised; this keeps the error."""

    def __init__(self, act: Callable[[Any], Any]) -> None:
        self._act = act
        self.error: BaseException | None = None

    def read(self, argument: Any) -> Any:
        try:
            return self._act(argument)
        except BaseException as error:
            self.error = error
            raise

    write = read

    def flush(self) -> None:
        """Whoever opened the stream flushes it."""


def _is_panic(error: BaseException) -> bool:
    """Whether the library met something that it took for impossible; what it raises then is not an Exception."""
    return type(error).__name__ == "PanicException"


def _pyrage() -> Any:
    try:
        import pyrage
        import pyrage.ssh
        import pyrage.x25519
    except ImportError as error:
        raise MlsubError("recipients and keys need the package pyrage: pip install pyrage") from error
    return pyrage


def _recipient(key: str) -> Any:
    pyrage = _pyrage()
    kind = pyrage.ssh if key.startswith("ssh-") else pyrage.x25519
    try:
        return kind.Recipient.from_str(key.strip())
    except BaseException as error:
        if not isinstance(error, pyrage.RecipientError) and not _is_panic(error):
            raise
        if key.startswith("AGE-SECRET-KEY-"):
            raise MlsubError(
                "a secret key is given as recipient. Give the public key, which begins with age1."
            ) from error
        raise MlsubError(
            f"{key[:80]!r} is not a public key. Expected age1..., ssh-ed25519 ... or ssh-rsa ..."
        ) from error


def _identities(content: bytes) -> list[Any]:
    """The keys of a file: one SSH key, or lines of age's."""
    pyrage = _pyrage()
    try:
        if content.lstrip().startswith(b"-----BEGIN"):
            return [pyrage.ssh.Identity.from_buffer(content)]
        lines = [line.strip() for line in content.decode().splitlines()]
        keys = [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except BaseException as error:
        if not isinstance(error, (pyrage.IdentityError, UnicodeDecodeError)) and not _is_panic(error):
            raise
        raise MlsubError(
            "the key file cannot be used: expected AGE-SECRET-KEY-1... a line, or an SSH key that has no passphrase"
        ) from error
    if not keys:
        raise MlsubError("the key file contains no key: expected AGE-SECRET-KEY-1... a line")
    return keys
