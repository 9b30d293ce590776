"""The performance page: the MLPerf results with their IDs, and the figures of records beside them, never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from mlsub.commands.db.records import Configuration, MlperfIds, Record, Records, Source
from mlsub.commands.site.model import Cell, Column, Section, cell_of, minutes_of, number_of, table_of, text_of
from mlsub.commands.site.pages import MINUTES, Page
from mlsub.commands.site.results import Result, RoundResults
from mlsub.commands.site.tables import BENCHMARK, ID, VERDICT, by_division, in_order
from mlsub.io.data import shipped

_BOUNDS = {"exact": "", "about": "about ", "over": "over ", "under": "under "}


class _Measure(msgspec.Struct, frozen=True):
    """What the records of one measure are called, and what it means."""

    task: str
    measure: str
    title: str
    words: str


class _Words(msgspec.Struct, frozen=True):
    """The content of words.yaml."""

    measures: tuple[_Measure, ...]
    other: _Measure
    precision: str
    not_mlperf: str
    footnotes: dict[str, str]


class _Figure(NamedTuple):
    """A record, the file that it is from, and its footnotes."""

    file: Records
    record: Record
    marks: tuple[str, ...]


def _words() -> _Words:
    return shipped(__file__, "words.yaml", _Words)


def performance(rounds: Sequence[RoundResults], records: Iterable[Records] = ()) -> Page:
    """The page.

    Args:
        rounds: whose results are shown, if they have a score.
        records: figures of other sources.
    """
    records = tuple(records)
    figures = [*_figures(records)]
    return Page(
        path="performance.html",
        title="Performance",
        lead=(f"{MINUTES} Figures from other sources have tables of their own." if figures else MINUTES,),
        sections=(*_mlperf(rounds), *_cited(records), *figures),
    )


def _mlperf(rounds: Sequence[RoundResults]) -> Iterator[Section]:
    for place, one in enumerate(rounds):
        timed = in_order(result for result in one.results if result.row.result_minutes is not None)
        for division, title, some in by_division(timed):
            ids = dict.fromkeys(result.id for result in some if result.id)
            table = table_of(f"{one.round.title} results, {title}", some, (*_RESULT, ID) if ids else _RESULT)
            words = (f"{one.round.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else ()
            key = f"mlperf-{place}-{division}"
            yield Section(key=key, title=f"{one.round.title}, {title}", words=words, tables=(table,))


def _system(result: Result) -> Cell:
    system = text_of(result.row.system or result.entry.system, 200)
    return Cell(f"{text_of(result.entry.organisation, 80)}, {system}")


_RESULT: tuple[Column[Result], ...] = (
    BENCHMARK,
    Column("system", _system),
    Column("accelerators", lambda result: cell_of(result.row.accelerators_count), True),
    Column("framework", lambda result: _text(result.row.framework, 200)),
    Column("batch size", lambda result: cell_of(result.row.batch_size), True),
    Column("minutes", lambda result: minutes_of(result.row.result_minutes), True),
    VERDICT,
)


def _cited(records: Sequence[Records]) -> Iterator[Section]:
    """The IDs that the documents cite: whoever shows those results has to name them."""
    cited = [(file, one) for file in records for one in file.mlperf_ids]
    columns: tuple[Column[tuple[Records, MlperfIds]], ...] = (
        Column("round", lambda one: Cell(text_of(one[1].round, 20))),
        Column("MLPerf ID", lambda one: Cell(text_of(", ".join(one[1].ids), 400))),
        Column("source", lambda one: _source(one[0], one[1].source)),
    )
    title = "MLPerf IDs that the sources cite"
    if cited:
        yield Section(key="cited", title=title, tables=(table_of(title, cited, columns),))


def _figures(records: Sequence[Records]) -> Iterator[Section]:
    words = _words()
    known = {(one.task, one.measure): one for one in words.measures}
    found: dict[_Measure, list[_Figure]] = {measure: [] for measure in (*words.measures, words.other)}
    for file in records:
        for record in file.records:
            measure = known.get((record.task, record.measure), words.other)
            found[measure].append(_Figure(file, record, _marks(record)))
    for measure, figures in found.items():
        if figures:
            key = f"{measure.task}-{measure.measure}".rstrip("-")
            precise = any(figure.record.configuration.precision for figure in figures)
            marks = sorted({mark for figure in figures for mark in figure.marks})
            notes = (*((words.precision,) if precise else ()), *(words.footnotes[mark] for mark in marks))
            table = table_of(measure.title, figures, _FIGURE)
            said = (measure.words, words.not_mlperf, *notes)
            yield Section(key=key, title=measure.title, words=said, tables=(table,))


def _marks(record: Record) -> tuple[str, ...]:
    """The footnotes of a record."""
    stated = {"preliminary": ("*1",), "unstated": ("*3",)}.get(record.status, ()) if record.task == "training" else ()
    return tuple(sorted((*stated, *(("*2",) if record.configuration.data == "synthetic" else ()))))


def _value(figure: _Figure) -> Cell:
    record = figure.record
    shown = f"{_BOUNDS.get(record.bound, '')}{number_of(record.value)}{''.join(f' [{mark}]' for mark in figure.marks)}"
    return Cell(shown, record.value, note=text_of(record.stated, 200))


def _model(figure: _Figure) -> Cell:
    record = figure.record
    return Cell(text_of(record.model, 100), note=text_of(record.at, 200) if record.at else None)


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


def _source(file: Records, source: Source) -> Cell:
    document = file.documents[source.document]
    shown = f"{document.publisher}{f', {document.date.isoformat()}' if document.date else ''}"
    shown += f"; {source.table}" if source.table else ""
    shown += f"; line {source.line}" if source.line is not None else ""
    return Cell(text_of(shown, 200), note=text_of(document.title, 300))


_FIGURE: tuple[Column[_Figure], ...] = (
    Column("model", _model),
    Column("system", lambda one: Cell(text_of(one.record.configuration.system, 200))),
    Column("framework", lambda one: _text(", ".join(one.record.configuration.frameworks))),
    Column("software", lambda one: _text(one.record.configuration.software)),
    Column("precision", lambda one: _text(one.record.configuration.precision)),
    Column("batch size", lambda one: _batch(one.record.configuration), True),
    Column("data", lambda one: _text(_data(one.record.configuration))),
    Column("value", _value, True),
    Column("unit", lambda one: Cell(text_of(one.record.unit, 40))),
    Column("against", lambda one: _text(_other_side(one.record.versus) if one.record.versus else None)),
    Column("source", lambda one: _source(one.file, one.record.source)),
)
