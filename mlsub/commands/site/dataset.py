"""All results of a site as one table of plain values: what charts, the table of results and downloads are made of."""

from __future__ import annotations

import datetime
from importlib.util import find_spec
from typing import Any, NamedTuple

import msgspec

from mlsub.commands.score.formats import FORMATS, csv_of, parquet_of
from mlsub.commands.site.page import RESULTS_SCRIPT, clean
from mlsub.commands.site.render import safe_json
from mlsub.commands.site.results import Results
from mlsub.score.columns import ColumnKind, Value, encodable

#: The folder of the data.
DATA = RESULTS_SCRIPT.partition("/")[0]
#: The digits that minutes keep; the pages of results and ``mlsub score`` have them all.
_DIGITS = 9
_LONGEST = 200


class Field(NamedTuple):
    """A column: the name of what a result has there, its title, unit (empty for none), and kind."""

    key: str
    title: str
    kind: ColumnKind = ColumnKind.TEXT
    unit: str = ""


_COUNT, _NUMBER = ColumnKind.COUNT, ColumnKind.NUMBER
FIELDS = (
    Field("href", "Page"),
    Field("round_key", "Round"),
    Field("publication_date", "Published"),
    Field("usage", "Usage"),
    Field("division_name", "Division"),
    Field("benchmark_name", "Benchmark"),
    Field("benchmark_title", "Benchmark"),
    Field("scaling_type", "Scaling type"),
    Field("benchmark", "Benchmark folder"),
    Field("organisation_name", "Organisation"),
    Field("submitter", "Submitter"),
    Field("system_name", "System"),
    Field("system", "System folder"),
    Field("vendor", "Vendor"),
    Field("family", "Accelerator family"),
    Field("accelerator_name", "Accelerator"),
    Field("accelerator_model_name", "Accelerator, as described"),
    Field("accelerators_count", "Accelerators", _COUNT),
    Field("number_of_nodes", "Nodes", _COUNT),
    Field("availability", "Availability"),
    Field("framework", "Framework"),
    Field("batch_size", "Global batch size", _NUMBER, "samples"),
    Field("published_minutes", "Time to train", _NUMBER, "minutes"),
    Field("unscaled_minutes", "Unscaled", _NUMBER, "minutes"),
    Field("expected_minutes", "Expected", _NUMBER, "minutes"),
    Field("scaling", "Scaling factor", _NUMBER),
    Field("chip_minutes", "Chip-minutes", _NUMBER, "minutes"),
    Field("runs", "Runs", _COUNT),
    Field("verdict", "Verdict"),
    Field("rcp_verdict", "Convergence test"),
    Field("id", "MLPerf ID"),
)


def results_script(results: Results) -> bytes:
    """Return the script that defines the results: ``window.mlsubResults``, a column at a time, each text once."""
    rows = _rows(results)
    columns = [_column(field, [row[place] for row in rows]) for place, field in enumerate(FIELDS)]
    return f'"use strict";\nwindow.mlsubResults = {safe_json({"count": len(results), "columns": columns})};\n'.encode()


def _column(field: Field, values: list[Value]) -> dict[str, Any]:
    found: dict[str, Any] = {"key": field.key, "title": field.title, "unit": field.unit, "kind": field.kind.value}
    if field.kind is ColumnKind.TEXT:
        places = {name: place for place, name in enumerate(dict.fromkeys(one for one in values if one is not None))}
        return found | {"names": list(places), "values": [-1 if one is None else places[one] for one in values]}
    return found | {"values": values}


def downloads(results: Results) -> dict[str, bytes]:
    """Return the same results as files by their paths: CSV, JSON, and Parquet where the library is installed.

    The page of all results makes the same files of a selection.
    """
    keys, rows = [field.key for field in FIELDS], _rows(results)
    lines = b",\n".join(msgspec.json.encode(dict(zip(keys, row, strict=True))) for row in rows)
    found = {f"{DATA}/results.csv": csv_of(keys, rows), f"{DATA}/results.json": b"[" + lines + b"]\n"}
    if find_spec(FORMATS["parquet"].library) is not None:
        found[f"{DATA}/results.parquet"] = parquet_of([(field.key, field.kind) for field in FIELDS], rows)
    return found


def _rows(results: Results) -> list[list[Value]]:
    """The values of each result, in the order of the columns."""
    rows = []
    for result in results:
        cells = result.columns() | {"round_key": result.round_key, "id": result.id}
        rows.append([_plain(cells[field.key]) for field in FIELDS])
    return rows


def _plain(value: Any) -> Value:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return encodable(clean(value, _LONGEST)) if isinstance(value, str) else value
