"""A command in forks of this process, with a fault at one of the calls that change files below a folder."""

# Audit events have paths of each type, so pathlib is not for them.
# ruff: noqa: PTH100, PTH115, PTH118

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

# What commands need, loaded before the forks.
import mlsub.cli
import mlsub.judge.package
import mlsub.workspace

#: The content of a file, ``link:WHERE`` of a link, None of a folder, by the path below the folder of the case.
View = Mapping[str, bytes | None]
SCRATCH = "tmp"
#: Audit events of changes to files: which of their arguments are paths, and which the open folders these start from.
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    **dict.fromkeys(("os.chmod", "os.mkdir"), ((0, 2),)),
    **dict.fromkeys(("os.chown", "os.utime"), ((0, 3),)),
    **dict.fromkeys(("os.remove", "os.rmdir"), ((0, 1),)),
    **dict.fromkeys(("open", "os.removexattr", "os.setxattr", "os.truncate"), ((0, None),)),
    **{"os.link": ((1, 3),), "os.rename": ((0, 2), (1, 3)), "os.symlink": ((1, 2),)},
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class State(StrEnum):
    """What is there: as before, as after, some files as before and some as after, or neither."""

    OLD = "old"
    NEW = "new"
    BETWEEN = "between"
    BROKEN = "broken"


Judged = tuple[State, str]
Judge = Callable[[View, View, View], Judged]


def whole(found: View, old: View, new: View) -> Judged:
    """All that is kept is as before, or all is as after."""
    for state, expected in ((State.NEW, new), (State.OLD, old)):
        if found == expected:
            return state, ""
    paths = sorted(path for path in {*found, *new} if found.get(path, b"-") != new.get(path, b"-"))
    return State.BROKEN, f"neither old nor new: {', '.join(paths[:3])}"


def each(found: View, old: View, new: View) -> Judged:
    """Each file is as before or as after."""
    states = set()
    for path in {*found, *old, *new}:
        has, before, after = (view.get(path, b"(nothing)") for view in (found, old, new))
        if has not in (before, after):
            return State.BROKEN, f"{path} is neither old nor new"
        if before != after:
            states.add(State.OLD if has == before else State.NEW)
    return (states.pop() if len(states) == 1 else State.BETWEEN if states else State.NEW), ""


class Case(NamedTuple):
    """A command that writes.

    ``prepare`` fills a folder with the input and the old state. ``words`` are the command line, which is called in that
    folder; ``work`` stands for it where there is none. ``kept`` are patterns of the paths that a user keeps, ``judge``
    says in what state they are, once ``normal`` has taken out of a file what differs from run to run. ``statuses`` are
    those that the next call may end with, ``beside`` patterns of what may be left beside what is kept.
    """

    name: str
    prepare: Callable[[Path], object]
    words: tuple[str, ...]
    kept: tuple[str, ...]
    judge: Judge = whole
    work: Callable[[], object] | None = None
    normal: Callable[[str, bytes], bytes] = lambda path, content: content
    statuses: tuple[int, ...] = (0,)
    beside: tuple[str, ...] = ()


class Fault(NamedTuple):
    """What happens at a call: a signal, or an error that all later calls meet too; or files that may be no longer."""

    at: int = -1
    kill: signal.Signals | None = None
    error: int = 0
    size: int = -1

    def __str__(self) -> str:
        what = self.kill.name if self.kill else errno.errorcode.get(self.error, f"a disk full at {self.size} bytes")
        return f"{what} at call {self.at}" if self.at >= 0 else what


class Ended(NamedTuple):
    """How a process ended: its status (of a signal, negative), what it printed, and the calls that it made."""

    status: int
    err: str
    calls: tuple[str, ...]


