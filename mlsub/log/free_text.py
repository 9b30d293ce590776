"""Lines of a log that have no record, and searches that look at lines alike but for their digits once."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Set
from functools import cached_property
from itertools import accumulate, compress, count
from typing import Generic, TypeVar

from mlsub.log.reader import RecordCutter

#: In lower case, with one kind of line end and 0 for every digit: what lines that differ in numbers have in common.
SKETCH = bytes(range(256)).lower().translate(bytes.maketrans(b"\r123456789", b"\n000000000"))
#: Bytes of lines that a search remembers, and what is counted for each line and each place in it.
_MAX_KEPT, _WEIGHT = 1 << 25, 128

T = TypeVar("T")


class FreeText:
    """Lines of a file without records, and their sketches, in which each CR ends a line too."""

    def __init__(self, text: bytes, first: int = 1) -> None:
        self._text, self._first = text, first
        self.sketches = text.translate(SKETCH).split(b"\n")
        #: Most stand there several times, and in many files.
        self.different = set(self.sketches)

    @classmethod
    def of(cls, cutter: RecordCutter) -> FreeText:
        """Return the lines without a record among those that were cut last; they are taken then."""
        text, cutter.free = cutter.free, b""
        return cls(text, cutter.block_line)

    def __len__(self) -> int:
        """How many bytes there are."""
        return len(self._text)

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines that the sketches are of."""
        return self._text.replace(b"\r", b"\n").split(b"\n")

    def line_at(self, number: int) -> int:
        """Return the line of the file in which a sketch begins."""
        if not self._has_returns:
            return self._first + number
        return self._first + self._text.count(b"\n", 0, sum(map(len, self.sketches[:number])) + number)

    @cached_property
    def _has_returns(self) -> bool:
        return b"\r" in self._text


class LineSearch(Generic[T]):
    """A search in sketches of lines, which looks at each once.

    Args:
        search: yields where something may be in sketches of lines, from where to where, and what judges the text there;
            the lines begin with a line end.
    """

    def __init__(self, search: Callable[[bytes], Iterator[tuple[int, int, T]]]) -> None:
        self._search = search
        self._silent: set[bytes] = set()
        self._found: dict[bytes, tuple[tuple[int, int, T], ...]] = {}
        self._kept = 0

    def find(self, text: FreeText) -> Iterator[tuple[int, bytes, T]]:
        """Yield the number of a line, the part of it in which something may be, and what judges that part."""
        found = self.find_in(text.different)
        for number in compress(count(), map(found.__contains__, text.sketches)) if found else ():
            for start, end, judge in found[text.sketches[number]]:
                yield number, text.lines[number][start:end], judge

    def find_in(self, lines: Set[bytes]) -> dict[bytes, tuple[tuple[int, int, T], ...]]:
        """Return what may be in sketches of lines, of those in which anything may."""
        if self._kept > _MAX_KEPT:
            self._silent.clear()
            self._found.clear()
            self._kept = 0
        if new := [line for line in lines - self._silent if line not in self._found]:
            self._look(new)
        return {line: self._found[line] for line in lines - self._silent}

    def _look(self, lines: list[bytes]) -> None:
        """Search lines that are not known."""
        sketch = b"\n" + b"\n".join(lines)
        starts = list(accumulate((len(line) + 1 for line in lines), initial=1))
        self._silent.update(lines)
        self._kept += len(sketch) + _WEIGHT * len(lines)
        for start, end, judge in self._search(sketch):
            number = bisect(starts, start) - 1
            line, begin = lines[number], starts[number]
            self._silent.discard(line)
            self._found[line] = (*self._found.get(line, ()), (start - begin, end - begin, judge))
            self._kept += _WEIGHT
