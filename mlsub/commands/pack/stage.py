"""Assemble a plan in an empty folder."""

from __future__ import annotations

import errno
import os
import shutil
from enum import StrEnum
from pathlib import Path

from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.plan import Plan
from mlsub.io.errors import MlsubError


class Way(StrEnum):
    """How files come into the tree: copied, as a second name of the source, or as a link to it for a check alone."""

    COPY = "copy"
    HARD_LINK = "hard-link"
    LINK = "link"


def assemble(plan: Plan, folder: Path, way: Way) -> None:
    """Put every file of the plan into a folder; sources are only read.

    Args:
        plan: what to assemble.
        folder: an empty folder, the organisation's.
        way: how; hard links fall back to copies where the source lies on another file system.

    Raises:
        MlsubError: a source cannot be read, or the folder not be written.
    """
    try:
        for item in plan.items:
            target = folder / item.to
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(item, target, way)
    except (OSError, ValueError) as error:
        named = getattr(error, "filename", None) or folder
        reason = getattr(error, "strerror", None) or str(error)
        raise MlsubError(f"The package cannot be assembled: {named}: {reason}.") from error


def _put(item: PlanItem, target: Path, way: Way) -> None:
    if item.link is not None:
        target.symlink_to(item.link)
    elif item.source is None:
        target.write_bytes(item.content or b"")
        target.chmod(0o755 if item.executable else 0o644)
    elif way is Way.LINK:
        target.symlink_to(item.source)
    elif way is Way.COPY or not _linked(item, target):
        _copy(item.source, target, executable=item.executable)


def _linked(item: PlanItem, target: Path) -> bool:
    """Give the source a second name; not where that cannot be done, or would change what may be executed."""
    source = Path(os.path.realpath(item.source or target))
    if os.access(source, os.X_OK) != item.executable:
        return False
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS):
            return False
        raise
    return True


def _copy(source: Path, target: Path, *, executable: bool) -> None:
    before = source.stat()
    shutil.copyfile(source, target)
    after = source.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise MlsubError(f"{source} was written while it was copied; pack again when it is finished.")
    target.chmod(0o755 if executable else 0o644)
