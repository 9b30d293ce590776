"""The texts of documents: files that a claims file names, looked for beside it and in folders that are given."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from mlsub.commands.audit.model import Source
from mlsub.io.plain import plain

#: A text that people read is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20


def text_of(source: Source, folders: Sequence[Path]) -> tuple[str | None, str | None]:
    """The text of a document, or None and why there is none; (None, None) for one that names no file."""
    if source.file is None:
        return None, None
    shown = plain(source.file)
    path = PurePath(source.file)
    if path.is_absolute() or ".." in path.parts or "\0" in source.file:
        return None, f"{shown}: a document lies beside the claims file or in a folder given with --documents"
    for folder in folders:
        found, reason = _read(folder, folder / path)
        if found is not None or reason is not None:
            return found, f"{shown}: {reason}" if reason else None
    return None, f"{shown} is not there; name its folder with --documents"


def _read(folder: Path, path: Path) -> tuple[str | None, str | None]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None, "not a file"
        if not path.resolve().is_relative_to(folder.resolve()):
            return None, "a link that leads out of its folder"
        if status.st_size > MAX_BYTES:
            return None, f"larger than {MAX_BYTES >> 20} MiB"
        return path.read_bytes().decode("utf-8", "replace"), None
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, f"cannot be read: {error.strerror or os.strerror(error.errno or 0)}"


def name_of(source: Source, name: str | None) -> str:
    """How a document is called: by the claims file's name of it, else by file or title."""
    return name or source.file or source.title or "the document"


def folders_for(file: Path, given: Iterable[str]) -> tuple[Path, ...]:
    """Where documents lie: the folders given, and that of the claims file."""
    return (*(Path(folder) for folder in given), file.parent)
