"""What a capture asks the machine: its tools, by PATH, without a shell, bounded in time and output, and its files."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
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
_CHUNK = 1 << 16


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
    environment = {**os.environ, "LC_ALL": "C", "LANG": "C"}
    try:
        process = subprocess.Popen(  # noqa: S603  (our own words, no shell)
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        return Ran(None, "", error.strerror or str(error))
    with process:
        output, complaint, stopped = _read(process, time.monotonic() + timeout_s)
        if stopped is None:
            try:
                process.wait(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                stopped = "it did not end"
        if stopped is not None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return Ran(None, output, stopped)
    return Ran(process.returncode, output, complaint)


def _read(process: subprocess.Popen[bytes], until: float) -> tuple[str, str, str | None]:
    """Output, last line of complaints, and why the tool is to be stopped, if it is."""
    texts: dict[str, bytearray] = {"out": bytearray(), "err": bytearray()}
    stopped: str | None = None
    with selectors.DefaultSelector() as selector:
        for stream, name in ((process.stdout, "out"), (process.stderr, "err")):
            assert stream is not None  # noqa: S101  (both are pipes)
            selector.register(stream, selectors.EVENT_READ, name)
        while selector.get_map() and stopped is None:
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready:
                stopped = "it took too long"
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                texts[key.data] += chunk
                if len(texts[key.data]) > MOST_BYTES:
                    stopped = "it wrote too much"
    lines = texts["err"].decode("utf-8", "replace").strip().splitlines()
    return texts["out"].decode("utf-8", "replace"), lines[-1][:200] if lines else "", stopped


def output_of(words: Sequence[str]) -> str:
    """What a tool writes; nothing where there is no such tool, or it fails."""
    ran = run_tool(words)
    return ran.output if ran is not None and ran.well else ""


def decoded(ran: Ran | None, kind: type[T]) -> T | None:
    """What a tool wrote as JSON; None where there is no such tool, it failed, or it wrote something else."""
    try:
        return msgspec.json.decode(ran.output, type=kind, strict=False) if ran is not None and ran.well else None
    except (msgspec.DecodeError, RecursionError):
        return None


def unknown(reason: str) -> Value:
    """A field whose value this machine does not report, and why."""
    return Value(TO_FILL_IN, reason)


def read_text(path: Path) -> str | None:
    """The first MiB of a file of the system; None where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def children(folder: Path, most: int = 256) -> list[Path]:
    """What a folder of the system holds, sorted, so many at most; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir())[:most]
    except OSError:
        return []


def counted(names: list[str]) -> str:
    """Equal names once, with their number: ``8x A, 2x B``."""
    return ", ".join(f"{names.count(name)}x {name}" for name in dict.fromkeys(names))


def bytes_in_words(size: float) -> str:
    """A size as makers of disks give it: decimal, three digits."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g}{unit}" if size / scale < 1000 else f"{size / scale:.0f}{unit}"
    return f"{size:.0f} bytes"
