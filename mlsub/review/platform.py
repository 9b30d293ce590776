"""Whether a log's ``submission_platform`` names the system of its description: by accelerator, then by word."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mlsub.systems.chips import named_in

#: Names come from whoever wrote the file.
_LONGEST = 200
#: How many of something a name begins with: ``1x``, ``8 x``, ``8x8x``.
_COUNT = re.compile(r"(?<![a-z0-9])(?:\d{1,6} ?[x×] ?(?=[a-z0-9]))+")
_TRADEMARK = re.compile(r"\((?:r|tm|c)\)|[®™©]")
_WORD = re.compile(r"[a-z]+\d*[a-z]*|(?<!\d)\d++[a-z]+\d*")


def contradicts(said: str, names: Iterable[str]) -> str | None:
    """What is wrong with a platform beside the names of its system; None where nothing is.

    A platform that names an accelerator must name one of the system's, where the system names one. Any other has to
    have a word in common with one of the names, or contain it, or be contained in it.
    """
    plain, known = _plain(said), [_plain(name) for name in names]
    named = named_in(plain)
    expected = {family for name in known for family in named_in(name)}
    if named and expected:
        return None if named & expected else "submission_platform names another accelerator than the system"
    if any(akin(plain, name) or _words(plain) & _words(name) for name in known):
        return None
    return "submission_platform has no word in common with the system's folder, name, accelerator or processor"


def akin(one: str, other: str) -> bool:
    """Whether one name contains the other, letters and digits only."""
    a, b = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (one, other))
    return bool(a) and bool(b) and (a in b or b in a)


def _plain(name: str) -> str:
    return _COUNT.sub(" ", _TRADEMARK.sub("", name[:_LONGEST].lower())).strip()


def _words(plain: str) -> set[str]:
    """The words of a name that distinguish machines."""
    return {word for word in _WORD.findall(plain) if len(word) > 2}
