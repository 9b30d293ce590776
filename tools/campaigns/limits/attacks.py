"""Texts on which a regular expression takes long if it ever does, made of the expression itself.

An expression takes more than linear time where one text can be read in many ways and then is refused, or where a search
reads much from each of many places. So the texts repeat what a repetition repeats, and what leads to it, and end in
something that does not fit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

#: From so many repetitions on, a repetition counts as long.
LONG = 8
_COMMON = 'a0 -_.,:/"([<\n'
_CLASSES = {
    codes.CATEGORY_DIGIT: "0",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: " ",
}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def attacks(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[tuple[str, str, str]]:
    """Texts as (beginning, what is repeated, end), each once."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(text, pattern.flags & ~re.UNICODE)
    if not any(_repetitions(tree, "")):
        # So much is read from each place of a text, and no more.
        return []
    found: list[tuple[str, str, str]] = []
    for lead, body in dict.fromkeys(_repetitions(tree, "")):
        for end in ("", "\0"):
            found += [(lead, body, end), ("", lead + body, end)]
    for lead in itertools.islice(dict.fromkeys(_leads(tree)), 40):
        found += [("", lead, ""), ("", lead, "\0")]
    found += [("", one, "\0") for one in _COMMON]
    return [attack for attack in dict.fromkeys(found) if attack[1]]


def _fitting(allowed: list[Any]) -> list[str]:
    """Characters of a class: one of each of its parts."""
    if allowed and allowed[0][0] is codes.NEGATE:
        return [one for one in "a0 -\"'.,(<[{\0" if not any(_is_in(one, part) for part in allowed[1:])][:4] or ["a"]
    found = []
    for kind, value in allowed:
        code = value if kind is codes.LITERAL else value[0] if kind is codes.RANGE else None
        found.append(_CLASSES.get(value, "a") if code is None else chr(code))
    return list(dict.fromkeys(found))[:8]


def _is_in(one: str, part: Any) -> bool:
    kind, value = part
    if kind is codes.RANGE:
        return bool(value[0] <= ord(one) <= value[1])
    return bool(value == ord(one)) if kind is codes.LITERAL else _CLASSES.get(value) == one


def _samples(tree: Any, most: int = 4) -> list[str]:
    """Texts that a part of an expression reads: a few, short ones."""
    made = [""]
    for kind, value in tree:
        parts = _of_node(kind, value, most)
        made = [before + part for before, part in itertools.islice(itertools.product(made, parts), most * 4)][:most]
    return made


def _of_node(kind: Any, value: Any, most: int) -> list[str]:
    if kind is codes.LITERAL:
        return [chr(value)]
    if kind in (codes.ANY, codes.NOT_LITERAL):
        return ["b" if kind is codes.NOT_LITERAL and value == ord("a") else "a"]
    if kind is codes.IN:
        return _fitting(value)[:most]
    if kind in _REPEATS:
        return [one * max(value[0], 1) for one in _samples(value[2], most)] + ([""] if value[0] == 0 else [])
    if kind is codes.BRANCH:
        return [text for branch in value[1] for text in _samples(branch, 1)][: most * 2]
    if kind in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
        return _samples(_children(kind, value)[0], most)
    return [""]


def _children(kind: Any, value: Any) -> list[Any]:
    """The expressions within a part."""
    if kind is codes.BRANCH:
        return list(value[1])
    if kind is codes.ATOMIC_GROUP:
        return [value]
    places = {**dict.fromkeys(_REPEATS, 2), codes.SUBPATTERN: 3, codes.ASSERT: 1, codes.ASSERT_NOT: 1}
    return [value[places[kind]]] if kind in places else []


def _repetitions(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Each long repetition: a text that leads to it, and one that it repeats."""
    for place, (kind, value) in enumerate(tree):
        lead = before + _samples(tree[:place], 1)[0]
        if kind in _REPEATS and value[1] >= LONG:
            for body in _samples(value[2]):
                yield lead, body
            # Also what the repetition and all behind it read, as where one of two neighbours can take the text of both.
            for behind in _samples(tree[place + 1 :], 1):
                yield lead, _samples(value[2], 1)[0] + behind
        for child in _children(kind, value):
            yield from _repetitions(child, lead)


def _leads(tree: Any) -> Iterator[str]:
    """What an expression reads up to each of its places, from its beginning."""
    for place in range(1, len(tree) + 1):
        yield from (text for text in _samples(tree[:place]) if text)
    for kind, value in tree:
        for child in _children(kind, value):
            yield from _leads(child)
