"""What mlsub wrote, so that what others wrote or changed is never replaced or removed.

Beside each folder that mlsub puts in place lies a record, ``.NAME.mlsub-written``, with the digest of every file it put
there. A file whose digest is another, or that the record does not know, is a person's work. Without a record every file
is.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from mlsub.io.durable import finish, settle
from mlsub.io.errors import MlsubError, reason_of
from mlsub.io.leftovers import alone_in, new_part
from mlsub.io.output import cannot_write, set_aside
from mlsub.io.output_folder import put_folder, recover_folder

_SUFFIX = ".mlsub-written"
#: Far above what a record of the largest package needs.
_MAX_RECORD = 1 << 26
_SHOWN = 10

#: Digests by the path of a file, relative to the folder.
Digests = Mapping[str, str]


class _Record(msgspec.Struct, frozen=True):
    """The content of a record: for each path the digests of what mlsub wrote there."""

    files: dict[str, list[str]]


def digests(folder: Path) -> dict[str, str]:
    """The digest of each file and link in a folder; none where there is no such folder.

    Raises:
        OSError: something in it cannot be read.
    """
    return {path: digest(folder / path) for path in _files(folder)} if folder.is_dir() else {}


def digest(file: Path) -> str:
    """The digest of a file's content, or of what a link says; that of anything else is of no use.

    Raises:
        OSError: it cannot be read.
    """
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        return f"link:{hashlib.sha256(os.fsencode(file.readlink())).hexdigest()}"
    if not stat.S_ISREG(mode):
        return ""
    with file.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def digest_of(content: bytes) -> str:
    """The digest of a file with this content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def somebodys(place: Path, found: Digests, new: Digests | None = None) -> tuple[str, ...]:
    """The files that would be lost: neither as mlsub wrote them, nor the same in what comes.

    Args:
        place: the folder or file that has the record.
        found: what is there.
        new: what comes in its place.
    """
    ours, new = _read(place).files, new or {}
    return tuple(
        path for path, has in found.items() if not has or (has not in ours.get(path, ()) and new.get(path) != has)
    )


def record(place: Path, new: Digests, *, besides: bool = False) -> None:
    """Remember what mlsub writes; ``besides`` adds it to what the record holds already.

    Raises:
        MlsubError: the record cannot be written.
    """
    files = {path: [has] for path, has in new.items()}
    if besides:
        for path, known in _read(place).files.items():
            files[path] = [*dict.fromkeys([*files.get(path, ()), *known])]
    content = msgspec.json.encode(_Record({_as_text(path): known for path, known in sorted(files.items())}))
    file = _beside(place)
    try:
        with new_part(file.parent) as (part, stream):
            stream.write(content + b"\n")
            finish(stream)
            part.replace(file)
            settle(file.parent)
    except OSError as error:
        raise cannot_write(file, error) from error


def adopt(folder: Path, paths: Collection[str]) -> None:
    """Record files that are as mlsub would write them, where the record does not know them.

    Raises:
        MlsubError: one cannot be read, or the record cannot be written.
    """
    if _read(folder).files.keys() >= set(paths):
        return
    try:
        found = {path: digest(folder / path) for path in paths}
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from error
    record(folder, found, besides=True)


def check_free(final: Path, coming: Mapping[str, Path] | None = None) -> None:
    """Find out before the work whether a folder holds anything that must not be replaced.

    Args:
        final: the folder; it need not exist.
        coming: the files that will be copied to its places, as far as that is known.

    Raises:
        MlsubError: it does, or it cannot be read.
    """
    coming = coming or {}
    try:
        lost = somebodys(final, digests(final))
        lost = tuple(path for path in lost if path not in coming or digest(final / path) != digest(coming[path]))
    except (OSError, ValueError) as error:
        raise _unreadable(final, error) from error
    if lost:
        raise _refused(final, lost)


def replace_folder(staging: Path, final: Path) -> None:
    """Give a finished folder its name, as :func:`~mlsub.io.output_folder.put_folder` does, and record what is in it.

    Args:
        staging: the finished folder, on the same file system as ``final``.
        final: its name from now on.

    Raises:
        MlsubError: ``final`` has files that a person wrote or changed, which the message names, or cannot be written.
    """
    with alone_in(final.parent):
        try:
            recover_folder(final)
            new = digests(staging)
            lost = somebodys(final, digests(final), new)
        except (OSError, ValueError) as error:
            raise _unreadable(final, error) from error
        if lost:
            raise _refused(final, lost)
        # Whatever stops the process between these lines, the record knows the folder that is there.
        record(final, new, besides=True)
        put_folder(staging, final)
        record(final, new)


def set_aside_foreign(place: Path, files: Iterable[Path]) -> tuple[Path, ...]:
    """Give each file that is going to be replaced, and is not as mlsub wrote it, a further name; those names.

    Args:
        place: the file that has the record.
        files: it and what lies beside it; those that are not there are passed over.

    Raises:
        OSError: one cannot be read, or the system refuses.
    """
    there = [file for file in files if os.path.lexists(file)]
    foreign = somebodys(place, {file.name: digest(file) for file in there})
    return tuple(set_aside(file) for file in there if file.name in foreign)


def named(paths: Collection[str]) -> str:
    """Paths for a sentence: the first few, and how many more."""
    shown = ", ".join(list(paths)[:_SHOWN])
    return f"{shown} and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else shown


def _files(folder: Path) -> Iterator[str]:
    """All that lies in a folder except folders."""
    for place, folders, files in os.walk(folder, onerror=_raise):
        here = os.path.relpath(place, folder)
        prefix = "" if here == "." else f"{here}/"
        for name in (*files, *(name for name in folders if Path(place, name).is_symlink())):
            yield prefix + name


def _raise(error: OSError) -> None:
    raise error


def _read(place: Path) -> _Record:
    """The record of a place; an empty one where there is none that can be read."""
    try:
        descriptor = os.open(_beside(place), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:  # noqa: PTH123  (a descriptor, which no path can stand for)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return _Record({})
            found = msgspec.json.decode(stream.read(_MAX_RECORD), type=_Record)
    except (OSError, ValueError):
        return _Record({})
    return _Record({_as_path(path): known for path, known in found.files.items()})


def _beside(place: Path) -> Path:
    final = Path(os.path.abspath(place))  # noqa: PTH100  (links keep their names)
    return final.with_name(f".{final.name}{_SUFFIX}")


def _as_text(path: str) -> str:
    """A path as JSON can have it, whatever bytes it is of: a character a byte."""
    return os.fsencode(path).decode("latin-1")


def _as_path(text: str) -> str:
    return os.fsdecode(text.encode("latin-1", "replace"))


def _refused(final: Path, lost: Collection[str]) -> MlsubError:
    return MlsubError(
        f"{final} holds what mlsub did not write, or what was changed since: {named(lost)}. "
        f"Move it away, or remove {final} yourself."
    )


def _unreadable(final: Path, error: Exception) -> MlsubError:
    return MlsubError(f"{getattr(error, 'filename', None) or final} cannot be read: {reason_of(error)}.")
