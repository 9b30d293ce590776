"""How spellings are compared: small letters, blanks for hyphens and underscores, no trademark signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

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


class Spellings(msgspec.Struct, frozen=True):
    """Spellings as one pattern over a flat text, and what each may mean."""

    pattern: re.Pattern[str]
    meanings: dict[str, frozenset[str]]

    def found(self, text: str) -> Iterator[tuple[re.Match[str], frozenset[str]]]:
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