class Place:
    """A case that is prepared in an empty folder: each try begins with a copy of the old state."""

    def __init__(self, case: Case, base: Path) -> None:
        self.case, self.folder, self._template = case, (base / "work").resolve(), base / "template"
        self._said = base / "said"
        (self._template / SCRATCH).mkdir(parents=True)
        case.prepare(self._template)
        self.old = self._view(self._template)
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        ended = self.run(Fault())
        if ended.status not in case.statuses:
            raise AssertionError(f"{case.name} fails by itself: {ended}")
        self.calls, self.new, self._paths = ended.calls, self._view(self.folder), {*_files(self.folder)}

    def run(self, fault: Fault, *, fresh: bool = True) -> Ended:
        """Run the command with a fault, in the old state or in what is there."""
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.copytree(self._template, self.folder, symlinks=True)
        calls = self._said.with_suffix(".calls")
        calls.unlink(missing_ok=True)
        if (process := os.fork()) == 0:
            self._child(fault, calls)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        made = tuple(calls.read_text().splitlines()) if calls.is_file() else ()
        return Ended(status, self._said.read_text(errors="replace"), made)

    def _child(self, fault: Fault, calls: Path) -> None:
        status = 1
        try:
            sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
            sys.stderr = self._said.open("w", errors="backslashreplace")
            os.chdir(self.folder)
            tempfile.tempdir = os.path.abspath(SCRATCH)
            os.environ |= {"TMPDIR": tempfile.tempdir, "NO_COLOR": "1", "XDG_CACHE_HOME": os.devnull}
            made = _watch(str(self.folder), fault)
            if fault.size >= 0:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (fault.size, resource.RLIM_INFINITY))
            try:
                sys.argv = ["mlsub", *self.case.words]
                (self.case.work or mlsub.cli.main)()
                status = 0
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else 1
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            calls.write_text("\n".join(made))
        except BaseException:
            traceback.print_exc()
            status = 70
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _view(self, folder: Path) -> View:
        """Return what a user keeps of all there is; what differs from run to run is left out."""
        found = {path: has for path, has in _files(folder).items() if ".mlsub-" not in path}
        found = {path: has for path, has in found.items() if matches(path, self.case.kept)}
        return {path: has if has is None else self.case.normal(path, has) for path, has in found.items()}

    def try_fault(self, fault: Fault) -> None:
        """Run the command with a fault, look at what it leaves, and run it again, which must end well."""
        self.counts["kills" if fault.kill else "errors"] += 1
        ended = self.run(fault)
        state, why = self._judged()
        self.counts[state] += 1
        if state is State.BROKEN:
            self._fail(fault, why)
        if not fault.kill and (wrong := _disorderly(ended)):
            self._fail(fault, wrong)
        if ended.status == 0 and state is not State.NEW:
            self._fail(fault, f"it ended with 0, and the state is {state}: {why}")
        ended = self.run(Fault(), fresh=False)
        state, why = self._judged()
        known = (*self.case.beside, *self.case.kept, "*/__pycache__*", "*.mlsub-*")
        left = [path for path in {*_files(self.folder)} - self._paths if not matches(path, known)]
        if ended.status not in self.case.statuses or _disorderly(ended) or state is not State.NEW or left:
            self._fail(fault, f"the next call ends with {ended.status}, {state} {why} {left}: {ended.err[-300:]}")

    def _judged(self) -> Judged:
        return self.case.judge(self._view(self.folder), self.old, self.new)

    def _fail(self, fault: Fault, why: str) -> None:
        self.broken.append(f"{self.case.name}, {fault}: {why}")


def changed_by(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """The paths that a call changes which the interpreter reports (``sys.addaudithook``)."""
    if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITING):
        return
    for place, folder in _CHANGES.get(event, ()):
        if not isinstance(arguments[place], int):  # an open file, whose path was reported when it was opened
            start = -1 if folder is None else arguments[folder]
            above = "" if start < 0 else os.readlink(f"/proc/self/fd/{start}")
            yield os.path.abspath(os.path.join(above, os.fsdecode(arguments[place])))


def _watch(root: str, fault: Fault) -> list[str]:
    """Note each call that changes a file below a folder, and let the fault happen at one."""
    made: list[str] = []
    sync = os.fsync

    def met(what: str, path: str) -> None:
        made.append(f"{what} {os.path.relpath(path, root)}")
        if len(made) - 1 == fault.at and fault.kill:
            os.kill(os.getpid(), fault.kill)
        if fault.error and len(made) - 1 >= fault.at:
            raise OSError(fault.error, os.strerror(fault.error))

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        for path in changed_by(event, arguments):
            if path.startswith(root):
                met(event, path)
                break

    def synced(fd: Any) -> None:
        met("fsync", os.readlink(f"/proc/self/fd/{fd}"))
        sync(fd)

    os.fsync = synced
    sys.addaudithook(hook)
    return made


def _disorderly(ended: Ended) -> str | None:
    """Return why an end is not one that a fault may lead to; None where it is: 0 to 2, and 2 with a reason."""
    if "Traceback" in ended.err or "defect of mlsub" in ended.err or ended.status not in (0, 1, 2):
        return f"it ended with {ended.status}: {ended.err[-600:]}"
    return "it ended with 2 and said nothing" if ended.status == 2 and not ended.err.strip() else None


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a path is one of those that patterns name; ``*`` stands for slashes, too."""
    return any(fnmatch(path, pattern) for pattern in patterns)


def _files(folder: Path) -> dict[str, bytes | None]:
    """Return all there is below a folder, but for scratch files."""
    found: dict[str, bytes | None] = {}
    for path in folder.rglob("*"):
        key = path.relative_to(folder).as_posix()
        if key.partition("/")[0] != SCRATCH:
            found[key] = b"link:" + os.fsencode(path.readlink()) if path.is_symlink() else None
            if path.is_file() and not path.is_symlink():
                found[key] = path.read_bytes()
    return found


def put_through(case: Case, count: int) -> Place:
    """Put a command through about so many kills, and a third as many errors."""
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as base:
        with chdir(base):
            place = Place(case, Path(base))
        steps = range(len(place.calls))
        for number, at in enumerate(_spread(count, steps)):
            place.try_fault(Fault(at, (signal.SIGKILL, signal.SIGTERM)[number % 4 == 3]))
        for error in (errno.ENOSPC, errno.EIO, errno.EACCES):
            for at in _spread(max(count // 9, 1), steps):
                place.try_fault(Fault(at, error=error))
        for size in (1024, 8192):
            place.try_fault(Fault(size=size))
    return place


def _spread(count: int, among: range) -> list[int]:
    """Return at most so many of the numbers, evenly spread, the first and the last among them."""
    if len(among) <= count:
        return list(among)
    return sorted({among[round(at * (len(among) - 1) / max(count - 1, 1))] for at in range(count)})
