"""Words in a text: names of benchmarks and systems, however they are spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from mlsub.canon.spelling import flat
from mlsub.io.data import shipped
from mlsub.io.show import plain

#: A quotation is no longer.
_LONGEST = 60


class Names(msgspec.Struct, frozen=True):
    """How a benchmark is called: ``task`` is its name, ``model`` what may stand for it in the Closed division."""

    task: tuple[str, ...]
    model: tuple[str, ...]


def names() -> dict[str, Names]:
    """The names of every benchmark, by the name of its folder."""
    return shipped(__file__, "names.yaml", dict[str, Names])


@lru_cache(maxsize=8)
def flat_document(text: str | None) -> str:
    """A whole document, flat; kept, as every claim in it asks for it again."""
    return flat(text or "")


@lru_cache(maxsize=4096)
def document_mentions(text: str | None, wanted: tuple[str, ...]) -> bool:
    """Whether a whole document has one of some names."""
    return mentions(flat_document(text), wanted)


def squashed(text: str) -> str:
    """Letters and digits alone, small: ``DGX A100`` and ``dgxa100_`` alike."""
    return "".join(c for c in text.lower() if c.isalnum())


@lru_cache(maxsize=8)
def squashed_document(text: str | None) -> str:
    """A whole document, squashed; kept as well."""
    return squashed(text or "")


def mentions(text: str, wanted: Iterable[str]) -> bool:
    """Whether a text that is flat already has one of some names, as words of their own."""
    return any(re.search(rf"(?<!\w){re.escape(flat(name))}(?!\w)", text) for name in wanted)


def benchmark_words(benchmark: str) -> tuple[str, ...]:
    """All names of a benchmark, the folder's among them."""
    known = names().get(benchmark)
    return (*known.task, *known.model, benchmark) if known else (benchmark,)


def any_benchmark(text: str) -> bool:
    """Whether a text that is flat already names a benchmark at all."""
    return any(mentions(text, (*known.task, *known.model)) for known in names().values())


def quote(text: str) -> str:
    """A short quotation, safe to print."""
    text = plain(" ".join(text.split()))
    return f"“{text}”" if len(text) <= _LONGEST else f"“{text[:_LONGEST].rstrip()}…”"


def enumerated(things: Iterable[str], last: str = "and") -> str:
    """``a, b and c``."""
    *first, end = list(things)
    return f"{', '.join(first)} {last} {end}" if first else end
