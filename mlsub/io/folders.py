"""Put folders in place: made of a list of pieces, and nothing lost that mlsub did not write.

Beside each folder that mlsub puts in place lies a record, ``.NAME.mlsub-written``, with the digest of every file it put
there. A file whose digest is another, or that the record does not know, is a person's work. Without a record every file
is.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mlsub.io import MlsubError, reason_of
from mlsub.io.data import group_by_key
from mlsub.io.look import file_digest, open_regular, walk
from mlsub.io.show import first_few
from mlsub.io.write import back_up, put_folder, staging_beside, sync_file

#: Digests by the path of a file, relative to the folder.
Digests = Mapping[str, str]


def folder_digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file and link in a folder; none where there is no such folder.

    Raises:
        OSError: something in it cannot be read.
    """
    return {path: path_digest(folder / path) for path in list_files(folder)} if folder.is_dir() else {}


def path_digest(file: Path) -> str:
    """Return the digest of a file's content, or of what a link says; of anything else an empty text.

    Raises:
        OSError: it cannot be read.
    """
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        return f"link:{hashlib.sha256(os.fsencode(file.readlink())).hexdigest()}"
    if not stat.S_ISREG(mode):
        return ""
    return f"sha256:{file_digest(file, follow=False)}"


def bytes_digest(content: bytes) -> str:
    """Return the digest of a file with this content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def foreign_files(place: Path, found: Digests, new: Digests | None = None) -> tuple[str, ...]:
    """Return the files that would be lost: neither as mlsub wrote them, nor the same in what comes.

    Args:
        place: the folder or file that has the record.
        found: what is there.
        new: what comes in its place.
    """
    ours, new = _read_record(place), new or {}
    return tuple(
        path for path, has in found.items() if not has or (has not in ours.get(path, ()) and new.get(path) != has)
    )


def write_record(place: Path, *known: Digests) -> None:
    """Remember what mlsub writes, and what it wrote earlier that is still there until then.

    Raises:
        MlsubError: the record cannot be written.
    """
    files = group_by_key(file for one in known for file in one.items())
    file = _record_file(place)
    with staging_beside(file) as staging, (staging / "record").open("xb") as stream:
        stream.write(json.dumps({"files": dict(sorted(files.items()))}).encode() + b"\n")
        sync_file(stream)
        (staging / "record").replace(file)


def record_existing(folder: Path, paths: Collection[str]) -> None:
    """Record files that are as mlsub would write them, where the record does not know them.

    Raises:
        MlsubError: one cannot be read, or the record cannot be written.
    """
    if not _read_record(folder).keys() >= set(paths):
        with failing_to_read(folder):
            found = {path: path_digest(folder / path) for path in paths}
        write_record(folder, found)


def check_free(final: Path, coming: Mapping[str, Path] | None = None) -> None:
    """Find out before the work whether a folder holds anything that must not be replaced.

    Args:
        final: the folder; it need not exist.
        coming: the files that will be copied to its places, as far as that is known.

    Raises:
        MlsubError: it does, or it cannot be read.
    """
    with failing_to_read(final):
        found = folder_digests(final)
        new = {path: path_digest(source) for path, source in (coming or {}).items() if path in found}
    _refuse_foreign(final, found, new)


def replace_folder(staging: Path, final: Path) -> None:
    """Give a finished folder its name, as :func:`~mlsub.io.write.put_folder` does, and record what is in it.

    Args:
        staging: the finished folder, on the same file system as ``final``.
        final: its name from now on.

    Raises:
        MlsubError: ``final`` has files that a person wrote or changed, which the message names, or cannot be written.
    """
    with failing_to_read(final):
        new, found = folder_digests(staging), folder_digests(final)
    _refuse_foreign(final, found, new)
    # Whatever stops the process from here on, the record knows the folder that is there.
    write_record(final, new, found)
    put_folder(staging, final)


def back_up_foreign(place: Path, files: Iterable[Path]) -> tuple[Path, ...]:
    """Back up each file that is going to be replaced, and is not as mlsub wrote it; return the backups.

    Args:
        place: the file that has the record.
        files: it and what lies beside it; those that are not there are passed over.

    Raises:
        OSError: one cannot be read, or the system refuses.
    """
    there = [file for file in files if os.path.lexists(file)]
    foreign = foreign_files(place, {file.name: path_digest(file) for file in there})
    return tuple(back_up(file) for file in there if file.name in foreign)


def list_files(folder: Path) -> Iterator[str]:
    """Yield the paths, relative to a folder, of all that lies in it except folders.

    Raises:
        OSError: a folder cannot be read.
    """
    for place, folders, files in walk(folder):
        here = os.path.relpath(place, folder)
        prefix = "" if here == "." else f"{here}/"
        for name in (*files, *(name for name in folders if Path(place, name).is_symlink())):
            yield prefix + name


def _read_record(place: Path) -> dict[str, list[str]]:
    """Return the digests by path in the record of a place; none where there is no record that can be read."""
    file = _record_file(place)
    try:
        files = {} if file.is_symlink() or not file.is_file() else json.loads(file.read_bytes())["files"]
        return {str(path): list(known) for path, known in files.items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}


def _record_file(place: Path) -> Path:
    final = Path(os.path.abspath(place))  # noqa: PTH100  (links keep their names)
    return final.with_name(f".{final.name}.mlsub-written")


def _refuse_foreign(final: Path, found: Digests, new: Digests) -> None:
    if lost := foreign_files(final, found, new):
        raise MlsubError(
            f"{final} holds what mlsub did not write, or what was changed since: {first_few(lost)}. "
            f"Move it away, or remove {final} yourself."
        )


@contextmanager
def failing_to_read(final: Path) -> Iterator[None]:
    """Raise MlsubError, which names the file or else the folder, where the block cannot read."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise MlsubError(f"{getattr(error, 'filename', None) or final} cannot be read: {reason_of(error)}.") from error


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One file: ``to`` is its place in the folder.

    It is a link that says ``link``, or it is copied from ``source``. With ``size`` the source was found in a folder: it
    is not followed if it is a link by now, and must have so many bytes still.
    """

    to: str
    source: Path | None = None
    link: str | None = None
    executable: bool = False
    size: int | None = None


def assemble(pieces: Iterable[Piece], folder: Path, *, linked: bool = False) -> None:
    """Put every piece into a folder; sources are only read.

    Args:
        pieces: each with a place of its own.
        folder: an empty folder, which need not exist yet.
        linked: sources come into it as links to them, for a check alone, not as copies.

    Raises:
        MlsubError: a source cannot be read or changes meanwhile, or the folder cannot be written.
    """
    for piece in pieces:
        target = folder / piece.to
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if piece.link is not None:
                target.symlink_to(piece.link)
            elif piece.source is not None and linked:
                target.symlink_to(piece.source)
            elif piece.source is not None:
                _copy(piece.source, target, piece)
        except (OSError, ValueError) as error:
            raise MlsubError(f"{piece.source or target} cannot be copied: {reason_of(error)}.") from error


def _copy(source: Path, target: Path, piece: Piece) -> None:
    with open_regular(source, follow=piece.size is None) as reading:
        before = os.fstat(reading.fileno())
        if piece.size not in (None, before.st_size):
            raise MlsubError(f"{source} has changed since it was looked at. Try again.")
        with target.open("xb") as writing:
            shutil.copyfileobj(reading, writing, 1 << 20)
        after = os.fstat(reading.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise MlsubError(f"{source} was written while it was copied. Try again when it is finished.")
    target.chmod(0o755 if piece.executable else 0o644)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
