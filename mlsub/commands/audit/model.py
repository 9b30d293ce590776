"""What a claims file says, in immutable terms; nothing here has looked at a log."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from mlsub.commands.audit.expression import Expression
from mlsub.commands.audit.written import ClaimWords, InputWords, Source, WrittenResult
from mlsub.present.envelope import EXACT

if TYPE_CHECKING:
    Figure = Fraction | bool
else:
    #: msgspec has no unions with a type that JSON lacks, so their schema is written out.
    Figure = Annotated[Any, Meta(extra_json_schema={"anyOf": [EXACT, {"type": "boolean"}]})]


class Result(WrittenResult, frozen=True, kw_only=True):
    """A published result that expressions name: one system × benchmark of a round.

    ``round`` is written as in ``1.0``. ``path`` is the benchmark's folder below the folders of results, in the place of
    the names. ``published`` is the score in minutes that a table of the user's own gives, with ``published_source``.
    """

    name: str
    round: str
    line: int
    published: Fraction | None = None
    published_source: str | None = None


class Input(InputWords, frozen=True, kw_only=True):
    """A number that no log can supply. ``plus_minus`` is its uncertainty in its own ``unit``, 0 for none stated."""

    name: str
    value: Fraction
    plus_minus: Fraction
    line: int

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

    ``step`` is one unit in the last digit that is written: 1/10 for ``14.5``. ``reading`` says what a percentage of
    time is: ``reduction`` or ``speedup``, None where the sentence leaves it open. ``tolerance`` replaces the wording's.
    ``from_words``: the wording itself is the figure, such as half.
    """

    value: Figure
    written: str
    step: Fraction
    unit: str | None = None
    wording: str = "exact"
    reading: str | None = None
    tolerance: Fraction | None = None
    from_words: bool = False
    line: int = 0

    @property
    def words(self) -> str:
        """What is stated in its own words: ``over 5 x``."""
        wording = "" if self.wording == "exact" else f"{self.wording} "
        unit = "" if self.unit is None else self.unit if self.unit in ("x", "%") else f" {self.unit}"
        return f"{wording}{self.written}{unit}"


class Reading(msgspec.Struct, frozen=True):
    """An expression and what distinguishes it; ``label`` is None where the results it names do."""

    expr: Expression
    label: str | None = None


class Further(msgspec.Struct, frozen=True, kw_only=True):
    """Another figure that a claim states, with what it is."""

    expr: Expression
    stated: Stated
    also: tuple[Reading, ...] = ()


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One of several statements of the same quantity: where it stands, and what it says.

    ``claim`` is the id of the claim whose ``stated`` is meant, None for a statement of its own.
    """

    stated: Stated | None = None
    claim: str | None = None
    where: str | None = None
    line: int = 0


class Claim(ClaimWords, frozen=True, kw_only=True):
    """One claim.

    ``expr`` is the figure that it is about, ``also`` are other readings of the sentence, which ``label`` sets it apart
    from; ``further`` are the other figures that it states. ``nearest`` are figures shown beside it and never judged.
    ``says`` is what the sentence discloses. ``unverifiable`` is the reason why no log can decide it. ``basis`` are the
    bases that decide, empty for the usual. ``context`` names what may have changed besides, ``("all",)`` for all of it.
    """

    text: str
    line: int
    source: Source
    expr: Expression | None = None
    also: tuple[Reading, ...] = ()
    nearest: tuple[Reading, ...] = ()
    stated: Stated | None = None
    further: tuple[Further, ...] = ()
    says: dict[str, Any] = msgspec.field(default_factory=dict)
    basis: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    same_quantity: tuple[Statement, ...] = ()

    @property
    def judged(self) -> tuple[Reading, ...]:
        """Every reading that is checked against what is stated."""
        return (*((Reading(self.expr, self.label),) if self.expr else ()), *self.also)

    @property
    def figures(self) -> tuple[Claim, ...]:
        """A claim for each figure that it states."""
        first = msgspec.structs.replace(self, further=())
        others = (
            msgspec.structs.replace(first, expr=one.expr, stated=one.stated, also=one.also) for one in self.further
        )
        return (first, *others)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Every reading of every figure."""
        return tuple(reading for one in self.figures for reading in one.judged)


class ClaimsFile(msgspec.Struct, frozen=True, kw_only=True):
    """A claims file. ``values`` are named expressions, in an order in which each needs only those before it."""

    file: Path
    source: Source
    documents: dict[str, Source] = {}
    results: dict[str, Result] = {}
    inputs: dict[str, Input] = {}
    values: dict[str, Expression] = {}
    claims: tuple[Claim, ...] = ()

    def names_in(self, expression: Expression) -> tuple[str, ...]:
        """All names an expression rests on, those behind named values included, in order of appearance."""
        found: dict[str, None] = {}
        ahead = [name.name for name in expression.names]
        while ahead:
            name = ahead.pop(0)
            if name not in found:
                found[name] = None
                if name in self.values:
                    ahead.extend(one.name for one in self.values[name].names)
        return tuple(found)

    def results_in(self, expression: Expression) -> tuple[str, ...]:
        """The results an expression rests on."""
        return tuple(name for name in self.names_in(expression) if name in self.results)

    def inputs_in(self, expression: Expression) -> tuple[Input, ...]:
        """The inputs an expression rests on."""
        return tuple(self.inputs[name] for name in self.names_in(expression) if name in self.inputs)
