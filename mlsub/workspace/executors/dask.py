"""A Dask cluster that exists, whose workers see the same files."""

from __future__ import annotations

import gc
import importlib.util
import logging
import re
import socket
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, cast

import msgspec

from mlsub.io.errors import MlsubError, needs_extra, reason_of
from mlsub.workspace.executors import executor_of
from mlsub.workspace.executors.base import Found, Task
from mlsub.workspace.executors.batches import Work
from mlsub.workspace.executors.cluster import Cluster, note, within
from mlsub.workspace.memory.memory import collector_paused

if TYPE_CHECKING:
    from types import ModuleType

    from distributed import Client, Future

_ADDRESS = re.compile(r"dask(\+tls)?://([\w.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):([0-9]{1,5})", re.ASCII)
#: How often to look after the workers, in seconds.
_EVERY = 1.0
#: How long to wait until a client has taken its leave, in seconds.
_CLOSE_S = 2.0
#: How often a batch is sent; Dask itself sends it again when a worker dies over it.
_TRIES = 3
#: Below this many bytes, starting processes costs more than it saves where they cannot be forked.
_PROCESSES_PAY = 64 << 20
_SILENT = ("distributed", "tornado", "asyncio")


class Patience(msgspec.Struct, frozen=True):
    """How long to wait, in seconds: for the scheduler, for a first worker, for one to come back after the last went."""

    scheduler: float = 5.0
    worker: float = 60.0
    gone: float = 10.0


def dask_executor(words: str) -> DaskExecutor:
    """The executor ``dask://HOST:PORT``, or ``dask+tls://HOST:PORT`` with the certificates of Dask's configuration.

    Raises:
        MlsubError: the words name none, or the extra ``dask`` is not installed.
    """
    match = _ADDRESS.fullmatch(words)
    if match is None or not 0 < int(match[3]) < 1 << 16:
        raise MlsubError(f"There is no executor {words[:80]}. Use dask://HOST:PORT, such as dask://10.0.0.1:8786.")
    if importlib.util.find_spec("distributed") is None:
        raise MlsubError(needs_extra("The executor dask:// needs the package distributed.", "dask"))
    return DaskExecutor(f"{'tls' if match[1] else 'tcp'}://{match[2]}:{match[3]}")


class DaskExecutor:
    """The workers of a cluster.

    A worker whose answers could differ is refused: at the start with an error that names it, and one that joins later
    gets no work. What the cluster does not read in the end, because its workers died or see another file, is read on
    this machine.

    Args:
        address: of the scheduler, as Dask writes it.
        patience: how long to wait.
    """

    far = True
    #: The number of workers is not known before, and changes: packages are cut as for a few.
    processes = 4

    def __init__(self, address: str, patience: Patience | None = None) -> None:
        self.address = address
        self.patience = patience if patience is not None else Patience()

    def run(self, work: Callable[[Task], Found], tasks: Sequence[Task]) -> Iterator[tuple[int, Found]]:
        """See :class:`mlsub.workspace.executors.base.Executor`.

        Raises:
            MlsubError: no scheduler answers, no worker joins it, or a worker cannot be used.
        """
        if not tasks:
            return
        left = dict.fromkeys(range(len(tasks)))
        problems: dict[str, None] = {}
        batches = Work(work, tasks)
        for index, found in self._there(batches, problems):
            del left[index]
            yield index, found
        here = list(left)
        if here and problems:
            count, total = batches.logs(here), batches.logs(range(len(tasks)))
            note(f"{count} of {total} logs are read on this machine: {'; '.join(problems)}.")
        local = executor_of(None, None if batches.size(here) > _PROCESSES_PAY else 1)
        for at, found in local.run(work, [tasks[index] for index in here]):
            yield here[at], found

    def _there(self, work: Work, problems: dict[str, None]) -> Iterator[tuple[int, Any]]:
        """The results of the cluster; why it leaves the others goes to ``problems``."""
        with _connected(self.address, self.patience) as client:
            cluster = Cluster(client, work)
            try:
                cluster.admit(self.patience.worker)
            except OSError as error:
                raise MlsubError(f"The Dask cluster at {self.address} cannot be used: {reason_of(error)}.") from error
            try:
                yield from _results(cluster, work, self.patience, problems)
            except Exception as error:  # Whatever becomes of the cluster, the logs can be read here.
                problems[f"the cluster failed ({type(error).__name__}: {str(error)[:100]})"] = None


