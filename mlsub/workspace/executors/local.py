"""Processes of this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mlsub.workspace.executors.base import Found, Task

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


class LocalExecutor:
    """This process, or so many others.

    Args:
        processes: how many; with one, or one task, the work is done here.
    """

    far = False

    def __init__(self, processes: int) -> None:
        self.processes = processes

    def run(self, work: Callable[[Task], Found], tasks: Sequence[Task]) -> Iterator[tuple[int, Found]]:
        """See :class:`mlsub.workspace.executors.base.Executor`."""
        processes = min(self.processes, len(tasks))
        if processes <= 1:
            for index, task in enumerate(tasks):
                yield index, work(task)
            return
        yield from _in_processes(work, tasks, processes)


def _in_processes(work: Callable[[Task], Found], tasks: Sequence[Task], processes: int) -> Iterator[tuple[int, Found]]:
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    left = dict.fromkeys(range(len(tasks)))
    waiting = iter(range(len(tasks)))
    try:
        with _processes(processes) as pool:
            begun: dict[Future[Found], int] = {}
            while True:
                with _interrupts_held():
                    # Not pool.map: it cancels what is left, over which the pool stumbles aloud when workers are ended.
                    # And no more at a time than keeps all busy: what is done and not yet asked for is memory.
                    while len(begun) < 3 * processes and (index := next(waiting, None)) is not None:
                        begun[pool.submit(work, tasks[index])] = index
                if not begun:
                    return
                for future in wait(begun, return_when=FIRST_COMPLETED).done:
                    index = begun.pop(future)
                    found = future.result()
                    del left[index], future
                    yield index, found
    except BrokenProcessPool:
        # A worker died (the machine ran out of memory, say): the rest goes one by one.
        for index in left:
            yield index, work(tasks[index])


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Workers that end with this: at once, and without a word, where an exception such as Ctrl-C leaves it."""
    # Imported here: most checks are small and start faster without.
    import multiprocessing
    import threading
    from concurrent.futures import ProcessPoolExecutor

    # Forking is cheap, and safe as long as nothing else runs in this process.
    method = "fork" if threading.active_count() == 1 and hasattr(os, "fork") else "spawn"
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context(method), _begin)
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        pool.shutdown()
        raise
    pool.shutdown()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back while processes start: each inherits that, and lets it through when it can end silently."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Let Ctrl-C end a worker as the system does, and the end of the process it works for end it as well.

    The traceback of Python would be one for each worker; and whoever waits for work of a process that was killed waits
    for ever.
    """
    import threading

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
