"""Where logs are read: ``local:N`` for N processes of this machine, ``dask://HOST:PORT`` for a Dask cluster."""

from __future__ import annotations

import os
import re

from mlsub.io.errors import MlsubError
from mlsub.workspace.executors.base import Executor

#: More processes than any machine has cores.
MAX_PROCESSES = 4096


def executor_of(words: str | None, jobs: int | None) -> Executor:
    """The executor that is named.

    Args:
        words: ``local:N`` or ``dask://HOST:PORT``; None for processes of this machine.
        jobs: how many of these; None for one a core.

    Raises:
        MlsubError: there is no such executor, both arguments contradict each other, or it cannot be used here.
    """
    if words is not None and words.startswith(("dask://", "dask+tls://")):
        if jobs is not None:
            raise MlsubError(f"--jobs {jobs} contradicts --executor {words[:80]}. Leave one out.")
        from mlsub.workspace.executors.dask import dask_executor

        return dask_executor(words)
    if words is not None:
        count = processes_of(words)
        if jobs is not None and jobs != count:
            raise MlsubError(f"--jobs {jobs} contradicts --executor {words}. Leave one out.")
        jobs = count
    from mlsub.workspace.executors.local import LocalExecutor

    return LocalExecutor(jobs if jobs is not None else _cores())


def _cores() -> int:
    """Those that this process may use: fewer than there are in many a job of a cluster."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes_of(words: str) -> int:
    """The N of ``local:N``.

    Raises:
        MlsubError: it is something else.
    """
    match = re.fullmatch(r"local:([0-9]{1,4})", words)
    count = int(match[1]) if match else 0
    if not 1 <= count <= MAX_PROCESSES:
        raise MlsubError(f"There is no executor {words[:80]}. Use local:N, such as local:4, or dask://HOST:PORT.")
    return count
