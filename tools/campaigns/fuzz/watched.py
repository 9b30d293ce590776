"""A watch over all that is written, and the state of a folder, to compare with a later one."""

# Audit events have paths of each type, so pathlib is not for them.
# ruff: noqa: PTH115, PTH118, PTH119, PTH120

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

from tools.campaigns.faults.engine import changed_by
from tools.campaigns.fuzz.engine import BrokenError
from tools.support.make_tree import snapshot

State = dict[bytes, tuple[object, ...]]


class _Watch:
    """Notes each change of a file outside of a folder while it is on."""

    def __init__(self) -> None:
        self.allowed: str | None = None
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        for full in changed_by(event, arguments) if self.on else ():
            # The folder is resolved: a path through a link lies where the link leads.
            real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
            # A folder that is there cannot be made, a module that is imported may be kept as bytecode, and Python opens
            # /dev/null for what a process prints nowhere.
            if (event == "os.mkdir" and os.path.lexists(real)) or "/__pycache__" in real or full == os.devnull:
                continue
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


def state_of(folder: Path) -> State:
    """All there is below a folder by path: its state, and its bytes or where a link leads."""
    found: State = {}
    for path, state in snapshot(folder).items():
        found[path] = state
        if stat.S_ISLNK(state[0]):
            found[path] += (os.readlink(path),)
        elif stat.S_ISREG(state[0]):
            found[path] += (Path(os.fsdecode(path)).read_bytes(),)
    return found


def same_state(before: State, after: State) -> None:
    """Nothing was written.

    Raises:
        BrokenError: something came, went or changed; the message names it.
    """
    for path in {*before, *after}:
        if before.get(path) != after.get(path):
            raise BrokenError(f"{path!r} was changed: {before.get(path)!r} -> {after.get(path)!r}"[:500])
