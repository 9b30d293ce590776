"""A claims file as it is written; its schema is made of these types. Numbers are the text that the file has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mlsub.io.documents import Form

Words = Annotated[str, Meta(min_length=1, max_length=2000)]
#: A day, YYYY-MM-DD.
Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]

Name = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z_][A-Za-z0-9_]{0,63}$",
        extra_json_schema={"patternErrorMessage": "is not a name; use letters, digits and _, at most 64"},
    ),
]
Number = Annotated[str | float, Meta(description="A number; in quotes it keeps the digits it is written with.")]
Expr = str | float | bool
Basis = Literal["published", "unscaled", "expected", "rcp_mean"]
#: Something that the sentence may say: null where it is noted that it does not.
Said = str | None | UnsetType


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a claims file. A word that is None was left out."""


class Source(_Part, frozen=True, kw_only=True):
    """The document in which claims stand; ``date`` (None if unknown) picks the rules in force."""

    title: Words | None = None
    publisher: Words | None = None
    date: Date | None = None
    file: Words | None = None
    url: Words | None = None
    footnote: Annotated[Words, Meta(description="The document's footnote on results.")] | None = None


SomeSource = Annotated[Source, Meta(extra_json_schema={"minProperties": 1})]


class WrittenResult(_Part, frozen=True, kw_only=True):
    """A published result, by its names or its path."""

    round: Annotated[str | float, Meta(description="The round, such as v1.0.")]
    usage: Literal["training", "hpc", "rehearsal"] = "training"
    submitter: Annotated[Words, Meta(description="The folder of the organisation.")] | None = None
    system: Annotated[Words, Meta(description="The folder below results/.")] | None = None
    benchmark: Annotated[Words, Meta(description="The folder of the benchmark.")] | None = None
    division: Literal["closed", "open"] | None = None
    scaling: (
        Annotated[Literal["strong", "weak"], Meta(description="In HPC: the folder between system and benchmark.")]
        | None
    ) = None
    path: Annotated[Words, Meta(description="The benchmark's folder below a folder of results.")] | None = None
    id: Annotated[Words, Meta(description="The MLPerf result ID.")] | None = None
    reviewed: Annotated[bool, Meta(description="Whether MLCommons reviewed it.")] = True


class InputWords(_Part, frozen=True, kw_only=True):
    """What is said of a number that no log can supply."""

    unit: Words | None = None
    kind: Literal["price", "power", "throughput", "time", "other"] = "other"
    source: Words
    date: Date | None = None


class WrittenInput(InputWords, frozen=True, kw_only=True):
    """A number that no log can supply."""

    value: Number
    plus_minus: (
        Annotated[str | float, Meta(description="The uncertainty, in the unit or as a percentage (5%).")] | None
    ) = None


class Published(_Part, frozen=True, kw_only=True):
    """The score of a result in a published table."""

    minutes: Number
    source: Words


class WrittenReading(_Part, frozen=True, kw_only=True):
    """A reading of a sentence, and what sets it apart from others."""

    expr: Expr
    label: Words | None = None


Readings = Expr | WrittenReading | Annotated[tuple[Expr | WrittenReading, ...], Meta(max_length=50)]


class WrittenStated(_Part, frozen=True, kw_only=True):
    """What a claim states."""

    value: str | float | bool | None = None
    unit: Words | None = None
    wording: Words | None = None
    reading: Literal["reduction", "speedup"] | None = None
    tolerance: (
        Annotated[str | float, Meta(description="In the place of the wording's own, as a percentage.")] | None
    ) = None
    expr: Annotated[Expr | None, Meta(description="What this figure is, where it is not the claim's expr.")] = None


