"""What a comparison of two packages, or of two trainings, says; the fields are those of the JSON documents."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.log.changes import Change
from mlsub.present.envelope import Answer
from mlsub.rounds.benchmarks import Compatible
from mlsub.score.difference.words import Difference


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two: its path as given, the rules it was judged by, and the verdict."""

    path: str
    usage: str | None
    round: str | None
    official: str


class FileChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Files by their paths relative to what was compared, and by content.

    ``moved`` are pairs of old and new path with the same content; ``unknown`` are paths that cannot be
    read, so that nobody knows; ``cut`` says why not all files were listed.
    """

    same: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()
    cut: str | None = None


class SystemChange(msgspec.Struct, frozen=True, kw_only=True):
    """A system description that is ``added``, ``removed`` or ``changed``; ``was`` is its earlier name, if another."""

    system: str
    change: str
    fields: tuple[Change, ...] = ()
    was: str | None = None


class EntryChange(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that is ``added``, ``removed``, ``changed`` or ``same``.

    ``values`` are its figures, each with both sides, equal or not; ``hyperparameters`` only those that
    differ. Times are in minutes. Organisation and benchmark are called as on the new side; a folder that holds another
    benchmark there is named with its title. ``was`` is the system's name on the old side, where it is another one:
    entries belong together by system, or by accelerators and their number. ``warning`` says why the two sides may not
    be compared.
    """

    organisation: str
    system: str
    benchmark: str
    scaling_type: str | None
    change: str
    values: tuple[Change, ...] = ()
    hyperparameters: tuple[Change, ...] = ()
    percent: float | None = None
    was: str | None = None
    warning: str | None = None

    def value(self, name: str) -> Change:
        """Return one of the values."""
        return next(value for value in self.values if value.name == name)


class FindingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A defect with the number of its places on each side, and the first place where it is new or gone."""

    rule: str
    kind: str
    severity: str
    message: str
    old: int
    new: int
    place: str


class PackageDiff(Answer, frozen=True, kw_only=True):
    """Everything that differs between two packages.

    ``different`` says whether there is any difference, or something that could not be compared.
    """

    SCHEMA: ClassVar[int] = 7

    different: bool = False
    old: Side
    new: Side
    files: FileChanges
    systems: tuple[SystemChange, ...] = ()
    entries: tuple[EntryChange, ...] = ()
    findings: tuple[FindingChange, ...] = ()

    def __post_init__(self) -> None:
        different = bool(
            self.files != FileChanges(same=self.files.same)
            or self.systems
            or self.findings
            or self.old.official != self.new.official
            or any(entry.change != "same" for entry in self.entries)
        )
        msgspec.structs.force_setattr(self, "different", different)


class PairComparison(Difference, frozen=True, kw_only=True):
    """Two entries side by side, and why their times differ.

    ``same`` is the number of hyperparameters that do not differ, ``fields`` are those of the system description that
    do. ``compatible`` says whether results of the two rounds may be compared by the table of MLCommons, and
    ``warning`` why not.
    """

    same: int
    fields: tuple[Change, ...]
    compatible: Compatible
    warning: str | None


class Comparison(Answer, frozen=True, kw_only=True):
    """Everything ``mlsub compare`` says.

    ``purpose`` is ``compare``, ``borrow`` or ``resubmit``; only the latter two have findings. ``passed`` says that no
    finding speaks against it. ``only_old`` and ``only_new`` are the entries without a counterpart.
    """

    SCHEMA: ClassVar[int] = 9

    purpose: Literal["compare", "borrow", "resubmit"]
    passed: bool = True
    old: Side
    new: Side
    pairs: tuple[PairComparison, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        passed = all(finding.severity is Severity.NOTE for finding in self.findings)
        msgspec.structs.force_setattr(self, "passed", passed)
