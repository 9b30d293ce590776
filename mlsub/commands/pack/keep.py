"""What somebody wrote or changed in the folder that a package is put into: kept, or named, but never lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from mlsub.commands.pack.compare import Difference
from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.plan import Plan
from mlsub.io.written import digest, somebodys

#: A template that has been filled in is text; more than this is something else.
_MAX_KEPT = 1 << 24


def keep_filled(plan: Plan, out: Path) -> Plan:
    """The plan with each template that has been filled in as it is there, in place of the empty one.

    Raises:
        OSError: something there cannot be read.
    """
    if not out.is_dir():
        return plan
    return msgspec.structs.replace(plan, items=tuple(_kept(item, out) or item for item in plan.items))


def _kept(item: PlanItem, out: Path) -> PlanItem | None:
    file = out / item.to
    if not item.template or not os.path.lexists(file):
        return None
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_KEPT:
        return None
    if not somebodys(out, {item.to: digest(file)}):
        return None
    content = file.read_bytes()
    if content == item.content:
        return None
    runs = bool(status.st_mode & stat.S_IXUSR)
    return PlanItem(to=item.to, content=content, executable=runs, kept=True)


def with_foreign(difference: Difference, out: Path) -> Difference:
    """The difference, and which of the files that would be replaced or removed mlsub did not write as they are.

    Raises:
        OSError: something there cannot be read.
    """
    lost = _files(out, (*difference.changed, *difference.extra))
    return msgspec.structs.replace(difference, foreign=somebodys(out, {path: digest(out / path) for path in lost}))


def kept_places(plan: Plan) -> frozenset[str]:
    """The places of files that stay as somebody wrote them."""
    return frozenset(item.to for item in plan.items if item.kept)


def _files(out: Path, paths: Iterable[str]) -> list[str]:
    """Paths without those of empty folders, in which nothing can be lost."""
    return [path for path in paths if (out / path).is_symlink() or not (out / path).is_dir()]
