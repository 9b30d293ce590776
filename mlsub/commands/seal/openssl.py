"""The form some uploads ask for: ``openssl enc`` with PBKDF2, by the program itself.

It is encrypted, not authenticated: whoever carries it can change it without knowing the passphrase. What detects an
accident is the SHA-1 beside it, and the checksum inside the archive.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from mlsub.commands.seal.files import DamagedError, failing_as
from mlsub.io.errors import MlsubError

MAGIC = b"Salted__"
#: The rounds and the digest are those of ``openssl enc -pbkdf2`` when nothing is said; said, so that no build differs.
OPTIONS = ("-aes-256-cbc", "-md", "sha256", "-pbkdf2", "-iter", "10000", "-salt")
_CHUNK = 1 << 16


def program() -> str:
    """Where the program is.

    Raises:
        MlsubError: nowhere.
    """
    found = shutil.which("openssl")
    if found is None:
        raise MlsubError("there is no program openssl, which this form needs. Install it, or seal in another form.")
    return found


def encrypt_into(chunks: Iterable[bytes], stream: BinaryIO, passphrase: bytes) -> None:
    """Seal chunks into a file.

    Raises:
        MlsubError: the program is missing, or fails.
    """
    with _running("-e", passphrase, subprocess.PIPE, stream) as (process, complaint):
        assert process.stdin is not None  # noqa: S101  (it was asked for)
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass  # Why, it says itself.
        if process.wait() != 0:
            raise MlsubError(f"openssl failed: {complaint()}")


def decrypt(stream: BinaryIO, passphrase: bytes) -> Iterator[bytes]:
    """Open a file.

    Raises:
        DamagedError: the passphrase does not fit or the file is damaged; also after chunks were given.
        MlsubError: the program is missing.
    """
    with _running("-d", passphrase, stream, subprocess.PIPE) as (process, _):
        assert process.stdout is not None  # noqa: S101  (it was asked for)
        while chunk := process.stdout.read(_CHUNK):
            yield chunk
        if process.wait() != 0:
            raise DamagedError("the passphrase does not fit, or the file is damaged")


@contextmanager
def _running(
    way: str, passphrase: bytes, source: BinaryIO | int, target: BinaryIO | int
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], str]]]:
    """The program at work, and what it says when it fails; it ends with the block, whatever happens in it.

    The passphrase goes through a pipe: arguments and environment can be seen by others.
    """
    path = program()
    reading, writing = os.pipe()
    try:
        os.write(writing, passphrase + b"\n")
    finally:
        os.close(writing)
    with tempfile.TemporaryFile() as said:
        try:
            with failing_as(f"{path} cannot be run"):
                process = subprocess.Popen(  # noqa: S603  (fixed arguments, nothing of the input)
                    [path, "enc", way, *OPTIONS, "-pass", f"fd:{reading}"],
                    stdin=source,
                    stdout=target,
                    stderr=said,
                    pass_fds=(reading,),
                )
        finally:
            os.close(reading)

        def complaint() -> str:
            said.seek(0)
            lines = said.read(4096).decode("utf-8", "replace").splitlines()
            return lines[0] if lines else f"exit status {process.returncode}"

        try:
            yield process, complaint
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
