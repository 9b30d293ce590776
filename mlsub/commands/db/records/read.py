"""Read a file of benchmark records: everything that is wrong with it, each with its line and what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.db.records.model import UNITS, Configuration, Record, Records
from mlsub.io.documents import Form, Tree, read_document
from mlsub.io.yamlfile import meant

FORM = Form(
    Records,
    "records",
    "Benchmark records beyond MLPerf: throughput, latency and time to result, as documents state them",
)
Steps = tuple[str | int, ...]


def records_schema() -> dict[str, Any]:
    """The JSON Schema of records, for editors as well."""
    return FORM.schema()


def read_records(file: Path) -> Records:
    """Read a file of records.

    Args:
        file: a YAML file, see :func:`records_schema`.

    Raises:
        FileProblemsError: it cannot be read, or does not hold together.
    """
    records, tree = read_document(file, FORM)
    for steps, message in _flaws(records, tree):
        tree.flaw(message, *steps)
    tree.settle()
    dated = tuple(
        msgspec.structs.replace(one, day=one.day or records.documents[one.source.document].date)
        for one in records.records
    )
    return msgspec.structs.replace(records, records=dated)


def _flaws(records: Records, tree: Tree) -> Iterator[tuple[Steps, str]]:
    """What no schema can say: names that lead nowhere, units of another measure."""
    for steps, name in _documents_named(records):
        if name not in records.documents:
            yield (*steps, "document"), f"no document {name!r} among the documents{meant(name, records.documents)}"
    seen: dict[str, int] = {}
    for number, record in enumerate(records.records):
        here = ("records", number)
        if record.name in seen:
            yield (*here, "name"), f"the name {record.name!r} is given twice, first on line {seen[record.name]}"
        seen.setdefault(record.name, tree.line(*here, "name"))
        yield from (((*here, *steps), message) for steps, message in _of_record(record, records))


def _documents_named(records: Records) -> Iterator[tuple[Steps, str]]:
    """The documents that records, facts of systems and IDs name, each by the path of its source."""
    for number, record in enumerate(records.records):
        yield ("records", number, "source"), record.source.document
    for number, cited in enumerate(records.mlperf_ids):
        yield ("mlperf_ids", number, "source"), cited.source.document
    for name, system in records.systems.items():
        for number, fact in enumerate(system.facts):
            yield ("systems", name, "facts", number, "source"), fact.source.document


def _of_record(record: Record, records: Records) -> Iterator[tuple[Steps, str]]:
    known = UNITS[record.measure]
    if record.unit not in known:
        yield ("unit",), f"{record.unit} is not a unit of {record.measure}; there are {', '.join(known)}"
    elif record.unit == "x" and not record.ratio:
        yield ("unit",), "x is a ratio; say with versus what the value is compared with"
    elif record.unit != "x" and record.ratio:
        yield ("unit",), f"with versus the value is a ratio, and its unit x, not {record.unit}"
    sides: dict[str, Configuration | None] = {"configuration": record.configuration, "versus": record.versus}
    for name, side in sides.items():
        if side is None:
            continue
        if side.system not in records.systems:
            hint = meant(side.system, records.systems)
            yield (name, "system"), f"no system {side.system!r} among the systems{hint}"
        if side.batch_range and side.batch_range[0] > side.batch_range[1]:
            low, high = side.batch_range
            yield (name, "batch_size"), f"a sweep goes from the least to the largest, not from {low} to {high}"
