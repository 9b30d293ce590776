"""The form some uploads ask for: ``openssl enc`` with PBKDF2, by the program itself.

It is encrypted, not authenticated: whoever carries it can change it without knowing the passphrase. What detects an
accident is the SHA-1 beside it, and the checksum inside the archive.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO

from mlsub.commands.seal.streams import DamagedError, failing_as
from mlsub.io.errors import MlsubError

MAGIC = b"Salted__"
#: The rounds and the digest are those of ``openssl enc -pbkdf2`` when nothing is said; said, so that no build differs.
OPTIONS = ("-aes-256-cbc", "-md", "sha256", "-pbkdf2", "-iter", "10000", "-salt")
_CHUNK = 1 << 16


def program() -> str:
    """Return where the program is.

    Raises:
        MlsubError: nowhere.
    """
    found = shutil.which("openssl")
    if found is None:
        raise MlsubError("there is no program openssl, which this form needs. Install it, or seal in another form.")
    return found


def encrypt_into(chunks: Iterable[bytes], stream: IO[bytes], passphrase: bytes) -> None:
    """Seal chunks into a file.

    Raises:
        MlsubError: the program is missing, or fails.
    """
    with TemporaryFile() as plain:
        plain.writelines(chunks)
        plain.seek(0)
        complaint = _run("-e", passphrase, plain, stream)
    if complaint is not None:
        raise MlsubError(f"openssl failed: {complaint}")


def decrypt(stream: IO[bytes], passphrase: bytes) -> Iterator[bytes]:
    """Open a file.

    Raises:
        DamagedError: the passphrase does not fit or the file is damaged; also after chunks were given.
        MlsubError: the program is missing.
    """
    with TemporaryFile() as plain:
        complaint = _run("-d", passphrase, stream, plain)
        plain.seek(0)
        while chunk := plain.read(_CHUNK):
            yield chunk
    if complaint is not None:
        raise DamagedError("the passphrase does not fit, or the file is damaged")


def _run(way: str, passphrase: bytes, source: IO[bytes], target: IO[bytes]) -> str | None:
    """Run the program from one file to another, and return what it says when it fails; None where it does not.

    The passphrase goes through a pipe: arguments and environment can be seen by others.
    """
    path = program()
    reading, writing = os.pipe()
    try:
        os.write(writing, passphrase + b"\n")
        os.close(writing)
        with failing_as(f"{path} cannot be run"):
            done = subprocess.run(  # noqa: S603  (fixed arguments, nothing of the input)
                [path, "enc", way, *OPTIONS, "-pass", f"fd:{reading}"],
                stdin=source,
                stdout=target,
                stderr=subprocess.PIPE,
                pass_fds=(reading,),
                check=False,
            )
    finally:
        os.close(reading)
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return lines[0] if lines else f"exit status {done.returncode}"
