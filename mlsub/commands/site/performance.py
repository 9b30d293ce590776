"""The performance page: the MLPerf results with their IDs, and the figures of records beside them, never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlsub.commands.db.records import Configuration, Record, Records, Source
from mlsub.commands.site.model import Cell, Head, Row, Section, Table, cell_of, minutes_of, number_of, text_of
from mlsub.commands.site.pages import DIVISIONS, MINUTES, Page
from mlsub.commands.site.results import Result, RoundResults
from mlsub.commands.site.tables import division_of, in_order, verdict_cell

_MLPERF_HEADS = (
    Head("benchmark"),
    Head("system"),
    Head("accelerators", True),
    Head("framework"),
    Head("batch size", True),
    Head("minutes", True),
    Head("verdict"),
    Head("MLPerf ID"),
)
_HEADS = (
    Head("model"),
    Head("system"),
    Head("framework"),
    Head("software"),
    Head("precision"),
    Head("batch size", True),
    Head("data"),
    Head("value", True),
    Head("unit"),
    Head("against"),
    Head("source"),
)
_BOUNDS = {"exact": "", "about": "about ", "over": "over ", "under": "under "}
#: What the measures of records are called, and what they mean.
_MEASURES = (
    (
        "training",
        "throughput",
        "Training: throughput",
        "Inputs (images, sequences or rows) that a training takes in each second; on real data that says how long a "
        "training to the target would take.",
    ),
    ("training", "time-to-result", "Training: time to result", "How long it took until the result was there."),
    ("inference", "throughput", "Inference: throughput", "Inputs that a trained model answers each second."),
    ("inference", "latency", "Inference: latency", "How long one answer takes."),
)
_REST = "Figures whose source does not say of what kind they are."
_PRECISION = (
    "A precision X.Y has X bits for activations and gradients, and Y bits for weights; where weights have 16 bits, "
    "norms, momentum and the like may still have 32."
)
_NOT_MLPERF = (
    "These figures are no MLPerf results: they are stated by the sources named, measured by other rules, and must not "
    "be set in a ratio to MLPerf results without saying so."
)
_FOOTNOTES = {
    "*1": "[*1] Preliminary: the source says that convergence was still to be verified.",
    "*2": "[*2] On synthetic data.",
    "*3": "[*3] The source does not say whether convergence was verified.",
}


def performance(rounds: Sequence[RoundResults], records: Iterable[Records] = ()) -> Page:
    """The page.

    Args:
        rounds: whose results are shown, if they have a score.
        records: figures of other sources.
    """
    sections = [*_mlperf(rounds)]
    cited = list(_cited(records := tuple(records)))
    figures = [*_figures(records)]
    return Page(
        path="performance.html",
        title="Performance",
        lead=(f"{MINUTES} Beside them stands what other sources state." if figures else MINUTES,),
        sections=(*sections, *cited, *figures),
    )


def _mlperf(rounds: Sequence[RoundResults]) -> Iterator[Section]:
    for place, one in enumerate(rounds):
        for division, title in DIVISIONS.items():
            some = [
                result
                for result in one.results
                if result.row.result_minutes is not None and division_of(result) == division
            ]
            if not some:
                continue
            ids = list(dict.fromkeys(result.id for result in in_order(some) if result.id))
            table = Table(
                caption=f"{one.round.title} results, {title}",
                heads=_MLPERF_HEADS if ids else _MLPERF_HEADS[:-1],
                rows=tuple(Row(tuple(_result(result, with_id=bool(ids)))) for result in in_order(some)),
            )
            words = (f"{one.round.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else ()
            yield Section(
                key=f"mlperf-{place}-{division}", title=f"{one.round.title}, {title}", words=words, tables=(table,)
            )


def _result(result: Result, *, with_id: bool) -> Iterator[Cell]:
    row = result.row
    yield Cell(text_of(result.entry.benchmark, 100), href=result.href)
    yield Cell(f"{text_of(result.entry.organisation, 80)}, {text_of(row.system or result.entry.system, 200)}")
    yield cell_of(row.accelerators_count)
    yield Cell(text_of(row.framework, 200) if row.framework else "–")
    yield cell_of(row.batch_size)
    yield minutes_of(row.result_minutes)
    yield verdict_cell(result.entry.official)
    if with_id:
        yield Cell(result.id or "–")


def _cited(records: Sequence[Records]) -> Iterator[Section]:
    """The IDs that the documents cite: whoever shows those results has to name them."""
    rows = [
        Row((Cell(text_of(cited.round, 20)), Cell(text_of(", ".join(cited.ids), 400)), _source(file, cited.source)))
        for file in records
        for cited in file.mlperf_ids
    ]
    if rows:
        heads = (Head("round"), Head("MLPerf ID"), Head("source"))
        table = Table(caption="MLPerf IDs that the sources cite", heads=heads, rows=tuple(rows))
        yield Section(key="cited", title="MLPerf IDs that the sources cite", tables=(table,))


def _figures(records: Sequence[Records]) -> Iterator[Section]:
    pairs = [(file, record) for file in records for record in file.records]
    left = list(pairs)
    for task, measure, title, words in _MEASURES:
        some = [pair for pair in pairs if (pair[1].task, pair[1].measure) == (task, measure)]
        left = [pair for pair in left if pair not in some]
        if some:
            yield _section(f"{task}-{measure}", title, words, some)
    if left:
        yield _section("other", "Other figures", _REST, left)


def _section(key: str, title: str, words: str, pairs: Sequence[tuple[Records, Record]]) -> Section:
    marks: dict[str, None] = {}
    rows = []
    for file, record in pairs:
        own = _marks(record)
        marks.update(dict.fromkeys(own))
        rows.append(Row(_cells(file, record, own)))
    precise = any(record.configuration.precision for _, record in pairs)
    notes = [_FOOTNOTES[mark] for mark in sorted(marks)]
    table = Table(caption=title, heads=_HEADS, rows=tuple(rows))
    told = (words, _NOT_MLPERF, *((_PRECISION,) if precise else ()), *notes)
    return Section(key=key, title=title, words=told, tables=(table,))


def _marks(record: Record) -> tuple[str, ...]:
    """The footnotes of a record."""
    marks = []
    if record.task == "training":
        marks += {"preliminary": ["*1"], "unstated": ["*3"]}.get(record.status, [])
    if record.configuration.data == "synthetic":
        marks.append("*2")
    return tuple(sorted(marks))


def _cells(file: Records, record: Record, marks: Sequence[str]) -> tuple[Cell, ...]:
    own, other = record.configuration, record.versus
    value = f"{_BOUNDS.get(record.bound, '')}{number_of(record.value)}"
    mark = "".join(f" [{mark}]" for mark in marks)
    return (
        Cell(text_of(record.model, 100), note=text_of(record.at, 200) if record.at else None),
        Cell(text_of(own.system, 200)),
        Cell(_or_dash(", ".join(own.frameworks))),
        Cell(_or_dash(own.software)),
        Cell(_or_dash(own.precision)),
        _batch(own),
        Cell(_or_dash(" ".join(filter(None, (own.data, own.dataset))))),
        Cell(value + mark, record.value, note=text_of(record.stated, 200)),
        Cell(text_of(record.unit, 40)),
        Cell(_or_dash(_other_side(other) if other else None)),
        _source(file, record.source),
    )


def _other_side(other: Configuration) -> str:
    """All that is told of the other side of a ratio: of two releases of one software the system alone tells nothing."""
    batch = _batch(other).text
    parts = (
        *(other.system, ", ".join(other.frameworks), other.software, other.precision),
        "" if batch == "–" else f"batch size {batch}",
        *(" ".join(filter(None, (other.data, other.dataset))), other.origin),
    )
    return "; ".join(part for part in parts if part)


def _or_dash(text: str | None) -> str:
    return text_of(text, 300) if text else "–"


def _batch(configuration: Configuration) -> Cell:
    if configuration.batch_range:
        low, high = configuration.batch_range
        return Cell(f"{number_of(low)} to {number_of(high)}", low)
    sizes = configuration.batch_sizes
    return Cell(", ".join(map(number_of, sizes)) or "–", sizes[0] if sizes else None)


def _source(file: Records, source: Source) -> Cell:
    document = file.documents[source.document]
    told = f"{document.publisher}{f', {document.date.isoformat()}' if document.date else ''}"
    told += f"; {source.table}" if source.table else ""
    told += f"; line {source.line}" if source.line is not None else ""
    return Cell(text_of(told, 200), note=text_of(document.title, 300))
