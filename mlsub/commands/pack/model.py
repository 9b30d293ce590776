"""What packing found: what a manifest is planned to become, what the check says of it, and whether it is written."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.commands.pack.choose import LeftOut
from mlsub.commands.pack.there import Difference
from mlsub.commands.pack.waive import Waived
from mlsub.findings import Finding
from mlsub.present.envelope import Answer
from mlsub.submission.report import Report


class EntryRuns(msgspec.Struct, frozen=True):
    """The logs of an entry in the order of their results, and how they were chosen."""

    entry: str
    how: str
    runs: tuple[str, ...]


class File(msgspec.Struct, frozen=True):
    """A file of the package: copied ``from`` a source, ``made`` anew, or a link."""

    to: str
    source: str | None = msgspec.field(name="from")
    made: str | None
    link: str | None
    executable: bool


class Packing(Answer, frozen=True, kw_only=True):
    """A package as planned, and what came of it.

    ``templates`` are the files to be filled in that --scaffold makes among the sources; ``difference`` is that to the
    folder ``out`` before; ``findings`` are those of packing and on waivers, ``report``
    is that of the check, null where the plan is not sound. ``refused`` says that something keeps the package from
    being written, such as the ``blocking`` rejections.
    """

    SCHEMA: ClassVar[int] = 4

    manifest: str
    out: str
    organisation: str
    usage: str
    round: str
    written: bool
    refused: bool
    runs: tuple[EntryRuns, ...]
    files: tuple[File, ...]
    left_out: tuple[LeftOut, ...]
    templates: tuple[str, ...]
    difference: Difference
    findings: tuple[Finding, ...]
    blocking: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    report: Report | None
