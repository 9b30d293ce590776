"""What a worker of a cluster does: it says how it differs from the caller, and runs batches of tasks.

Each batch carries the caller's :func:`identity` and how the caller sees the files, so that neither a worker that joined
later nor one that sees other files can answer in place of the caller. Nothing here depends on a cluster's software.
"""

from __future__ import annotations

import gc
import hashlib
import pickle
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from mlsub.io.version import VERSION
from mlsub.io.write import replace_whole
from mlsub.judge.log import LogTask
from mlsub.log.report import LogReport
from mlsub.workspace.executors.base import Tree
from mlsub.workspace.executors.looks import Look, look, look_at
from mlsub.workspace.memory.code import content_digest
from mlsub.workspace.memory.logs import lasts

#: Objects made before the collector looks for cycles, as in a process of one's own: Dask alone holds many that stay.
_MANY_OBJECTS = 20_000


class Batch(msgspec.Struct, frozen=True):
    """Tasks to run in one go.

    Attributes:
        work: what to call with each.
        tasks: logs and packages.
        looks: how the caller sees their files.
        overlays: contents of the rule files that tasks name, by their path there.
    """

    work: Callable[[Any], Any]
    tasks: tuple[LogTask | Tree, ...]
    looks: tuple[Look | None, ...]
    overlays: dict[str, bytes]


def identity() -> dict[str, str]:
    """What has to be the same for answers to be the same: names and versions, and the digest of the code."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"mlsub": VERSION, "Python": python, "msgspec": msgspec.__version__, "code": content_digest()}


@cache
def loaded() -> dict[str, str]:
    """The identity of what this process has loaded, which an installation afterwards does not change."""
    return identity()


def differences(expected: dict[str, str], files: Sequence[tuple[str, int, int, str]]) -> list[str]:
    """How this process and what it sees differ from the caller, in words that follow the name of the worker.

    Arguments and result are plain, so that every version can read them.

    Args:
        expected: the identity of the caller.
        files: files that the caller sees, with the attributes of :class:`Look`.
    """
    found = _strangeness(expected, loaded())
    if not found and loaded() != identity():
        found = ["is older than the installation of mlsub; restart it"]
    return found or list(islice(_unlike(files), 1))


def _strangeness(expected: dict[str, str], own: dict[str, str]) -> list[str]:
    versions = [name for name in expected if name != "code"]
    others = [name for name in versions if own.get(name) != expected[name]]
    found = [f"has {name} {own.get(name)} instead of {expected[name]}" for name in others]
    if not found and own["code"] != expected["code"]:
        found = [f"has other code of mlsub {own['mlsub']}"]
    return found


def _unlike(files: Iterable[tuple[str, int, int, str]]) -> Iterator[str]:
    for file, size, changed, head in files:
        seen = look(file, head=True)
        if seen is None:
            yield f"cannot read {file}"
        elif seen != Look(size, changed, head):
            yield f"sees another {file}"


def run_batch(expected: dict[str, str], packed: bytes) -> tuple[str, list[str], bytes]:
    """Run a batch, unless this process differs from the caller.

    Arguments and result are plain or packed, so that every version can read them.

    Args:
        expected: the identity of the caller.
        packed: a pickled :class:`Batch`.

    Returns:
        The worker's address; how it differs; the pickled results in the order of the tasks, each in a tuple, or an
        empty one where the caller has to look itself: this process does not see the file as the caller does, or
        could not read or judge it.
    """
    strange = _strangeness(expected, loaded())
    if strange:
        return _address(), strange, b""
    batch: Batch = pickle.loads(packed)  # noqa: S301  (from the caller, whom a worker trusts)
    results: list[tuple[Any, ...]] = []
    before = gc.get_threshold()
    gc.set_threshold(_MANY_OBJECTS)
    try:
        for task, seen in zip(batch.tasks, batch.looks, strict=True):
            found = (batch.work(_with_overlay(task, batch.overlays)),) if look_at(task) == seen else ()
            results.append(() if _passing(found) else found)
    finally:
        gc.set_threshold(*before)
    return _address(), [], pickle.dumps(results, pickle.HIGHEST_PROTOCOL)


def _passing(found: Any) -> bool:
    """Whether a log or package could not be read or judged, which another machine may be able to."""
    if isinstance(found, (list, tuple)):
        return any(map(_passing, found))
    if isinstance(found, LogReport):
        return not lasts(found.findings)
    return found is None or bool(getattr(found, "passing", False))


def _with_overlay(task: LogTask | Tree, overlays: dict[str, bytes]) -> LogTask | Tree:
    """The task with a copy of its rule file: what was read of a rule file is remembered by its path."""
    if isinstance(task, Tree) or task.overlay is None:
        return task
    return msgspec.structs.replace(task, overlay=_copied(overlays[task.overlay]))


@cache
def _copied(content: bytes) -> str:
    path = Path(_scratch(), f"{hashlib.sha256(content).hexdigest()}.yaml")
    replace_whole(path, content)
    return str(path)


@cache
def _scratch() -> str:
    """A folder of this worker, which goes with it."""
    worker = _worker()
    return mkdtemp(prefix="mlsub-", dir=worker.local_directory if worker is not None else None)


def _address() -> str:
    worker = _worker()
    return str(worker.address) if worker is not None else ""


def _worker() -> Any:
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None
