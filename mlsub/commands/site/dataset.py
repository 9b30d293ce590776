"""All results of a site as one table of plain values: what charts, the table of results and downloads are made of."""

from __future__ import annotations

import datetime
from importlib.util import find_spec
from typing import Any

import msgspec

from mlsub.commands.site.page import RESULTS_SCRIPT, clean
from mlsub.commands.site.render import safe_json
from mlsub.commands.site.results import Results
from mlsub.present.tables import Column, ColumnKind, Value, csv_of, encodable, parquet_of

#: The folder of the data.
DATA = RESULTS_SCRIPT.partition("/")[0]
#: The digits that minutes keep; the pages of results and ``mlsub score`` have them all.
_DIGITS = 9
_LONGEST = 200


def _field(name: str, title: str, kind: ColumnKind = "text") -> Column:
    return Column(name=name, title=title, kind=kind)


_COUNT: ColumnKind = "count"
_NUMBER: ColumnKind = "number"
#: The columns, by the names that a result has for them.
FIELDS = (
    _field("href", "Page"),
    _field("round_key", "Round"),
    _field("publication_date", "Published"),
    _field("usage", "Usage"),
    _field("division_name", "Division"),
    _field("benchmark_name", "Benchmark"),
    _field("benchmark_title", "Benchmark"),
    _field("scaling_type", "Scaling type"),
    _field("benchmark", "Benchmark folder"),
    _field("organisation_name", "Organisation"),
    _field("submitter", "Submitter"),
    _field("system_name", "System"),
    _field("system", "System folder"),
    _field("vendor", "Vendor"),
    _field("family", "Accelerator family"),
    _field("accelerator_name", "Accelerator"),
    _field("accelerator_model_name", "Accelerator, as described"),
    _field("accelerators_count", "Accelerators", _COUNT),
    _field("number_of_nodes", "Nodes", _COUNT),
    _field("availability", "Availability"),
    _field("framework", "Framework"),
    _field("batch_size", "Global batch size", _NUMBER),
    _field("published_minutes", "Time to train", _NUMBER),
    _field("unscaled_minutes", "Unscaled", _NUMBER),
    _field("expected_minutes", "Expected", _NUMBER),
    _field("scaling", "Scaling factor", _NUMBER),
    _field("chip_minutes", "Chip-minutes", _NUMBER),
    _field("energy_joules", "Energy", _NUMBER),
    _field("runs", "Runs", _COUNT),
    _field("verdict", "Verdict"),
    _field("rcp_verdict", "Convergence test"),
    _field("id", "MLPerf ID"),
)
#: Units of columns that have one.
_UNITS = {"batch_size": "samples", "energy_joules": "joules"} | dict.fromkeys(
    ("published_minutes", "unscaled_minutes", "expected_minutes", "chip_minutes"), "minutes"
)


def results_script(results: Results) -> bytes:
    """Return the script that defines the results: ``window.mlsubResults``, a column at a time, each text once."""
    rows = _rows(results)
    columns = [_column(field, [row[place] for row in rows]) for place, field in enumerate(FIELDS)]
    return f'"use strict";\nwindow.mlsubResults = {safe_json({"count": len(results), "columns": columns})};\n'.encode()


def _column(field: Column, values: list[Value]) -> dict[str, Any]:
    unit = _UNITS.get(field.name, "")
    found: dict[str, Any] = {"key": field.name, "title": field.title, "unit": unit, "kind": field.kind}
    if field.kind == "text":
        places = {name: place for place, name in enumerate(dict.fromkeys(one for one in values if one is not None))}
        return found | {"names": list(places), "values": [-1 if one is None else places[one] for one in values]}
    return found | {"values": values}


def downloads(results: Results) -> dict[str, bytes]:
    """Return the same results as files by their paths: CSV, JSON, and Parquet where the library is installed.

    The page of all results makes the same files of a selection.
    """
    keys, rows = [field.name for field in FIELDS], _rows(results)
    lines = b",\n".join(msgspec.json.encode(dict(zip(keys, row, strict=True))) for row in rows)
    found = {f"{DATA}/results.csv": csv_of(keys, rows), f"{DATA}/results.json": b"[" + lines + b"]\n"}
    if find_spec("pyarrow") is not None:
        found[f"{DATA}/results.parquet"] = parquet_of([(field.name, field.kind) for field in FIELDS], rows)
    return found


def _rows(results: Results) -> list[list[Value]]:
    """Return the values of each result, in the order of the columns."""
    rows = []
    for result in results:
        cells = result.columns() | {"round_key": result.round_key, "id": result.id}
        rows.append([_plain(cells[field.name]) for field in FIELDS])
    return rows


def _plain(value: Any) -> Value:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return encodable(clean(value, _LONGEST)) if isinstance(value, str) else value
