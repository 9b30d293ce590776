"""What has to hold wherever a sealed file is opened, whoever made it."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mlsub.commands.seal.forms import OpenKey
from mlsub.commands.seal.names import MANIFEST
from mlsub.commands.seal.streams import DamagedError, RefusedError, decompress
from mlsub.commands.seal.tar import Limits, take
from mlsub.commands.seal.tree import Member, MemberKind
from mlsub.commands.unseal.run import Opened, Unsealing, unseal
from mlsub.commands.unseal.run import document_of as opened_document
from mlsub.commands.verify.run import document_of as verified_document
from mlsub.commands.verify.run import verify_sealed
from mlsub.io.errors import MlsubError
from mlsub.present.document import Document
from mlsub.present.text import render
from tests.campaigns.fuzz.harness import BrokenError
from tests.campaigns.fuzz.provider import one_in
from tests.campaigns.fuzz.scratch import scratch
from tests.campaigns.fuzz.watched import State, emptied, same_state, state_of, writes_only_in

#: Small enough for an input to reach them.
LIMITS = Limits(size=100_000, members=30)
#: Opening on a disk costs ten times as much as in memory, and extracting with tarfile as much again.
_REFUSED_ON_DISK, _OPENED_ON_DISK, _TARFILE = 16, 3, 3


class Room:
    """A folder with a sealed file, the place where it is opened, and what a hostile one would like to reach.

    Attributes:
        file: the sealed file.
        place: the folder below which ``unseal`` may write.
        out: where it opens the file.
    """

    def __init__(self) -> None:
        self.above = scratch("archives")
        self.file = self.above / "sealed"
        self.place = self.above / "place"
        self.out = self.place / "out"
        beside = self.above / "beside"
        for folder in (self.place, beside, self.above / "other"):
            folder.mkdir(parents=True)
        (beside / "a").write_bytes(b"not to be read, nor to be written")
        (beside / "link").symlink_to("../other")
        (self.place / "T").symlink_to("../beside")
        self.file.write_bytes(b"")

    def state(self) -> State:
        """All that is not opened; the folder that it is opened in may have another time."""
        found = state_of(self.above)
        found.pop(os.fspath(self.place))
        out = os.fspath(self.out)
        return {path: what for path, what in found.items() if path != out and not path.startswith(out + os.sep)}


def room() -> Room:
    """The room of this process: those that it forks have their own."""
    return _room(os.getpid())


@cache
def _room(_: int) -> Room:
    return Room()


def check_archive(archive: bytes) -> None:
    """Take the members of a tar.gz in memory; of some, and of a third of those that are taken, on a disk too.

    Raises:
        BrokenError: see :func:`check_opening`; or the two come to something else.
    """
    taken = _in_memory(archive)
    if not one_in(_REFUSED_ON_DISK if taken is None else _OPENED_ON_DISK, archive):
        return
    if check_opening(archive) != (taken is not None):
        raise BrokenError("on a disk it comes to something else than in memory")


def _in_memory(archive: bytes) -> dict[str, Member] | None:
    """The members that are taken of an archive; None where it is refused."""
    taken: dict[str, Member] = {}

    def sink(member: Member, pieces: Iterator[memoryview]) -> None:
        above, _, name = member.path.rpartition("/")
        folder = above in taken and taken[above].kind is MemberKind.FOLDER
        if member.path in taken or name in ("", ".", "..") or not (folder or (not taken and not above)):
            raise BrokenError(f"{member} is put where nothing may be")
        taken[member.path] = member
        if sum(len(piece) for piece in pieces) != member.size:
            raise BrokenError(f"{member} has another size")

    try:
        contents = take(decompress([archive]), len(archive), LIMITS, sink)
    except (DamagedError, MlsubError, RefusedError):
        return None
    if contents.size != sum(member.size for member in taken.values()) or contents.size > LIMITS.size:
        raise BrokenError(f"{contents.size} bytes, over the limit or miscounted")
    return taken


def check_opening(sealed: bytes, key: OpenKey = None, archive: bytes | None = None) -> bool:
    """Verify and open a sealed file; whether it was opened.

    Args:
        sealed: the file.
        key: what opens it.
        archive: the tar.gz in it, where another program has decrypted it; None where it is not encrypted.

    Raises:
        BrokenError: something was written elsewhere or left behind, the two disagree, the limits do not hold, or
            tarfile takes another tree out of it.
    """
    here = room()
    if os.path.lexists(here.out):  # Of an input that was a finding.
        shutil.rmtree(here.out)
    here.file.write_bytes(sealed)
    before = here.state()
    verified = _verified(here.file, key)
    same_state(before, here.state())
    opened, why = _unsealed(here, key)
    same_state(before, here.state())
    if (verified is None) != (opened is not None) or (verified is not None and verified != why):
        raise BrokenError(f"verify says {verified!r}, unseal {why!r}")
    if opened is None:
        if os.path.lexists(here.out):
            raise BrokenError("a refused file left a folder behind")
        return False
    try:
        _check_tree(here, opened, sealed if archive is None else archive)
    finally:
        shutil.rmtree(here.out)
    return True


def _verified(file: Path, key: OpenKey) -> str | None:
    """Why ``verify`` refuses a file; None where it does not."""
    with writes_only_in(None):
        try:
            checked = verify_sealed(file, key, limits=LIMITS)
        except MlsubError as error:
            return str(error)
    _show(verified_document(checked))
    return "; ".join(found.message for found in checked.findings) or None


def _unsealed(here: Room, key: OpenKey) -> tuple[Opened | None, str | None]:
    with writes_only_in(here.place):
        try:
            return unseal(here.file, here.out, key, LIMITS), None
        except MlsubError as error:
            return None, str(error)
        except RefusedError as error:
            found = error.findings
    _show(opened_document(Unsealing(opened=None, findings=found)))
    return None, "; ".join(one.message for one in found)


def _show(document: Document) -> None:
    text = render(document)
    if not all(character.isprintable() or character == "\n" for character in text):
        raise BrokenError(f"a control character in {text!r}")


def _check_tree(here: Room, opened: Opened, archive: bytes) -> None:
    """The limits hold, the tree is what ``tarfile`` reads, and nothing in it leads out."""
    files = [path for path in here.out.rglob("*") if path.is_file() and not path.is_symlink()]
    size = sum(path.stat().st_size for path in files if path != here.out / MANIFEST)
    if (opened.files, opened.size) != (len(files) - 1, size):
        raise BrokenError(f"said to be {opened.files} files of {opened.size} bytes, is {len(files) - 1} of {size}")
    count = sum(1 for _ in here.out.rglob("*")) - 1
    if size > LIMITS.size or count > LIMITS.members:
        raise BrokenError(f"{count} members of {size} bytes, over the limits")
    top = here.out / Path(opened.tree).name
    for path in here.out.rglob("*"):
        # A link that leads nowhere may name what is not there, but not what is outside.
        real = Path(os.path.realpath(path))
        if path != here.out / MANIFEST and not (real == top or real.is_relative_to(top)):
            raise BrokenError(f"{path} leads to {real}")
    if one_in(_TARFILE, archive, b"tarfile"):
        _check_tarfile(here.out, archive)


def _check_tarfile(out: Path, archive: bytes) -> None:
    other = emptied(scratch("tarfile") / "out")
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive)), errorlevel=2) as tar:
            tar.extractall(other, filter="data")
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise BrokenError(f"tarfile refuses what unseal opens: {error!r}") from error
    ours, theirs = tree_of(out), tree_of(other)
    if ours != theirs:
        different = sorted(path for path in {*ours, *theirs} if ours.get(path) != theirs.get(path))
        raise BrokenError(f"tarfile takes another tree out of it: {different[:3]}")


def tree_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """All there is below a folder by its relative path: kind, content, and whether its owner may run it."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.path.normpath(path.readlink()))
        elif path.is_dir():
            found[name] = ("folder",)
        else:
            found[name] = ("file", path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found
