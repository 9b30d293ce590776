"""Seal a tree: scan, archive, encrypt, put in place.

What is written: FILE, and beside it ``FILE.receipt.txt``, ``FILE.MANIFEST.sha256`` and, for openssl, ``FILE.sha1``.
FILE is the state: it gets its name in one step, and holds all there is to know. What lies beside it is removed before
and written after, so that it is never that of another FILE, whenever the process is killed. What is replaced or removed
and was not written by sealing, or was changed since, is kept under another name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from mlsub.commands.seal import age, openssl, recipients
from mlsub.commands.seal.archive import TarWriter
from mlsub.commands.seal.errors import SealError, reason_of
from mlsub.commands.seal.gzip import compress
from mlsub.commands.seal.keys import OpenSSL, Passphrase, Recipients, SealKey, Unencrypted
from mlsub.commands.seal.manifest import Manifest
from mlsub.commands.seal.names import MANIFEST, name_problem
from mlsub.commands.seal.place import finish, new_file, settle
from mlsub.commands.seal.receipt import Receipt, encryption_words, recipient_words, render
from mlsub.commands.seal.tree import Tree, scan
from mlsub.io.errors import MlsubError
from mlsub.io.output import check_output, put_in_place
from mlsub.io.written import digest_of, record, set_aside_foreign

RECEIPT_SUFFIX = ".receipt.txt"
MANIFEST_SUFFIX = f".{MANIFEST}"
SHA1_SUFFIX = ".sha1"
_CHUNK = 1 << 20


class Digests(msgspec.Struct, frozen=True):
    """Of a whole file: bytes, SHA-256 and SHA-1."""

    size: int
    sha256: str
    sha1: str


def default_name(tree: Path, key: SealKey) -> Path:
    """Next to the tree: its name and the ending of the form.

    Raises:
        SealError: the tree has no name, such as ``/``.
    """
    try:
        tree = tree.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise SealError(f"{tree} cannot be read: {error}") from error
    if not tree.name:
        raise SealError(f"{tree} has no name of its own. Name the folder of a submission.")
    ending = "" if isinstance(key, Unencrypted) else ".enc" if isinstance(key, OpenSSL) else ".age"
    return tree.with_name(f"{tree.name}.tar.gz{ending}")


def prepare(tree: Path, out: Path, key: SealKey, *, force: bool = False) -> Tree:
    """Look whether all can be done, and write nothing.

    Raises:
        SealError: the key, the tree or the output cannot be used.
        RefusedError: the tree holds what cannot be sealed.
    """
    if isinstance(key, Recipients):
        recipients.check_recipients(key)
    elif isinstance(key, OpenSSL):
        openssl.program()
    scanned = scan(tree)
    try:
        if name_problem(out.name):
            raise SealError(f"{out} cannot be the sealed file: {name_problem(out.name)}. Name another.")
        if out.resolve().is_relative_to(scanned.folder):
            raise SealError(f"{out} lies in the tree that is to be sealed. Name a file outside of it.")
        for file in (out, *_beside(out)):
            check_output(file, force=force)
    except MlsubError as error:
        raise SealError(str(error)) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise SealError(f"{out} cannot be written: {error}") from error
    return scanned


def seal_tree(
    tree: Path,
    out: Path,
    key: SealKey,
    *,
    force: bool = False,
    now: datetime | None = None,
    scanned: Tree | None = None,
    kept: Callable[[Path], None] | None = None,
) -> Receipt:
    """Seal a tree into a file.

    Args:
        tree: the folder; it is only read.
        out: the sealed file.
        key: what it is encrypted with.
        force: replace a sealed file that is there.
        now: the time of the receipt.
        scanned: what :func:`prepare` gave, where it was asked before.
        kept: called with each name under which something is kept that is replaced.

    Raises:
        SealError: it cannot be done; nothing was written.
        RefusedError: the tree holds what cannot be sealed, or changed meanwhile; nothing was written.
    """
    scanned = scanned or prepare(tree, out, key, force=force)
    writer = TarWriter(scanned)
    archive = _Counted(compress(writer.chunks()))
    try:
        with new_file(out.parent) as (part, stream):
            _encrypt_into(archive, stream, key)
            finish(stream)
            receipt = _receipt(scanned, out, key, writer, archive, digests_of(part), now or datetime.now(UTC))
            for aside in set_aside_foreign(out, (out, *_beside(out))) if force else ():
                if kept is not None:
                    kept(aside)
            _commit(part, out, receipt, writer.manifest, force=force)
    except MlsubError as error:
        raise SealError(str(error)) from error
    except OSError as error:
        raise SealError(f"{out} cannot be written: {reason_of(error)}") from error
    return receipt


class _Counted:
    """Chunks on their way, with their size and SHA-256."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._digest = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._digest.update(chunk)
            self.size += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def _encrypt_into(chunks: Iterable[bytes], stream: BinaryIO, key: SealKey) -> None:
    if isinstance(key, Recipients):
        recipients.encrypt_into(chunks, stream, key)
    elif isinstance(key, OpenSSL):
        openssl.encrypt_into(chunks, stream, key.secret)
    else:
        sealed = age.encrypt(chunks, key.secret, key.work_factor) if isinstance(key, Passphrase) else chunks
        for chunk in sealed:
            stream.write(chunk)


