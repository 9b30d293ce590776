"""What texts show that is private: of each kind where it stands first, and in how many places; never what it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache

from mlsub.log.event import RecordBatch
from mlsub.log.free_text import FreeText, LineSearch
from mlsub.log.private.model import PrivateKind, Thing
from mlsub.log.private.patterns import Judge, all_forms, candidates_in_words, is_rare, matches_check, user_of
from mlsub.log.reader import holds
from mlsub.log.run import PrivatePlaces

#: What a record is searched for: the rest of it is numbers and words of the rules.
_IN_RECORDS = (b"/home/", b"/U", b"@")


@cache
def _asked() -> LineSearch[Judge]:
    """The search of this process: each line is looked at once, in whichever log it stands."""
    return LineSearch(lambda sketch: candidates_in_words(sketch, all_forms().asked))


def find_asked(text: FreeText) -> Iterator[tuple[int, bytes, Thing]]:
    """Yield what a review asks about: the number of the line, and what stands there."""
    for number, part, judge in _asked().find(text):
        for first, last, thing in judge(part):
            yield number, part[first:last], thing


def names_somebody(value: str) -> bool:
    """Return whether a value of a record says what a review asks about."""
    text = FreeText(value.encode("utf-8", "replace"))
    return any(_kind_of(part, thing) for _, part, thing in find_asked(text))


class PrivateReader:
    """Takes a log as it is cut, or another text; :meth:`finish` gives what is private in it."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def records(self, records: RecordBatch) -> None:
        """Take records."""
        if any(holds(records.joined, hint) for hint in _IN_RECORDS):
            self._take(FreeText(records.joined), records.lines.__getitem__)

    def free(self, text: FreeText) -> None:
        """Take lines without records."""
        self._take(text, text.line_at)

    def _take(self, text: FreeText, line_at: Callable[[int], int]) -> None:
        # Each kind counts once a line, however many forms find it there.
        found: dict[str, set[int]] = {}
        for number, value, thing in find_asked(text):
            kind = _kind_of(value, thing)
            if kind is not None:
                found.setdefault(kind, set()).add(number)
        for kind, numbers in found.items():
            first, count = self._found.get(kind, (sys.maxsize, 0))
            self._found[kind] = min(first, line_at(min(numbers))), count + len(numbers)

    def finish(self) -> tuple[PrivatePlaces, ...]:
        """Return what there was, by the line in which it stands first."""
        found = (PrivatePlaces(kind, *where) for kind, where in self._found.items())
        return tuple(sorted(found, key=lambda one: one.line))


def _kind_of(text: bytes, thing: Thing) -> str | None:
    """How something private is called; None where it says nothing of anybody, or nothing outside of a cluster."""
    kind, value = thing
    if kind in (PrivateKind.PATH, PrivateKind.USER):
        is_path = kind is PrivateKind.PATH
        name = user_of(value) if is_path else value
        is_somebody = name and is_rare(name) and not matches_check(name.lower(), "nobody")
        return ("home folder" if is_path else "user") if is_somebody else None
    if kind in (PrivateKind.HOST, PrivateKind.ADDRESS):
        return None if matches_check(text.lower(), "own", "inside") else kind.value
    if kind is PrivateKind.EMAIL:
        return None if text.partition(b"@")[2].startswith(b"example.") else "e-mail address"
    return "secret" if kind is PrivateKind.SECRET else None
