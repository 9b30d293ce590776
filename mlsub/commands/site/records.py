"""Figures of records on a performance page: charts and tables by what was measured, systems, footnotes and sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mlsub.commands.site.page import Cell, Chart, Column, Section, Value, build_table, number_text, plain_table
from mlsub.io.data import shipped
from mlsub.score.records import Configuration, Fact, Record, Records, Source

_BOUNDS = {"exact": "", "about": "about ", "over": "over ", "under": "under "}


class Measure(msgspec.Struct, frozen=True):
    """What the records of one measure are called, and what it means."""

    task: str
    measure: str
    title: str
    words: str


class Words(msgspec.Struct, frozen=True):
    """The content of words.yaml."""

    measures: tuple[Measure, ...]
    releases: Measure
    other: Measure
    precision: str
    not_mlperf: str
    footnotes: dict[str, str]
    gains: tuple[str, ...]
    prices: tuple[str, ...]


WORDS = shipped(__file__, "words.yaml", Words)


class Figure(NamedTuple):
    """A record, and the file that it is from."""

    file: Records
    record: Record

    @property
    def marks(self) -> tuple[str, ...]:
        """Its footnotes."""
        one = self.record
        stated = {"preliminary": ("*1",), "unstated": ("*3",)}.get(one.status, ()) if one.task == "training" else ()
        return tuple(sorted((*stated, *(("*2",) if one.configuration.data == "synthetic" else ()))))

    @property
    def of_releases(self) -> bool:
        """Whether it is a ratio of two releases of the software of one system."""
        other = self.record.versus
        return other is not None and other.system == self.record.configuration.system

    @property
    def label(self) -> str:
        """What it is called in a chart: the model, and the sides."""
        side, other = self.record.configuration, self.record.versus
        if other is None:
            size = f"batch size {number_text(side.batch_sizes[0])}" if len(side.batch_sizes) == 1 else None
            sides = _joined(", ", side.system, " or ".join(side.frameworks), side.software, side.precision, size)
        elif self.of_releases:
            sides = f"{side.software} against {other.software}"
        else:
            sides = f"{side.system} against {other.system}"
        return f"{self.record.model}: {sides}"

    @property
    def shown(self) -> str:
        """The value with its bound, its unit where that is short, and its footnotes."""
        unit = "×" if self.record.ratio else f" {self.record.unit}"
        return f"{fact_text(self.record)}{unit}{''.join(f' [{mark}]' for mark in self.marks)}"

    @property
    def source(self) -> str:
        """The document as the legend of a chart has it."""
        document = self.file.documents[self.record.source.document]
        return _joined(", ", document.title, str(document.date) if document.date else None)

    @property
    def against(self) -> str | None:
        """All that is known of the other side of a ratio; None where there is none."""
        other = self.record.versus
        if other is None:
            return None
        size = _batch_size(other)
        batch = f"batch size {size.text}" if size else None
        known = (other.system, ", ".join(other.frameworks), other.software, other.precision, batch, _data(other))
        return _joined("; ", *known, other.origin)


def records_sections(files: Sequence[Records]) -> Iterator[Section]:
    """Return the sections of figures of other sources; none without any."""
    figures = [Figure(file, record) for file in files for record in file.records]
    yield from _measured(figures)
    cited = [
        (one.round, ", ".join(one.ids), source_cell(file, one.source)) for file in files for one in file.mlperf_ids
    ]
    if cited:
        title = "MLPerf IDs that the sources cite"
        table = plain_table(title, ("round", "MLPerf ID", "source"), cited)
        yield Section(key="cited", title=title, tables=(table,))
    if figures:
        yield _systems_section(files)
        yield _footnotes_section(figures)
        yield _sources_section(files)


def bars_chart(title: str, about: str, unit: str, bars: Sequence[dict[str, Any]], *, ratios: bool = False) -> Chart:
    """Return figures as bars with their labels, in the colours of their sources."""
    return Chart(kind="bars", title=title, about=about, data={"ratios": ratios, "unit": unit, "bars": bars})


def fact_text(of: Record | Fact) -> str:
    """Return a stated figure with its bound."""
    return f"{_BOUNDS.get(of.bound, '')}{number_text(of.value)}"


def source_cell(file: Records, source: Source) -> Cell:
    """Return where a figure is from: the document by its short name, which the sources explain, and the place in it."""
    return Cell(f"{source.document}, {_place(source)}", note=file.documents[source.document].title)


def _measured(figures: Sequence[Figure]) -> Iterator[Section]:
    known = {(one.task, one.measure): one for one in WORDS.measures}
    found: dict[Measure, list[Figure]] = {one: [] for one in (*WORDS.measures, WORDS.releases, WORDS.other)}
    for figure in figures:
        measure = known.get((figure.record.task, figure.record.measure), WORDS.other)
        found[WORDS.releases if figure.of_releases else measure].append(figure)
    for measure, some in found.items():
        if some:
            key = f"{measure.task}-{measure.measure}".rstrip("-")
            marks = sorted({mark for one in some for mark in one.marks})
            notes = (measure.words, WORDS.not_mlperf, *(WORDS.footnotes[mark] for mark in marks))
            charts = tuple(_charts(measure.title, some))
            tables = (build_table(f"{measure.title}, as stated", some, _FIGURES),)
            yield Section(key=key, title=measure.title, words=notes, charts=charts, tables=tables)


def _charts(title: str, figures: Sequence[Figure]) -> Iterator[Chart]:
    """Yield charts by the form of the figures: ratios beside 1, and values by unit."""
    forms: dict[str, list[Figure]] = {}
    for one in sorted(figures, key=lambda one: (not one.record.ratio, one.record.model.casefold())):
        forms.setdefault("ratios" if one.record.ratio else one.record.unit, []).append(one)
    for name, some in forms.items():
        unit, ratios = some[0].record.unit, some[0].record.ratio
        bars = [
            {"label": one.label, "value": one.record.value, "shown": one.shown, "source": one.source}
            | {"place": _place(one.record.source)}
            for one in some
        ]
        about = f"Values in {unit}, as the sources state them, with those of the systems compared."
        if ratios:
            about = "How many times better the first side is than the other one, which is 1."
        yield bars_chart(f"{title}, {name} (not MLPerf)", about, unit, bars, ratios=ratios)


def _joined(sign: str, *parts: str | None) -> str:
    """Return the texts that there are with a sign between them."""
    return sign.join(filter(None, parts))


def _data(configuration: Configuration) -> str:
    return _joined(" ", configuration.data, configuration.dataset)


def _batch_size(configuration: Configuration) -> Cell | None:
    if configuration.batch_range:
        low, high = configuration.batch_range
        return Cell(f"{number_text(low)} to {number_text(high)}", low)
    sizes = configuration.batch_sizes
    return Cell(", ".join(map(number_text, sizes)), sizes[0]) if sizes else None


def _place(source: Source) -> str:
    return _joined("; ", source.table, f"line {source.line}" if source.line is not None else None)


def _software(side: Configuration) -> str:
    return _joined(", ", " or ".join(side.frameworks), side.software)


_FIGURES: tuple[Column[Figure], ...] = (
    Column("model", lambda one: Cell(one.record.model, note=one.record.name)),
    Column("system", lambda one: one.record.configuration.system),
    Column("value", lambda one: Cell(one.shown, one.record.value, note=one.record.stated)),
    Column("at", lambda one: one.record.at),
    Column("against", lambda one: one.against),
    Column("source", lambda one: source_cell(one.file, one.record.source)),
    Column("software", lambda one: _software(one.record.configuration)),
    Column("precision", lambda one: one.record.configuration.precision),
    Column("batch size", lambda one: _batch_size(one.record.configuration)),
    Column("data", lambda one: _data(one.record.configuration)),
    Column("notes", lambda one: one.record.notes),
)


def _systems_section(files: Sequence[Records]) -> Section:
    systems = [(file, name, system) for file in files for name, system in file.systems.items()]
    described = ((name, of.maker, of.accelerator, of.host, of.operating_system) for _, name, of in systems)
    heads = ("system", "maker", "accelerator", "host", "operating system")
    tables = [plain_table("Systems that the figures are of", heads, described)]
    facts: list[tuple[Value, ...]] = [
        (name, fact.fact.replace("-", " "), figure, fact.unit, source_cell(file, fact.source))
        for file, name, system in systems
        for fact in system.facts
        for figure in (Cell(fact_text(fact), fact.value, note=fact.stated),)
    ]
    if facts:
        heads = ("system", "what", "figure", "unit", "source")
        tables.append(plain_table("What the sources state of them", heads, facts))
    return Section(key="systems", title="System configuration", tables=tuple(tables))


def _footnotes_section(figures: Sequence[Figure]) -> Section:
    rows = (
        (f"[{mark}]", meaning.partition("] ")[2], sum(mark in figure.marks for figure in figures))
        for mark, meaning in WORDS.footnotes.items()
    )
    table = plain_table("Marks of figures", ("mark", "meaning", "figures here"), rows)
    return Section(key="footnotes", title="Footnotes", words=(WORDS.precision,), tables=(table,))


def _sources_section(files: Sequence[Records]) -> Section:
    rows = (
        (name, of.title, of.publisher, str(of.date) if of.date else None, figures, of.notes)
        for file in files
        for name, of in file.documents.items()
        for figures in (sum(one.source.document == name for one in file.records),)
    )
    table = plain_table("Sources", ("document", "title", "publisher", "date", "figures", "notes"), rows)
    words = ("Lines are those of the plain text of a document.",)
    return Section(key="sources", title="Sources", words=words, tables=(table,))
