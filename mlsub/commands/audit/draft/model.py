"""What a document says in figures, and what is proposed of it, in immutable terms."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.present.envelope import Answer


class Sentence(msgspec.Struct, frozen=True):
    """A sentence, an item or a row of a table in one line, hyphens as blanks; ``line`` is where it begins.

    ``section`` counts the headings above it, of which it may be one itself.
    """

    text: str
    line: int
    section: int = 0
    heading: bool = False


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number that a sentence states: ``start`` and ``end`` are its place there, wording and unit among it.

    ``kind`` is one of words.yaml: time, ratio, percent, systems, results, benchmarks, ids, price, throughput, count.
    """

    kind: str
    value: str
    unit: str | None = None
    wording: str | None = None
    start: int
    end: int
    ids: tuple[str, ...] = ()


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a document as a proposed claim.

    ``expr`` is null where it could not be matched, which ``reason`` explains, and where no results were given;
    ``also`` are other readings. ``results`` are those of the expressions by their names in the file, ``selectors`` the
    names by which results are chosen. ``verdict`` and ``figures`` are what the logs give, where they were given.
    """

    id: str
    line: int
    text: str
    stated: str | None
    kind: str
    expr: str | None = None
    also: tuple[str, ...] = ()
    reason: str | None = None
    selectors: dict[str, str] = {}
    results: tuple[str, ...] = ()
    verdict: str | None = None
    figures: tuple[str, ...] = ()

    @property
    def matched(self) -> bool:
        """Whether it says what it is checked against, or would be if results were given."""
        return self.reason is None


class Draft(Answer, frozen=True, kw_only=True):
    """A claims file proposed from a document.

    ``sentences`` counts those with figures, ``proposed`` the figures with a proposal and ``unmatched`` those without;
    ``claims`` has them all in the order of the document. ``file`` is the text of the claims file.
    """

    SCHEMA: ClassVar[int] = 1

    document: str
    sentences: int
    proposed: int
    unmatched: int
    claims: tuple[Proposal, ...]
    file: str

    @property
    def summary(self) -> str:
        """How many figures have a proposal."""
        return counted(self.sentences, self.proposed, self.unmatched)


def counted(sentences: int, proposed: int, unmatched: int) -> str:
    """How many figures have a proposal, and how many have not."""
    return f"{sentences} sentence{'s' * (sentences != 1)} with figures: {proposed} proposed, {unmatched} not matched"
