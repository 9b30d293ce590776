"""A claims file: what was said of published results. The types are the file's words, and its schema is made of them.

Numbers stay the text that the file has; properties give them as exact fractions. Nothing here has looked at a log.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mlsub.commands.audit import expression as expressions
from mlsub.commands.audit.expression import Node, nodes, parse
from mlsub.commands.audit.sentence import Sentence, read_sentence
from mlsub.commands.audit.wording import ClaimPart, Expr, Stated, Words, number, plus_minus
from mlsub.io.documents import DocumentType

#: A day, YYYY-MM-DD.
Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]

Name = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z_][A-Za-z0-9_]{0,63}$",
        extra_json_schema={"patternErrorMessage": "is not a name; use letters, digits and _, at most 64"},
    ),
]
Id = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
        extra_json_schema={"patternErrorMessage": "is not an id; use letters, digits, _ . and -, at most 64"},
    ),
]
Number = Annotated[str | float, Meta(description="A number; in quotes it keeps the digits it is written with.")]
Basis = Literal["published", "unscaled", "expected", "rcp_mean"]
#: What reading the file adds: it stands in no file.
_ADDED = Meta(extra_json_schema={"readOnly": True})

Usage = Literal["training", "hpc", "rehearsal"]
Division = Literal["closed", "open"]
# The round is text once a file is read.
if TYPE_CHECKING:
    Round = str
else:
    Round = str | float
_SAID = {"type": ["string", "null"]}
#: What earlier versions read and this one ignores, so that their files stay valid.
_IGNORED = Meta(description="Ignored.")
_UNREAD = ("scenario", "ids", "retrieved", "derived_metric_basis", "discloses", "reviewed", "open_difference")
#: What the sentence names; null where it says nothing.
_SAYS: dict[str, Any] = {
    **dict.fromkeys(("division", "benchmark", "system", "submitter"), _SAID),
    "round": {"type": ["string", "number", "null"]},
    **{key: {"description": "Ignored."} for key in (*_UNREAD, "composite_method")},
}
_EXPRESSION = (
    "What the figure is: minutes(r), ratio(a, b), reduction(a, b), chips(r), count('v1.0', 'ACME'); a word such as "
    "fastest, record, first or only needs a condition that is stated as true: rank(r, chips='8') == 1, "
    "count('before v1.0', 'ACME') == 0. docs/claims.md has all functions."
)
_NAMED = Meta(
    description="What the sentence names, where its words alone do not say so; null where it says nothing.",
    extra_json_schema={"properties": _SAYS, "additionalProperties": False},
)


class ClaimSource(ClaimPart, frozen=True, kw_only=True):
    """The document in which claims stand."""

    title: Words | None = None
    publisher: Words | None = None
    date: Date | None = None
    file: Words | None = None
    url: Words | None = None
    footnote: Annotated[Words, _IGNORED] | None = None

    @property
    def words(self) -> str:
        """The source in one line: title, publisher, date."""
        return ", ".join(part for part in (self.title, self.publisher, self.date) if part)


SomeSource = Annotated[ClaimSource, Meta(extra_json_schema={"minProperties": 1})]


class Published(ClaimPart, frozen=True, kw_only=True):
    """The score of a result in a published table."""

    minutes: Number
    source: Words

    @property
    def amount(self) -> Fraction:
        """The score in minutes."""
        return number(str(self.minutes))


class ClaimedResult(ClaimPart, frozen=True, kw_only=True):
    """A published result, by its names or its path: one system × benchmark of a round.

    Once it is read, ``round`` is as in ``1.0``, ``name`` the one that expressions use, and ``published`` the score of a
    table that the file gives.
    """

    round: Annotated[Round, Meta(description="The round, such as v1.0.")]
    usage: Usage = "training"
    submitter: Annotated[Words, Meta(description="The folder of the organisation.")] | None = None
    system: Annotated[Words, Meta(description="The folder below results/.")] | None = None
    benchmark: Annotated[Words, Meta(description="The folder of the benchmark.")] | None = None
    division: Division | None = None
    scaling: (
        Annotated[Literal["strong", "weak"], Meta(description="In HPC: the folder between system and benchmark.")]
        | None
    ) = None
    path: Annotated[Words, Meta(description="The benchmark's folder below a folder of results.")] | None = None
    id: Annotated[Words, Meta(description="The MLPerf result ID.")] | None = None
    reviewed: Annotated[bool, Meta(description="Whether MLCommons has verified it, for its footnote.")] = True
    retrieved: Annotated[Date, Meta(description="The day on which it was retrieved, for its footnote.")] | None = None
    name: Annotated[str, _ADDED] = ""
    published: Annotated[Published | None, _ADDED] = None


class Input(ClaimPart, frozen=True, kw_only=True):
    """A number that no log can supply."""

    value: Number
    plus_minus: (
        Annotated[str | float, Meta(description="The uncertainty, in the unit or as a percentage (5%).")] | None
    ) = None
    unit: Words | None = None
    kind: Literal["price", "power", "throughput", "time", "other"] = "other"
    source: Words
    date: Date | None = None
    name: Annotated[str, _ADDED] = ""

    @property
    def amount(self) -> Fraction:
        """The number in its own unit."""
        return number(str(self.value))

    @property
    def spread(self) -> Fraction:
        """The uncertainty in the number's unit, 0 for none stated."""
        return Fraction(0) if self.plus_minus is None else plus_minus(str(self.plus_minus), self.amount)