def _results(cluster: Cluster, work: Work, patience: Patience, problems: dict[str, None]) -> Iterator[tuple[int, Any]]:
    """The results of batches as they complete, until the cluster is gone."""
    threads = cluster.threads()
    waiting = deque(work.cut(threads))
    begun: dict[Future, tuple[int, ...]] = {}
    tries: Counter[tuple[int, ...]] = Counter()
    done: SimpleQueue[Future] = SimpleQueue()
    asked = alive = time.monotonic()
    while waiting or begun:
        # No more at a time than keeps all busy: what is done and not yet asked for is memory.
        while waiting and len(begun) < 3 * threads:
            indexes = waiting.popleft()
            future = cluster.submit(work.packed(indexes))
            begun[future] = indexes
            future.add_done_callback(done.put)
        if (future := _next(done)) is not None:
            indexes = begun.pop(future)
            answer = cluster.answer(future)
            # A result is kept by its worker as long as it is known here.
            del future
            yield from ((index, one[0]) for index, one in zip(indexes, answer.results, strict=False) if one)
            tries[indexes] += 1
            if answer.again:
                threads = cluster.threads()
            if answer.again and tries[indexes] < _TRIES:
                waiting.appendleft(indexes)
            elif answer.problem:
                problems[answer.problem] = None
        now = time.monotonic()
        if now - asked >= _EVERY:
            asked, threads = now, cluster.threads()
            alive = now if threads else alive
        if not cluster.connected:
            problems["the connection to the scheduler was lost"] = None
            return
        if now - alive > patience.gone:
            problems["no worker of the cluster is left"] = None
            return


def _next(done: SimpleQueue[Future]) -> Future | None:
    try:
        return done.get(timeout=_EVERY)
    except Empty:
        return None


@contextmanager
def _connected(address: str, patience: Patience) -> Iterator[Client]:
    """A client of the scheduler, without a word of Dask's on standard error.

    Raises:
        MlsubError: no scheduler answers.
    """
    with warnings.catch_warnings():
        # Versions that matter are compared by mlsub; what Dask warns of besides works.
        warnings.simplefilter("ignore")
        with _light():
            from distributed import Client

        class Mortal(Client):
            """Closed by us, or not at all: the end of the process would wait for one that never was connected."""

            def __del__(self) -> None: ...

        def connect() -> Client:
            # Dask would try again and again where nobody listens.
            host, _, port = address.partition("://")[2].rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), patience.scheduler).close()
            return Mortal(address, timeout=patience.scheduler, set_as_default=False, name="mlsub")

        loggers = _silenced()
        client = within(patience.scheduler, connect)
    try:
        if isinstance(client, str):
            raise MlsubError(f"No Dask scheduler answers at {address}: {client}.")
        yield client
    finally:
        if not isinstance(client, str):
            with suppress(Exception):
                client.close(timeout=_CLOSE_S)
        for logger, handlers, propagate in loggers:
            logger.handlers, logger.propagate = handlers, propagate


@contextmanager
def _light() -> Iterator[None]:
    """Import without numpy, which Dask does without as well, and without the collector: both take half of the time."""
    had = "numpy" in sys.modules
    if not had:
        # What import takes for absent.
        sys.modules["numpy"] = cast("ModuleType", None)
    try:
        with collector_paused():
            yield
            # What was imported stays: nobody needs to look through it for cycles, least of all when the process ends.
            gc.freeze()
    finally:
        if not had:
            del sys.modules["numpy"]


def _silenced() -> list[tuple[logging.Logger, list[logging.Handler], bool]]:
    """Keep what Dask and the packages below it log from standard error; gives what was there."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _SILENT]
    loggers = [logging.getLogger(name) for name in dict.fromkeys((*_SILENT, *names))]
    before = [(logger, logger.handlers, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    return before
