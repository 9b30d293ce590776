"""The audit of a package's tree: all its rules over one listing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding
from mlsub.submission.layout.code import audit_code
from mlsub.submission.layout.gather import gathered
from mlsub.submission.layout.links import audit_links
from mlsub.submission.layout.model import ItemKind, Listing, Place
from mlsub.submission.layout.names import audit_names
from mlsub.submission.layout.strays import audit_strays, stray_paths
from mlsub.submission.layout.top import audit_top

#: The limit of the official repository check (``mlperf_logging.repo_checker``), in bytes.
MAX_BYTES = 50 * 1024 * 1024
#: The usages whose submission rules ask for code; a rehearsal runs code that everybody has.
CODE_USAGES = ("training", "hpc")


def audit_layout(
    listing: Listing, places: Sequence[Place], usage: str, judged: Collection[str] = ()
) -> Iterator[Finding]:
    """The findings on a tree, all audit; their paths are relative to the organisation's folder.

    Args:
        listing: the tree.
        places: the entries with results.
        usage: ``training``, ``hpc`` or ``rehearsal``; the last asks for no code.
        judged: paths of logs and descriptions, which others read: one that cannot be read has a finding already.
    """
    strays = stray_paths(listing)
    stray = {path for paths in strays.values() for path in paths}
    if usage in CODE_USAGES:
        yield from audit_code(listing, places)
        yield from audit_top(listing, places, stray)
    large = [item.path for item in listing.items if item.kind is ItemKind.FILE and (item.size or 0) > MAX_BYTES]
    yield from gathered("layout.file-size", "Files are larger than 50 MB", large)
    special = [item.path for item in listing.items if item.kind is ItemKind.OTHER and item.path not in judged]
    yield from gathered("layout.special-file", "Names are not of a file, folder or link", special)
    yield from audit_names(listing, stray)
    yield from audit_links(listing, judged)
    yield from audit_strays(strays)
    yield from gathered("layout.not-listed", "Folders cannot be read, so their contents are unknown", listing.closed)
    if listing.cut is not None:
        yield finding("layout.not-listed", ".", "Part of the tree was not checked", actual=listing.cut)
