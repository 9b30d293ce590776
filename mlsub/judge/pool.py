"""Judge many logs, on both cores where that pays."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.rules.catalogue import finding

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

#: Below this many bytes starting processes costs more than it saves.
POOL_FROM_BYTES = 48 << 20

Progress = Callable[[int, int], None]
Found = TypeVar("Found")


def judge_logs(tasks: Sequence[LogTask], jobs: int | None = None, progress: Progress | None = None) -> list[LogReport]:
    """The reports of the tasks, in their order.

    Args:
        tasks: the logs.
        jobs: how many processes; None for as many as pay.
        progress: called with the number of logs done and the number of all.
    """
    return map_logs(_safe_judge, tasks, jobs, progress)


def map_logs(
    work: Callable[[LogTask], Found],
    tasks: Sequence[LogTask],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Found]:
    """What a pure function finds out about each log, in the order of the tasks; arguments as in :func:`judge_logs`.

    ``work`` is a function of a module, never raises, and its results can be sent between processes.
    """
    workers = _workers(tasks) if jobs is None else max(1, min(jobs, len(tasks)))
    found: list[Found] = []
    for one in _in_processes(work, tasks, workers) if workers > 1 else map(work, tasks):
        found.append(one)
        if progress is not None:
            progress(len(found), len(tasks))
    return found


def _in_processes(work: Callable[[LogTask], Found], tasks: Sequence[LogTask], workers: int) -> Iterator[Found]:
    from concurrent.futures.process import BrokenProcessPool

    size = max(1, min(16, len(tasks) // (4 * workers)))
    chunks = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    done = 0
    try:
        with _processes(workers) as pool:
            with _interrupts_held():
                # Not pool.map: it cancels what is left, over which the pool stumbles aloud when workers are ended.
                answers = [pool.submit(_each, work, chunk) for chunk in chunks]
            for answer in answers:
                for one in answer.result():
                    done += 1
                    yield one
    except BrokenProcessPool:
        # A worker died (the machine ran out of memory, say): the rest goes one by one.
        yield from map(work, tasks[done:])


def _each(work: Callable[[LogTask], Found], tasks: Sequence[LogTask]) -> list[Found]:
    return [work(task) for task in tasks]


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
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context(method), _end_silently)
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


def _end_silently() -> None:
    """Let Ctrl-C end a worker as the system does: the traceback of Python would be one for each worker."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))


def _workers(tasks: Sequence[LogTask]) -> int:
    size = 0
    for task in tasks:
        try:
            size += Path(task.file).stat().st_size
        except OSError:
            continue
    return min(os.cpu_count() or 1, len(tasks)) if size >= POOL_FROM_BYTES else 1


def _safe_judge(task: LogTask) -> LogReport:
    """Judge a log; a defect of ours becomes a finding, never a traceback and never a pass."""
    try:
        return judge_log(task)
    except Exception as error:
        return crashed(task, f"{type(error).__name__}: {error}"[:200])


def crashed(task: LogTask, problem: str) -> LogReport:
    """The report on a log that a rule of ours failed on: never compliant."""
    message = "A rule failed to run, so the log cannot be accepted"
    return LogReport(
        path=task.path,
        compliant=False,
        undecodable=True,
        benchmark=None,
        division=None,
        status=None,
        minutes=None,
        run=RunFold().finish(),
        findings=(finding("rule.crashed", task.path, message, actual=problem),),
    )
