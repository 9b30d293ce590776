"""Harnesses with planted defects, for the tests of the engine."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable, Iterable

from tests.campaigns.fuzz.campaign import Budget, Campaign, own_turn
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.state import State
from tests.effort import HUNG

SEEDS = (b"alpha = 1\n", b"beta = [2, 3]\n")


def harness(run: Callable[[bytes], None], name: str = "planted", seconds: float = 0.05) -> Harness:
    """A harness whose mutations put in ``needle`` now and then."""
    return Harness(name, f"a {name} surface", run, lambda: SEEDS, (b"needle",), seconds=seconds, megabytes=30)


def campaign(
    state: State, chosen: Iterable[Harness], inputs: int | None = None, seconds: float | None = None, jobs: int = 1
) -> Campaign:
    """A campaign that is over."""
    found = Campaign(tuple(chosen), state, Budget(seconds, inputs), jobs, own_turn)
    found.run()
    return found


def planted(data: bytes) -> bool:
    """Whether an input hits the defect."""
    return data.count(b"needle") > 1


def fine(data: bytes) -> None:
    """No defect."""
    data.split()


def raising(data: bytes) -> None:
    """An exception."""
    if planted(data):
        raise BrokenError("found it")


def hanging(data: bytes) -> None:
    """CPU time without end."""
    while planted(data):
        pass


def waiting(data: bytes) -> None:
    """Time without end, but no CPU time."""
    if b"needle" in data:
        time.sleep(HUNG)


def hungry(data: bytes) -> None:
    """Memory beyond what is allowed, which is given back; from the system, as the heap may have as much to spare."""
    if planted(data):
        with mmap.mmap(-1, 60_000_000) as memory:
            for place in range(0, len(memory), mmap.PAGESIZE):
                memory[place] = 1


def greedy(data: bytes) -> None:
    """Memory beyond what a process may have at all."""
    if planted(data):
        len(b"x" * 20_000_000_000)


def aborting(data: bytes) -> None:
    """The end of the process by a signal."""
    if planted(data):
        os.abort()


def leaving(data: bytes) -> None:
    """The end of the process by itself."""
    if planted(data):
        os._exit(3)


def exiting(data: bytes) -> None:
    """An exception that ends programs."""
    if planted(data):
        raise SystemExit(0)


def recursive(data: bytes) -> None:
    """A deep stack."""
    if planted(data):
        recursive(data)
