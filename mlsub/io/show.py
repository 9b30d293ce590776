"""Text from outside: made fit for a message and for a width, its spellings compared, and what is shown together."""

from __future__ import annotations

import io
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import IO, Any, NamedTuple

#: See https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs.
_COMMAND = re.compile(r"(##(?=\[)|(?:^|(?<=\r))[^\S\r\n]*:(?=:))(.)", re.MULTILINE)
#: How a format writes a character that would make a command, with an escape that its readers undo; others have a blank.
_ESCAPES = dict.fromkeys(("json", "jsonl", "sarif", "gitlab"), r"\u{0:04x}")
_ESCAPES |= dict.fromkeys(("html", "svg", "junit"), "&#{0};")
#: Made once: :func:`json.dumps` makes an encoder for each call.
_json = json.JSONEncoder(ensure_ascii=False).encode


def display_path(file: str | os.PathLike[str]) -> str:
    """A file as seen from the current folder: relative where it lies in it or a little above."""
    try:
        relative = os.path.relpath(file)
    except (OSError, ValueError):
        return str(file)
    return relative if relative.count("..") <= 2 else str(file)


def show(value: Any, limit: int = 80) -> str:
    """A value as it stands in the log, shortened."""
    try:
        # Most are numbers, for which an encoder would be made anew.
        text = repr(value) if type(value) is int or (type(value) is float and isfinite(value)) else _json(value)
    except (TypeError, ValueError, RecursionError):
        why = "with too many digits" if isinstance(value, int) else "nested too deeply"
        text = f"a value {why} to show ({type(value).__name__})"
    return shortened(readable(text), limit)


def shortened(text: str, limit: int) -> str:
    """A text of at most so many characters: one that is longer ends in ``…``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def readable(text: str) -> str:
    """Text of a log as it was written.

    Logs are judged in the official parser's reading, which takes each byte for a character; UTF-8 comes out of that
    as two or more odd characters, and goes back here.
    """
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def plain(text: str) -> str:
    """Text from a log or a file name without characters that could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def encodable(text: str) -> str:
    """Text that UTF-8 can hold: halves of surrogate pairs, from file names that are no UTF-8, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def inert(text: str, format_: str = "text") -> str:
    """Text for a stream of which GitHub's runner, where it runs, reads lines as commands: it is kept from that.

    The runner takes ``##[command]`` anywhere in a line, and ``::command::`` at its start, behind blanks. With them, a
    name or a value could add annotations, or end the reading of those that mlsub writes. JSON, HTML and XML have an
    escape for that, other formats get a blank; lines of the format ``github`` are commands, with all else escaped.
    """
    if format_ == "github" or os.environ.get("GITHUB_ACTIONS") != "true":
        return text
    escape = _ESCAPES.get(format_, " {1}")
    return _COMMAND.sub(lambda found: found[1] + escape.format(ord(found[2]), found[2]), text)


def message_line(text: str) -> str:
    """One line beside the answer, on standard error."""
    return inert(plain(text))


def plural(count: int, thing: str, things: str = "") -> str:
    """Return ``1 finding``, ``2 findings``; with both words ``1 entry``, ``2 entries``."""
    return f"{count} {thing if count == 1 else things or f'{thing}s'}"


#: No number of samples, and no time in minutes, is as large.
_ABSURD = 1e13


def rounded(value: float, decimals: int) -> str:
    """A number for people; one that no honest log could give is kept short."""
    return f"{value:.{decimals}f}" if abs(value) < _ABSURD else f"{value:.3g}"


def utc(time_ms: float | None) -> datetime | None:
    """A time in milliseconds since 1970; None for one that no calendar has."""
    try:
        return None if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def in_digits(value: float, most: int = 6) -> str:
    """A number for people: of thousands no fractions, of smaller ones so many digits."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.{most}g}"


def first_few(names: Iterable[str], most: int = 10, thing: str = "") -> str:
    """Return names for a sentence: ``a, b and 3 more``, or with a thing ``a, b and 3 more rules``."""
    known = list(names)
    left = len(known) - most
    more = f" and {plural(left, f'more {thing}') if thing else f'{left} more'}" if left > 0 else ""
    return f"{', '.join(known[:most])}{more}"


