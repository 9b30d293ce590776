"""Files of benchmark records: what they say, and everything that is wrong with one. None of it is an MLPerf result.

The schema of a file is made of these types.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date as Day  # noqa: N812  (a field is called date)
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mlsub.io.documents import Form, read_document
from mlsub.io.problems import meant
from mlsub.io.read import Tree

Name = Annotated[
    str,
    Meta(
        pattern="^[a-z0-9][a-z0-9.-]*$",
        max_length=80,
        extra_json_schema={"patternErrorMessage": "is not a name; use small letters, digits, dots and hyphens"},
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=200)]
Notes = Annotated[str, Meta(max_length=1000)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s]+$", max_length=2000)]
Round = Annotated[
    str, Meta(pattern=r"^[0-9]+\.[0-9]+$", extra_json_schema={"patternErrorMessage": 'is not a round, such as "1.1"'})
]
ResultId = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]+\.[0-9]+-[0-9]+$", extra_json_schema={"patternErrorMessage": "is not an ID, such as 1.1-2088"}
    ),
]
Precision = Annotated[
    str,
    Meta(
        pattern=r"^((4|8|16|32|64)\.(4|8|16|32|64)|mixed|int4|int8|fp8|fp16|bf16|tf32|fp32|fp64)$",
        description="X.Y: bits of activations and gradients, bits of weights. In quotes: YAML reads 16.16 as a number.",
        extra_json_schema={
            "patternErrorMessage": "is not a precision; use X.Y in quotes (bits of activations and gradients, of "
            "weights), mixed, int8, fp32 and the like"
        },
    ),
]
BatchSize = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Amount = Annotated[float, Meta(gt=0, le=1e15)]
Stated = Annotated[
    str, Meta(min_length=1, max_length=40, description="The figure as the document writes it, such as 58,112 or >60x.")
]
Bound = Annotated[
    Literal["exact", "about", "over", "under"],
    Meta(description="Whether the figure is the value, near it, above it or below it."),
]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a file of records."""


class Document(_Part, frozen=True, kw_only=True):
    """Where figures come from. ``date`` is None where the document has none and nobody else dates it."""

    title: Text
    publisher: Text
    date: Day | None = None
    url: Url | None = None
    notes: Notes | None = None


class Source(_Part, frozen=True, kw_only=True):
    """A place in a document: the 1-based line of its plain text, or a table or chart by its name."""

    document: Annotated[Name, Meta(description="One of the documents above.")]
    line: Annotated[int, Meta(ge=1, le=10_000_000, description="Of the document's plain text.")] | None = None
    table: Annotated[Text, Meta(description="A table or chart, by its heading.")] | None = None


#: A source names at least one of the two.
Place = Annotated[Source, Meta(extra_json_schema={"anyOf": [{"required": ["line"]}, {"required": ["table"]}]})]


class Fact(_Part, frozen=True, kw_only=True):
    """A figure about a system: how many accelerators, its list price. ``stated`` is the figure as it is written."""

    fact: Annotated[
        Literal[
            "accelerators",
            "machines",
            "servers",
            "processors-per-server",
            "rack-units",
            "list-price",
            "peak-performance",
        ],
        Meta(description="machines are the boxes with accelerators, servers those without."),
    ]
    value: Amount
    unit: Text
    bound: Bound = "exact"
    stated: Stated
    source: Place


class Submitted(_Part, frozen=True, kw_only=True):
    """The MLPerf results of a system in a round of training: those in the folder of that name."""

    round: Round
    organisation: Annotated[Text, Meta(description="The name of its folder.")]
    system: Annotated[Text, Meta(description="The name of its folder.")]


class System(_Part, frozen=True, kw_only=True):
    """A system that records name, what documents say of it, and the MLPerf results that they say it of."""

    maker: Text
    accelerator: Text | None = None
    host: Text | None = None
    operating_system: Text | None = None
    facts: Annotated[tuple[Fact, ...], Meta(max_length=100)] = ()
    results: Annotated[
        tuple[Submitted, ...],
        Meta(max_length=100, description="MLPerf results of the system, such as those that its price is set against."),
    ] = ()

    @property
    def accelerators(self) -> int | None:
        """How many accelerators it has; None where no document says so."""
        return next((int(fact.value) for fact in self.facts if fact.fact == "accelerators"), None)


class Sweep(_Part, frozen=True, kw_only=True, rename={"low": "from", "high": "to"}):
    """The least and the largest batch size of a sweep."""

    low: BatchSize
    high: BatchSize


