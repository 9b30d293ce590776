"""Benchmark records as rows of their own tables."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlsub.commands.db.cells import as_json
from mlsub.commands.db.records import Configuration, Record, Records, Source, read_records
from mlsub.commands.db.rows import Rows
from mlsub.io.errors import MlsubError

TABLES = (
    "records",
    "record_documents",
    "record_systems",
    "record_facts",
    "record_mlperf_ids",
    "record_files",
)


def read_record_rows(files: Sequence[Path]) -> Rows:
    """The rows of files of records; names must be each file's own.

    Raises:
        FileProblemsError: a file cannot be read.
        MlsubError: two files use one name.
    """
    rows: Rows = {name: [] for name in TABLES}
    for file in files:
        records = read_records(file)
        for table, found in _rows(records).items():
            rows[table] += found
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        rows["record_files"].append({"file": file.name, "sha256": digest})
    for table, key in (("records", "record"), ("record_documents", "document"), ("record_systems", "system")):
        seen: set[str] = set()
        for row in rows[table]:
            if row[key] in seen:
                raise MlsubError(f"Two files of records have a {key} {row[key]}. Rename one.")
            seen.add(row[key])
    return rows


def _rows(records: Records) -> Rows:
    documents = [
        {"document": name, "title": d.title, "publisher": d.publisher, "day": d.date, "url": d.url, "notes": d.notes}
        for name, d in records.documents.items()
    ]
    systems = [
        {
            "system": name,
            "maker": system.maker,
            "accelerator": system.accelerator,
            "accelerators": system.accelerators,
            "host": system.host,
            "operating_system": system.operating_system,
        }
        for name, system in records.systems.items()
    ]
    facts = [
        {
            "system": name,
            "fact": fact.fact,
            "value": fact.value,
            "unit": fact.unit,
            "bound": fact.bound,
            "stated": fact.stated,
            "document": fact.source.document,
            "line": fact.source.line,
        }
        for name, system in records.systems.items()
        for fact in system.facts
    ]
    ids = [
        {"round": f"v{item.round}", "id": name, "document": item.source.document, "line": item.source.line}
        for item in records.mlperf_ids
        for name in item.ids
    ]
    return {
        "records": [_record(record) for record in records.records],
        "record_documents": documents,
        "record_systems": systems,
        "record_facts": facts,
        "record_mlperf_ids": ids,
    }


def _record(record: Record) -> dict[str, Any]:
    return {
        "record": record.name,
        "kind": "ratio" if record.ratio else "value",
        "task": record.task,
        "model": record.model,
        "measure": record.measure,
        "value": record.value,
        "unit": record.unit,
        "bound": record.bound,
        "stated": record.stated,
        "status": record.status,
        "at": record.at,
        **_side("", record.configuration),
        **(_side("versus_", record.versus) if record.versus else {}),
        "parameters": as_json(record.parameters) if record.parameters else None,
        "day": record.day,
        **_source(record.source),
        "notes": record.notes,
    }


def _side(prefix: str, side: Configuration) -> dict[str, Any]:
    sizes = side.batch_sizes or side.batch_range or (None,)
    known = [size for size in sizes if size is not None]
    cells = {
        "system": side.system,
        "framework": ", ".join(side.frameworks) or None,
        "software": side.software,
        "precision": side.precision,
        "batch_size_from": min(known, default=None),
        "batch_size_to": max(known, default=None),
        "dataset": side.dataset,
        "data": side.data,
        "origin": side.origin,
    }
    return {prefix + name: value for name, value in cells.items()}


def _source(source: Source) -> dict[str, Any]:
    return {"document": source.document, "line": source.line, "table_name": source.table}
