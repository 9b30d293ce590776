"""What the commands on reference convergence points answer; the fields are those of the JSON documents."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.convergence.chance import Bootstrap
from mlsub.convergence.curves import Figures, Plan, ReferenceTable
from mlsub.convergence.margin import Margin, Untested
from mlsub.present.envelope import Answer


class Points(Answer, frozen=True, kw_only=True):
    """The reference points of a benchmark."""

    SCHEMA: ClassVar[int] = 2

    reference: ReferenceTable


class Planned(Answer, frozen=True, kw_only=True):
    """What runs at a batch size need."""

    SCHEMA: ClassVar[int] = 2

    plan: Plan


class NewPoint(Figures, frozen=True, kw_only=True):
    """A reference point that was built; ``replaces`` is the mean of the installed one of its batch size, if any.

    ``kept`` says whether the official pruning keeps it among the installed points.
    """

    replaces: float | None


class NewReference(Answer, frozen=True, kw_only=True):
    """A reference file that was built, and how its points lie beside the installed ones; means are in ``unit``."""

    SCHEMA: ClassVar[int] = 1

    file: str
    benchmark: str
    unit: str
    installed: int
    points: tuple[NewPoint, ...]
    notes: tuple[str, ...]


class PackageMargins(msgspec.Struct, frozen=True, kw_only=True):
    """How the entries of one path stand; ``untested`` are those that no reference applies to."""

    usage: str
    round: str
    round_from: str | None
    root: str
    entries: tuple[Margin, ...]
    untested: tuple[Untested, ...]

    def name_of(self, entry: Margin | Untested) -> str:
        """An entry by its path; by its folder where that is what was asked for."""
        return self.root.rpartition("/")[2] if entry.path == "." else entry.path


class Margins(Answer, frozen=True, kw_only=True):
    """How near the limit results are, and how their chances were computed."""

    SCHEMA: ClassVar[int] = 3

    bootstrap: Bootstrap
    reports: tuple[PackageMargins, ...]

    @property
    def entries(self) -> tuple[Margin, ...]:
        """The entries of all paths."""
        return tuple(entry for report in self.reports for entry in report.entries)
