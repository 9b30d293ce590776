"""What keeps a folder from being replaced by a package, however good the package is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlsub.commands.pack.compare import Difference
from mlsub.commands.pack.model import Manifest
from mlsub.commands.pack.plan import Plan
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.written import named
from mlsub.rules.catalogue import finding
from mlsub.submission.locate import is_organisation

_SHOWN = 5


def suits(out: Path) -> None:
    """Refuse what is no place for an organisation's tree.

    Raises:
        MlsubError: it is a file or a link, or a folder that holds something else.
    """
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise MlsubError(f"{out} is no folder of its own. Name another.")
        if out.is_dir() and any(out.iterdir()) and not is_organisation(out):
            raise MlsubError(
                f"{out} holds something other than a submission (neither results nor systems). "
                f"Name the organisation's folder, such as {out / 'Organisation'}."
            )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MlsubError(f"{out} cannot be used: {reason}.") from error


def in_the_way(plan: Plan, out: Path, difference: Difference, *, replace: bool) -> Iterator[Finding]:
    """Why OUT must not be replaced, though the package may be fine."""
    if difference.none:
        return
    place = str(out)
    sources = [plan.manifest.file, *(item.source for item in plan.items if item.source is not None)]
    inside = [source for source in sources if _lies_in(source, out)]
    if inside:
        message = "Sources lie in the folder that is replaced"
        yield finding("package.source-in-out", place, message, actual=_listing([str(source) for source in inside]))
    around = [folder for folder in _folders(plan.manifest) if _lies_in(out, folder)]
    if around:
        message = "The folder lies in one that is packed"
        yield finding("package.out-in-source", place, message, actual=str(around[0]))
    if inside:
        return
    if difference.extra and not replace:
        message = "The folder holds files that the manifest does not name"
        yield finding("package.out-has-more", place, message, actual=_listing(difference.extra))
    lost = difference.foreign if replace else tuple(p for p in difference.foreign if p not in set(difference.extra))
    if lost:
        message = "The folder holds files that pack did not write, or that were changed since"
        yield finding("package.out-changed", place, message, actual=f"{len(lost)}: {named(lost)}")


def _lies_in(path: Path, folder: Path) -> bool:
    return f"{os.path.realpath(path)}{os.sep}".startswith(f"{os.path.realpath(folder)}{os.sep}")


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{len(names)}: {shown}, …" if len(names) > _SHOWN else f"{len(names)}: {shown}"


def _folders(manifest: Manifest) -> Iterator[Path]:
    yield from (code.folder for code in manifest.code)
    yield from (entry.setup for entry in manifest.entries if entry.setup is not None)
    yield from (extra.source for extra in manifest.files if extra.source.is_dir())
