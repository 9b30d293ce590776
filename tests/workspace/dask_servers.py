"""A scheduler and workers of Dask as processes of their own, forked from one that has loaded the program.

Run as a program it starts a server for each line ``KIND [SCHEDULER]``, and ends all of them when its input ends. Kinds:
``scheduler``; ``worker``; ``old``, a worker with another version of mlsub; ``bare``, one without mlsub.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

_ROOT = Path(__file__).parents[2]
#: Why tests of clusters are skipped.
NO_DASK = "Dask is not installed: the extra dask, make test-all"


class Server(NamedTuple):
    """A process that runs, and the address it listens at."""

    pid: int
    address: str

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)


class Servers:
    """Starts servers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @contextmanager
    def cluster(self, *kinds: str) -> Iterator[tuple[Server, ...]]:
        """A scheduler, and workers of these kinds; they end with this."""
        scheduler = self.start("scheduler")
        started = [scheduler]
        try:
            started += [self.start(kind, scheduler) for kind in kinds]
            yield tuple(started)
        finally:
            for server in started:
                server.kill()

    def start(self, kind: str, scheduler: Server | None = None) -> Server:
        """Start one; it is there when this returns."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(kind, scheduler.address if scheduler else "", file=self._process.stdin, flush=True)
        pid, address = self._process.stdout.readline().split()
        return Server(int(pid), address)


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """What starts servers, all of which end with this."""
    log = (folder / "servers.log").open("w")
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    command = [sys.executable, "-m", "tests.workspace.dask_servers"]
    pipe = subprocess.PIPE
    with (
        log,
        subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=log, text=True, cwd=_ROOT, env=environment
        ) as process,
    ):
        yield Servers(process)


def _serve(kind: str, scheduler: str) -> None:
    import asyncio
    import tempfile

    from distributed import Scheduler, Worker

    from mlsub.workspace import executors

    if kind == "old":
        patch.object(executors, "VERSION", "0.1.0").start()
    if kind == "bare":
        for name in [name for name in sys.modules if name.split(".")[0] in ("mlsub", "tests")]:
            del sys.modules[name]
        sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != _ROOT]
        sys.meta_path.insert(0, _Missing())

    async def serve() -> None:
        with tempfile.TemporaryDirectory() as scratch:
            there = {"host": "127.0.0.1", "port": 0, "dashboard": False}
            server = (
                Scheduler(**there)
                if kind == "scheduler"
                else Worker(scheduler, nthreads=1, memory_limit=0, local_directory=scratch, **there)
            )
            async with server:
                print(os.getpid(), server.address, flush=True)
                await server.finished()

    asyncio.run(serve())


class _Missing:
    """Finds no mlsub, wherever it is installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        if name.split(".")[0] == "mlsub":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _main() -> None:
    import distributed  # noqa: F401  (once for all)

    import mlsub.workspace.reading  # noqa: F401
    from mlsub.rules.load import rules_for

    rules_for("training", "1.0", "closed", "unet3d")
    started = []
    for line in sys.stdin:
        kind, _, scheduler = line.strip().partition(" ")
        pid = os.fork()
        if pid == 0:
            os.close(0)
            _serve(kind, scheduler)
            os._exit(0)
        started.append(pid)
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    _main()
