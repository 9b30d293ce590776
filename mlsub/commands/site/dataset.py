"""All results of a site as one table of plain values: what charts, the table of results and downloads are made of."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import msgspec

from mlsub.commands.score.formats import FORMATS, csv_of, parquet_of
from mlsub.commands.site.chartdata import safe_json
from mlsub.commands.site.model import text_of
from mlsub.commands.site.results import Result
from mlsub.commands.site.tables import division_of, round_name
from mlsub.score.columns import ColumnKind, Value, encodable

#: The folder of the data, and the script with all results, which pages load as a file may load no data.
DATA = "data"
RESULTS = f"{DATA}/results.js"
#: The digits that minutes keep; the pages of results and ``mlsub score`` have them all.
_DIGITS = 9


class Field(NamedTuple):
    """A column: its key in scripts and downloads, title, unit (empty for none), value of a result, and kind."""

    key: str
    title: str
    unit: str
    value: Callable[[Result], Value]
    kind: ColumnKind = ColumnKind.TEXT


def results_script(results: Sequence[Result]) -> bytes:
    """The script that defines the results: ``window.mlsubResults``, a column at a time, each text of a column once."""
    columns = [_column(field, [_rounded(field.value(result)) for result in results]) for field in FIELDS]
    text = safe_json({"count": len(results), "columns": columns})
    return f'"use strict";\nwindow.mlsubResults = {text};\n'.encode()


def _column(field: Field, values: Sequence[Value]) -> dict[str, Any]:
    found: dict[str, Any] = {"key": field.key, "title": field.title, "unit": field.unit, "kind": field.kind.value}
    if field.kind is ColumnKind.TEXT:
        names = list(dict.fromkeys(value for value in values if value is not None))
        places = {name: place for place, name in enumerate(names)}
        return found | {"names": names, "values": [-1 if value is None else places[value] for value in values]}
    return found | {"values": values}


def downloads(results: Sequence[Result]) -> dict[str, bytes]:
    """The same results as files by their paths: CSV, JSON, and Parquet where the library for it is installed.

    The page of all results makes the same files of a selection.
    """
    keys = [field.key for field in FIELDS]
    rows = [[_rounded(field.value(result)) for field in FIELDS] for result in results]
    records = [dict(zip(keys, row, strict=True)) for row in rows]
    lines = b",\n".join(map(msgspec.json.encode, records))
    found = {f"{DATA}/results.csv": csv_of(keys, rows), f"{DATA}/results.json": b"[" + lines + b"]\n"}
    if find_spec(FORMATS["parquet"].library) is not None:
        found[f"{DATA}/results.parquet"] = parquet_of([(field.key, field.kind) for field in FIELDS], rows)
    return found


def _rounded(value: Value) -> Value:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _text(value: str | None, limit: int = 200) -> str | None:
    return encodable(text_of(value, limit)) if value else None


def _day(value: datetime.date | None) -> str | None:
    return value.isoformat() if value else None


FIELDS: tuple[Field, ...] = (
    Field("href", "Page", "", lambda one: one.href),
    Field("round", "Round", "", round_name),
    Field("published", "Published", "", lambda one: _day(one.named.published)),
    Field("usage", "Usage", "", lambda one: one.round.usage),
    Field("division", "Division", "", division_of),
    Field("benchmark", "Benchmark", "", lambda one: _text(one.named.benchmark)),
    Field("title", "Benchmark", "", lambda one: _text(one.named.title)),
    Field("scaling_type", "Scaling type", "", lambda one: _text(one.entry.scaling_type)),
    Field("folder", "Benchmark folder", "", lambda one: _text(one.entry.benchmark)),
    Field("organisation", "Organisation", "", lambda one: _text(one.named.organisation)),
    Field("submitter", "Submitter", "", lambda one: _text(one.row.submitter or one.entry.organisation)),
    Field("system", "System", "", lambda one: _text(one.row.system or one.entry.system)),
    Field("system_folder", "System folder", "", lambda one: _text(one.entry.system)),
    Field("vendor", "Vendor", "", lambda one: one.named.vendor),
    Field("family", "Accelerator family", "", lambda one: one.named.family),
    Field("accelerator", "Accelerator", "", lambda one: one.named.accelerator),
    Field("model", "Accelerator, as described", "", lambda one: _text(one.row.accelerator_model_name)),
    Field("accelerators", "Accelerators", "", lambda one: one.row.accelerators_count, ColumnKind.COUNT),
    Field("nodes", "Nodes", "", lambda one: one.row.number_of_nodes, ColumnKind.COUNT),
    Field("availability", "Availability", "", lambda one: _text(one.row.availability)),
    Field("framework", "Framework", "", lambda one: _text(one.row.framework)),
    Field("batch_size", "Global batch size", "samples", lambda one: one.row.batch_size, ColumnKind.NUMBER),
    Field("minutes", "Time to train", "minutes", lambda one: one.row.published_minutes, ColumnKind.NUMBER),
    Field("unscaled_minutes", "Unscaled", "minutes", lambda one: one.row.unscaled_minutes, ColumnKind.NUMBER),
    Field("expected_minutes", "Expected", "minutes", lambda one: one.row.expected_minutes, ColumnKind.NUMBER),
    Field("scaling", "Scaling factor", "", lambda one: one.row.scaling, ColumnKind.NUMBER),
    Field("chip_minutes", "Chip-minutes", "minutes", lambda one: one.named.chip_minutes, ColumnKind.NUMBER),
    Field("runs", "Runs", "", lambda one: one.entry.runs, ColumnKind.COUNT),
    Field("verdict", "Verdict", "", lambda one: one.entry.official.value),
    Field("rcp", "Convergence test", "", lambda one: one.row.rcp),
    Field("id", "MLPerf ID", "", lambda one: _text(one.id)),
)
