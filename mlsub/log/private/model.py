"""What is private in a text: its kinds, where it stands, and how it is counted."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property

import msgspec

from mlsub.log.reader import RecordCutter


class PrivateKind(StrEnum):
    """What a private thing is. Where two overlap, the earlier kind counts."""

    SECRET = "secret"  # noqa: S105  (no password)
    ENV = "env"
    TEXT = "text"
    EMAIL = "email"
    PATH = "path"
    HOST = "host"
    ADDRESS = "address"
    ID = "id"
    USER = "user"


#: What a placeholder stands for.
Thing = tuple[PrivateKind, bytes]
#: A private thing in a text: from where to where.
PrivateSpan = tuple[int, int, Thing]


#: In lower case, with one kind of line end and 0 for every digit: what lines that differ in numbers have in common.
SKETCH = bytes(range(256)).lower().translate(bytes.maketrans(b"\r123456789", b"\n000000000"))


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


class Spot(msgspec.Struct, frozen=True):
    """A line of a file, whose path is relative to the root; of a record its key, too."""

    path: str
    line: int
    key: str = ""


class Where(StrEnum):
    """Where a thing stands: in the free text of a log, in its records, or in another file.

    ``UNSURE``: in the free text of a log, where it is not replaced.
    """

    FREE = "free"
    RECORD = "record"
    FILE = "file"
    UNSURE = "unsure"


class Private(msgspec.Struct):
    """One private thing over all files: how often it stands in which kind of place, and the first few places of each.

    ``text`` is safe to print: of a secret it is no more than its beginning. The counts grow as files are read.
    """

    kind: PrivateKind
    text: str
    placeholder: str
    counts: dict[Where, int] = {}
    places: dict[Where, list[Spot]] = {}
