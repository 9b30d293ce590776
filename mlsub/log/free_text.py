"""Lines of a log that have no record, and searches that look at lines alike but for their digits once."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Container, Iterator, Set
from functools import cached_property
from itertools import accumulate
from typing import Generic, TypeVar

from mlsub.log.reader import RecordCutter

#: In lower case, with one kind of line end and 0 for every digit: what lines that differ in numbers have in common.
SKETCH = bytes(range(256)).lower().translate(bytes.maketrans(b"\r123456789", b"\n000000000"))
_NO_END = bytes(set(range(256)) - set(b"\r\n"))
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

    def select(self, sketches: Container[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with some sketches, each with its number from 0 on."""
        # Most lines have nothing in them, so that to split the text too, or to count them all, would take longer.
        selected, start, after = bytes(map(sketches.__contains__, self.sketches)), 0, 0
        while (number := selected.find(True, after)) >= 0:
            start += sum(map(len, self.sketches[after:number])) + number - after
            end = start + len(self.sketches[number])
            yield number, self._text[start:end]
            start, after = end + 1, number + 1

    def line_at(self, number: int) -> int:
        """Return the line of the file in which a sketch begins."""
        return self._first + (self._ends.count(b"\n", 0, number) if self._ends else number)

    @cached_property
    def _ends(self) -> bytes:
        """What ends each line, where that is not always a line feed."""
        return self._text.translate(None, _NO_END) if b"\r" in self._text else b""


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
        for number, line in text.select(found) if found else ():
            for start, end, judge in found[text.sketches[number]]:
                yield number, line[start:end], judge

    def find_in(self, lines: Set[bytes]) -> dict[bytes, tuple[tuple[int, int, T], ...]]:
        """Return what may be in sketches of lines, of those in which anything may."""
        if self._kept > _MAX_KEPT:
            self._silent.clear()
            self._found.clear()
            self._kept = 0
        heard = lines - self._silent
        if new := list(heard - self._found.keys()):
            self._look(new)
        return {line: self._found[line] for line in heard if line in self._found}

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
