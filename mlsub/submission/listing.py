"""What lies below a path as it was when somebody first looked: each folder is opened once, whoever asks."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

import msgspec

from mlsub.io import look, reason_of
from mlsub.io.data import reduce_struct
from mlsub.io.look import AnyPath


class FileStatus(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the system says of a name, of a link itself: ``target`` is what that says, as it says it.

    Times are in ns. ``problem`` is why nothing is known but perhaps that it is a folder.
    """

    mode: int
    owner: int = 0
    size: int = 0
    inode: int = 0
    modified: int = 0
    changed: int = 0
    target: str | None = None
    problem: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, and not a link to one."""
        return stat.S_ISDIR(self.mode)


class Listing(msgspec.Struct, eq=False):
    """Folders that were opened and names that were looked at, for one check: later changes do not show.

    It answers as :mod:`mlsub.io.look` does, with the same errors. What failed is tried again by who asks again.
    ``opened`` has what lies in each folder; ``followed`` what lies where links lead, and where no folder was opened.
    All listings are equal, so that a place is the same place whenever it was looked at.
    """

    opened: dict[str, dict[str, FileStatus]] = {}
    followed: dict[str, FileStatus | None] = {}

    __reduce__ = reduce_struct

    def items_in(self, folder: AnyPath) -> dict[str, FileStatus]:
        """Return what lies in a folder by its name, sorted.

        Raises:
            OSError: it is no folder, or cannot be listed.
            ValueError: a name that no folder can have.
        """
        place = os.fspath(folder)
        found = self.opened.get(place)
        if found is None:
            with os.scandir(place) as entries:
                unsorted = {entry.name: _status_of_entry(entry) for entry in entries}
            found = self.opened[place] = dict(sorted(unsorted.items()))
        return found

    def names_in(self, folder: AnyPath) -> list[str]:
        """Return the names in a folder, sorted; none where there is no folder.

        Raises:
            OSError: it cannot be listed.
        """
        try:
            return list(self.items_in(folder))
        except OSError as error:
            if look.means_missing(error):
                return []
            raise
        except ValueError:
            return []

    def folders_in(self, folder: Path, *, hidden: bool = False) -> list[Path]:
        """Return the folders in a folder, and links to folders; none where there is no folder.

        Args:
            folder: where to look.
            hidden: whether those count whose names begin with a dot.

        Raises:
            OSError: it cannot be listed, or what lies in it cannot be looked at.
        """
        names = (name for name in self.names_in(folder) if hidden or not name.startswith("."))
        return [child for name in names if self.is_folder(child := folder / name)]

    def status_of(self, path: AnyPath) -> FileStatus | None:
        """Return what lies at a path, links followed; None for nothing.

        Raises:
            OSError: it cannot be looked at.
        """
        place = os.fspath(path)
        if place in self.followed:
            return self.followed[place]
        found = self._listed(place)
        if found is None or stat.S_ISLNK(found.mode):
            seen = look.status_of(place)
            found = self.followed[place] = file_status(seen) if seen is not None else None
        return found

    def is_folder(self, path: AnyPath) -> bool:
        """Return whether a path is a folder, or a link to one.

        Raises:
            OSError: it cannot be looked at.
        """
        found = self.status_of(path)
        return found is not None and found.is_folder

    def is_link(self, path: AnyPath) -> bool:
        """Return whether a path is a link, to whatever or nothing.

        Raises:
            OSError: it cannot be looked at.
        """
        found = self._listed(os.fspath(path))
        return stat.S_ISLNK(found.mode) if found is not None else look.is_link(path)

    def exists(self, path: AnyPath) -> bool:
        """Return whether there is anything at a path, be it a link that leads nowhere.

        Raises:
            OSError: it cannot be looked at.
        """
        return self._listed(os.fspath(path)) is not None or look.exists(path)

    def _listed(self, place: str) -> FileStatus | None:
        """Return what was found at a path when its folder was opened.

        None also where that does not list it, for there are file systems to which two spellings are one name.
        """
        above, _, name = place.rpartition("/")
        found = self.opened[above].get(name) if above in self.opened else None
        return found if found is not None and found.problem is None else None

    def below(self, path: AnyPath) -> Listing:
        """Return what was found in a folder and those below it."""
        found = Listing()
        waiting = [os.fspath(path)]
        while waiting:
            place = waiting.pop()
            if place in self.opened:
                found.opened[place] = items = self.opened[place]
                waiting += [f"{place}/{name}" for name, one in items.items() if one.is_folder or one.target is not None]
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listing)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "Listing()"


def _status_of_entry(entry: os.DirEntry[str]) -> FileStatus:
    try:
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            return file_status(found, os.readlink(entry.path))  # noqa: PTH115  (a path object would normalise it)
    except OSError as error:
        # What is gone meanwhile, too, is a name without facts.
        mode = 0
        with suppress(OSError):
            mode = stat.S_IFDIR if entry.is_dir(follow_symlinks=False) else 0
        return FileStatus(mode, problem=reason_of(error))
    return file_status(found)


def file_status(found: os.stat_result, target: str | None = None) -> FileStatus:
    """Return what counts of the answer of the system, and the target of a link."""
    times = found.st_mtime_ns, found.st_ctime_ns
    return FileStatus(found.st_mode, found.st_uid, found.st_size, found.st_ino, *times, target)


def below(folder: Path, path: Path) -> str:
    """Return a path as seen from a folder that it lies in, with ``/`` between names; ``.`` for the folder itself.

    Raises:
        ValueError: it does not lie there.
    """
    # A tree has thousands of them, and path objects take ten times as long.
    whole, start = str(path), f"{folder}/"
    return whole[len(start) :] if whole.startswith(start) else path.relative_to(folder).as_posix()