def digests_of(file: Path) -> Digests:
    """Read a file and say what it is.

    Raises:
        OSError: it cannot be read.
    """
    sha256, sha1, size = hashlib.sha256(), hashlib.sha1(usedforsecurity=False), 0
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            sha256.update(chunk)
            sha1.update(chunk)
            size += len(chunk)
    return Digests(size, sha256.hexdigest(), sha1.hexdigest())


def _receipt(
    tree: Tree, out: Path, key: SealKey, writer: TarWriter, archive: _Counted, digests: Digests, now: datetime
) -> Receipt:
    from mlsub.submission.locate import infer_round, locate

    place = locate(tree.folder)
    inferred = infer_round(place)
    return Receipt(
        organisation=(place.organisation or tree.folder).name,
        round=f"{inferred.usage} v{inferred.round}" if inferred else None,
        sealed=now,
        file=out.name,
        size=digests.size,
        sha256=digests.sha256,
        sha1=digests.sha1 if isinstance(key, OpenSSL) else None,
        archive_size=archive.size,
        archive_sha256=archive.sha256,
        tar_sha256=writer.sha256,
        manifest_sha256=hashlib.sha256(writer.manifest.render()).hexdigest(),
        files=tree.files,
        files_size=tree.size,
        encryption=encryption_words(key),
        recipients=recipient_words(key),
    )


def _beside(out: Path) -> tuple[Path, ...]:
    return tuple(out.with_name(out.name + suffix) for suffix in (RECEIPT_SUFFIX, MANIFEST_SUFFIX, SHA1_SUFFIX))


def _commit(part: Path, out: Path, receipt: Receipt, manifest: Manifest, *, force: bool) -> None:
    """The step from the old state to the new one; see the module."""
    receipt_file, manifest_file, sha1_file = _beside(out)
    beside = {manifest_file: manifest.render()}
    if receipt.sha1:
        beside[sha1_file] = f"{receipt.sha1}  {out.name}\n".encode()
    beside[receipt_file] = render(receipt).encode("utf-8", "backslashreplace")
    ours = {file.name: digest_of(content) for file, content in beside.items()} | {out.name: f"sha256:{receipt.sha256}"}
    record(out, ours, besides=True)
    if force:
        for file in _beside(out):
            file.unlink(missing_ok=True)
        settle(out.parent)
    put_in_place(part, out, force=force)
    settle(out.parent)
    for file, content in beside.items():
        _put_beside(file, content, force=force)
    record(out, ours)
    settle(out.parent)


def _put_beside(file: Path, content: bytes, *, force: bool) -> None:
    with new_file(file.parent) as (part, stream):
        stream.write(content)
        finish(stream)
        put_in_place(part, file, force=force)
