"""What a file of benchmark records says. None of it is an MLPerf result."""

from __future__ import annotations

from datetime import date

import msgspec


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Where figures come from. ``date`` is None where the document has none and nobody else dates it."""

    name: str
    title: str
    publisher: str
    date: date | None = None
    url: str | None = None
    notes: str | None = None


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a document: the 1-based line of its plain text, or a table or chart by its name."""

    document: str
    line: int | None = None
    table: str | None = None


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A figure about a system: how many accelerators, its list price. ``stated`` is the figure as it is written."""

    fact: str
    value: float
    unit: str
    bound: str
    stated: str
    source: Source


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A system that records name, and what documents say of it."""

    name: str
    maker: str
    accelerator: str | None = None
    host: str | None = None
    operating_system: str | None = None
    facts: tuple[Fact, ...] = ()

    @property
    def accelerators(self) -> int | None:
        """How many accelerators it has; None where no document says so."""
        return next((int(fact.value) for fact in self.facts if fact.fact == "accelerators"), None)


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """On what, and how, something was measured; None where the source does not say.

    ``precision`` is ``X.Y``: X bits for activations and gradients, Y for weights; or ``mixed``, ``int8``, ``fp32`` as
    a maker calls it. ``batch_sizes`` are those that were run; ``batch_range`` is the least and the largest of a sweep.
    ``data`` is ``real`` (of a data set) or ``synthetic`` (made up, on the host or the accelerator). ``origin`` says
    whose figure it is where that is told: ``published`` by the system's maker, ``measured`` by the publisher of the
    document, or ``calculated`` from what the maker published.
    """

    system: str
    frameworks: tuple[str, ...] = ()
    software: str | None = None
    precision: str | None = None
    batch_sizes: tuple[int, ...] = ()
    batch_range: tuple[int, int] | None = None
    dataset: str | None = None
    data: str | None = None
    origin: str | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
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

    name: str
    task: str
    model: str
    measure: str
    value: float
    unit: str
    bound: str
    stated: str
    status: str
    configuration: Configuration
    source: Source
    versus: Configuration | None = None
    at: str | None = None
    parameters: dict[str, float | str] = {}
    day: date | None = None
    notes: str | None = None

    @property
    def ratio(self) -> bool:
        """Whether the value compares two configurations and so has no unit of its own."""
        return self.versus is not None


class MlperfIds(msgspec.Struct, frozen=True, kw_only=True):
    """The IDs of MLPerf results that a document cites: what a page that shows those results must name."""

    round: str
    ids: tuple[str, ...]
    source: Source


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """A file of records."""

    file: str
    documents: tuple[Document, ...]
    systems: tuple[System, ...]
    records: tuple[Record, ...]
    mlperf_ids: tuple[MlperfIds, ...] = ()

    def document(self, name: str) -> Document:
        """The document of that name; the reader has made sure that there is one."""
        return next(document for document in self.documents if document.name == name)

    def system(self, name: str) -> System:
        """The system of that name; the reader has made sure that there is one."""
        return next(system for system in self.systems if system.name == name)