class Says(_Part, frozen=True, kw_only=True):
    """What the sentence and its footnote disclose; null where it says nothing."""

    division: Said = UNSET
    round: str | float | UnsetType | None = UNSET
    benchmark: Said = UNSET
    system: Said = UNSET
    submitter: Said = UNSET
    scenario: Said = UNSET
    ids: Annotated[list[Words], Meta(max_length=100)] | UnsetType = UNSET
    retrieved: Annotated[str | None, Meta(description="Date and source of retrieval.")] | UnsetType = UNSET
    derived_metric_basis: Said = UNSET
    discloses: Annotated[list[Words], Meta(max_length=100)] | UnsetType = UNSET
    reviewed: bool | UnsetType | None = UNSET
    open_difference: Said = UNSET
    composite_method: Said = UNSET


class WrittenStatement(_Part, frozen=True, kw_only=True):
    """One of several statements of the same quantity."""

    claim: Annotated[Words, Meta(description="The id of the claim whose statement is meant.")] | None = None
    value: Number | None = None
    unit: Words | None = None
    wording: Words | None = None
    where: Words | None = None
    file: Words | None = None
    document: Name | None = None


class ClaimWords(_Part, frozen=True, kw_only=True):
    """What a claim says in words."""

    id: Annotated[
        str,
        Meta(
            pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
            extra_json_schema={"patternErrorMessage": "is not an id; use letters, digits, _ . and -, at most 64"},
        ),
    ]
    text: Words | None = None
    where: Words | None = None
    document: Name | None = None
    kind: Words | None = None
    label: Annotated[Words, Meta(description="What sets expr apart from the readings in also.")] | None = None
    unverifiable: Words | None = None
    footnote: Words | None = None
    note: Words | None = None
    proposed: Annotated[
        bool,
        Meta(description="Whether it is proposed and nobody has confirmed it yet: it counts apart."),
    ] = False


class WrittenClaim(ClaimWords, frozen=True, kw_only=True):
    """One claim."""

    source_override: Annotated[Source | None, Meta(extra_json_schema={"minProperties": 1})] = None
    expr: Expr | None = None
    also: Annotated[Readings, Meta(description="Other readings of the same sentence.")] = ()
    nearest: Annotated[Readings, Meta(description="Figures shown for scale, never judged.")] = ()
    stated: (
        WrittenStated
        | Annotated[tuple[WrittenStated, ...], Meta(min_length=1, max_length=20, description="Several figures.")]
        | None
    ) = None
    says: Says = Says()
    basis: Basis | Annotated[tuple[Basis, ...], Meta(min_length=1)] = ()
    context: Annotated[
        Literal["all"] | Annotated[tuple[Words, ...], Meta(max_length=100)],
        Meta(description="What may have changed besides: names of hyperparameters and of fields, or all."),
    ] = ()
    same_quantity: Annotated[tuple[WrittenStatement, ...], Meta(min_length=1, max_length=50)] = ()


class WrittenClaims(_Part, frozen=True, kw_only=True):
    """A document, the results and numbers it speaks of, and its claims."""

    claims_version: Annotated[Any, Meta(description="The version of this format.", extra_json_schema={"const": 1})]
    source: Annotated[SomeSource, Meta(description="The document in which the claims stand.")]
    documents: Annotated[
        dict[Name, SomeSource],
        Meta(max_length=200, description="Further documents by name, for claims that state document: NAME."),
    ] = {}
    results: Annotated[
        dict[Name, WrittenResult],
        Meta(max_length=200, description="Published results by the names that expressions use."),
    ] = {}
    inputs: Annotated[
        dict[Name, WrittenInput], Meta(max_length=200, description="Numbers that no log can supply.")
    ] = {}
    published: Annotated[
        dict[Name, Published],
        Meta(max_length=200, description="Scores in minutes as a published table has them, by the names of results."),
    ] = {}
    values: Annotated[
        dict[Name, Expr], Meta(max_length=100, description="Expressions by name, for use in others.")
    ] = {}
    claims: Annotated[tuple[WrittenClaim, ...], Meta(min_length=1, max_length=1000)]


FORM = Form(
    type=WrittenClaims,
    kind="claims files",
    title="claims.yaml: what was said of published results, for mlsub audit",
    as_written=True,
)


def claims_schema() -> dict[str, Any]:
    """The JSON Schema of claims files, for editors as well."""
    return FORM.schema()