class ClaimReading(ClaimPart, frozen=True, kw_only=True):
    """A reading of a sentence, and what sets it apart from others; without a ``label`` the results it names do."""

    expr: Expr
    label: Words | None = None


class Statement(ClaimPart, frozen=True, kw_only=True):
    """One of several statements of the same quantity: a value, or the id of the claim whose statement is meant."""

    claim: Annotated[Words, Meta(description="The id of the claim whose statement is meant.")] | None = None
    value: Number | None = None
    unit: Words | None = None
    wording: Words = "exact"
    where: Words | None = None
    file: Words | None = None
    document: Name | None = None
    line: Annotated[int, _ADDED] = 0

    @property
    def stated(self) -> Stated | None:
        """What it says itself."""
        return None if self.value is None else Stated(value=self.value, unit=self.unit, wording=self.wording)

    @property
    def place(self) -> str:
        """Where it stands."""
        parts = (self.claim, self.document, self.file, self.where)
        return " ".join(part for part in parts if part) or f"line {self.line}"


if TYPE_CHECKING:
    Readings = tuple[ClaimReading, ...]
    Figures = tuple[Stated, ...]
    Texts = tuple[str, ...]
    Bases = tuple[str, ...]
else:
    Readings = Expr | ClaimReading | Annotated[tuple[Expr | ClaimReading, ...], Meta(max_length=50)]
    Figures = Stated | Annotated[tuple[Stated, ...], Meta(max_length=20, description="Several figures.")] | None
    Texts = Literal["all"] | Annotated[tuple[Words, ...], Meta(max_length=100)]
    Bases = Basis | tuple[Basis, ...]


class Claim(ClaimPart, frozen=True, kw_only=True):
    """One claim.

    Once it is read, ``also``, ``nearest``, ``stated``, ``basis`` and ``context`` are tuples, ``text`` is the id where
    there is none, ``source`` is the document it stands in and ``line`` its place in the claims file.
    """

    id: Id
    text: Annotated[Words, Meta(description="What was said, in its own words.")] = ""
    where: Words | None = None
    document: Name | None = None
    kind: Words | None = None
    label: Annotated[Words, Meta(description="What sets expr apart from the readings in also.")] | None = None
    unverifiable: Annotated[Words, Meta(description="Why no log can decide it, in the place of expr.")] | None = None
    footnote: Annotated[Words, _IGNORED] | None = None
    note: Words | None = None
    proposed: Annotated[
        bool,
        Meta(description="Whether it is proposed and nobody has confirmed it yet: it counts apart."),
    ] = False
    source_override: Annotated[ClaimSource | None, Meta(extra_json_schema={"minProperties": 1})] = None
    expr: Annotated[Expr | None, Meta(description=_EXPRESSION)] = None
    also: Annotated[Readings, Meta(description="Other readings of the same sentence.")] = ()
    nearest: Annotated[Readings, Meta(description="Figures shown for scale, never judged.")] = ()
    stated: Figures = ()
    says: Annotated[dict[str, Any], _NAMED] = msgspec.field(default_factory=dict)
    basis: Bases = ()
    context: Annotated[
        Texts, Meta(description="What may have changed besides: names of hyperparameters and of fields, or all.")
    ] = ()
    same_quantity: Annotated[tuple[Statement, ...], Meta(max_length=50)] = ()
    line: Annotated[int, _ADDED] = 0
    source: Annotated[ClaimSource, _ADDED] = ClaimSource()

    @property
    def sentence(self) -> Sentence:
        """The text as it is read."""
        return read_sentence(self.text)

    @property
    def judged(self) -> tuple[ClaimReading, ...]:
        """Every reading of the first figure that is checked against what is stated."""
        return (*((ClaimReading(expr=self.expr, label=self.label),) if self.expr else ()), *self.also)

    @property
    def figure(self) -> Stated | None:
        """The first figure that it states."""
        return next(iter(self.stated), None)

    @property
    def figures(self) -> tuple[Claim, ...]:
        """A claim for each figure that it states, with its expression; ``also`` are readings of the claim's own."""
        found = [
            msgspec.structs.replace(
                self, stated=(one,), expr=one.expr or self.expr, also=() if at and one.expr else self.also
            )
            for at, one in enumerate(self.stated)
        ]
        return tuple(one for at, one in enumerate(found) if not at or one.expr) or (self,)

    @property
    def readings(self) -> tuple[ClaimReading, ...]:
        """Every reading of every figure."""
        return tuple(reading for one in self.figures for reading in one.judged)


