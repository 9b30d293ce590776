"""Where the members of JSON objects stand in a text, so that one can be cut out and the rest stays as it is written."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from mlsub.io.errors import MlsubError

_BLANK = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"[^\s,\]}]+")
_MAX_DEPTH = 64


class Member(msgspec.Struct, frozen=True):
    """One name and value. Places count characters: ``comma`` before it (None for the first), its value's bounds."""

    path: tuple[str, ...]
    owner: int
    name: str
    comma: int | None
    start: int
    value_start: int
    end: int


def members(text: str) -> list[Member]:
    """Every member of every object, in the order of the text.

    Raises:
        MlsubError: see there.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MlsubError(str(error)) from error
    scanner = _Scanner(text)
    scanner.value(_behind(_BLANK, text, 0), (), 0)
    return scanner.found


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The place behind what a pattern matches there."""
    match = pattern.match(text, at)
    return match.end() if match else at


class _Scanner:
    """Walks over text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Member] = []
        self._objects = 0

    def value(self, at: int, path: tuple[str, ...], depth: int) -> int:
        """Go over the value at a place; gives the place behind it."""
        if depth > _MAX_DEPTH:
            raise MlsubError(f"nested deeper than {_MAX_DEPTH}")
        first = self.text[at]
        if first == "{":
            return self._object(at, path, depth)
        if first == "[":
            return self._array(at, path, depth)
        if first == '"':
            return self._string(at)
        return _behind(_ATOM, self.text, at)

    def _string(self, at: int) -> int:
        end = at + 1
        while self.text[end] != '"':
            end += 2 if self.text[end] == "\\" else 1
        return end + 1

    def _skip(self, at: int) -> int:
        return _behind(_BLANK, self.text, at)

    def _object(self, at: int, path: tuple[str, ...], depth: int) -> int:
        self._objects += 1
        owner, comma = self._objects, None
        at = self._skip(at + 1)
        while self.text[at] != "}":
            start = at
            at = self._string(at)
            name: Any = json.loads(self.text[start:at])
            at = self._skip(at)
            value_start = self._skip(at + 1)
            end = self.value(value_start, (*path, name), depth + 1)
            self.found.append(Member(path, owner, name, comma, start, value_start, end))
            at = self._skip(end)
            if self.text[at] == ",":
                comma = at
                at = self._skip(at + 1)
        return at + 1

    def _array(self, at: int, path: tuple[str, ...], depth: int) -> int:
        at = self._skip(at + 1)
        while self.text[at] != "]":
            at = self._skip(self.value(at, path, depth + 1))
            if self.text[at] == ",":
                at = self._skip(at + 1)
        return at + 1
