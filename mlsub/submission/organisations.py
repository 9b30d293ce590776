"""Organisations: krai is Krai, QCT is Quanta Cloud Technology, and Azure-HazyResearch is two of them together."""

from __future__ import annotations

from functools import lru_cache

from mlsub.io.data import shipped
from mlsub.io.show import LONGEST, Spellings, flat, spellings


@lru_cache(maxsize=1)
def organisations() -> dict[str, tuple[str, ...]]:
    """The spellings of each organisation, by its name."""
    return shipped(__file__, "organisations.yaml", dict[str, tuple[str, ...]])


@lru_cache(maxsize=1)
def spelled() -> Spellings:
    """The organisations by their spellings."""
    return spellings((text, [name]) for name, texts in organisations().items() for text in texts)


@lru_cache(maxsize=1024)
def organisation(name: str) -> str:
    """The name of an organisation, for the name of its folder or what a file says; several are joined with ``+``.

    A name with parts that are not organisations stays as it is: ``Umbrella Computing`` is not known here.
    """
    text = name[:LONGEST]
    found = [(match, values) for match, values in spelled().found(text) if len(values) == 1]
    rest = flat(text)
    for match, _ in reversed(found):
        rest = rest[: match.start()] + rest[match.end() :]
    if not found or any(letter.isalnum() for letter in rest.replace(" and ", " ")):
        return _in_full(text) or name
    return "+".join(dict.fromkeys(value for _, values in found for value in values))


def _in_full(text: str) -> str | None:
    """The one organisation that a longer name begins with, such as one with its department behind it."""
    match = spelled().pattern.match(flat(text))
    values = spelled().meanings[match[1]] if match else frozenset()
    rest = flat(text)[match.end() :] if match else ""
    return next(iter(values)) if len(values) == 1 and rest.startswith(_DEPARTMENTS) else None


#: What may follow the name of an organisation without making it another one.
_DEPARTMENTS = (" research", " university", " system", " inc", " corporation", " corp", " ltd", " labs", " laborator")
