"""What the page asks Python for, in the browser: open what was dropped, and answer as a command does.

It has the file system that ``worker.js`` mounts, and no processes, threads or libraries in C but that of msgspec.
"""

from __future__ import annotations

import gc
import io
import os
import re
import shutil
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import IO

from mlsub.cli import main
from mlsub.commands.unseal.run import put_member
from mlsub.io import MlsubError
from mlsub.packing.archive import CHUNK, check_amount
from mlsub.packing.names import link_problems, name_problem
from mlsub.packing.tree import RefusedError, make_member
from mlsub.present.terminal import ProgressBar
from mlsub.workspace import in_one_line

#: Called with what is done, and what there is to do.
Heard = Callable[[int, int], None]
_ARCHIVE = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz))$", re.IGNORECASE)
_UNPACKED = "/unpacked"
#: What is unpacked lies in memory, of which a page has few gigabytes.
MAX_UNPACKED = 1 << 30
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)

# As in mlsub/__main__.py: what is imported stays.
gc.set_threshold(50_000)


class _Told(ProgressBar):
    """A progress that another thread shows."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    def __call__(self, done: int, total: int) -> None:
        self._heard(done, total)

    def hide(self) -> None:
        """It is shown beside the answer."""


def answer(
    command: str, format_: str, folder: str, paths: Sequence[str], options: Sequence[str], heard: Heard
) -> tuple[int, str, str]:
    """Call a command of mlsub; return its exit status, its answer and what it says beside that.

    Args:
        command: its name.
        format_: that of the answer.
        folder: where it is called.
        paths: what it is asked about.
        options: further ones.
        heard: hears of its progress.
    """
    os.chdir(folder)
    status, raw = 0, io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(raw, "utf-8")), redirect_stderr(io.StringIO()) as said:
        try:
            main([command, *options, "--format", format_, "--", *paths], prog_name="mlsub", obj=_Told(heard))
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 2
        sys.stdout.flush()
        return status, raw.getvalue().decode(), said.getvalue()


def open_dropped(place: str, heard: Heard) -> tuple[str, list[str], str]:
    """Return the folder that what was dropped lies in, its names, and why there is nothing to ask about, if so.

    A single archive is unpacked before, in place of an earlier one.
    """
    os.chdir("/")
    shutil.rmtree(_UNPACKED, ignore_errors=True)
    try:
        folder, names = _opened(Path(place), heard)
    except MlsubError as error:
        return place, [], str(error)
    return str(folder), names, "" if names else "There is no file in it."


def _opened(folder: Path, heard: Heard) -> tuple[Path, list[str]]:
    names = _names_in(folder)
    if len(names) == 1 and _ARCHIVE.search(names[0]) and (folder / names[0]).is_file():
        unpacked = Path(f"{_UNPACKED}{folder}")
        unpacked.mkdir(parents=True)
        try:
            unpack(folder / names[0], unpacked, heard)
        except RefusedError as error:
            raise MlsubError(*(in_one_line(one) for one in error.findings)) from None
        except _DAMAGE as error:
            raise MlsubError(f"{names[0]} cannot be unpacked: {error}") from error
        return unpacked, _names_in(unpacked)
    return folder, names


def _names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def unpack(file: Path, folder: Path, heard: Heard) -> None:
    """Unpack a zip or tar into a folder that is empty.

    Raises:
        RefusedError: there is too much.
        MlsubError: a member may not be where it says.
    """
    size, packed, links = 0, file.stat().st_size, dict[str, str]()
    members = _zip_members(file) if zipfile.is_zipfile(file) else _tar_members(file, heard)
    for count, (member, stream) in enumerate(members):
        if problem := name_problem(member.name):
            raise MlsubError(f"{member.name[:200]!r} in {file.name}: {problem}")
        size += member.size
        check_amount(member, size, count, packed, MAX_UNPACKED)
        place = folder / member.name
        place.parent.mkdir(parents=True, exist_ok=True)
        if member.issym():
            links[member.name] = member.linkname
        elif stream is not None:
            put_member(folder, member, iter(partial(stream.read, CHUNK), b""))
        else:
            place.mkdir(exist_ok=True)
    # Only all of them together show whether one leads out; nothing is written through one, as they come last.
    for path, problem in link_problems({f"{folder.name}/{path}": target for path, target in links.items()}).items():
        raise MlsubError(f"{path.partition('/')[2][:200]!r} in {file.name}: {problem}")
    for path, target in links.items():
        (folder / path).symlink_to(target)


_Member = tuple[tarfile.TarInfo, IO[bytes] | None]


def _with_mode(member: tarfile.TarInfo, mode: int) -> tarfile.TarInfo:
    member.mode = mode & 0o777
    return member


def _zip_members(file: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name = info.filename.rstrip("/")
            if name.startswith("__MACOSX"):
                continue  # What the Finder adds.
            if info.is_dir():
                yield make_member(name, tarfile.DIRTYPE), None
            elif stat.S_ISLNK(info.external_attr >> 16):
                with archive.open(info) as stream:
                    yield make_member(name, tarfile.SYMTYPE, target=stream.read(CHUNK).decode()), None
            else:
                # Where there are no rights, as from Windows, it might be executed.
                mode = info.external_attr >> 16 or 0o100
                with archive.open(info) as stream:
                    yield _with_mode(make_member(name, size=info.file_size), mode), stream


def _tar_members(file: Path, heard: Heard) -> Iterator[_Member]:
    whole = file.stat().st_size
    with file.open("rb") as raw, tarfile.open(fileobj=raw) as archive:
        for member in archive:
            heard(min(raw.tell(), whole), whole)
            name = member.name.removeprefix("./")
            if name in ("", "."):
                continue
            if member.isdir():
                yield make_member(name, tarfile.DIRTYPE), None
            elif member.issym():
                yield make_member(name, tarfile.SYMTYPE, target=member.linkname), None
            elif member.isreg():
                yield _with_mode(make_member(name, size=member.size), member.mode), archive.extractfile(member)
            else:
                raise MlsubError(f"{name[:200]!r} in {file.name} is neither a file, a folder nor a link")
