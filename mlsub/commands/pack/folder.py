"""The files below one source of the manifest, and what of them belongs into a submission."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from mlsub.commands.pack.choose import LeftOut
from mlsub.commands.pack.manifest import Manifest
from mlsub.findings import Finding
from mlsub.io.assemble import Piece
from mlsub.submission.layout.model import Item, ItemKind, Listing, parents
from mlsub.submission.layout.strays import stray_paths
from mlsub.submission.layout.walk import begins_as_template, list_tree, may_be_template

#: Why a template stays out.
UNFILLED = "a template: fill it in, and remove every line that asks for it"
#: A rule, what is wrong, and what was found.
Fault = tuple[str, str, Path | str]


class PlanItem(Piece, frozen=True, kw_only=True):
    """One file of the submission: its place is relative to the organisation's folder.

    ``made`` says how its content came about.
    """

    made: str | None = None


class Parts:
    """What goes into a submission, what stays out, and what cannot be packed, collected source by source."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self.items: list[PlanItem] = []
        self.left_out: list[LeftOut] = []
        self.findings: list[Finding] = []

    def _wrong(self, rule: str, message: str, line: int, found: object) -> None:
        self.findings.append(self._manifest.finding(rule, message, line, str(found)))

    def file(self, source: Path, to: str, line: int, *, executable: bool | None = None) -> None:
        """A single file; links are followed, for it is named by the manifest itself.

        Args:
            source: the file.
            to: its place.
            line: where the manifest names it.
            executable: whether it will be; None to leave it as it is.
        """
        try:
            status = source.stat()
        except OSError as error:
            gone = isinstance(error, (FileNotFoundError, NotADirectoryError))
            reason = "The file does not exist" if gone else f"The file cannot be read: {error.strerror or error}"
            self._wrong("package.source-missing", reason, line, source)
            return
        if not stat.S_ISREG(status.st_mode):
            self._wrong("package.not-a-file", "It is not a regular file", line, source)
        elif not os.access(source, os.R_OK):
            self._wrong("package.not-a-file", "The file cannot be read", line, source)
        else:
            runs = bool(status.st_mode & stat.S_IXUSR) if executable is None else executable
            self.items.append(PlanItem(to=to, source=source, executable=runs))

    def folder(self, folder: Path, to: str, line: int, *, missing: str = "package.source-missing") -> None:
        """A folder with all it holds; what editors, caches and version control leave behind stays out.

        Args:
            folder: the source.
            to: its place.
            line: where the manifest names it.
            missing: the rule that is broken where there is no such folder, or nothing in it.
        """
        if not folder.is_dir():
            there = folder.exists()
            rule, message = (
                ("package.not-a-file", "It is not a folder") if there else (missing, "The folder does not exist")
            )
            self._wrong(rule, message, line, folder)
            return
        listing = list_tree(folder)
        strays = {path: kind for kind, paths in stray_paths(listing).items() for path in paths}
        self.left_out += [
            LeftOut(str(folder / path), f"{kind} do not belong in a submission") for path, kind in strays.items()
        ]
        items = [item for item in listing.items if not strays.keys() & {item.path, *parents(item.path)}]
        faults = [*_unlisted(folder, listing), *_unfit(folder, items)]
        taken = [
            PlanItem(
                to=f"{to}/{item.path}",
                source=None if item.kind is ItemKind.LINK else folder / item.path,
                link=item.target,
                executable=item.executable,
            )
            for item in items
            if item.kind in (ItemKind.FILE, ItemKind.LINK)
        ]
        unfilled = {item.to: item.source for item in taken if item.source is not None and _is_template(item)}
        self.left_out += [LeftOut(str(source), UNFILLED) for source in unfilled.values()]
        self.items += [item for item in taken if item.to not in unfilled]
        if not taken and not faults:
            faults.append((missing, "The folder holds no files", folder))
        for rule, message, found in faults:
            self._wrong(rule, message, line, found)


def _is_template(item: PlanItem) -> bool:
    return may_be_template(item.to) and item.source is not None and begins_as_template(item.source)


def _unlisted(folder: Path, listing: Listing) -> Iterator[Fault]:
    if listing.cut is not None:
        yield "package.not-a-file", f"The folder holds {listing.cut}, which no source code needs", folder
    for closed in listing.closed:
        yield "package.not-a-file", "The folder cannot be read", folder / closed
    for unread in listing.unread:
        yield "package.not-a-file", f"The file cannot be read: {listing.reasons[unread]}", folder / unread


def _unfit(folder: Path, items: list[Item]) -> Iterator[Fault]:
    """Links that would lead out of the submission or nowhere, and what is not a file, a folder or a link."""
    root = os.path.realpath(folder)
    for item in items:
        path = folder / item.path
        if item.kind is ItemKind.OTHER:
            yield "package.not-a-file", "It is not a regular file", path
        elif item.kind is ItemKind.FILE and not os.access(path, os.R_OK):
            yield "package.not-a-file", "The file cannot be read", path
        elif item.kind is ItemKind.LINK:
            real, shown = os.path.realpath(path), f"{path} -> {item.target}"
            outside = real != root and not real.startswith(root + os.sep)
            if (item.target or "/").startswith("/") or outside or _leaves(item):
                yield "package.link-escapes", "The link leads out of its folder", shown
            elif not Path(real).exists():
                yield "package.link-escapes", "The link leads nowhere", shown


def _leaves(item: Item) -> bool:
    """Whether the text of a link climbs out of the folder on its way, even if it comes back in by its name."""
    depth = item.path.count("/")
    for part in (item.target or "").split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False
