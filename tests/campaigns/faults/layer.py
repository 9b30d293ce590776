"""The layer between the program and the C library (``layer.c``): built, preloaded, and used in forked processes."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import NamedTuple

from tests.effort import HUNG

_SOURCE = Path(__file__).with_name("layer.c")
_VARIABLE = "MLSUB_FAULT_LAYER"
#: Descriptors above those that a program opens.
_LOG, _WAKE, _READY = 1000, 1001, 1002


class Mode(IntEnum):
    """What the layer does at one of the calls; keep in step with ``layer.c``."""

    OFF, COUNT, RECORD, KILL, TERM, TORN, FAIL, PAUSE, VANISH, CLOCK = range(10)


class Kind(IntFlag):
    """What a call does: look at a name, read, make a name, write, bring to the disk, remove, change rights, close."""

    LOOK, READ, CREATE, WRITE, SYNC, REMOVE, CHANGE, CLOSE = (1 << bit for bit in range(8))


#: Calls that change what is on the disk, or bring it there.
WRITING = Kind.CREATE | Kind.WRITE | Kind.SYNC | Kind.REMOVE | Kind.CHANGE


class Fault(NamedTuple):
    """A fault: what happens at which call; for ``FAIL`` the error, the kinds that it meets, and whether it stays."""

    mode: Mode = Mode.COUNT
    at: int = -1
    error: int = 0
    kinds: Kind = Kind(0)
    stays: bool = False


class Ended(NamedTuple):
    """How a process ended: its status, negative for a signal, what it said, and how many calls it made."""

    status: int
    out: str
    err: str


class Op(NamedTuple):
    """A call as it was recorded; ``a`` and ``b`` are the numbers that it was given."""

    number: int
    kind: Kind
    what: str
    a: int
    b: int
    result: int
    one: str
    two: str
    data: bytes


def why_not() -> str | None:
    """Why there can be no layer here; None where there can."""
    if sys.platform != "linux":
        return "the layer of faults needs Linux"
    return None if shutil.which("cc") else "the layer of faults needs a C compiler, cc"


def preload() -> None:
    """Start this program again with the layer before the C library, unless it has it already.

    Raises:
        RuntimeError: the layer cannot be built.
    """
    if os.environ.get(_VARIABLE):
        return
    library = _built()
    os.environ |= {_VARIABLE: str(library), "LD_PRELOAD": str(library), "PYTHONHASHSEED": "0"}
    os.environ |= {"XDG_CACHE_HOME": os.devnull, "NO_COLOR": "1"}
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  (this program)


def _built() -> Path:
    """The layer for this source, built once."""
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    library = Path(tempfile.gettempdir(), f"mlsub-fault-layer-{os.getuid()}-{digest}.so")
    if not library.exists():
        part = library.with_suffix(f".{os.getpid()}")
        command = ["cc", "-shared", "-fPIC", "-O1", "-Wno-nonnull-compare", "-o", str(part), str(_SOURCE), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the layer of faults cannot be built:\n{done.stderr}")
        part.replace(library)
    return library


class Process:
    """A forked process that does some work below a folder, with a fault."""

    def __init__(self, work: Callable[[], object], folder: Path, fault: Fault, log: Path | None = None) -> None:
        self._said = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115  (closed by end)
        self._ready, ready = os.pipe()
        wake, self._wake = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._work(work, folder, fault, log, (ready, wake))
        os.close(ready)
        os.close(wake)

    def _work(
        self, work: Callable[[], object], folder: Path, fault: Fault, log: Path | None, pipes: tuple[int, int]
    ) -> None:
        status = 70
        try:
            # What nobody reads any more must not stop it: an end of the pipe in the parent is enough.
            os.close(self._wake)
            for stream, number in zip(self._said, (1, 2), strict=True):
                os.dup2(stream.fileno(), number)
            os.dup2(pipes[0], _READY)
            os.dup2(pipes[1], _WAKE)
            if log is not None:
                os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), _LOG)
            os.chdir(folder)
            signal.alarm(int(HUNG))
            _arm(folder, fault)
            work()
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def wait_for_pause(self) -> bool:
        """Wait until it has stopped at its call; False where it has ended without."""
        return os.read(self._ready, 1) == b"p"

    def go_on(self) -> None:
        """Let it go on after its pause."""
        os.write(self._wake, b"g")

    def end(self) -> Ended:
        """Wait for its end."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._ready)
        os.close(self._wake)
        said = []
        for stream in self._said:
            stream.seek(0)
            said.append(stream.read().decode("utf-8", "replace"))
            stream.close()
        return Ended(status, *said)


def _arm(folder: Path, fault: Fault) -> None:
    arm = ctypes.CDLL(None).faults_arm
    arm.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, *(ctypes.c_int,) * 6]
    words = (int(fault.mode), fault.at, fault.error, int(fault.kinds), int(fault.stays), _LOG, _WAKE, _READY)
    arm(os.fsencode(folder.resolve()), *words)


def recorded(log: Path) -> list[Op]:
    """The calls that a process has recorded, those that failed too."""
    content, at, found = log.read_bytes(), 0, []
    while at < len(content):
        end = content.index(b"\n", at)
        number, kind, what, a, b, result, *sizes = content[at:end].split(b" ")
        at, parts = end + 1, []
        for size in map(int, sizes):
            parts.append(content[at : at + size])
            at += size
        one, two, data = os.fsdecode(parts[0]), os.fsdecode(parts[1]), parts[2]
        numbers = (int(number), Kind(int(kind)), what.decode(), int(a), int(b), int(result))
        found.append(Op(*numbers, one, two, data))
    return found
