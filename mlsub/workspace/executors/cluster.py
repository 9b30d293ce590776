"""The workers of a Dask cluster: which of them may answer, and what they answer."""

from __future__ import annotations

import pickle
import pydoc
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import msgspec

from mlsub.io.errors import MlsubError, reason_of
from mlsub.io.show import message_line
from mlsub.io.version import VERSION
from mlsub.workspace.executors import on_worker
from mlsub.workspace.executors.batches import Work

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
#: Workers that an error names.
_MOST_NAMED = 10
#: How long fetching the results of a batch that is done may take, in seconds.
FETCH_S = 10.0
#: How long a scheduler may take to say which workers it has, in seconds.
_ASK_S = 5.0
#: How long workers may take to say how they differ, in seconds: they may look at files on a slow disk.
_ANSWER_S = 60.0
_NEEDED = (
    "All workers need the mlsub, Python and msgspec of this machine, and the same files under the same paths. Nothing "
    "was checked."
)


class Answer(msgspec.Struct, frozen=True):
    """What came of a batch.

    Attributes:
        results: of each task in a tuple, which is empty where the worker left the task.
        problem: why there is none, or not one for each task.
        again: whether another worker may do better.
    """

    results: tuple[tuple[Any, ...], ...] = ()
    problem: str | None = None
    again: bool = False


class _Call:
    """What it calls is what comes out when it is unpickled."""

    def __init__(self, *reduced: Any) -> None:
        self._reduced = reduced

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduced


class Cluster:
    """The workers of one client.

    Args:
        client: connected to the scheduler.
        work: what they are to do.
    """

    def __init__(self, client: Client, work: Work) -> None:
        self._client = client
        self._work = work
        self._identity = on_worker.identity()
        self._probes = work.probes()
        #: Workers that may get work; None for all, as long as none that joined later differs.
        self._usable: list[str] | None = None
        self._asked: set[str] = set()
        self._demand: Future | None = None

    def admit(self, wait_s: float) -> None:
        """Wait for a worker, and look whether all of them may answer.

        Raises:
            MlsubError: there is none in time, or one may not.
        """
        self._wait(wait_s)
        strange = {address: found for address, found in self._differences().items() if found}
        if strange:
            lines = [f"Worker {address} {', '.join(found)}." for address, found in strange.items()]
            more = [f"So it is with {len(lines) - _MOST_NAMED} more."] if len(lines) > _MOST_NAMED else []
            raise MlsubError(*lines[:_MOST_NAMED], *more, _NEEDED)

    def _wait(self, wait_s: float) -> None:
        if self.threads():
            return
        # A cluster that grows with its work starts a worker for this, and keeps it while the result is wanted.
        self._demand = self._client.submit(time.sleep, 0, pure=False)
        try:
            self._client.wait_for_workers(1, timeout=wait_s)
        except TimeoutError as error:
            where = self._client.scheduler.address
            raise MlsubError(f"No worker joined the scheduler at {where} within {wait_s:g} s.") from error

    @property
    def connected(self) -> bool:
        """Whether the scheduler is there."""
        return str(self._client.status) == "running"

    def threads(self) -> int:
        """The threads of all workers that may get work."""
        try:
            threads = within(_ASK_S, self._client.nthreads) if self.connected else {}
            if isinstance(threads, str):
                return 0
            if self._usable is not None and not self._asked >= set(threads):
                self._leave_out()
        except OSError:
            return 0
        return sum(count for address, count in threads.items() if self._usable is None or address in self._usable)

    def submit(self, packed: bytes) -> Future:
        """Begin a batch."""
        # Only the worker loads what is called: a scheduler needs no mlsub, and a worker without it survives.
        call = pickle.dumps(_Call(on_worker.run_batch, (self._identity, packed)), pickle.HIGHEST_PROTOCOL)
        return self._client.submit(pickle.loads, call, key=f"mlsub-{uuid4().hex}", workers=self._usable, pure=False)

    def answer(self, future: Future) -> Answer:
        """What came of a batch that has ended."""
        if future.status not in ("finished", "error"):
            return Answer(problem="results were lost", again=True)
        try:
            address, found, packed = future.result(timeout=FETCH_S)
        except OSError:
            # Its worker has gone with them and no other one has come in time, or the scheduler has gone.
            return Answer(problem="results were lost", again=True)
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                return Answer(problem="workers died over them")
            if "Cancelled" in type(error).__name__:
                return Answer(problem="the connection to the scheduler was lost")
            self._leave_out()
            return Answer(problem=f"a worker failed ({_in_words(error)})", again=True)
        if found:
            self._leave_out()
            return Answer(problem="workers differ from this machine", again=True)
        results = tuple(pickle.loads(packed))  # noqa: S301  (from a worker, whom the caller trusts)
        if all(results):
            return Answer(results)
        self._leave_out()
        return Answer(results, f"worker {address} cannot read them as this machine can")

    def _leave_out(self) -> None:
        """Ask all workers again, and give work only to those that do not differ, if one does.

        Raises:
            OSError: the scheduler is gone.
        """
        found = self._differences()
        self._asked = set(found)
        for address in [address for address in found if found[address]]:
            if self._usable is None or address in self._usable:
                note(f"Worker {address} {', '.join(found[address])}, and gets no work.")
        if any(found.values()) or self._usable is not None:
            self._usable = [address for address in found if not found[address]]

    def _differences(self) -> dict[str, list[str]]:
        """How each worker differs from this machine; those that have gone meanwhile are left out.

        Raises:
            OSError: they do not answer.
        """
        client, about = self._client, (self._identity, self._probes)
        answers = within(_ANSWER_S, lambda: client.run(on_worker.differences, *about, on_error="return"))
        if isinstance(answers, str):
            raise OSError(f"the workers do not answer ({answers})")
        failed = [address for address, answer in answers.items() if isinstance(answer, Exception)]
        versions = client.run(pydoc.locate, "mlsub.__version__", workers=failed, on_error="return") if failed else {}
        return {
            address: [_lacking(answer, versions.get(address))] if isinstance(answer, Exception) else answer
            for address, answer in answers.items()
            if not isinstance(answer, OSError)
        }


def within(limit_s: float, call: Callable[[], T]) -> T | str:
    """What a call answers, or why it does not in time: what answers at an address need not be a scheduler."""
    answers: SimpleQueue[T | str] = SimpleQueue()

    def calling() -> None:
        try:
            answers.put(call())
        except OSError as error:
            answers.put(reason_of(error))
        except Exception as error:
            answers.put(f"this version of Dask cannot talk to what listens there ({type(error).__name__})")

    threading.Thread(target=calling, daemon=True).start()
    try:
        return answers.get(timeout=limit_s)
    except Empty:
        return f"no answer within {limit_s:g} s"


def note(text: str) -> None:
    """A line on standard error, as far as that can be written."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(message_line(f"mlsub: {text}") + "\n")
        sys.stderr.flush()


def _lacking(error: Exception, version: Any) -> str:
    """What a process lacks that could not even be asked."""
    if isinstance(version, str) and version != VERSION:
        return f"has mlsub {version} instead of {VERSION}"
    return "has no mlsub" if "No module named 'mlsub'" in str(error) else f"cannot be asked ({_in_words(error)})"


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:100]}"
