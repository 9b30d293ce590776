"""Open a sealed file into a folder that is there whole and verified, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mlsub.commands.seal.contents import Limits, take
from mlsub.commands.seal.errors import RefusedError, SealError, reason_of
from mlsub.commands.seal.keys import OpenKey
from mlsub.commands.seal.names import MANIFEST
from mlsub.commands.seal.opening import Form, check_key, form_of, opened
from mlsub.commands.seal.place import finish, new_folder, settle
from mlsub.commands.seal.seal import SHA1_SUFFIX, digests_of
from mlsub.commands.seal.tree import Member
from mlsub.rules.catalogue import finding


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """What was opened: the form of the sealed file, where the tree lies now, files and their bytes, what to mind."""

    form: Form
    tree: Path
    files: int
    size: int
    notes: tuple[str, ...]


def unseal(file: Path, folder: Path, key: OpenKey = None, limits: Limits | None = None) -> Opened:
    """Open a sealed file.

    Args:
        file: the sealed file.
        folder: gets the tree and its manifest; it must not exist, or be empty.
        key: what opens it; None for an archive that is not encrypted.
        limits: how much is unpacked at most; None for the usual.

    Raises:
        SealError: it cannot be done.
        RefusedError: damaged, dangerous, too much, or not what its manifest says. Nothing is left behind.
    """
    form = form_of(file)
    check_key(file, form, key)
    place = Path(os.path.abspath(folder))  # noqa: PTH100  (the current folder has a name, too; links stay as they are)
    _check_free(place)
    notes = legacy_notes(file) if form is Form.OPENSSL else ()
    try:
        with new_folder(place.parent) as staging:
            # What is renamed has the rights a new folder has; only the staging folder is for its owner alone.
            inside = staging / "opened"
            inside.mkdir()
            with opened(file, key) as chunks:
                contents = take(chunks, file.stat().st_size, limits or Limits(), _Folder(inside))
            (inside / MANIFEST).write_bytes(contents.text)
            settle(inside)
            inside.replace(place)
            settle(place.parent)
    except OSError as error:
        raise SealError(f"{folder} cannot be written: {reason_of(error)}") from error
    manifest = contents.manifest
    return Opened(form=form, tree=folder / manifest.top, files=len(manifest.files), size=contents.size, notes=notes)


def legacy_notes(file: Path) -> tuple[str, ...]:
    """Compare a file of ``openssl enc`` with the SHA-1 beside it; what there is to mind.

    Raises:
        RefusedError: the SHA-1 is another.
        SealError: it cannot be read.
    """
    note = "openssl enc is not authenticated: whoever carried the file could have changed it"
    beside = file.with_name(file.name + SHA1_SUFFIX)
    try:
        if not beside.is_file():
            return (note, f"there is no {beside.name} beside it: its SHA-1 was not checked")
        with beside.open("rb") as stream:
            expected = stream.read(40).decode("ascii", "replace").lower()
        actual = digests_of(file).sha1
    except OSError as error:
        raise SealError(f"{file} cannot be compared with its SHA-1: {reason_of(error)}") from error
    if actual != expected:
        message = "the SHA-1 of the file is not that beside it"
        raise RefusedError([finding("seal.damaged", file.name, message, expected=expected, actual=actual)])
    return (note,)


def _check_free(folder: Path) -> None:
    try:
        if os.path.lexists(folder):
            if folder.is_symlink() or not folder.is_dir():
                raise SealError(f"{folder} is not a folder. Name one that does not exist yet.")
            if any(folder.iterdir()):
                raise SealError(f"{folder} is not empty. Name a folder that does not exist yet.")
        elif "\0" in str(folder) or not folder.parent.is_dir():
            raise SealError(f"there is no folder {folder.parent}. Make it, or name another folder.")
    except OSError as error:
        raise SealError(f"{folder} cannot be written: {reason_of(error)}") from error


class _Folder:
    """Writes members into a folder nobody else writes to; nothing is overwritten and no link is followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder(self, path: str) -> None:
        (self._folder / path).mkdir()

    def file(self, member: Member, pieces: Iterator[memoryview]) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        mode = 0o777 if member.executable else 0o666
        with os.fdopen(os.open(self._folder / member.path, flags, mode), "wb") as stream:
            for piece in pieces:
                stream.write(piece)
            finish(stream)

    def link(self, path: str, target: str) -> None:
        (self._folder / path).symlink_to(target)
