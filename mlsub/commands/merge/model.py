"""What a merge is to do, what stands in its way, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.findings import Finding
from mlsub.present.envelope import Answer
from mlsub.rounds import Round
from mlsub.submission.layout.model import Item, Listing
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


class Step(msgspec.Struct, frozen=True):
    """A file or link of the result, and the number of the source it is taken from."""

    source: int
    item: Item


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A merge; with ``findings`` nothing of it is written.

    ``joined`` counts the files that several sources have alike; ``left_out`` are folders of caches and version control.
    """

    organisation: str
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    joined: int
    left_out: tuple[str, ...]
    findings: tuple[Finding, ...]


class Merge(Answer, frozen=True, kw_only=True):
    """What came of a merge: the plan, and with ``--write`` the report of the check and whether it is in place.

    ``output`` is the organisation's folder to be; ``files`` counts the files and links that it gets, ``joined`` those
    that several packages have alike; ``left_out`` are folders of caches and version control.
    """

    SCHEMA: ClassVar[int] = 3

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


def merge_of(plan: Plan, round_: Round, output: Path, report: Report | None = None, *, written: bool = False) -> Merge:
    """What came of a plan."""
    return Merge(
        usage=round_.usage,
        round=round_.name,
        output=str(output),
        written=written,
        organisation=plan.organisation,
        parts=plan.parts,
        files=len(plan.steps),
        joined=plan.joined,
        left_out=plan.left_out,
        findings=plan.findings,
        report=report,
    )
