"""What something costs, counted: the same on every machine, however busy it is."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, those of C as well."""
    count = 0

    def note(_frame: object, event: str, _of: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[int], object], few: int, many: int) -> float:
    """How many times more functions are called for many than for few, without what the first call loads."""
    work(few)
    return calls(lambda: work(many)) / calls(lambda: work(few))
