"""What a capture asks the machine: its tools, by PATH, without a shell, bounded in time and output, and its files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from mlsub.systems.catalogue import Value
from mlsub.systems.draft import TO_FILL_IN

T = TypeVar("T")
#: Fields with values, and reasons where there are none.
Found = dict[str, Value]
#: Seconds a tool may take; nvidia-smi needs some where it has to wake the driver.
TIMEOUT_S = 20.0
MOST_BYTES = 1 << 20


class Ran(msgspec.Struct, frozen=True):
    """What came of a tool: its exit status (None where it was stopped), output, and the last line of its complaints."""

    status: int | None
    output: str
    complaint: str

    @property
    def well(self) -> bool:
        """Whether it ended, and with success."""
        return self.status == 0


def run_tool(words: Sequence[str], timeout_s: float = TIMEOUT_S) -> Ran | None:
    """Run a tool with the locale C and no input; None where there is no such tool. Never raises."""
    program = shutil.which(words[0])
    if program is None:
        return None
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603  (our own words, no shell)
                [program, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "LC_ALL": "C", "LANG": "C"},
                start_new_session=True,
            )
        except OSError as error:
            return Ran(None, "", error.strerror or str(error))
        timer = threading.Timer(timeout_s, _kill, (process,))
        timer.start()
        with process:
            output = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
            if len(output) > MOST_BYTES:
                _kill(process)
        late = not timer.is_alive()
        timer.cancel()
        errors.seek(0)
        lines = errors.read(MOST_BYTES).decode("utf-8", "replace").strip().splitlines()
    if late or len(output) > MOST_BYTES:
        return Ran(None, "", "it took too long" if late else "it wrote too much")
    return Ran(process.returncode, output.decode("utf-8", "replace"), lines[-1][:200] if lines else "")


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def output_of(words: Sequence[str]) -> str:
    """Return what a tool writes; nothing where there is no such tool, or it fails."""
    ran = run_tool(words)
    return ran.output if ran is not None and ran.well else ""


def decoded(ran: Ran | None, kind: type[T]) -> T | None:
    """Return what a tool wrote as JSON; None where there is no such tool, it failed, or it wrote something else."""
    try:
        return msgspec.json.decode(ran.output, type=kind, strict=False) if ran is not None and ran.well else None
    except (msgspec.DecodeError, RecursionError):
        return None


def unknown(reason: str) -> Value:
    """Return a field whose value this machine does not report, and why."""
    return Value(TO_FILL_IN, reason)


def read_text(path: Path) -> str | None:
    """Return the first MiB of a file of the system; None where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def children(folder: Path, most: int = 256) -> list[Path]:
    """Return what a folder of the system holds, sorted, so many at most; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir())[:most]
    except OSError:
        return []


def counted(names: list[str]) -> str:
    """Return equal names once, with their number: ``8x A, 2x B``."""
    return ", ".join(f"{names.count(name)}x {name}" for name in dict.fromkeys(names))


def bytes_in_words(size: float) -> str:
    """Return a size as makers of disks give it: decimal, three digits."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g}{unit}" if size / scale < 1000 else f"{size / scale:.0f}{unit}"
    return f"{size:.0f} bytes"
