"""The registry of names: processors, accelerators, interconnects and frameworks in the spelling to use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache

import msgspec

from mlsub.io.data import shipped
from mlsub.systems.chips import models

#: No name is longer; what is cut off could make no difference.
_LONGEST = 200
_NOISE = re.compile(r"\((?:R|TM|C)\)|\s@\s.*$|\sCPU\b|\s\d+-Core Processor\b|\s\(\d+ ?W\)$|\sProcessor$", re.IGNORECASE)


class Name(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to one name beside its spelling; see names.yaml."""

    prints: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    facts: dict[str, str] = {}
    package: str | None = None


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The names of one kind, by the spelling to use."""

    fields: tuple[str, ...]
    whole: bool
    names: dict[str, Name] = {}
    case: bool = False

    @cached_property
    def written(self) -> dict[str, tuple[str, bool]]:
        """Each way to write a name: the spelling to use, and whether it is this one, or as tools print it."""
        found: dict[str, tuple[str, bool]] = {}
        for name, info in self.names.items():
            for right, known in ((True, (name, *info.prints)), (False, info.also)):
                for one in known:
                    found.setdefault(_plain(one), (name, right))
        return found


class Spelling(msgspec.Struct, frozen=True):
    """A name in another spelling: the field, what it says, and the spelling to use."""

    field: str
    found: str
    name: str


class Registry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every name there is."""

    processors: Kind
    accelerators: Kind
    interconnects: Kind
    frameworks: Kind
    sockets: dict[str, int]
    slips: dict[str, str]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of name."""
        return (self.processors, self.accelerators, self.interconnects, self.frameworks)


@cache
def registry() -> Registry:
    """The registry; the names of accelerators are those of the table of accelerators."""
    found = shipped(__file__, "names.yaml", Registry)
    accelerators = msgspec.structs.replace(found.accelerators, names=msgspec.convert(models(), dict[str, Name]))
    return msgspec.structs.replace(found, accelerators=accelerators)


def find(kind: Kind, text: str) -> str | None:
    """The spelling to use of a name, whether it is written as tools print it or otherwise; None for an unknown name."""
    name, _ = kind.written.get(_plain(text), (None, False))
    return name


def normalised(kind: Kind, text: str) -> str:
    """The spelling to use of a name; an unknown one without trademarks and what else tools add."""
    return find(kind, text) or _clean(text)


def suggestion(kind: Kind, text: str) -> str | None:
    """The known name that an unknown one is probably a misspelling of.

    Only its longer words may be misspelt: models that differ in a digit or a letter are different models.
    """
    wanted = _plain(text)
    known = {_plain(name): name for name in kind.names}
    if wanted in known:
        return None
    close = get_close_matches(wanted, known, n=5, cutoff=0.8)
    return next((known[name] for name in close if _misspelt(wanted.split(), name.split())), None)


def _misspelt(words: list[str], meant: list[str]) -> bool:
    """Whether words are others only because of typing errors in long ones that are letters alone."""
    return len(words) == len(meant) and all(
        word == other or (_is_long(word) and _is_long(other) and bool(get_close_matches(word, [other], cutoff=0.7)))
        for word, other in zip(words, meant, strict=True)
    )


def _is_long(word: str) -> bool:
    return len(word) >= 4 and word.isalpha()


def spellings(field: str, text: str) -> Iterator[Spelling]:
    """The names in a field that are spelled otherwise than they should be."""
    for kind in _kinds().get(field, ()):
        yield from (_whole if kind.whole else _within)(kind, field, text[:_LONGEST])


@cache
def _kinds() -> dict[str, list[Kind]]:
    """The kinds of name that a field may hold."""
    fields = dict.fromkeys(field for kind in registry().kinds for field in kind.fields)
    return {field: [kind for kind in registry().kinds if field in kind.fields] for field in fields}


def slips(text: str) -> list[tuple[str, str]]:
    """The known typing errors in a text, each with what was meant."""
    return [
        (slip, meant)
        for slip, meant in registry().slips.items()
        if slip in text and _word(slip, re.NOFLAG).search(text[:2000])
    ]


def _whole(kind: Kind, field: str, text: str) -> Iterator[Spelling]:
    name, right = kind.written.get(_plain(text)) or (suggestion(kind, text), False)
    if name is not None and not right:
        yield Spelling(field, text, name)


def _within(kind: Kind, field: str, text: str) -> Iterator[Spelling]:
    # Where case is that of ASCII letters, most names are ruled out without a pattern.
    lower = text.lower() if text.isascii() else None
    for name, info in kind.names.items():
        for known in (name, *info.also) if kind.case else info.also:
            if lower is not None and known.lower() not in lower:
                continue
            match = _word(known, re.IGNORECASE).search(text)
            if match is not None and match[0] != name:
                yield Spelling(field, match[0], name)


@lru_cache(maxsize=256)
def _word(text: str, flags: int) -> re.Pattern[str]:
    """The text as a word of its own: no part of an address, a package's name or a longer word."""
    return re.compile(rf"(?<![\w/.@-]){re.escape(text)}(?![\w/@-]|\.\w)", flags)


def _clean(text: str) -> str:
    """A name without trademarks and what tools add of clock, cores and power."""
    return " ".join(_NOISE.sub("", text[:_LONGEST]).split())


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """The same for comparison: case never counts, nor whether words are joined by a blank or a hyphen."""
    return _clean(text).lower()
