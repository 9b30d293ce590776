"""From a sealed file to the tar in it, whichever form it has."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from mlsub.commands.seal import age, openssl, recipients
from mlsub.commands.seal.files import DamagedError, RefusedError, WrongKeyError, failing_as, open_regular
from mlsub.commands.seal.gzip import decompress
from mlsub.commands.seal.keys import Identities, OpenKey, Passphrase
from mlsub.io.errors import MlsubError
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

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
        return recipients.decrypt(stream, key)
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
