"""A TOML file that people write: what it holds, and the line of each key, which the reader of Python does not keep."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from mlsub.io.errors import reason_of
from mlsub.io.problems import MAX_DEPTH, FileProblemsError, Problem

#: Such a file is a few kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 256 << 10
_BITS = 64
_DEEP = "nested too deeply"
#: A text, a comment, the end of a line, a mark of syntax, or anything else without spaces.
_TOKEN = re.compile(
    r'"""(?:\\.|(?!""")[^\\])*"{3,5}'
    r"|'''(?:(?!''').)*'{3,5}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|#[^\n]*"
    r"|\n"
    r"|[][{}=,.]"
    r"|[^\s\]\[{}=,.#\"']+",
    re.DOTALL,
)
#: The keys and positions that lead to a place of a document.
Place = tuple[str | int, ...]


class TomlFile(msgspec.Struct, frozen=True):
    """A TOML file: how messages call it, its text, and what it holds as plain data; days and times are text."""

    shown: str
    text: str
    content: dict[str, Any]

    def lines(self) -> dict[Place, int]:
        """The 1-based line of each key, of each item of a list, and of each table.

        Raises:
            FileProblemsError: the file is nested too deeply to say.
        """
        try:
            return _Lines(self.text).all()
        except RecursionError:
            _refuse(self.shown, 1, f"not TOML: {_DEEP}")


def read_toml(file: Path, shown: str | None = None) -> TomlFile:
    """A TOML file; ``shown`` is how messages call it.

    Raises:
        FileProblemsError: it cannot be read, or is not TOML.
    """
    name = shown or str(file)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            _refuse(name, 1, "cannot be read: not a regular file")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            _refuse(name, 1, f"larger than {MAX_BYTES >> 10} KiB")
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        _refuse(name, 1, f"cannot be read: {reason_of(error)}")
    except UnicodeDecodeError:
        _refuse(name, 1, "cannot be read: not UTF-8 text")
    try:
        if line := _endless_key(text):
            # Python's reader needs memory in the square of its length.
            _refuse(name, line, f"not TOML: {_DEEP}")
        return TomlFile(name, text, _plain(tomllib.loads(text)))
    except RecursionError:
        _refuse(name, 1, f"not TOML: {_DEEP}")
    except ValueError as error:
        # A number of too many digits is one as well, and has no line.
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        _refuse(name, line, f"not TOML: {str(error)[: place.start() if place else 200][:200]}")


def _refuse(shown: str, line: int, message: str) -> NoReturn:
    raise FileProblemsError((Problem(shown, line, message),))


def _plain(value: Any, depth: int = 0) -> Any:
    """The same with text for days and times.

    Raises:
        RecursionError: it is deeper than anything that people write.
        ValueError: a number is larger than those of TOML.
    """
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise ValueError("a number with too many digits")
    return value.isoformat() if isinstance(value, date | time | datetime) else value


def _endless_key(text: str) -> int:
    """The line of a dotted key with more parts than any document is deep; 0 without one."""
    parts = 0
    for part, line in _tokens(text) if text.count(".") > MAX_DEPTH else ():
        parts = 0 if part in "=,[]{}\n" else parts + (part == ".")
        if parts > MAX_DEPTH:
            return line
    return 0


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens of a text, without comments, and the line of each; as far as the text is TOML, they are TOML's."""
    line = 1
    for match in _TOKEN.finditer(text):
        if not match[0].startswith("#"):
            yield match[0], line
        line += match[0].count("\n")


class _Lines:
    """A walk through text that is TOML, as :mod:`tomllib` has found: it need not look for mistakes."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._found: dict[Place, int] = {}
        self._tables: dict[Place, int] = {}

    def all(self) -> dict[Place, int]:
        table: Place = ()
        while self._peek():
            if self._peek() == "\n":
                self._at += 1
            elif self._peek() == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._found

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _line(self) -> int:
        return self._tokens[min(self._at, len(self._tokens) - 1)][1]

    def _header(self) -> Place:
        """``[table]`` or ``[[table of a list]]``; a list on the way means its last table so far."""
        line, of_list = self._line(), self._peek(1) == "["
        self._at += 1 + of_list
        keys = self._keys("]")
        self._at += 1 + of_list
        place: Place = ()
        for number, key in enumerate(keys):
            place = (*place, key)
            self._found.setdefault(place, line)
            if of_list and number == len(keys) - 1:
                self._tables[place] = self._tables.get(place, -1) + 1
            if place in self._tables:
                place = (*place, self._tables[place])
                self._found.setdefault(place, line)
        return place

    def _keys(self, end: str) -> list[str]:
        """The parts of a dotted key, up to its end."""
        keys = []
        while self._peek() not in (end, ""):
            part = self._peek()
            if part != ".":
                keys.append(str(tomllib.loads(f"k = {part}")["k"]) if part[0] in "\"'" else part)
            self._at += 1
        return keys

    def _pair(self, place: Place) -> None:
        line = self._line()
        for key in self._keys("="):
            place = (*place, key)
            self._found.setdefault(place, line)
        self._at += 1
        self._value(place)

    def _value(self, place: Place) -> None:
        begin = self._peek()
        if begin not in ("[", "{"):
            while self._peek() not in (",", "]", "}", "\n", ""):
                self._at += 1
            return
        self._at += 1
        number = 0
        while self._peek() not in ("]", "}", ""):
            if self._peek() in (",", "\n"):
                self._at += 1
            elif begin == "{":
                self._pair(place)
            else:
                self._found[*place, number] = self._line()
                self._value((*place, number))
                number += 1
        self._at += 1


def line_of(lines: Mapping[Place, int], *place: str | int) -> int:
    """The line of a place, or of the last one on the way to it."""
    return next((lines[place[:at]] for at in range(len(place), 0, -1) if place[:at] in lines), 1)
