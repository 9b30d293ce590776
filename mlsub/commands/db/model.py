"""What is asked of a database, what is planned, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

from mlsub.commands.db.discover import Package
from mlsub.commands.db.fingerprint import Fingerprint
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress
from mlsub.workspace import Settings


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What to build.

    ``fresh`` builds anew what is there already; ``parquet`` is a folder for one file a table; ``settings`` say of which
    round the folders are, how many processes read, and what the convergence test is to do; ``progress`` is called
    while submissions are read.
    """

    folders: tuple[Path, ...]
    output: Path
    records: tuple[Path, ...] = ()
    parquet: Path | None = None
    fresh: bool = False
    settings: Settings = Settings()
    progress: Progress | None = None


class Known(NamedTuple):
    """What is in a database: fingerprints by round and organisation, files of records with sums, rows by table.

    ``without_logs`` are folders of benchmarks without logs, by round, organisation and path.
    """

    prints: dict[tuple[str, str], str]
    records: list[tuple[str, str]]
    rows: dict[str, int]
    without_logs: list[str]


class Plan(NamedTuple):
    """What is to be done: submissions to read, to keep and to remove, and whether records are other ones."""

    read: list[tuple[Package, Fingerprint]]
    kept: list[tuple[str, str]]
    gone: list[tuple[str, str]]
    records: bool

    @property
    def anything(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.read or self.gone or self.records)


class Built(Answer, frozen=True, kw_only=True):
    """What came of it: submissions read, kept and gone (``round/organisation``), rows by table, and what was left out.

    ``without_logs`` are the folders of benchmarks that have none. ``written`` is False where nothing had changed: then
    the file is as it was. ``aside`` is the name under which a file is kept that was replaced, and that this program had
    not written as it was.
    """

    SCHEMA: ClassVar[int] = 3

    output: str
    read: tuple[str, ...]
    kept: tuple[str, ...]
    gone: tuple[str, ...]
    passed_over: tuple[str, ...]
    rows: dict[str, int]
    without_logs: tuple[str, ...]
    written: bool
    aside: str | None = None
