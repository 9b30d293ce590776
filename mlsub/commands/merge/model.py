"""What a merge is to do, what stands in its way, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.findings import Finding
from mlsub.present.envelope import Answer
from mlsub.submission.layout.model import Listing
from mlsub.submission.report import Report


class Source(msgspec.Struct, frozen=True):
    """A package to join: its path as given, its folder, and what lies in it."""

    path: str
    folder: Path
    listing: Listing


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What comes from one source: its files, those only it has, and its entries (``rack1/bert``)."""

    path: str
    files: int
    own: int
    entries: tuple[str, ...]


class Merge(Answer, frozen=True, kw_only=True):
    """A merge as planned, and with ``--write`` the report of the check and whether it is in place.

    ``output`` is the organisation's folder to be; ``files`` counts the files and links that it gets, ``joined`` those
    that are the same in several packages; ``left_out`` are folders of caches and version control. With ``findings``
    nothing is written.
    """

    SCHEMA: ClassVar[int] = 5

    usage: str
    round: str
    output: str
    written: bool
    organisation: str
    parts: tuple[Part, ...]
    files: int
    joined: int
    left_out: tuple[str, ...]
    findings: tuple[Finding, ...]
    report: Report | None

    @property
    def exit_status(self) -> int:
        """0 nothing stands in the way, or it is written and accepted; 1 conflicts, or the result is rejected."""
        return int(bool(self.findings) or (self.report is not None and self.report.exit_status() != 0))
