"""A watch over all that is written, and the state of a folder, to compare with a later one."""

# Audit events have paths of each type, so pathlib is not for them.
# ruff: noqa: PTH100, PTH115, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tools.campaigns.fuzz.engine import BrokenError

#: Audit events of changes to files: which of their arguments are paths, and which the open folders these start from.
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Written by no file of a user: Python opens it for what a process prints nowhere.
_NOWHERE = os.devnull

State = dict[str, tuple[object, ...]]


class _Watch:
    """Notes each change of a file that the interpreter reports (``sys.addaudithook``) while it is on."""

    def __init__(self) -> None:
        self.allowed: str | None = None
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            if arguments[2] & _WRITING and arguments[0] != _NOWHERE:
                self._note(event, arguments[0], -1)
        elif event in _CHANGES:
            for place, folder in _CHANGES[event]:
                self._note(event, arguments[place], -1 if folder is None else arguments[folder])

    def _note(self, event: str, path: Any, folder: int) -> None:
        if isinstance(path, int):  # A file that was opened before, which was noted.
            return
        name = os.fsdecode(path)
        full = os.path.abspath(name if folder < 0 else os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name))
        # The folder is resolved: a path through a link lies where the link leads.
        real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
        # A folder that is there cannot be made, and a module that is imported may be kept as bytecode.
        if (event == "os.mkdir" and os.path.lexists(real)) or f"{os.sep}__pycache__" in real:
            return
        if self.allowed is None or not real.startswith(f"{self.allowed}{os.sep}"):
            self.seen.append(f"{event} {real!r}")


@cache
def _watch() -> _Watch:
    return _Watch()


@contextmanager
def writes_only_in(folder: Path | None) -> Iterator[None]:
    """Whatever the block writes, renames or removes lies in the folder; None: it changes nothing at all.

    What libraries write without Python is not seen.

    Raises:
        BrokenError: something else was written.
    """
    watch = _watch()
    watch.seen.clear()
    watch.allowed = os.path.realpath(folder) if folder else None
    watch.on = True
    try:
        yield
    finally:
        watch.on = False
    if watch.seen:
        raise BrokenError(f"written outside of {folder}: {'; '.join(watch.seen[:3])}")


def emptied(folder: Path) -> Path:
    """The folder without anything in it, made where it is not there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def state_of(folder: Path, *, content: bool = True) -> State:
    """All there is below a folder by path: kind, rights, time of the last change, and bytes or where a link leads."""
    found: State = {}
    waiting = [os.fspath(folder)]
    while waiting:
        above = waiting.pop()
        with os.scandir(above) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                what: object = status.st_size
                if entry.is_symlink():
                    what = os.readlink(entry.path)
                elif entry.is_dir():
                    what = None
                    waiting.append(entry.path)
                elif content and stat.S_ISREG(status.st_mode):
                    what = Path(entry.path).read_bytes()
                found[entry.path] = (status.st_mode, status.st_mtime_ns, what)
    return found


def same_state(before: State, after: State) -> None:
    """Nothing was written.

    Raises:
        BrokenError: something came, went or changed; the message names it.
    """
    for path in {*before, *after}:
        if before.get(path) != after.get(path):
            how = "came" if path not in before else "went" if path not in after else "changed"
            raise BrokenError(f"{path!r} {how}: {before.get(path)!r} -> {after.get(path)!r}"[:500])
