"""Open a sealed file into a folder that is there whole and verified, or not at all."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.config import NAMES, is_settings
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.look import failing_as
from mlsub.io.write import put_folder, staging_beside
from mlsub.packing.forms import Form, Key, check_opener, check_sha1, form_of, read_sealed
from mlsub.packing.names import MANIFEST
from mlsub.present.document import Document, Facts, Findings, Items, Span, Text, document
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """What was opened: the form of the sealed file, where the tree lies now, files and their bytes, what to note.

    ``settings`` are the settings files of mlsub among them.
    """

    form: Form
    tree: str
    files: int
    size: int
    settings: tuple[str, ...]
    notes: tuple[str, ...]


class Unsealing(Answer, frozen=True, kw_only=True):
    """What became of a sealed file: what was opened, or null and why it is refused."""

    SCHEMA: ClassVar[int] = 4

    opened: Opened | None
    findings: tuple[Finding, ...]


def document_of(unsealing: Unsealing) -> Document:
    """Build what lies where now, or why nothing does."""
    opened = unsealing.opened
    if opened is None:
        return document("Not opened", Findings(unsealing.findings), Text("Nothing was written."))
    size = f"{opened.files} ({opened.size} bytes), as the manifest lists them"
    facts = Facts((("form", opened.form.value), ("tree", Span(opened.tree, "path")), ("files", size)))
    if not opened.settings:
        return document("Opened", facts)
    warning = Text("The sender's settings files are among them. mlsub uses none of them with --isolated:")
    return document("Opened", facts, warning, Items(tuple(Span(file, "path") for file in opened.settings)))


def unseal(
    file: Path,
    folder: Path,
    key: Key | None = None,
    max_size: int | None = None,
    progress: Progress | None = None,
) -> Opened:
    """Open a sealed file.

    Args:
        file: the sealed file.
        folder: gets the tree and its manifest; it must not exist, or be empty.
        key: what opens it; None for an archive that is not encrypted.
        max_size: bytes that are unpacked at most; None for the usual limits.
        progress: called with the bytes that were read, and those there are.

    Raises:
        MlsubError: it cannot be done.
        RefusedError: damaged, dangerous, too much, or not what its manifest says. Nothing is left behind.
    """
    form = form_of(file)
    check_opener(file, form, key)
    place = Path(os.path.abspath(folder))  # noqa: PTH100  (the current folder has a name, too; links stay as they are)
    _check_free(place)
    notes = check_sha1(file) if form is Form.OPENSSL else ()
    with staging_beside(place) as staging, failing_as(f"{folder} cannot be written"):
        # What is renamed has the rights a new folder has; only the staging folder is for its owner alone.
        staging.chmod(0o700)
        inside = staging / "opened"
        inside.mkdir()
        manifest, size = read_sealed(file, form, key, partial(put_member, inside), max_size, progress)
        (inside / MANIFEST).write_bytes(manifest.render())
        paths = sorted((*manifest.files, *manifest.links))
        settings = tuple(str(folder / path) for path in paths if _is_settings(inside / path))
        put_folder(inside, place)
    return Opened(
        form=form,
        tree=str(folder / manifest.top),
        files=len(manifest.files),
        size=size,
        settings=settings,
        notes=notes,
    )


def _check_free(folder: Path) -> None:
    with failing_as(f"{folder} cannot be written"):
        if os.path.lexists(folder):
            if folder.is_symlink() or not folder.is_dir():
                raise MlsubError(f"{folder} is not a folder. Name one that does not exist yet.")
            if any(folder.iterdir()):
                raise MlsubError(f"{folder} is not empty. Name a folder that does not exist yet.")
        elif "\0" in str(folder) or not folder.parent.is_dir():
            raise MlsubError(f"there is no folder {folder.parent}. Make it, or name another folder.")


def _is_settings(file: Path) -> bool:
    """Return whether mlsub would read its settings from a file, on a file system that ignores case too."""
    return file.name.casefold() in NAMES and file.is_file() and is_settings(file, ours=False)


def put_member(folder: Path, member: tarfile.TarInfo, pieces: Iterator[bytes]) -> None:
    """Write a member into a folder nobody else writes to; nothing is overwritten and no link is followed."""
    place = folder / member.name
    if member.isdir():
        place.mkdir()
    elif member.issym():
        place.symlink_to(member.linkname)
    else:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(place, flags, 0o777 if member.mode & 0o100 else 0o666), "wb") as stream:
            stream.writelines(pieces)
