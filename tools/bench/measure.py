"""What a command costs, as a whole process with all that it starts: times of commands in turn, and their memory.

Absolute times say little on a shared machine, so commands that are compared run one after the other, and what counts is
the median of the ratios. Memory is sampled in a run of its own, whose times do not count.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

#: How long to wait between two looks at the memory of a group of processes, in seconds.
LOOK_S = 0.02
CORES = os.cpu_count() or 1


class Command(NamedTuple):
    """Words to run in a folder, and what has to go before: files or folders that it is to make anew."""

    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    remove: tuple[Path, ...] = ()

    def clear(self) -> None:
        """Put aside what it is to make anew.

        Nothing is deleted before the end: where many files have just been deleted, some file systems take longer to
        make new ones, which is no cost of the command.
        """
        for path in self.remove:
            if path.exists():
                path.rename(Path(tempfile.mkdtemp(prefix="aside-", dir=self.folder)) / path.name)

    def start(self, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """The process, the first of a group of its own."""
        return subprocess.Popen(
            self.words, cwd=self.folder, env=self.environment, stdout=output, stderr=subprocess.DEVNULL, process_group=0
        )


class Cost(NamedTuple):
    """Seconds of a run: ``cpu`` is user and system time of all its processes."""

    wall: float
    cpu: float
    status: int

    @property
    def busy(self) -> float:
        """The share of this machine's cores that it kept busy."""
        return self.cpu / self.wall / CORES


class Memory(NamedTuple):
    """Bytes: of the largest process at its peak, and of all together, each shared page once (PSS, sampled)."""

    largest: int
    together: int


def cost(command: Command) -> Cost:
    """Run a command."""
    command.clear()
    start = time.perf_counter()
    with _running(command) as process:
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(wall, used.ru_utime + used.ru_stime, process.returncode)


def look_at_group(leader: int) -> list[Memory]:
    """The peak of each process of a group, and what it has now; 0 where it has just ended."""
    return [Memory(_peak(pid), _proportional(pid)) for pid in _group(leader)]


def memory(command: Command, look: Callable[[int], list[Memory]] = look_at_group) -> Memory:
    """Run a command, and look at the memory of its processes every :data:`LOOK_S`."""
    command.clear()
    largest = together = 0
    with _running(command) as process:
        while True:
            done, status, _ = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            seen = look(process.pid)
            together = max(together, sum(one.together for one in seen))
            # Not what wait4 says: that counts what the process was before it became this command.
            largest = max([largest, *(one.largest for one in seen)])
            time.sleep(LOOK_S)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Memory(largest, max(together, largest))


@contextmanager
def _running(command: Command) -> Iterator[subprocess.Popen[bytes]]:
    """The process of a command; where an exception such as Ctrl-C leaves this, its group ends."""
    process = command.start()
    try:
        yield process
    except BaseException:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        raise


def _group(leader: int) -> list[int]:
    """The processes of a group."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                content = Path(entry.path, "stat").read_text()
            except OSError:
                continue
            if content.rpartition(")")[2].split()[2] == str(leader):
                found.append(int(entry.name))
    return found


def _proportional(pid: int) -> int:
    """The proportional set size of a process, in bytes; 0 when it has ended."""
    return _bytes(f"/proc/{pid}/smaps_rollup", "Pss:")


def _peak(pid: int) -> int:
    """The largest resident set that a process has had, in bytes; 0 when it has ended."""
    return _bytes(f"/proc/{pid}/status", "VmHWM:")


def _bytes(file: str, name: str) -> int:
    try:
        content = Path(file).read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in content.splitlines() if line.startswith(name)), 0)


def in_turn(commands: Sequence[Command], pairs: int) -> list[list[Cost]]:
    """The costs of each command, run in turn so many times, after one run of each that does not count."""
    costs: list[list[Cost]] = [[] for _ in commands]
    for number in range(pairs + 1):
        for place, command in enumerate(commands):
            one = cost(command)
            if number:
                costs[place].append(one)
    return costs
