"""Where a submission stands; the fields are those of the JSON document."""

from __future__ import annotations

from datetime import date
from typing import Annotated, ClassVar, Literal

import msgspec

from mlsub.findings import Says
from mlsub.present.envelope import Answer

What = Literal["description", "plan", "runs", "rejected", "fill-in", "template", "code"]
State = Literal["unfinished", "to-be-written", "to-be-sealed", "sealed"]


class EntryStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One system and benchmark: ``runs`` of ``needed``; the rest is null where there is nothing to look at yet.

    ``rcp`` is the verdict of the convergence test, ``open`` where runs are missing; ``percent`` says how far the mean
    of the runs lies above the limit of that test (below 0: under it); ``minutes`` is the score.
    """

    entry: str
    division: str | None
    runs: int
    needed: int
    official: str | None = None
    rcp: str | None = None
    percent: float | None = None
    minutes: float | None = None

    @property
    def missing(self) -> int:
        """How many runs are missing."""
        return max(self.needed - self.runs, 0)


class Task(msgspec.Struct, frozen=True):
    """Something that is left to do: what kind of thing, where, in words, and the command that helps."""

    kind: What
    where: str
    words: str
    command: str


class Status(Answer, frozen=True, kw_only=True):
    """Where a submission stands.

    ``manifest`` is null where there is none, ``package`` the folder of the package, ``sealed`` the file that the
    package is sealed in as it is now. ``days_left`` are those until the deadline, 0 on its day, negative after it.
    ``official`` is the verdict on what there is, null where there is no run yet. ``tasks`` are in the order in which
    they are done; ``next`` is the command to run, and ``why`` says what for.
    """

    SCHEMA: ClassVar[int] = 1

    organisation: str
    usage: str
    round: str
    manifest: str | None
    package: str
    written: Annotated[bool, Says("Whether there is a package.")]
    sealed: str | None
    deadline: date | None
    days_left: int | None
    state: State
    official: str | None
    entries: tuple[EntryStatus, ...]
    tasks: tuple[Task, ...]
    review: Annotated[int, Says("How many review findings there are.", minimum=0)]
    next: str
    why: str

    @property
    def exit_status(self) -> int:
        """1 while something is left to do before the package can be sealed."""
        return int(self.state in ("unfinished", "to-be-written"))