class ClaimsFile(ClaimPart, frozen=True, kw_only=True):
    """A document, the results and numbers it speaks of, and its claims.

    Once it is read, each of the ``values`` needs only those before it.
    """

    claims_version: Annotated[Any, Meta(description="The version of this format.", extra_json_schema={"const": 1})]
    source: Annotated[SomeSource, Meta(description="The document in which the claims stand.")]
    documents: Annotated[
        dict[Name, SomeSource],
        Meta(max_length=200, description="Further documents by name, for claims that state document: NAME."),
    ] = msgspec.field(default_factory=dict)
    results: Annotated[
        dict[Name, ClaimedResult],
        Meta(max_length=200, description="Published results by the names that expressions use."),
    ] = msgspec.field(default_factory=dict)
    inputs: Annotated[dict[Name, Input], Meta(max_length=200, description="Numbers that no log can supply.")] = (
        msgspec.field(default_factory=dict)
    )
    published: Annotated[
        dict[Name, Published],
        Meta(max_length=200, description="Scores in minutes as a published table has them, by the names of results."),
    ] = msgspec.field(default_factory=dict)
    values: Annotated[dict[Name, Expr], Meta(max_length=100, description="Expressions by name, for use in others.")] = (
        msgspec.field(default_factory=dict)
    )
    retrieved: Annotated[Date, Meta(description="The day on which all results were retrieved.")] | None = None
    claims: Annotated[tuple[Claim, ...], Meta(min_length=1, max_length=1000)]
    file: Annotated[str, _ADDED] = ""

    def nodes_in(self, root: Node) -> Iterator[Node]:
        """Yield every part of an expression, and then of the values it names."""
        ahead, seen = [root], set[str]()
        while ahead:
            for node in nodes(ahead.pop(0)):
                yield node
                if isinstance(node, expressions.Name) and node.name in self.values and node.name not in seen:
                    seen.add(node.name)
                    ahead.append(parse(self.values[node.name]))

    def nodes_of(self, claim: Claim) -> list[Node]:
        """Return every part of all expressions that are checked against what a claim states."""
        return [node for reading in claim.readings for node in self.nodes_in(parse(reading.expr))]

    def names_in(self, expression: str) -> tuple[str, ...]:
        """Return all names an expression rests on, those behind named values included, in order of appearance."""
        used = self.nodes_in(parse(expression))
        return tuple(dict.fromkeys(node.name for node in used if isinstance(node, expressions.Name)))

    def results_in(self, expression: str) -> tuple[str, ...]:
        """Return the results an expression rests on."""
        return tuple(name for name in self.names_in(expression) if name in self.results)

    def functions_in(self, expression: str) -> set[str]:
        """Return the functions and signs that an expression rests on."""
        return {node.function for node in self.nodes_in(parse(expression)) if isinstance(node, expressions.Call)}

    def inputs_in(self, expression: str) -> tuple[Input, ...]:
        """Return the inputs an expression rests on."""
        return tuple(self.inputs[name] for name in self.names_in(expression) if name in self.inputs)


FORM = DocumentType(
    type=ClaimsFile,
    kind="claims files",
    title="claims.yaml: what was said of published results, for mlsub audit",
    as_written=True,
)
