"""What a worker of a cluster does: it says how it differs from the caller, and runs batches of tasks.

Each batch carries the caller's :func:`identity` and how the caller sees the files, so that neither a worker that joined
later nor one that sees other files can answer in place of the caller. Nothing here depends on a cluster's software.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from mlsub.io.version import VERSION
from mlsub.io.whole import replace_whole
from mlsub.judge.log import LogTask
from mlsub.log.report import LogReport
from mlsub.workspace.memory.code import content_digest
from mlsub.workspace.memory.logs import PASSING

#: Bytes of a file that are compared where its content counts.
HEAD = 64 << 10


class Look(msgspec.Struct, frozen=True):
    """A regular file as a machine sees it.

    Devices, inodes and fractions of a second are left out: they differ between machines that share a file system.

    Attributes:
        size: in bytes.
        changed: when its content changed, in whole seconds since 1970.
        head: SHA-256 of its first 64 KiB; empty where nobody asked.
    """

    size: int
    changed: int
    head: str = ""


class Batch(msgspec.Struct, frozen=True):
    """Tasks to run in one go.

    Attributes:
        work: what to call with each.
        tasks: logs.
        looks: how the caller sees their files.
        overlays: contents of the rule files that tasks name, by their path there.
    """

    work: Callable[[LogTask], Any]
    tasks: tuple[LogTask, ...]
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


def look(file: str, *, head: bool = False) -> Look | None:
    """How this machine sees a file; None where it cannot be opened, or is not a regular one."""
    try:
        # Opening asks a network file system for what is there now; a pipe must not block.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        seen = hashlib.sha256(os.read(descriptor, HEAD)).hexdigest() if head else ""
        return Look(status.st_size, int(status.st_mtime), seen)
    except OSError:
        return None
    finally:
        os.close(descriptor)


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
    for task, seen in zip(batch.tasks, batch.looks, strict=True):
        found = (batch.work(_with_overlay(task, batch.overlays)),) if look(task.file) == seen else ()
        results.append(() if _passing(found) else found)
    return _address(), [], pickle.dumps(results, pickle.HIGHEST_PROTOCOL)


def _passing(found: Any) -> bool:
    """Whether a log could not be read or judged, which another machine may be able to."""
    if isinstance(found, (list, tuple)):
        return any(map(_passing, found))
    return isinstance(found, LogReport) and any(finding.rule in PASSING for finding in found.findings)


def _with_overlay(task: LogTask, overlays: dict[str, bytes]) -> LogTask:
    """The task with a copy of its rule file: what was read of a rule file is remembered by its path."""
    if task.overlay is None:
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
