"""The differences between two packages; the fields are those of the JSON document."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.log.changes import Change
from mlsub.present.envelope import Answer


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
    """A system description that is ``added``, ``removed`` or ``changed``; ``alike`` is the other side's likely name."""

    system: str
    change: str
    fields: tuple[Change, ...] = ()
    alike: str | None = None


class EntryChange(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that is ``added``, ``removed``, ``changed`` or ``same``.

    ``values`` are its figures, each with both sides, equal or not; ``hyperparameters`` only those that
    differ. Times are in minutes. Organisation and benchmark are called as on the new side; a folder that holds another
    benchmark there is named with its title. ``warning`` says why the two sides may not be compared.
    """

    organisation: str
    system: str
    benchmark: str
    scaling_type: str | None
    change: str
    values: tuple[Change, ...] = ()
    hyperparameters: tuple[Change, ...] = ()
    percent: float | None = None
    alike: str | None = None
    warning: str | None = None

    def value(self, name: str) -> Change:
        """One of the values."""
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

    SCHEMA: ClassVar[int] = 5

    different: bool = False
    old: Side
    new: Side
    files: FileChanges
    systems: tuple[SystemChange, ...] = ()
    entries: tuple[EntryChange, ...] = ()
    findings: tuple[FindingChange, ...] = ()

    def __post_init__(self) -> None:
        files = self.files
        different = bool(
            files.added
            or files.removed
            or files.changed
            or files.moved
            or files.unknown
            or files.cut
            or self.systems
            or self.findings
            or self.old.official != self.new.official
            or any(entry.change != "same" for entry in self.entries)
        )
        msgspec.structs.force_setattr(self, "different", different)
