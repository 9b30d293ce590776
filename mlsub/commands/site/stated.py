"""Figures of records on a performance page: charts and tables by what was measured, systems, footnotes and sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mlsub.commands.db.records import Configuration, Document, Fact, MlperfIds, Record, Records, Source, System
from mlsub.commands.site.model import Cell, Column, Live, Section, cell_of, number_of, table_of, text_of
from mlsub.io.data import shipped

BOUNDS = {"exact": "", "about": "about ", "over": "over ", "under": "under "}


class Measure(msgspec.Struct, frozen=True):
    """What the records of one measure are called, and what it means."""

    task: str
    measure: str
    title: str
    words: str


class _Words(msgspec.Struct, frozen=True):
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


def words() -> _Words:
    """The words of the page."""
    return shipped(__file__, "words.yaml", _Words)


def sections_of_records(files: Sequence[Records]) -> Iterator[Section]:
    """The sections of figures of other sources; none without any."""
    figures = [Figure(file, record, _marks(record)) for file in files for record in file.records]
    yield from _measured(figures)
    yield from _cited(files)
    if figures:
        yield from _systems(files)
        yield _footnotes(figures)
        yield _sources(files)


def _measured(figures: Sequence[Figure]) -> Iterator[Section]:
    said = words()
    known = {(one.task, one.measure): one for one in said.measures}
    found: dict[Measure, list[Figure]] = {measure: [] for measure in (*said.measures, said.releases, said.other)}
    for figure in figures:
        record = figure.record
        measure = said.releases if of_releases(record) else known.get((record.task, record.measure), said.other)
        found[measure].append(figure)
    for measure, some in found.items():
        if some:
            key = f"{measure.task}-{measure.measure}".rstrip("-")
            marks = sorted({mark for one in some for mark in one.marks})
            notes = (measure.words, said.not_mlperf, *(said.footnotes[mark] for mark in marks))
            charts = tuple(_charts(key, measure.title, some))
            tables = (table_of(f"{measure.title}, as stated", some, _FIGURE),)
            yield Section(key=key, title=measure.title, words=notes, charts=charts, tables=tables)


def live(key: str, title: str, about: str, data: dict[str, Any]) -> Live:
    """A chart of the performance page."""
    return Live(kind="performance", key=key, title=title, about=about, data=data)


def of_releases(record: Record) -> bool:
    """Whether a ratio is of two releases of the software of one system."""
    return record.versus is not None and record.versus.system == record.configuration.system


def _charts(key: str, title: str, figures: Sequence[Figure]) -> Iterator[Live]:
    """Charts by the form of the figures: ratios beside 1, values by unit, and values over batch sizes as lines."""
    sweeps = _sweeps(figures)
    swept = {id(one.record) for line in sweeps for one in line}
    ratios = [one for one in figures if one.record.ratio]
    units: dict[str, list[Figure]] = {}
    for one in figures:
        if not one.record.ratio and id(one.record) not in swept:
            units.setdefault(one.record.unit, []).append(one)
    if ratios:
        yield _bars(f"{key}-ratios", f"{title}, ratios", ratios)
    for unit, some in units.items():
        yield _bars(f"{key}-{unit}", f"{title}, {unit}", some)
    panels: dict[tuple[str, str], list[list[Figure]]] = {}
    for line in sweeps:
        panels.setdefault((line[0].record.model, line[0].record.unit), []).append(line)
    for place, ((model, unit), lines) in enumerate(panels.items()):
        yield _lines(f"{key}-sweep-{place}", f"{title}, {text_of(model, 80)} over batch sizes", unit, lines)


def _bars(key: str, title: str, figures: Sequence[Figure]) -> Live:
    unit, ratios = figures[0].record.unit, figures[0].record.ratio
    figures = sorted(figures, key=lambda one: one.record.model.casefold())
    sources = list(dict.fromkeys(_dated(one.file, one.record.source) for one in figures))
    bars = [
        {
            "label": _label(one),
            "value": one.record.value,
            "shown": shown(one),
            "source": sources.index(_dated(one.file, one.record.source)),
            "place": _place(one.record.source),
        }
        for one in figures
    ]
    about = f"Values in {unit}, as the sources state them, with those of the systems compared."
    if ratios:
        about = "How many times better the first side is than the other one, which is 1."
    data: dict[str, Any] = {"form": "figures", "ratios": ratios, "unit": unit, "bars": bars, "sources": sources}
    return live(key, f"{title} (not MLPerf)", about, data)


def _sweeps(figures: Sequence[Figure]) -> list[list[Figure]]:
    """Values of one configuration at several batch sizes, the smallest first."""
    found: dict[tuple[str, ...], list[Figure]] = {}
    for one in figures:
        record, side = one.record, one.record.configuration
        if not record.ratio and len(side.batch_sizes) == 1:
            key = (record.model, record.unit, side.system, *side.frameworks, str(side.software), str(side.precision))
            found.setdefault((*key, str(side.data), str(side.dataset), record.task, record.measure), []).append(one)
    return [
        sorted(line, key=lambda one: one.record.configuration.batch_sizes)
        for line in found.values()
        if len({one.record.configuration.batch_sizes for one in line}) > 1
    ]


def _lines(key: str, title: str, unit: str, lines: Sequence[Sequence[Figure]]) -> Live:
    drawn = [
        {
            "name": text_of(", ".join(filter(None, (_side(side), side.software))), 160),
            "points": [[one.record.configuration.batch_sizes[0], one.record.value] for one in line],
        }
        for line in lines
        for side in (line[0].record.configuration,)
    ]
    about = f"Values in {unit} over the batch size, a line for each configuration."
    return live(key, f"{title} (not MLPerf)", about, {"form": "sweep", "unit": unit, "lines": drawn})


def _label(figure: Figure) -> str:
    """A figure in a chart: the model, and the sides."""
    record, side = figure.record, figure.record.configuration
    if record.versus is None:
        return text_of(f"{record.model}: {_side(side)}", 160)
    if of_releases(record):
        return text_of(f"{record.model}: {side.software} against {record.versus.software}", 160)
    return text_of(f"{record.model}: {side.system} against {record.versus.system}", 160)


def _side(side: Configuration) -> str:
    """A configuration in a few words, but for its batch size."""
    return ", ".join(filter(None, (side.system, " or ".join(side.frameworks), side.precision)))


def _marks(record: Record) -> tuple[str, ...]:
    """The footnotes of a record."""
    stated = {"preliminary": ("*1",), "unstated": ("*3",)}.get(record.status, ()) if record.task == "training" else ()
    return tuple(sorted((*stated, *(("*2",) if record.configuration.data == "synthetic" else ()))))


def shown(figure: Figure) -> str:
    """A value with its bound, its unit where that is short, and its footnotes."""
    record = figure.record
    unit = "×" if record.ratio else f" {record.unit}"
    return f"{_number(record)}{unit}{_noted(figure)}"


def _number(of: Record | Fact) -> str:
    return f"{BOUNDS.get(of.bound, '')}{number_of(of.value)}"


def _noted(figure: Figure) -> str:
    return "".join(f" [{mark}]" for mark in figure.marks)


def _value(figure: Figure) -> Cell:
    return Cell(shown(figure), figure.record.value, note=text_of(figure.record.stated, 200))


def _model(figure: Figure) -> Cell:
    return Cell(text_of(figure.record.model, 100), note=text_of(figure.record.name, 100))


def _software(configuration: Configuration) -> str:
    return ", ".join(filter(None, (" or ".join(configuration.frameworks), configuration.software)))


def _data(configuration: Configuration) -> str:
    return " ".join(filter(None, (configuration.data, configuration.dataset)))


def _other_side(other: Configuration) -> str:
    """All that is known of the other side of a ratio; of two releases of one software the system alone says nothing."""
    batch = _batch(other).text
    parts = (
        *(other.system, ", ".join(other.frameworks), other.software, other.precision),
        "" if batch == "–" else f"batch size {batch}",
        *(_data(other), other.origin),
    )
    return "; ".join(part for part in parts if part)


def _text(text: str | None, limit: int = 300) -> Cell:
    return Cell(text_of(text, limit) if text else "–")


def _batch(configuration: Configuration) -> Cell:
    if configuration.batch_range:
        low, high = configuration.batch_range
        return Cell(f"{number_of(low)} to {number_of(high)}", low)
    sizes = configuration.batch_sizes
    return Cell(", ".join(map(number_of, sizes)) or "–", sizes[0] if sizes else None)


def _place(source: Source) -> str:
    table = source.table or ""
    line = f"line {source.line}" if source.line is not None else ""
    return text_of("; ".join(filter(None, (table, line))), 200)


def source_cell(file: Records, source: Source) -> Cell:
    """Where a figure is from: the document by its short name, which the sources explain, and the place in it."""
    document = file.documents[source.document]
    return Cell(text_of(f"{source.document}, {_place(source)}", 240), note=text_of(document.title, 300))


def _dated(file: Records, source: Source) -> str:
    """A document as the legend of a chart has it."""
    document = file.documents[source.document]
    return text_of(f"{document.title}{f', {document.date.isoformat()}' if document.date else ''}", 120)


_FIGURE: tuple[Column[Figure], ...] = (
    Column("model", _model),
    Column("system", lambda one: Cell(text_of(one.record.configuration.system, 200))),
    Column("value", _value, True),
    Column("at", lambda one: _text(one.record.at)),
    Column("against", lambda one: _text(_other_side(one.record.versus) if one.record.versus else None)),
    Column("source", lambda one: source_cell(one.file, one.record.source)),
    Column("software", lambda one: _text(_software(one.record.configuration))),
    Column("precision", lambda one: _text(one.record.configuration.precision)),
    Column("batch size", lambda one: _batch(one.record.configuration), True),
    Column("data", lambda one: _text(_data(one.record.configuration))),
    Column("notes", lambda one: _text(one.record.notes, 1000)),
)


def _cited(files: Sequence[Records]) -> Iterator[Section]:
    """The IDs that the documents cite: whoever shows those results has to name them."""
    cited = [(file, one) for file in files for one in file.mlperf_ids]
    columns: tuple[Column[tuple[Records, MlperfIds]], ...] = (
        Column("round", lambda one: Cell(text_of(one[1].round, 20))),
        Column("MLPerf ID", lambda one: Cell(text_of(", ".join(one[1].ids), 400))),
        Column("source", lambda one: source_cell(one[0], one[1].source)),
    )
    title = "MLPerf IDs that the sources cite"
    if cited:
        yield Section(key="cited", title=title, tables=(table_of(title, cited, columns),))


def _systems(files: Sequence[Records]) -> Iterator[Section]:
    systems = [(file, name, system) for file in files for name, system in file.systems.items()]
    facts = [(file, name, fact) for file, name, system in systems for fact in system.facts]
    of_system: tuple[Column[tuple[Records, str, System]], ...] = (
        Column("system", lambda one: _text(one[1])),
        Column("maker", lambda one: _text(one[2].maker)),
        Column("accelerator", lambda one: _text(one[2].accelerator)),
        Column("host", lambda one: _text(one[2].host)),
        Column("operating system", lambda one: _text(one[2].operating_system)),
    )
    of_fact: tuple[Column[tuple[Records, str, Fact]], ...] = (
        Column("system", lambda one: _text(one[1])),
        Column("what", lambda one: Cell(one[2].fact.replace("-", " "))),
        Column("figure", lambda one: Cell(_number(one[2]), one[2].value, note=text_of(one[2].stated, 200)), True),
        Column("unit", lambda one: _text(one[2].unit)),
        Column("source", lambda one: source_cell(one[0], one[2].source)),
    )
    tables = [table_of("Systems that the figures are of", systems, of_system)]
    if facts:
        tables.append(table_of("What the sources state of them", facts, of_fact))
    yield Section(key="systems", title="System configuration", tables=tuple(tables))


def _footnotes(figures: Sequence[Figure]) -> Section:
    counts = {mark: sum(mark in one.marks for one in figures) for mark in words().footnotes}
    columns: tuple[Column[tuple[str, str]], ...] = (
        Column("mark", lambda one: Cell(f"[{one[0]}]")),
        Column("meaning", lambda one: Cell(one[1].partition("] ")[2])),
        Column("figures here", lambda one: cell_of(counts[one[0]]), True),
    )
    tables = (table_of("Marks of figures", words().footnotes.items(), columns),)
    return Section(key="footnotes", title="Footnotes", words=(words().precision,), tables=tables)


def _sources(files: Iterable[Records]) -> Section:
    documents = [(file, name, document) for file in files for name, document in file.documents.items()]
    columns: tuple[Column[tuple[Records, str, Document]], ...] = (
        Column("document", lambda one: _text(one[1])),
        Column("title", lambda one: _text(one[2].title)),
        Column("publisher", lambda one: _text(one[2].publisher)),
        Column("date", lambda one: Cell(one[2].date.isoformat() if one[2].date else "–")),
        Column("figures", lambda one: cell_of(sum(it.source.document == one[1] for it in one[0].records)), True),
        Column("notes", lambda one: _text(one[2].notes, 1000)),
    )
    said = "Lines are those of the plain text of a document."
    return Section(key="sources", title="Sources", words=(said,), tables=(table_of("Sources", documents, columns),))
