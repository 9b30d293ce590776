"""What a case is: how a command that writes is called, and what it may leave whatever happens to it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

#: The content of a file, ``link:WHERE`` of a link, None of a folder, by the path below the folder of the case.
View = Mapping[str, bytes | None]

SCRATCH = "tmp"


class State(StrEnum):
    """What is there: as before, as after, some files as before and some as after, or neither."""

    OLD = "old"
    NEW = "new"
    BETWEEN = "between"
    BROKEN = "broken"


class Judged(NamedTuple):
    """A state, and where it is broken why."""

    state: State
    why: str = ""


Judge = Callable[[View, View, View], Judged]


def whole(found: View, old: View, new: View) -> Judged:
    """All that is kept is as before, or all is as after."""
    for state, expected in ((State.NEW, new), (State.OLD, old)):
        if found == expected:
            return Judged(state)
    paths = sorted(path for path in {*found, *new} if found.get(path, b"-") != new.get(path, b"-"))
    return Judged(State.BROKEN, f"neither old nor new: {', '.join(paths[:3])}, {len(paths)} paths differ from new")


def each(found: View, old: View, new: View) -> Judged:
    """Each file is as before or as after."""
    states = set()
    for path in {*found, *old, *new}:
        has, before, after = (view.get(path, b"(nothing)") for view in (found, old, new))
        if has not in (before, after):
            return Judged(State.BROKEN, f"{path} is neither old nor new")
        if before != after:
            states.add(State.OLD if has == before else State.NEW)
    return Judged(states.pop() if len(states) == 1 else State.BETWEEN if states else State.NEW)


class Case(NamedTuple):
    """A command that writes.

    ``prepare`` fills a folder with the input and the old state. ``words`` are the command line, which is called in that
    folder; ``work`` stands for it where there is none. ``kept`` are patterns of the paths that a user keeps, ``judge``
    says in what state they are, once ``normal`` has taken out of a file what differs from run to run. ``again`` is the
    next call, the same unless it is given, and ``statuses`` what it may end with. ``inputs`` are patterns of the files
    that may vanish. ``beside`` are patterns of what the command may leave beside what is kept.
    ``change`` changes the input between two processes that overlap, and ``overlapped`` takes out of a file what may
    then be that of either. ``says`` asks that what the next call prints is what it prints without a fault.
    """

    name: str
    prepare: Callable[[Path], None]
    words: tuple[str, ...]
    kept: tuple[str, ...]
    judge: Judge = whole
    work: Callable[[], object] | None = None
    normal: Callable[[str, bytes], bytes] = lambda path, content: content
    again: tuple[str, ...] | None = None
    statuses: tuple[int, ...] = (0,)
    inputs: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    change: Callable[[Path], object] = lambda folder: None
    overlapped: Callable[[bytes], bytes] = bytes
    says: bool = False

    def run(self) -> None:
        """Call the command in this process, which ends with its status."""
        _here()
        if self.work is not None:
            self.work()
        else:
            _call(self.words)

    def run_again(self) -> None:
        """Make the next call, which finds what the last has left."""
        _here()
        if self.again is None and self.work is not None:
            self.work()
        else:
            _call(self.again or self.words)

    def view_of(self, everything: View, *, normal: bool = True) -> View:
        """What a user keeps of all there is; contents are made ``normal`` unless they are of one and the same run."""
        kept = {path: has for path, has in everything.items() if matches(path, self.kept) and ".mlsub-" not in path}
        if not normal:
            return kept
        return {path: self.normal(path, has) if has is not None else None for path, has in kept.items()}


def _here() -> None:
    """Make scratch files of this process lie where leftovers are looked for."""
    tempfile.tempdir = os.path.abspath(SCRATCH)  # noqa: PTH100
    os.environ |= {"TMPDIR": tempfile.tempdir, "NO_COLOR": "1", "XDG_CACHE_HOME": os.devnull}


def _call(words: tuple[str, ...]) -> None:
    from mlsub.cli import main

    sys.argv = ["mlsub", *words]
    main()


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path is one of those that patterns name; ``*`` stands for slashes, too."""
    return any(fnmatch(path, pattern) for pattern in patterns)


def everything_in(folder: Path) -> View:
    """All there is below a folder."""
    found: dict[str, bytes | None] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            key = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[key] = b"link:" + os.fsencode(path.readlink())
            else:
                found[key] = None if name in folders else path.read_bytes()
    return found
