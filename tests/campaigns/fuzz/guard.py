"""Inputs run in processes of their own, within bounds of time and memory."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import mmap
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import msgspec

from tests.campaigns.fuzz.finding import MEMORY, Failure, of_exception, of_signal, of_time
from tests.campaigns.fuzz.harness import Harness

#: Seconds by the clock after which an input that takes no CPU time counts as stuck, beyond five times its own bound;
#: measuring what an input reaches takes longer.
PATIENCE, TRACED = 10.0, 60.0
#: The exit status where not the input is at fault, but what draws or measures it.
_ENGINE_FAILED = 70
_PR_SET_PDEATHSIG = 1
_MEGABYTE = 1_000_000
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def seconds_for(harness: Harness, data: bytes) -> float:
    """The CPU time that an input may take."""
    return harness.seconds + harness.seconds_per_kb * len(data) / 1000


def failure_of(harness: Harness, data: bytes) -> Failure | None:
    """Run an input in this process, which SIGPROF ends where the input takes too long."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failure = None
    signal.setitimer(signal.ITIMER_PROF, seconds_for(harness, data))
    try:
        harness.run(data)
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        failure = of_exception(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * _RSS_UNIT / _MEGABYTE
    if grown > harness.megabytes / 4:
        _forget_peak()
    if failure is None and grown > harness.megabytes:
        sentence = f"{grown:.0f} MB for {len(data)} bytes, where {harness.megabytes} MB are allowed"
        failure = Failure(MEMORY, harness.name, sentence)
    return failure


def _forget_peak() -> None:
    """Measure from what is in use now, so that the next input is not hidden below the peak of this one."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


class EngineError(Exception):
    """The campaign itself could not go on."""


class Desk:
    """Memory that a process shares with its parent: which input it is at, even after it was killed."""

    def __init__(self, longest: int) -> None:
        self._memory = mmap.mmap(-1, longest + 16)
        self._size = longest

    def put(self, number: int, data: bytes) -> None:
        """Show the input that is run next."""
        content = data[: self._size]
        self._memory[: 16 + len(content)] = number.to_bytes(8, "little") + len(content).to_bytes(8, "little") + content

    @property
    def number(self) -> int:
        """That of the input."""
        return int.from_bytes(self._memory[:8], "little")

    @property
    def data(self) -> bytes:
        """The input."""
        return self._memory[16 : 16 + int.from_bytes(self._memory[8:16], "little")]


class Ended(NamedTuple):
    """How a forked process ended: what it answered, else how it failed."""

    answer: bytes | None
    failure: Failure | None
    cpu: float


class Fork:
    """Runs functions in forks of this process, whose memory and time are bounded.

    Args:
        harness: whose bounds they are.
        desk: where the forked process shows its input.
    """

    def __init__(self, harness: Harness, desk: Desk) -> None:
        self.harness = harness
        self.desk = desk
        self._writing = -1
        self._stack = os.memfd_create("stack") if hasattr(os, "memfd_create") else os.dup(2)

    def run(self, work: Callable[[], bytes], slower: float = 5) -> Ended:
        """The answer of a function, which puts each input on the desk before it is run.

        Raises:
            EngineError: the function raised.
        """
        with suppress(OSError):
            os.ftruncate(self._stack, 0)
            os.lseek(self._stack, 0, os.SEEK_SET)
        sys.stdout.flush()
        sys.stderr.flush()
        reading, writing = os.pipe()
        process = fork()
        if process == 0:
            os.close(reading)
            self._writing = writing
            self._work(work)
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            answer, stuck = self._answer(stream.fileno(), process, slower)
        _, status, usage = os.wait4(process, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == _ENGINE_FAILED:
            raise EngineError(f"{self.harness.name}: drawing or measuring input {self.desk.number} failed, see above")
        return Ended(answer if code == 0 else None, self._failure(code, stuck), usage.ru_utime + usage.ru_stime)

    def failure(self, data: bytes) -> Failure | None:
        """How an input fails that is run alone."""

        def work() -> bytes:
            self.desk.put(0, data)
            found = failure_of(self.harness, data)
            return msgspec.json.encode(found)

        ended = self.run(work)
        return ended.failure if ended.answer is None else msgspec.json.decode(ended.answer, type=Failure | None)

    def confirmed(self, data: bytes, found: Failure) -> Failure | None:
        """A failure to end in time or memory, if it is one each of three times alone; any other failure at once."""
        again = [self.failure(data)]
        while found.is_like(again[-1]) and len(again) < 3:
            again.append(self.failure(data))
        return again[-1]

    def _work(self, work: Callable[[], bytes]) -> NoReturn:
        """What the forked process does; it does not return."""
        try:
            end_with_parent()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            faulthandler.enable(self._stack, all_threads=False)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            faulthandler.register(signal.SIGPROF, self._stack, all_threads=False, chain=True)
            _bound_memory(self.harness)
            with _quiet():
                answer = work()
            self.end(answer)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(_ENGINE_FAILED)

    def end(self, answer: bytes) -> NoReturn:
        """End the forked process with its answer."""
        with os.fdopen(self._writing, "wb") as stream:
            stream.write(answer)
        os._exit(0)

    def _answer(self, reading: int, process: int, slower: float) -> tuple[bytes, bool]:
        """All that the process writes, and whether it was killed because it stayed at one input for too long."""
        parts: list[bytes] = []
        last, since = -1, time.monotonic()
        while True:
            ready, _, _ = select.select([reading], [], [], 0.2)
            if ready:
                part = os.read(reading, 1 << 20)
                if not part:
                    return b"".join(parts), False
                parts.append(part)
            if self.desk.number != last:
                last, since = self.desk.number, time.monotonic()
            elif time.monotonic() - since > PATIENCE + slower * seconds_for(self.harness, self.desk.data):
                os.kill(process, signal.SIGKILL)
                return b"", True

    def _failure(self, code: int, stuck: bool) -> Failure | None:
        if code == 0:
            return None
        stack = ""
        with suppress(OSError):
            stack = os.pread(self._stack, 20_000, 0).decode("utf-8", "replace")
        allowed = seconds_for(self.harness, self.desk.data)
        if stuck:
            return of_time(f"waits, and takes no CPU time ({allowed:.2f} s are allowed)", stack)
        if -code == signal.SIGPROF:
            return of_time(f"more than {allowed:.2f} s of CPU time", stack)
        if code < 0:
            return of_signal(-code, stack)
        return Failure(f"exit status {code}", self.harness.name, "the process ended by itself")


@contextmanager
def _quiet() -> Iterator[None]:
    """What a harness, or a library below Python, prints is not read."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nothing:
        for number in (1, 2):
            os.dup2(nothing.fileno(), number)
    try:
        yield
    finally:
        os.dup2(kept, 2)


def fork() -> int:
    """As os.fork; that libraries have threads is known, see the warm-up of a turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def end_with_parent() -> None:
    """Die when the parent dies, so that a campaign that is killed leaves nothing behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _bound_memory(harness: Harness) -> None:
    """A wall far beyond what an input may take, so that none takes the memory of the machine."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        wall = pages * resource.getpagesize() + max(8 * harness.megabytes, 2_000) * _MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (wall, wall))