class Configuration(_Part, frozen=True, kw_only=True):
    """On what, and how, something was measured; None where the source does not say.

    ``precision`` is ``X.Y``: X bits for activations and gradients, Y for weights; or ``mixed``, ``int8``, ``fp32`` as
    a maker calls it.
    ``data`` is ``real`` (of a data set) or ``synthetic`` (made up, on the host or the accelerator). ``origin`` says
    whose figure it is where that is stated: ``published`` by the system's maker, ``measured`` by the publisher of the
    document, or ``calculated`` from what the maker published.
    """

    system: Annotated[Text, Meta(description="One of the systems above.")]
    framework: Annotated[
        Text | Annotated[tuple[Text, ...], Meta(min_length=1, max_length=10)],
        Meta(description="One, or those for which the figure is stated alike."),
    ] = ()
    software: Annotated[Text, Meta(description="The SDK or library, with its version.")] | None = None
    precision: Precision | None = None
    batch_size: Annotated[
        BatchSize | Annotated[tuple[BatchSize, ...], Meta(min_length=1, max_length=100)] | Sweep,
        Meta(description="One, those that were run, or the ends of a sweep."),
    ] = ()
    dataset: Text | None = None
    data: (
        Annotated[
            Literal["real", "synthetic"],
            Meta(description="real: of a data set; synthetic: made up, on the host or the accelerator."),
        ]
        | None
    ) = None
    origin: (
        Annotated[
            Literal["published", "measured", "calculated"],
            Meta(
                description="Of the other side of a ratio: published by its maker, measured by the publisher of the "
                "document, or calculated from what the maker published."
            ),
        ]
        | None
    ) = None

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Those for which the figure is stated."""
        return (self.framework,) if isinstance(self.framework, str) else self.framework

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """Those that were run, one by one; empty for a sweep."""
        if isinstance(self.batch_size, Sweep):
            return ()
        return (self.batch_size,) if isinstance(self.batch_size, int) else self.batch_size

    @property
    def batch_range(self) -> tuple[int, int] | None:
        """The least and the largest of a sweep."""
        return (self.batch_size.low, self.batch_size.high) if isinstance(self.batch_size, Sweep) else None


Measure = Literal["throughput", "latency", "time-to-result", "performance"]
#: The units of each measure; ``x`` is a ratio of it.
UNITS: dict[Measure, tuple[str, ...]] = {
    "throughput": ("images/s", "sequences/s", "samples/s", "rows/s", "tokens/s", "x"),
    "latency": ("us", "ms", "s", "x"),
    "time-to-result": ("s", "min", "h", "d", "x"),
    "performance": ("x",),
}


class Record(_Part, frozen=True, kw_only=True):
    """One stated figure.

    ``measure`` is ``throughput``, ``latency``, ``time-to-result``, or ``performance`` where the source says no more;
    ``task`` is ``training``, ``inference`` or ``unstated``. ``value`` is in ``unit``, and ``bound`` says whether it is
    that (``exact``), ``about`` that, ``over`` or ``under`` it;
    ``stated`` is the figure as it is written. With ``versus`` the value is a ratio, its unit ``x``: how many times
    better ``configuration`` is, which is this by that for a throughput and that by this for a latency or a time.
    ``status`` is ``verified`` (the publisher says that the configuration converges), ``preliminary`` (that this is
    pending) or ``unstated``. ``at`` is the point of a sweep that was compared, such as ``lowest latency``.
    ``parameters`` are settings of the model, ``day`` when the figure was published, or measured where that is known.
    """

    name: Annotated[Name, Meta(description="Its own in the file.")]
    task: Literal["training", "inference", "unstated"]
    model: Text
    measure: Annotated[
        Measure, Meta(description="performance: the source calls it so and says no more; only a ratio can be.")
    ]
    value: Amount
    unit: Annotated[
        Literal["images/s", "sequences/s", "samples/s", "rows/s", "tokens/s", "us", "ms", "s", "min", "h", "d", "x"],
        Meta(description="x is a ratio, and needs versus."),
    ]
    bound: Bound = "exact"
    stated: Stated
    status: Annotated[
        Literal["verified", "preliminary", "unstated"],
        Meta(
            description="verified: the publisher says that the configuration converges; preliminary: that this is "
            "pending."
        ),
    ] = "unstated"
    configuration: Configuration
    source: Place
    versus: Annotated[Configuration | None, Meta(description="The other side of a ratio.")] = None
    at: Annotated[Text, Meta(description="The point of a sweep, such as lowest latency.")] | None = None
    parameters: Annotated[
        dict[
            Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$", max_length=80)],
            int | float | Annotated[str, Meta(max_length=200)],
        ],
        Meta(max_length=50, description="Settings of the model."),
    ] = {}
    day: Annotated[Day, Meta(description="Of the measurement; else that of the document.")] | None = msgspec.field(
        name="date", default=None
    )
    notes: Notes | None = None

    @property
    def ratio(self) -> bool:
        """Whether the value compares two configurations and so has no unit of its own."""
        return self.versus is not None


class MlperfIds(_Part, frozen=True, kw_only=True):
    """The IDs of MLPerf results that a document cites: what a page that shows those results must name."""

    round: Round
    ids: Annotated[tuple[ResultId, ...], Meta(min_length=1, max_length=1000)]
    source: Place


class Records(_Part, frozen=True, kw_only=True):
    """A file of records."""

    documents: Annotated[
        dict[Name, Document], Meta(min_length=1, description="Where the figures come from, by a short name.")
    ]
    systems: Annotated[
        dict[Text, System],
        Meta(min_length=1, description="The systems that records name, those of competitors as well."),
    ]
    records: Annotated[tuple[Record, ...], Meta(min_length=1, max_length=20_000, description="One stated figure each.")]
    mlperf_ids: Annotated[
        tuple[MlperfIds, ...],
        Meta(
            max_length=1000,
            description="IDs of MLPerf results that documents cite. The results themselves are in their logs.",
        ),
    ] = ()


FORM = Form(
    Records,
    "records",
    "Benchmark records beyond MLPerf: throughput, latency and time to result, as documents state them",
)
Steps = tuple[str | int, ...]


def records_schema() -> dict[str, Any]:
    """The JSON Schema of records, for editors as well."""
    return FORM.schema()


def read_records(file: Path) -> Records:
    """Read a file of records.

    Args:
        file: a YAML file, see :func:`records_schema`.

    Raises:
        FileProblemsError: it cannot be read, or does not hold together.
    """
    records, tree = read_document(file, FORM)
    for steps, message in _flaws(records, tree):
        tree.report(message, *steps)
    tree.raise_problems()
    dated = tuple(
        msgspec.structs.replace(one, day=one.day or records.documents[one.source.document].date)
        for one in records.records
    )
    return msgspec.structs.replace(records, records=dated)


def _flaws(records: Records, tree: Tree) -> Iterator[tuple[Steps, str]]:
    """What no schema can say: names that lead nowhere, units of another measure."""
    for steps, name in _documents_named(records):
        if name not in records.documents:
            yield (*steps, "document"), f"no document {name!r} among the documents{meant(name, records.documents)}"
    seen: dict[str, int] = {}
    for number, record in enumerate(records.records):
        here = ("records", number)
        if record.name in seen:
            yield (*here, "name"), f"the name {record.name!r} is given twice, first on line {seen[record.name]}"
        seen.setdefault(record.name, tree.line(*here, "name"))
        yield from (((*here, *steps), message) for steps, message in _of_record(record, records))


def _documents_named(records: Records) -> Iterator[tuple[Steps, str]]:
    """The documents that records, facts of systems and IDs name, each by the path of its source."""
    for number, record in enumerate(records.records):
        yield ("records", number, "source"), record.source.document
    for number, cited in enumerate(records.mlperf_ids):
        yield ("mlperf_ids", number, "source"), cited.source.document
    for name, system in records.systems.items():
        for number, fact in enumerate(system.facts):
            yield ("systems", name, "facts", number, "source"), fact.source.document


def _of_record(record: Record, records: Records) -> Iterator[tuple[Steps, str]]:
    known = UNITS[record.measure]
    if record.unit not in known:
        yield ("unit",), f"{record.unit} is not a unit of {record.measure}; there are {', '.join(known)}"
    elif record.unit == "x" and not record.ratio:
        yield ("unit",), "x is a ratio; say with versus what the value is compared with"
    elif record.unit != "x" and record.ratio:
        yield ("unit",), f"with versus the value is a ratio, and its unit x, not {record.unit}"
    sides: dict[str, Configuration | None] = {"configuration": record.configuration, "versus": record.versus}
    for name, side in sides.items():
        if side is None:
            continue
        if side.system not in records.systems:
            hint = meant(side.system, records.systems)
            yield (name, "system"), f"no system {side.system!r} among the systems{hint}"
        if side.batch_range and side.batch_range[0] > side.batch_range[1]:
            low, high = side.batch_range
            yield (name, "batch_size"), f"a sweep goes from the least to the largest, not from {low} to {high}"
