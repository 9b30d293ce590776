"""The part of the large tables, one in four, that ``make test`` tries: another one with each commit.

A table of rounds, divisions and benchmarks has hundreds of rows, and a defect breaks many of them. Continuous
integration tries all before a commit lands.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from tools.support.effort import ALL

T = TypeVar("T")
PARTS = 4
#: The variable that chooses a part.
VARIABLE = "SAMPLE"


def in_part(identity: str, part: int) -> bool:
    """Whether a row is of a part: each row is of one."""
    return crc32(identity.encode()) % PARTS == part


def part_of(commit: str) -> int:
    """The part of a commit, which is named by its digest; the first one where there is none."""
    try:
        return int(commit, 16) % PARTS
    except ValueError:
        return 0


@cache
def part() -> int:
    """The part of this run: the one that is asked for, or that of the commit which is checked out."""
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return part_of(_commit())
    if asked not in map(str, range(PARTS)):
        raise ValueError(f"{VARIABLE} is {asked!r}: it may be a number from 0 to {PARTS - 1}, or not be set")
    return int(asked)


def rows(table: Iterable[T], turn: int = 0) -> list[T]:
    """The rows that this run tries of a table within a test: all, or one in four, other ones for each ``turn``."""
    return list(table) if ALL else list(table)[(part() + turn) % PARTS :: PARTS]


def _commit() -> str:
    """The digest of the commit; empty without git, or where the files are of no repository."""
    here = Path(__file__).parents[2]
    if not (here / ".git").exists():
        return ""
    try:
        return subprocess.run(["git", "-C", here, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""
