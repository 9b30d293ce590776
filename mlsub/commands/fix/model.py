"""The vocabulary of repairs."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """One repair: by which rule, where (1-based line of the file as it is, None for its name), and what is done.

    ``count`` is how many lines it mends, where it is the same on many.
    """

    rule: str
    line: int | None
    action: str
    count: int = 1


class Mended(msgspec.Struct, frozen=True):
    """A text before and after, and the repairs that lead from one to the other."""

    before: bytes
    after: bytes
    repairs: tuple[Repair, ...]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to one file or folder.

    ``content`` is the file with its new content, None where only the name changes; ``hunks`` is that as a unified
    diff; ``target`` is the new name, None where it stays; ``digest`` is the SHA-256 of the content that was read.
    """

    path: Path
    repairs: tuple[Repair, ...]
    content: Path | None = None
    digest: str | None = None
    hunks: bytes = b""
    target: Path | None = None


class Untouched(msgspec.Struct, frozen=True, kw_only=True):
    """A defect that is seen and left to people, and why."""

    rule: str
    path: str
    line: int | None
    reason: str


#: The kinds of repair; all others of a file's rules are left to people.
MARK, LINE_ENDS, BLANKS = "file.byte-order-mark", "file.line-ends", "file.trailing-blanks"
DUPLICATE, STATUS = "system.duplicate-key", "system.status"
RESULT_NAME, BENCHMARK, DESCRIPTION = "tree.result-name", "tree.unknown-benchmark", "tree.system-description-missing"
#: The beginning of those of repeated keys: key.<key>.repeated.
REPEATED = "repeated"
