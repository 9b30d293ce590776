"""How wide text is on a terminal, where it may break, and what gives way in a table that is too wide."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mlsub.present.document import Column

GAP = 2
#: No column that folds or is shortened is narrower, unless it needs less.
LEAST = 8
#: Nor is a name that is shortened, so that it can still be recognised.
LEAST_NAME = 16
#: A word up to this length is not broken while columns are laid out.
_WORD = 20
_SEAMS = "/_-,="


def cells(text: str) -> int:
    """The columns of a terminal that a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def reach(text: str, start: int, width: int) -> int:
    """Where the part of a text that begins at ``start`` and fits a width ends."""
    if text.isascii():
        return min(start + width, len(text))
    used = 0
    for at in range(start, len(text)):
        used += _cells(text[at])
        if used > width:
            return at
    return len(text)


def shorten(text: str, width: int) -> str:
    """A text that fits: whole, or with ``…`` in the place of its middle."""
    if cells(text) <= width:
        return text
    tail = (width - 1) // 2
    backwards = reach(text[::-1], 0, tail)
    end = text[len(text) - backwards :]
    while end and not _cells(end[0]):
        end = end[1:]
    return f"{text[: reach(text, 0, width - 1 - tail)]}…{end}"


def breaks(text: str, first: int, later: int) -> list[tuple[int, int]]:
    """Begin and end of each line of a text that is wrapped: ``first`` wide, and from the second on ``later``."""
    found: list[tuple[int, int]] = []
    start, width = 0, first
    while (end := reach(text, start, width)) < len(text):
        end = max(end, start + 1)
        gap = text.rfind(" ", start, end + 1)
        if gap > start and text[start:gap].strip():
            end = _without_blanks(text, start, gap)
            found.append((start, end))
            start = gap + 1
        else:
            end = _seam(text, start, end)
            found.append((start, end))
            start = end
        while start < len(text) and text[start] == " ":
            start += 1
        width = later
    if start < len(text) or not found:
        found.append((start, len(text)))
    return found


def _without_blanks(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _seam(text: str, start: int, end: int) -> int:
    """Where a long word breaks: behind a sign of the last third of the line, else where the line ends."""
    for at in range(end, start + (end - start) * 2 // 3, -1):
        if text[at - 1] in _SEAMS:
            return at
    return end


class Layout(NamedTuple):
    """The columns that are shown, how wide each is, and those that are left out."""

    shown: tuple[int, ...]
    widths: tuple[int, ...]
    left_out: tuple[int, ...]


def layout(columns: Sequence[Column], texts: Sequence[Sequence[str]], key: int, width: int) -> Layout | None:
    """How a table fits a width; None where no way is left but to stack its rows.

    Args:
        columns: what they are.
        texts: for each column all its texts, the head among them.
        key: the column that names a row; it never goes.
        width: of the terminal.
    """
    whole = [max(map(cells, column), default=0) for column in texts]
    shown = list(range(len(columns)))
    left_out: list[int] = []
    room = width - GAP * (len(shown) - 1)
    if sum(whole) <= room:
        return Layout(tuple(shown), tuple(whole), ())
    least = [_least(column, known, natural) for column, known, natural in zip(columns, texts, whole, strict=True)]
    while sum(least[at] for at in shown) > width - GAP * (len(shown) - 1):
        may_go = [at for at in shown if columns[at].leave_out and at != key]
        if not may_go:
            return None
        gone = max(may_go, key=lambda at: (columns[at].leave_out, at))
        shown.remove(gone)
        left_out.append(gone)
    room = width - GAP * (len(shown) - 1)
    # Text that folds loses nothing, so it gives way before text that is shortened.
    firm = [whole[at] if columns[at].when_narrow == "shorten" else least[at] for at in shown]
    widths = _shared([whole[at] for at in shown], firm if sum(firm) <= room else [least[at] for at in shown], room)
    return Layout(tuple(shown), tuple(widths), tuple(sorted(left_out)))


def _least(column: Column, texts: Sequence[str], whole: int) -> int:
    """How narrow a column may become; texts that are shortened stay distinct."""
    if column.keeps or whole <= LEAST:
        return whole
    if column.when_narrow == "fold":
        longest = max((cells(word) for text in texts for word in text.split(" ")), default=0)
        return min(whole, max(LEAST, min(longest, _WORD)))
    distinct = set(texts)
    low, high = min(LEAST_NAME, whole), whole
    while low < high:
        middle = (low + high) // 2
        if len({shorten(text, middle) for text in distinct}) == len(distinct):
            high = middle
        else:
            low = middle + 1
    return low


def _shared(whole: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fill the room: the widest give way first, none below its least."""
    low, high = 0, max(whole)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_width(*ends, middle) for ends in zip(whole, least, strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    widths = [_width(*ends, low) for ends in zip(whole, least, strict=True)]
    spare = room - sum(widths)
    for at, natural in enumerate(whole):
        more = min(spare, natural - widths[at], 1)
        widths[at] += more
        spare -= more
    return widths


def _width(whole: int, least: int, most: int) -> int:
    return min(whole, max(least, most))
