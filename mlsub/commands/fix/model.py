"""The vocabulary of repairs."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.present.envelope import Answer


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """One repair: by which rule, where (1-based line of the file as it is, None for its name), and what is done.

    ``count`` is how many lines it fixes, where it is the same on many.
    """

    rule: str
    line: int | None
    action: str
    count: int = 1


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that is repaired: its path below the root, and its new one, null where that stays.

    ``failed`` says why the repairs could not be made, null where they were or are only proposed.
    """

    path: str
    renamed_to: str | None
    repairs: tuple[Repair, ...]
    failed: str | None = None


class Fixed(msgspec.Struct, frozen=True, kw_only=True):
    """The repairs below one root, and the official verdict before and after.

    Both are null where no round is known; ``after`` also where a repair failed. ``not_repaired`` is left to people.
    """

    root: str
    before: Verdict | None
    after: Verdict | None
    changes: tuple[Changed, ...]
    not_repaired: tuple[Finding, ...]
    notes: tuple[str, ...]


class Fix(Answer, frozen=True, kw_only=True):
    """Repairs that are proposed, or made where ``written`` says so."""

    SCHEMA: ClassVar[int] = 4

    written: bool
    plans: tuple[Fixed, ...]


#: Rules to repair by: every rule begins so.
ALL = ("",)
#: The kinds of repair; all others of a file's rules are left to people.
MARK, LINE_ENDS, BLANKS = "file.byte-order-mark", "file.line-ends", "file.trailing-blanks"
DUPLICATE, STATUS = "system.duplicate-key", "system.status"
RESULT_NAME, BENCHMARK, DESCRIPTION = "tree.result-name", "tree.unknown-benchmark", "tree.system-description-missing"
STRAY, RESULTS = "tree.stray-logs", "tree.results-missing"
#: The beginning of those of repeated keys: key.<key>.repeated.
REPEATED = "repeated"
