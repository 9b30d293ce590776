"""Where logs are read: in this process, in others of this machine, or on a Dask cluster; see ``concurrent.futures``."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from mlsub.io import VERSION, MlsubError, needs_extra, reason_of

if TYPE_CHECKING:
    from mlsub.workspace.places import Context

#: Below so many bytes of logs, starting processes, each of which loads the rules, costs more than it saves.
PAYS_FROM = 16 << 20
_DASK = re.compile(r"dask(\+tls)?://([\w.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):([0-9]{1,5})", re.ASCII)
#: How long to wait for a scheduler, and for a first worker, in seconds.
SCHEDULER_S, WORKER_S = 5.0, 60.0
#: Tasks that are begun at a time, for each process: what is done and not yet asked for is memory.
BEGUN_PER_PROCESS = 4
T = TypeVar("T")


class LazyFuture(Future[T]):
    """A future whose work is done in this process when its result is first asked for."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__()
        self._work = work

    def result(self, timeout: float | None = None) -> T:
        """The result of the work, or what it raised."""
        if not self.done():
            try:
                self.set_result(self._work())
            except Exception as error:
                self.set_exception(error)
        return super().result(timeout)


class InlineExecutor(Executor):
    """This process, which works on a task when somebody asks for its result."""

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the future of a task that is not begun."""
        return LazyFuture(partial(work, *args, **kwargs))


class Pool(NamedTuple):
    """An executor, and how many tasks it runs at a time: none beside this process where ``processes`` is 0."""

    executor: Executor
    processes: int

    @property
    def most_begun(self) -> int:
        """How many tasks are begun at a time."""
        return BEGUN_PER_PROCESS * self.processes or 1


@contextmanager
def open_pool(context: Context, size: int) -> Iterator[Pool]:
    """The executor of a context, which ends with this.

    Args:
        context: names a cluster, or says how many processes of this machine read.
        size: bytes of the logs to be read: without either, this process reads where others do not pay.

    Raises:
        MlsubError: there is no such executor, both are named, it cannot be used, or its workers died.
    """
    jobs, cluster = context.jobs, context.executor
    if cluster is not None and jobs is not None:
        raise MlsubError(f"--jobs {jobs} contradicts --executor {cluster[:80]}. Leave one out.")
    if cluster is None and (processes := local_processes(jobs, size)) == 1:
        yield Pool(InlineExecutor(), 0)
        return
    opened: AbstractContextManager[Pool] = _dask(cluster) if cluster is not None else _local(processes)
    with opened as pool:
        yield pool


def in_order(futures: Iterable[Future[T]], most_begun: int) -> Iterator[Future[T]]:
    """Futures in their order, each as soon as it and up to so many behind it are begun.

    Args:
        futures: to take one is to begin its task.
        most_begun: how many tasks are begun at a time.
    """
    waiting = deque[Future[T]]()
    for future in futures:
        waiting.append(future)
        if len(waiting) >= most_begun:
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()


def run_here(work: Callable[[Any], T], tasks: Iterable[Any], context: Context, size: int) -> Iterator[T]:
    """The results of a function in processes of this machine, in the order of the tasks.

    Args:
        work: a function of a module.
        tasks: what to call it with.
        context: in how many processes.
        size: bytes of logs that take as long to read as the work takes.
    """
    with open_pool(replace(context, executor=None), size) as pool:
        for future in in_order((pool.executor.submit(work, task) for task in tasks), pool.most_begun):
            yield future.result()


def local_processes(jobs: int | None, size: int) -> int:
    """How many processes of this machine read; arguments as of :func:`open_pool`."""
    if jobs is None and size < PAYS_FROM:
        return 1
    if sys.platform == "emscripten":  # A browser, in which Python starts no process.
        if (jobs or 1) > 1:
            raise MlsubError(f"--jobs {jobs}: no process can be started here. Leave it out.")
        return 1
    # Those that this process may use: fewer than there are in many a job of a cluster.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return jobs or cores


@contextmanager
def _local(processes: int) -> Iterator[Pool]:
    """Processes of this machine; an exception such as Ctrl-C ends them at once."""
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    # Forking is cheap, and safe as long as nothing else runs in this process.
    method = "fork" if threading.active_count() == 1 and hasattr(os, "fork") else "spawn"
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context(method), _begin_worker)
    try:
        yield Pool(pool, processes)
    except BrokenProcessPool as error:
        raise MlsubError(
            "A process that read logs was killed, so nothing more was checked. If memory ran out, use fewer: --jobs 1."
        ) from error
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown()


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that a worker works for, and end with it, even where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _dask(words: str) -> Iterator[Pool]:
    """The workers of a Dask cluster, which see the same files under the same paths."""
    match = _DASK.fullmatch(words)
    if match is None or not 0 < int(match[3]) < 1 << 16:
        raise MlsubError(f"There is no executor {words[:80]}. Use dask://HOST:PORT, such as dask://10.0.0.1:8786.")
    try:
        from distributed import Client
    except ImportError as error:
        raise MlsubError(needs_extra("The executor dask:// needs the package distributed.", "dask")) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    address = f"{'tls' if match[1] else 'tcp'}://{match[2]}:{match[3]}"
    try:
        client = Client(address, timeout=SCHEDULER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise MlsubError(f"No Dask scheduler answers at {address}: {reason_of(error)}.") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_S)
            _refuse_others(client.run(worker_version, on_error="return"))
            yield Pool(client.get_executor(), sum(client.nthreads().values()))
        except TimeoutError as error:
            raise MlsubError(f"No worker joined the scheduler at {address} within {WORKER_S:g} s.") from error
        except (CancelledError, OSError) as error:
            raise MlsubError(f"The connection to the Dask cluster at {address} was lost.") from error
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            raise MlsubError("Workers of the Dask cluster died over a package, perhaps for lack of memory.") from error


def worker_version() -> str:
    """What has to be the same for answers to be the same."""
    import platform

    python = ".".join(platform.python_version_tuple()[:2])
    return f"mlsub {VERSION}, Python {python}, msgspec {msgspec.__version__}"


def _refuse_others(versions: dict[str, object]) -> None:
    """Go on only with workers of this version.

    Raises:
        MlsubError: a worker has another one, or no mlsub.
    """
    own = worker_version()
    for address, found in versions.items():
        if found != own:
            has = found if isinstance(found, str) else f"no known version ({type(found).__name__})"
            raise MlsubError(f"Worker {address} has {has}; all need {own}. Nothing was checked.")
