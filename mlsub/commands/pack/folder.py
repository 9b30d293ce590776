"""The files below one source of the manifest, and what of them belongs into a submission."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mlsub.commands.pack.choose import LeftOut
from mlsub.findings import Finding
from mlsub.rules.catalogue import finding
from mlsub.submission.layout.model import Item, ItemKind, Listing
from mlsub.submission.layout.strays import stray_paths
from mlsub.submission.layout.walk import list_tree


class PlanItem(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the submission: ``to`` is its place, relative to the organisation's folder.

    It is copied from ``source``, or it is made of ``content`` (``made`` says how), or it is a link that says ``link``.
    A ``template`` is there to be filled in; one that was is ``kept``, and ``content`` is what is there.
    """

    to: str
    source: Path | None = None
    content: bytes | None = None
    made: str | None = None
    link: str | None = None
    executable: bool = False
    template: bool = False
    kept: bool = False


class Source(msgspec.Struct, frozen=True):
    """A path of the manifest, where it is named, and the rule it breaks where it does not exist."""

    path: Path
    where: str
    line: int
    lacking: str = "package.source-missing"

    def finding(self, rule: str, message: str, actual: str | None = None) -> Finding:
        """A finding on this source, or on ``actual`` in it."""
        return finding(rule, self.where, message, line=self.line, actual=actual or str(self.path))


class Gathered(msgspec.Struct, frozen=True):
    """What comes of a source."""

    items: tuple[PlanItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    findings: tuple[Finding, ...] = ()


def file_item(source: Source, to: str, *, executable: bool | None = None) -> Gathered:
    """A single file; links are followed, for it is named by the manifest itself.

    Args:
        source: the file.
        to: its place.
        executable: whether it will be; None to leave it as it is.
    """
    try:
        status = source.path.stat()
    except OSError as error:
        gone = isinstance(error, (FileNotFoundError, NotADirectoryError))
        reason = "The file does not exist" if gone else f"The file cannot be read: {error.strerror or error}"
        return Gathered(findings=(source.finding(source.lacking, reason),))
    if not stat.S_ISREG(status.st_mode):
        return Gathered(findings=(source.finding("package.not-a-file", "It is no regular file"),))
    if not os.access(source.path, os.R_OK):
        return Gathered(findings=(source.finding("package.not-a-file", "The file cannot be read"),))
    runs = bool(status.st_mode & stat.S_IXUSR) if executable is None else executable
    return Gathered((PlanItem(to=to, source=source.path, executable=runs),))


def gather(source: Source, to: str) -> Gathered:
    """A folder with all it holds; what editors, caches and version control leave behind stays out."""
    folder = source.path
    if not folder.is_dir():
        if folder.exists():
            return Gathered(findings=(source.finding("package.not-a-file", "It is no folder"),))
        return Gathered(findings=(source.finding(source.lacking, "The folder does not exist"),))
    listing = list_tree(folder)
    strays = {path: kind for kind, paths in stray_paths(listing).items() for path in paths}
    items = [item for item in listing.items if not _is_below(item.path, strays)]
    findings = [*_unlisted(source, listing), *_unfit(source, items)]
    taken = tuple(
        PlanItem(
            to=f"{to}/{item.path}",
            source=None if item.kind is ItemKind.LINK else folder / item.path,
            link=item.target,
            executable=item.executable,
        )
        for item in items
        if item.kind in (ItemKind.FILE, ItemKind.LINK)
    )
    left = tuple(LeftOut(folder / path, f"{kind} do not belong in a submission") for path, kind in strays.items())
    if not taken and not findings:
        findings.append(source.finding(source.lacking, "The folder holds no files"))
    return Gathered(taken, left, tuple(findings))


def _is_below(path: str, places: dict[str, str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:n]) in places for n in range(1, len(parts) + 1))


def _unlisted(source: Source, listing: Listing) -> Iterator[Finding]:
    if listing.cut is not None:
        yield source.finding("package.not-a-file", f"The folder holds {listing.cut}: no code is like that")
    for closed in listing.closed:
        yield source.finding("package.not-a-file", "The folder cannot be read", str(source.path / closed))


def _unfit(source: Source, items: list[Item]) -> Iterator[Finding]:
    """Links that would lead out of the submission or nowhere, and what is neither file nor folder nor link."""
    root = os.path.realpath(source.path)
    for item in items:
        path = source.path / item.path
        if item.kind is ItemKind.OTHER:
            yield source.finding("package.not-a-file", "It is no regular file", str(path))
        elif item.kind is ItemKind.FILE and not os.access(path, os.R_OK):
            yield source.finding("package.not-a-file", "The file cannot be read", str(path))
        elif item.kind is ItemKind.LINK:
            real, shown = os.path.realpath(path), f"{path} -> {item.target}"
            outside = real != root and not real.startswith(root + os.sep)
            if (item.target or "/").startswith("/") or outside or _leaves(item):
                yield source.finding("package.link-escapes", "The link leads out of its folder", shown)
            elif not Path(real).exists():
                yield source.finding("package.link-escapes", "The link leads nowhere", shown)


def _leaves(item: Item) -> bool:
    """Whether the text of a link climbs out of the folder on its way, be it to come back in by its name."""
    depth = item.path.count("/")
    for part in (item.target or "").split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False
