"""Changes to a log that are each aimed at one demand, or at one border of a demand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from tools.oracle.aimed_borders import at_literals, borders, dependent
from tools.oracle.aimed_demands import demands
from tools.oracle.generate import Combination
from tools.oracle.log import ChangedLog, Edit, Log, generated, smallest

#: What changes are aimed at, and of which log: every demand of a combination and rule on files; every border of a
#: demand, those alone that stand in the official rules, and those that another key's value makes.
AIMS: dict[str, tuple[Callable[[Combination], Log], Callable[[Combination, Path], Iterable[Edit]]]] = {
    "demands": (generated, demands),
    "borders": (smallest, borders),
    "literals": (smallest, at_literals),
    "dependent": (smallest, dependent),
}


@lru_cache(maxsize=2)
def edits(aim: str, combination: Combination, file: Path) -> tuple[Edit, ...]:
    """Every change of a combination, the same order each time; ``file`` is where logs are written."""
    return tuple(AIMS[aim][1](combination, file))


def in_order(aim: str, combination: Combination, seed: str, file: Path) -> list[Edit]:
    """Every change, shuffled by the seed, but so that a beginning of it has each aim once before any aim twice."""
    some = list(edits(aim, combination, file))
    random.Random(f"{seed}/{combination}").shuffle(some)
    number: dict[tuple[str, str], int] = {}
    ranked = []
    for edit in some:
        number[edit.key, edit.aim] = number.get((edit.key, edit.aim), -1) + 1
        ranked.append((number[edit.key, edit.aim], edit))
    return [edit for _, edit in sorted(ranked, key=lambda pair: pair[0])]


def mutant(log: Log, changes: Iterable[Edit], name: str) -> ChangedLog | None:
    """The log with these changes; None where one of them cannot be made after those before it."""
    words = []
    for change in changes:
        try:
            log = change.make(log)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
            return None
        words.append(change.words)
    return ChangedLog(f"[{name}] {' and then '.join(words)}", log.content())
