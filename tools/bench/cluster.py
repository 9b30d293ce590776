"""A Dask cluster on this machine, started as its users start one: a scheduler, and worker processes of one thread."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

_HERE = ("--host", "127.0.0.1", "--no-dashboard")
_READY = (
    "import sys; from distributed import Client; Client(scheduler_file=sys.argv[1]).wait_for_workers({}, timeout=120)"
)
#: Seconds that a server has to end by itself.
_PATIENCE = 10


@contextmanager
def cluster(folder: Path, environment: Mapping[str, str], workers: int = 2) -> Iterator[str]:
    """The address that ``--executor`` takes; the cluster ends with this, and keeps its files in the folder.

    Its processes are of the ``python`` that is first on the PATH of the environment.
    """
    file = str(folder / "scheduler.json")
    servers: list[subprocess.Popen[bytes]] = []
    with (folder / "cluster.log").open("wb") as log:

        def start(kind: str, *words: str) -> None:
            command = ("python", "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", file, *_HERE, *words)
            servers.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log))

        try:
            start("scheduler", "--port", "0")
            start("worker", "--nworkers", str(workers), "--nthreads", "1", "--local-directory", str(folder))
            ready = ["python", "-c", _READY.format(workers), file]
            subprocess.run(ready, cwd=folder, env=environment, check=True, stdout=log, stderr=log)
            yield json.loads(Path(file).read_bytes())["address"].replace("tcp:", "dask:")
        finally:
            for server in reversed(servers):
                server.terminate()
                with suppress(subprocess.TimeoutExpired):
                    server.wait(_PATIENCE)
                server.kill()
                server.wait()
