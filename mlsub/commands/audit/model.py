"""What a claims file says, in immutable terms; nothing here has looked at a log."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mlsub.commands.audit.expression import Expression

Words = Annotated[str, Meta(min_length=1, max_length=2000)]
#: A day, YYYY-MM-DD.
Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document in which claims stand; ``date`` (None if unknown) picks the rules in force."""

    title: Words | None = None
    publisher: Words | None = None
    date: Date | None = None
    file: Words | None = None
    url: Words | None = None
    footnote: Annotated[Words, Meta(description="The document's footnote on results.")] | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A published result that expressions name: one system × benchmark of a round.

    ``round`` is written as in ``1.0``. ``path`` is the benchmark's folder below the folders of results, in the place of
    the names. ``published`` is the score in minutes that a table of the user's own gives, with ``published_source``.
    """

    name: str
    round: str
    line: int
    usage: str = "training"
    submitter: str | None = None
    system: str | None = None
    benchmark: str | None = None
    division: str | None = None
    scaling: str | None = None
    path: str | None = None
    id: str | None = None
    reviewed: bool = True
    published: Fraction | None = None
    published_source: str | None = None


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """A number that no log can supply. ``plus_minus`` is its uncertainty in its own ``unit``, 0 for none stated.

    ``kind`` says what it is: ``price``, ``power``, ``throughput``, ``time`` or ``other``.
    """

    name: str
    value: Fraction
    line: int
    unit: str | None = None
    kind: str = "other"
    source: str
    date: str | None = None
    plus_minus: Fraction = Fraction(0)
    written: str = ""

    @property
    def low(self) -> Fraction:
        """The least it may be."""
        return self.value - self.plus_minus

    @property
    def high(self) -> Fraction:
        """The most it may be."""
        return self.value + self.plus_minus


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim states: a number, or a truth.

    ``step`` is one unit in the last digit that is written: 1/10 for ``14.5``. ``reading`` tells what a percentage of
    time is: ``reduction`` or ``speedup``, None where the sentence leaves it open. ``tolerance`` replaces the wording's.
    """

    value: Fraction | bool
    written: str
    step: Fraction = Fraction(1)
    unit: str | None = None
    wording: str = "exact"
    reading: str | None = None
    tolerance: Fraction | None = None
    line: int = 0


class Reading(msgspec.Struct, frozen=True):
    """An expression and what distinguishes it; ``label`` is None where the results named tell."""

    expr: Expression
    label: str | None = None


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One of several statements of the same quantity: where it stands, and what it says.

    ``claim`` is the id of the claim whose ``stated`` is meant, None for a statement of its own.
    """

    stated: Stated | None = None
    claim: str | None = None
    where: str | None = None
    line: int = 0


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One claim.

    ``expr`` is what it comes to, ``also`` other readings of the sentence, from which ``label`` tells it; ``nearest``
    are figures shown beside it and never judged. ``says`` is what the sentence discloses, by the words
    of :class:`~mlsub.commands.audit.written.Says`.
    ``unverifiable`` is the reason why no log can decide it. ``basis`` are the bases that decide, empty for the usual.
    ``context`` names what may have changed besides, ``("all",)`` for everything. ``document`` is the name of its source
    among the documents.
    """

    id: str
    text: str
    line: int
    source: Source
    document: str | None = None
    where: str | None = None
    kind: str | None = None
    expr: Expression | None = None
    label: str | None = None
    also: tuple[Reading, ...] = ()
    nearest: tuple[Reading, ...] = ()
    stated: Stated | None = None
    says: dict[str, Any] = {}
    basis: tuple[str, ...] = ()
    unverifiable: str | None = None
    context: tuple[str, ...] = ()
    same_quantity: tuple[Statement, ...] = ()
    footnote: str | None = None
    note: str | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Every expression whose value is asked for."""
        readings = (*self.also, *self.nearest)
        return (*((self.expr,) if self.expr else ()), *(reading.expr for reading in readings))


class Value(msgspec.Struct, frozen=True):
    """A named expression, for others to use."""

    name: str
    expr: Expression
    line: int


class ClaimsFile(msgspec.Struct, frozen=True, kw_only=True):
    """A claims file. ``values`` are in an order in which each needs only those before it."""

    file: Path
    source: Source
    documents: dict[str, Source] = {}
    results: dict[str, Result] = {}
    inputs: dict[str, Input] = {}
    values: dict[str, Value] = {}
    claims: tuple[Claim, ...] = ()
