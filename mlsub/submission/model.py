"""What lies in an organisation's tree, before anything in it is judged."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.log.report import LogReport
from mlsub.systems.description import SystemDescription


class EntryFiles(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark folder: result files in the order the official checker sorts them, and what else is there.

    ``scaling_type`` is ``strong`` or ``weak`` in HPC. ``elsewhere`` says what the official tools find in place of the
    results, for names that they take for search patterns; None where they find these.
    """

    organisation: str
    system: str
    benchmark: str
    folder: Path
    results: tuple[Path, ...]
    strays: tuple[str, ...]
    scaling_type: str | None = None
    elsewhere: str | None = None


class OrganisationFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one organisation, and what is wrong with how they lie.

    ``skipped`` are entries without logs, which the round's checker takes for none. ``explained`` are paths below its
    folder that a finding already speaks of.
    """

    name: str
    folder: Path
    entries: tuple[EntryFiles, ...]
    descriptions: tuple[Path, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[EntryFiles, ...] = ()
    explained: frozenset[str] = frozenset()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One system and benchmark with its judged logs and its system description (None where there is none)."""

    files: EntryFiles
    path: str
    logs: tuple[LogReport, ...]
    description: SystemDescription | None
    in_tree: bool = True

    @property
    def undescribed(self) -> bool:
        """Whether an entry of a tree has no description that can be read."""
        return self.in_tree and (self.description is None or self.description.content is None)

    @property
    def division(self) -> str | None:
        """The division the description states; where no description can be read, what the logs agree on."""
        if self.description is not None and self.description.content is not None:
            return self.description.division
        named = {log.division for log in self.logs}
        return named.pop() if len(named) == 1 else None
