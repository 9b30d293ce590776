"""Reads the decisions and texts of a structured input from the bytes of a fuzz input."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

#: Ends a text; no UTF-8 has it. What a text holds before it is free.
END = b"\xff"


class Provider:
    """Decisions and texts, taken from bytes in order; where the bytes end, each decision is 0 and each text empty.

    A change of one byte changes one decision or one text: mutations of the bytes are mutations of the structure.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """Bytes that have not been taken."""
        return max(0, len(self._data) - self._at)

    def byte(self) -> int:
        """The next byte, 0 at the end."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, count: int) -> int:
        """A number from 0 to ``count - 1``, of one byte."""
        return self.byte() % count

    def one_of(self, choices: Sequence[T]) -> T:
        """One of some things."""
        return choices[self.below(len(choices))]

    def content(self) -> bytes:
        """The bytes up to the next :data:`END`."""
        end = self._data.find(END, self._at)
        end = len(self._data) if end < 0 else end
        found, self._at = self._data[self._at : end], end + 1
        return found

    def text(self) -> str:
        """The bytes up to the next :data:`END` as text; bytes that are not UTF-8 are halves of surrogate pairs."""
        return self.content().decode("utf-8", "surrogateescape")

    def rest(self) -> bytes:
        """All bytes that have not been taken."""
        found, self._at = self._data[self._at :], len(self._data)
        return found


def one_in(count: int, data: bytes, salt: bytes = b"") -> bool:
    """Whether an input is one of those, one in ``count``, for which a costly oracle is asked: by its digest alone."""
    return int.from_bytes(blake2b(salt + data, digest_size=4).digest(), "big") % count == 0
