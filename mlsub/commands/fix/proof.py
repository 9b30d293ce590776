"""Proof that a changed log tells the same events: both files go through the reader that judges logs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.log.reader import TOKEN, TOKEN_MLL, foreign_encoding, open_log, read_records


class Fingerprint(msgspec.Struct, frozen=True):
    """The records of a log: how many, and a digest of the bytes of each and of their order.

    ``placed`` is the digest with the line of each record, for changes that keep every line where it was.
    """

    records: int
    digest: str
    placed: str


def fingerprint(file: Path) -> Fingerprint:
    """Read all records of a log, by the tokens of all formats.

    Raises:
        MlsubError: the log cannot be read, or is in an encoding whose bytes are not those of its characters.
    """
    count, digest, placed = 0, hashlib.sha256(), hashlib.sha256()
    try:
        with open_log(file) as stream:
            encoding = foreign_encoding(stream.read(4))
        if encoding is not None:
            raise MlsubError(
                f"{file} is {encoding.upper()}, in which no tool finds records. Convert it to UTF-8 first."
            )
        for token in (TOKEN, TOKEN_MLL):
            with open_log(file) as stream:
                for batch in read_records(stream, token=token):
                    for line, text, hidden, too_long in batch:
                        count += token is TOKEN_MLL
                        part = b"%d %d %d:%b\n" % (hidden, too_long, len(text), text)
                        digest.update(part)
                        placed.update(b"%d " % line)
                        placed.update(part)
    except MlsubError as error:
        raise MlsubError(f"{file} cannot be read: {error}. Name a log that can be.") from error
    return Fingerprint(count, digest.hexdigest(), placed.hexdigest())


def prove_same(before: Fingerprint, after: Fingerprint, file: Path, *, placed: bool) -> None:
    """Compare the records of a log before and after.

    Args:
        before: of the log as it is.
        after: of the log as it would be.
        file: what the message calls it.
        placed: whether each record must be on its line still.

    Raises:
        MlsubError: they differ in anything.
    """
    same = before == after if placed else (before.records, before.digest) == (after.records, after.digest)
    if not same:
        counts = f"{before.records} before, {after.records} after"
        raise MlsubError(f"{file} is left as it was: its records would not be the same ({counts}). Please report it.")
