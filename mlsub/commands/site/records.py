"""Figures of records on a performance page: charts and tables by what was measured, systems, footnotes and sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mlsub.commands.site.page import Cell, Chart, Section, number_cell, number_text, plain_table
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


class Figure(NamedTuple):
    """A record, the file that it is from, and its footnotes."""

    file: Records
    record: Record
    marks: tuple[str, ...]


def load_words() -> Words:
    """Return the words of the page."""
    return shipped(__file__, "words.yaml", Words)


def records_sections(files: Sequence[Records]) -> Iterator[Section]:
    """Return the sections of figures of other sources; none without any."""
    figures = [Figure(file, record, _marks(record)) for file in files for record in file.records]
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


def _measured(figures: Sequence[Figure]) -> Iterator[Section]:
    words = load_words()
    known = {(one.task, one.measure): one for one in words.measures}
    found: dict[Measure, list[Figure]] = {measure: [] for measure in (*words.measures, words.releases, words.other)}
    for figure in figures:
        record = figure.record
        measure = known.get((record.task, record.measure), words.other)
        found[words.releases if _is_of_releases(record) else measure].append(figure)
    for measure, some in found.items():
        if some:
            key = f"{measure.task}-{measure.measure}".rstrip("-")
            marks = sorted({mark for one in some for mark in one.marks})
            notes = (measure.words, words.not_mlperf, *(words.footnotes[mark] for mark in marks))
            charts = tuple(_charts(measure.title, some))
            tables = (plain_table(f"{measure.title}, as stated", _FIGURES, map(_figure_row, some)),)
            yield Section(key=key, title=measure.title, words=notes, charts=charts, tables=tables)


def _is_of_releases(record: Record) -> bool:
    """Return whether a ratio is of two releases of the software of one system."""
    return record.versus is not None and record.versus.system == record.configuration.system


def _charts(title: str, figures: Sequence[Figure]) -> Iterator[Chart]:
    """Yield charts by the form of the figures: ratios beside 1, and values by unit."""
    forms: dict[str, list[Figure]] = {}
    for one in sorted(figures, key=lambda one: (not one.record.ratio, one.record.model.casefold())):
        forms.setdefault("ratios" if one.record.ratio else one.record.unit, []).append(one)
    for name, some in forms.items():
        unit, ratios = some[0].record.unit, some[0].record.ratio
        bars = [
            {
                "label": _label(one.record),
                "value": one.record.value,
                "shown": _shown(one),
                "source": _dated(one),
                "place": _place(one.record.source),
            }
            for one in some
        ]
        about = f"Values in {unit}, as the sources state them, with those of the systems compared."
        if ratios:
            about = "How many times better the first side is than the other one, which is 1."
        yield bars_chart(f"{title}, {name} (not MLPerf)", about, unit, bars, ratios=ratios)


def _label(record: Record) -> str:
    """Return a figure in a chart: the model, and the sides."""
    side, other = record.configuration, record.versus
    if other is None:
        return f"{record.model}: {_side(side)}"
    sides = (side.software, other.software) if _is_of_releases(record) else (side.system, other.system)
    return f"{record.model}: {sides[0]} against {sides[1]}"


def _side(side: Configuration) -> str:
    """Return a configuration in a few words."""
    batch = f"batch size {number_text(side.batch_sizes[0])}" if len(side.batch_sizes) == 1 else None
    return ", ".join(filter(None, (side.system, " or ".join(side.frameworks), side.software, side.precision, batch)))


def _marks(record: Record) -> tuple[str, ...]:
    """Return the footnotes of a record."""
    stated = {"preliminary": ("*1",), "unstated": ("*3",)}.get(record.status, ()) if record.task == "training" else ()
    return tuple(sorted((*stated, *(("*2",) if record.configuration.data == "synthetic" else ()))))


def _shown(figure: Figure) -> str:
    """Return a value with its bound, its unit where that is short, and its footnotes."""
    record = figure.record
    unit = "×" if record.ratio else f" {record.unit}"
    return f"{fact_text(record)}{unit}{''.join(f' [{mark}]' for mark in figure.marks)}"


def _data_words(configuration: Configuration) -> str:
    return " ".join(filter(None, (configuration.data, configuration.dataset)))


def _other_side(record: Record) -> str:
    """Return all that is known of the other side of a ratio; empty where there is none."""
    other = record.versus
    if other is None:
        return ""
    batch = _batch_cell(record.versus).text
    batch = "" if batch == "–" else f"batch size {batch}"
    data = (_data_words(other), other.origin)
    parts = (other.system, ", ".join(other.frameworks), other.software, other.precision, batch, *data)
    return "; ".join(part for part in parts if part)


def _batch_cell(configuration: Configuration | None) -> Cell:
    if configuration is None:
        return Cell("–")
    if configuration.batch_range:
        low, high = configuration.batch_range
        return Cell(f"{number_text(low)} to {number_text(high)}", low)
    sizes = configuration.batch_sizes
    return Cell(", ".join(map(number_text, sizes)) or "–", sizes[0] if sizes else None)


def _place(source: Source) -> str:
    return "; ".join(filter(None, (source.table, f"line {source.line}" if source.line is not None else "")))


def source_cell(file: Records, source: Source) -> Cell:
    """Return where a figure is from: the document by its short name, which the sources explain, and the place in it."""
    return Cell(f"{source.document}, {_place(source)}", note=file.documents[source.document].title)


def _dated(figure: Figure) -> str:
    """Return a document as the legend of a chart has it."""
    document = figure.file.documents[figure.record.source.document]
    return f"{document.title}{f', {document.date.isoformat()}' if document.date else ''}"


_FIGURES = (
    *("model", "system", "value", "at", "against", "source", "software", "precision", "batch size", "data", "notes"),
)


def _figure_row(figure: Figure) -> tuple[Cell | str | None, ...]:
    record, side = figure.record, figure.record.configuration
    return (
        Cell(record.model, note=record.name),
        side.system,
        Cell(_shown(figure), record.value, note=record.stated),
        record.at,
        _other_side(record),
        source_cell(figure.file, record.source),
        ", ".join(filter(None, (" or ".join(side.frameworks), side.software))),
        side.precision,
        _batch_cell(side),
        _data_words(side),
        record.notes,
    )


def _systems_section(files: Sequence[Records]) -> Section:
    systems = [(file, name, system) for file in files for name, system in file.systems.items()]
    described = ((name, of.maker, of.accelerator, of.host, of.operating_system) for _, name, of in systems)
    facts = [
        (
            name,
            fact.fact.replace("-", " "),
            Cell(fact_text(fact), fact.value, note=fact.stated),
            fact.unit,
            source_cell(file, fact.source),
        )
        for file, name, system in systems
        for fact in system.facts
    ]
    heads = ("system", "maker", "accelerator", "host", "operating system")
    tables = [plain_table("Systems that the figures are of", heads, described)]
    if facts:
        heads = ("system", "what", "figure", "unit", "source")
        tables.append(plain_table("What the sources state of them", heads, facts))
    return Section(key="systems", title="System configuration", tables=tuple(tables))


def _footnotes_section(figures: Sequence[Figure]) -> Section:
    words = load_words()
    rows = (
        (f"[{mark}]", meaning.partition("] ")[2], number_cell(sum(mark in figure.marks for figure in figures)))
        for mark, meaning in words.footnotes.items()
    )
    table = plain_table("Marks of figures", ("mark", "meaning", "figures here"), rows)
    return Section(key="footnotes", title="Footnotes", words=(words.precision,), tables=(table,))


def _sources_section(files: Sequence[Records]) -> Section:
    rows = (
        (
            *(name, of.title, of.publisher, of.date.isoformat() if of.date else None),
            number_cell(sum(one.source.document == name for one in file.records)),
            of.notes,
        )
        for file in files
        for name, of in file.documents.items()
    )
    table = plain_table("Sources", ("document", "title", "publisher", "date", "figures", "notes"), rows)
    words = ("Lines are those of the plain text of a document.",)
    return Section(key="sources", title="Sources", words=words, tables=(table,))