def join_words(names: Iterable[str], last: str = "and") -> str:
    """Return all of some names for a sentence: ``a, b and c``, or with another word before the last."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def several(names: Sequence[str], most: int) -> str:
    """Return the first of some names for a finding, and ``…`` where there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def tolerate(stream: IO[str]) -> None:
    """Let an output that knows few characters cost those characters, never the answer."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


#: Names come from whoever wrote a file; what is cut off could make no difference.
LONGEST = 200
_SIGNS = re.compile(r"[™®©]|\((?:tm|r|c)\)|&trade;|&reg;", re.IGNORECASE)
_GAPS = re.compile(r"[\s\-‐‑–_]+")


def flat(text: str) -> str:
    """A text in small letters without trademark signs; hyphens are blanks and blanks single."""
    return small(spaced(text))


def small(text: str) -> str:
    """A text in small letters, each in its place: İ alone would become two characters."""
    return text.replace("İ", "i").lower()


def spaced(text: str) -> str:
    """The same in the letters that it is written in."""
    return _GAPS.sub(" ", _SIGNS.sub("", text.replace("’", "'"))).strip()


def folded(path: str) -> str:
    """A path without what file systems may ignore: case, the form of accents (NFC, NFD) and invisible characters."""
    if path.isascii():
        return path.lower()
    small = unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())
    return "".join(character for character in small if unicodedata.category(character) != "Cf")


def squeezed(text: str) -> str:
    """Return the letters and digits of a name, in lower case, for comparison."""
    return "".join(char for char in text[:80].lower() if char.isalnum())


def same_name(text: str, known: Iterable[str], aliases: Mapping[str, str]) -> str | None:
    """Return the known name that a text is, however its words are joined and capitalised; None for another.

    ``aliases`` has other names, squeezed, and the known ones that they stand for.
    """
    names = {squeezed(name): name for name in known}
    wanted = squeezed(text)
    other = aliases.get(wanted, "")
    return other if other in names.values() else names.get(wanted)


def likely_name(text: str, known: Sequence[str], aliases: Mapping[str, str]) -> str | None:
    """Return the known name that a text is or is a misspelling of; None where that is not certain enough for advice.

    Names that differ in a digit are different names, and so are short ones with digits that differ in a letter, such
    as bf16 and fp16. ``aliases`` are those of :func:`same_name`.
    """
    from difflib import get_close_matches

    wanted = squeezed(text)
    digits = re.sub(r"\D", "", wanted)
    alike = {short: name for name in known if re.sub(r"\D", "", short := squeezed(name)) == digits}
    close = get_close_matches(wanted, alike, n=1, cutoff=0.85 if digits else 0.75)
    return same_name(text, known, aliases) or (alike[close[0]] if close else None)


class Spellings(NamedTuple):
    """Spellings as one pattern over a flat text, and what each may mean."""

    pattern: re.Pattern[str]
    meanings: dict[str, frozenset[str]]

    def find(self, text: str) -> Iterator[tuple[re.Match[str], frozenset[str]]]:
        """The names in a text, the longest at each place, each with everything that it may mean."""
        for match in self.pattern.finditer(flat(text)):
            yield match, self.meanings[match[1]]


def spellings(pairs: Iterable[tuple[str, Iterable[str]]]) -> Spellings:
    """A pattern of spellings, each with what it may mean; a plural s may follow."""
    meanings: dict[str, frozenset[str]] = {}
    for spelled, values in pairs:
        meanings[flat(spelled)] = meanings.get(flat(spelled), frozenset()) | frozenset(values)
    longest = sorted(meanings, key=lambda one: (-len(one), one))
    return Spellings(re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest))})s?(?!\w)"), meanings)


#: Where a long word may break: behind one of these.
_SEAMS = "/_,=-"
_PART = re.compile(f"[^ {_SEAMS}]*[{_SEAMS}]?")


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


def shorten_apart(texts: Sequence[str], width: int) -> list[str]:
    """Texts that fit, with ``…`` where what is left tells most of them apart, as near the middle as may be."""
    found = [shorten(text, width) for text in texts]
    for tail in sorted(range(width), key=lambda tail: abs(tail - (width - 1) // 2)):
        if len(set(found)) == len(set(texts)):
            break
        found = max(found, [shorten(text, width, tail) for text in texts], key=lambda shown: len(set(shown)))
    return found


def shorten(text: str, width: int, tail: int | None = None) -> str:
    """A text that fits: whole, or with ``…`` in the place of its middle, or before its ``tail``."""
    if cells(text) <= width:
        return text
    tail = (width - 1) // 2 if tail is None else tail
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
            found.append((start, start + len(text[start:gap].rstrip())))
            start = gap + 1
        else:
            # A long word breaks behind the last sign of the line, or where the line ends if it has none.
            end = next((at for at in range(end, start + 1, -1) if text[at - 1] in _SEAMS), end)
            found.append((start, end))
            start = end
        while start < len(text) and text[start] == " ":
            start += 1
        width = later
    if start < len(text) or not found:
        found.append((start, len(text)))
    return found


def longest_part(text: str) -> int:
    """How wide the widest part of a text is that is not broken."""
    return max(map(cells, _PART.findall(text)))
