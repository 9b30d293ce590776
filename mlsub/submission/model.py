"""What lies in an organisation's tree: its package, the entries in it, and what was read of their logs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.findings import Effect, Finding
from mlsub.io.data import reduce_struct
from mlsub.log.lengths import Intervals, Trace
from mlsub.log.reading import Crash
from mlsub.log.run import Run
from mlsub.rounds import Round
from mlsub.rules.catalogue import has_effect
from mlsub.submission.file_tree import FileTree
from mlsub.submission.listing import Listing, below
from mlsub.submission.report import EntryName
from mlsub.systems.description import SystemDescription
from mlsub.systems.fields import count


class LogReport(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One log, read and judged.

    ``compliant`` is the official verdict; ``undecodable`` whether a record stops the official parser; ``minutes``
    the time to train, from records the official parser misses where it sees none. ``crash`` is where the official
    compliance checker ends in a traceback, so that the whole package gets no verdict. ``trace`` is
    empty, and ``intervals`` are not there, where they were not asked for or the log cannot be read.
    """

    path: str
    compliant: bool
    undecodable: bool
    benchmark: str | None
    division: str | None
    status: str | None
    minutes: float | None
    run: Run
    findings: tuple[Finding, ...]
    crash: Crash | None = None
    trace: Trace = Trace()
    intervals: Intervals | None = None

    __reduce__ = reduce_struct

    def counts_in(self, round_: Round) -> bool:
        """Return whether its time counts: it is compliant, or where no package checker asked for that, it converged."""
        return self.compliant if round_.package_checker else self.run.converged

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.rpartition("/")[2]

    @property
    def cacheable(self) -> bool:
        """Whether it rests on the log alone, and not on an error of the moment, so that it may be cached."""
        return not any(has_effect(finding, Effect.TRANSIENT) for finding in self.findings)

    def at(self, path: str) -> LogReport:
        """Return the report on the same log under another path."""
        if self.path == path:
            return self
        findings = tuple(msgspec.structs.replace(finding, path=path) for finding in self.findings)
        return msgspec.structs.replace(self, path=path, findings=findings)

    @property
    def without_run(self) -> bool:
        """Whether the file holds no run at all: empty, binary, in an encoding nobody reads, or unreadable."""
        return any(has_effect(finding, Effect.NO_RUN) for finding in self.findings)


RESULT_PATTERN = "result_*.txt"
#: The folder of an entry that has its power measurements.
POWER = "power"


class Entry(EntryName, frozen=True, kw_only=True):
    """One system and benchmark: its folder with result files in the order the official checker sorts them.

    ``path`` is what findings call the folder; ``strays`` are the names of what else lies there. ``scaling_type`` is
    ``strong`` or ``weak`` in HPC. ``elsewhere`` says what the official tools find in place of the results, for names
    that they take for search patterns; None where they find these. ``in_tree`` is False for a folder that lies in no
    organisation's tree. ``listing`` is what was looked at before. ``logs`` are those of the results once they are
    judged, ``description`` is that of the system; None where there is none.
    """

    folder: Path
    results: tuple[Path, ...]
    strays: tuple[str, ...] = ()
    scaling_type: str | None = None
    elsewhere: str | None = None
    in_tree: bool = True
    listing: Listing = msgspec.field(default_factory=Listing)
    logs: tuple[LogReport, ...] = ()
    description: SystemDescription | None = None

    @property
    def undescribed(self) -> bool:
        """Whether an entry of a tree has no description that can be read."""
        return self.in_tree and (self.description is None or self.description.content is None)

    def described(self, name: str) -> str:
        """Return a text that the description of the system states; empty where it does not."""
        return self.description.text(name) if self.description is not None else ""

    @property
    def size(self) -> tuple[int | None, int | None]:
        """How many nodes the description states, and how many accelerators in each."""
        content = (self.description.content if self.description is not None else None) or {}
        return count(content.get("number_of_nodes")), count(content.get("accelerators_per_node"))

    @property
    def division(self) -> str | None:
        """The division the description states; where no description can be read, what the logs agree on."""
        if self.description is not None and self.description.content is not None:
            return self.description.division
        named = {log.division for log in self.logs}
        return named.pop() if len(named) == 1 else None


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one organisation, and what is wrong with how they lie; or those of an entry that lies in no tree.

    ``prefix`` is what paths of the report have before those in ``folder``. ``skipped`` are entries without logs, which
    the round's checker takes for none. ``explained`` are paths below the folder that a finding already speaks of.
    ``listing`` is what was looked at before; ``file_tree`` is all that lies there, where that was asked for.
    """

    folder: Path
    prefix: str
    entries: tuple[Entry, ...] = ()
    descriptions: tuple[Path, ...] = ()
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Entry, ...] = ()
    explained: frozenset[str] = frozenset()
    in_tree: bool = True
    listing: Listing = msgspec.field(default_factory=Listing)
    file_tree: FileTree | None = None

    @property
    def name(self) -> str:
        """The organisation, as its folder is called; of an entry in no tree what that has for one."""
        return self.folder.name if self.in_tree else self.entries[0].organisation

    @property
    def path(self) -> str:
        """What findings call the folder."""
        return self.prefix.rstrip("/") or "."

    def path_of(self, file: Path) -> str:
        """Return what findings call a file or folder of the package."""
        relative = below(self.folder, file)
        return self.prefix + relative if relative != "." else self.path
