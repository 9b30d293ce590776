"""Read a file of benchmark records: everything that is wrong with it, each with its line and what was meant."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mlsub.commands.db.records.model import Configuration, Document, Fact, MlperfIds, Record, Records, Source, System
from mlsub.io.yamlfile import (
    FileProblemsError,
    Flaws,
    Problem,
    child,
    content_of,
    keys,
    meant,
    read,
    schema_problems,
    twice,
    unknown,
)

#: The units of each measure; ``x`` is a ratio of it.
UNITS = {
    "throughput": ("images/s", "sequences/s", "samples/s", "rows/s", "tokens/s", "x"),
    "latency": ("us", "ms", "s", "x"),
    "time-to-result": ("s", "min", "h", "d", "x"),
    "performance": ("x",),
}


class RecordsError(FileProblemsError):
    """A file of records that cannot be used."""


@cache
def records_schema() -> dict[str, Any]:
    """The JSON Schema of records, for editors as well."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("records.schema.json").read_text("utf-8"))
    return content


def read_records(file: Path) -> Records:
    """Read a file of records.

    Args:
        file: a YAML file, see records.schema.json.

    Raises:
        RecordsError: it cannot be read, or does not hold together.
    """
    if file.exists() and not file.is_file():
        # A pipe would be waited for, for ever.
        raise RecordsError((Problem(str(file), 1, "no regular file"),))
    node, problems = read(file, kind="records", top="documents, systems and records")
    if not isinstance(node, yaml.MappingNode):
        raise RecordsError(problems)
    shown = str(file)
    schema = records_schema()
    found = _placed(shown, [*twice(node), *_unknown_words(node, schema)])
    found = found or schema_problems(node, shown, schema)
    found = found or _placed(shown, _flaws(node))
    if found:
        raise RecordsError(tuple(sorted(dict.fromkeys(found), key=lambda problem: problem.line)))
    return _records(shown, content_of(node))


def _placed(shown: str, flaws: Flaws | list[tuple[yaml.Node, str]]) -> list[Problem]:
    return [Problem(shown, where.start_mark.line + 1, message) for where, message in flaws]


def _unknown_words(node: yaml.Node, schema: dict[str, Any]) -> Flaws:
    """Words that the schema does not have, with those that were meant."""
    kinds = schema["$defs"]
    yield from unknown(node, schema["properties"], "word")
    for section, kind in (("documents", "document"), ("systems", "system")):
        for value in _values(child(node, section)):
            yield from unknown(value, kinds[kind]["properties"], "word")
    for record in _items(child(node, "records")):
        yield from unknown(record, kinds["record"]["properties"], "word")
        for side in ("configuration", "versus"):
            part = child(record, side)
            if part is not None:
                yield from unknown(part, kinds["configuration"]["properties"], "word")


def _flaws(node: yaml.Node) -> Flaws:
    """What no schema can say: names that lead nowhere, units of another measure, days that no calendar has."""
    documents = [str(key.value) for key in keys(_section(node, "documents"))]
    systems = [str(key.value) for key in keys(_section(node, "systems"))]
    for place in _sources(node):
        if place.value not in documents:
            yield place, f"no document {place.value!r} among the documents{meant(place.value, documents)}"
    for number in (child(item, "value") for item in _stating(node)):
        if number is not None and math.isnan(content_of(number)):
            yield number, "the value is no number"
    for day in _days(node):
        try:
            date.fromisoformat(day.value)
        except ValueError:
            yield day, f"{day.value} is no day of the calendar"
    seen: dict[str, int] = {}
    for record in _items(child(node, "records")):
        name: Any = child(record, "name")
        if name.value in seen:
            yield name, f"the name {name.value!r} is there twice, first on line {seen[name.value]}"
        seen.setdefault(name.value, name.start_mark.line + 1)
        yield from _record_flaws(record, systems)


def _record_flaws(record: yaml.Node, systems: list[str]) -> Flaws:
    measure: Any = child(record, "measure")
    unit: Any = child(record, "unit")
    versus = child(record, "versus")
    if unit.value not in UNITS[measure.value]:
        yield unit, f"{unit.value} is no unit of {measure.value}; there are {', '.join(UNITS[measure.value])}"
    elif unit.value == "x" and versus is None:
        yield unit, "x is a ratio: say with versus what the value is compared with"
    elif unit.value != "x" and versus is not None:
        yield unit, f"with versus the value is a ratio, and its unit x, not {unit.value}"
    for side in (child(record, "configuration"), versus):
        if side is None:
            continue
        system: Any = child(side, "system")
        if system.value not in systems:
            yield system, f"no system {system.value!r} among the systems{meant(system.value, systems)}"
        batch = child(side, "batch_size")
        if isinstance(batch, yaml.MappingNode):
            ends = content_of(batch)
            if ends["from"] > ends["to"]:
                yield batch, f"a sweep goes from the least to the largest, not from {ends['from']} to {ends['to']}"


def _section(node: yaml.Node, name: str) -> yaml.Node:
    found = child(node, name)
    return node if found is None else found


def _values(node: yaml.Node | None) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield value


def _items(node: yaml.Node | None) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value


def _stating(node: yaml.Node) -> Iterator[yaml.Node]:
    """Records, and the facts of systems: what states a figure."""
    yield from _items(child(node, "records"))
    for system in _values(child(node, "systems")):
        yield from _items(child(system, "facts"))


def _sources(node: yaml.Node) -> Iterator[Any]:
    """The nodes that name a document."""
    for item in (*_stating(node), *_items(child(node, "mlperf_ids"))):
        source = child(item, "source")
        if source is not None:
            yield child(source, "document")


def _days(node: yaml.Node) -> Iterator[Any]:
    for item in (*_values(child(node, "documents")), *_items(child(node, "records"))):
        day = child(item, "date")
        if day is not None:
            yield day


def _records(shown: str, content: dict[str, Any]) -> Records:
    """The file as a model; the schema and the checks above have passed."""
    documents = tuple(_document(name, item) for name, item in content["documents"].items())
    days = {document.name: document.date for document in documents}
    return Records(
        file=shown,
        documents=documents,
        systems=tuple(_system(name, item) for name, item in content["systems"].items()),
        records=tuple(_record(item, days) for item in content["records"]),
        mlperf_ids=tuple(
            MlperfIds(round=item["round"], ids=tuple(item["ids"]), source=Source(**item["source"]))
            for item in content.get("mlperf_ids", ())
        ),
    )


def _document(name: str, item: dict[str, Any]) -> Document:
    return Document(name=name, **{**item, "date": _day(item.get("date"))})


def _system(name: str, item: dict[str, Any]) -> System:
    facts = tuple(
        Fact(**{"bound": "exact", **fact, "value": float(fact["value"]), "source": Source(**fact["source"])})
        for fact in item.get("facts", ())
    )
    return System(name=name, **{**item, "facts": facts})


def _record(item: dict[str, Any], days: dict[str, date | None]) -> Record:
    source = Source(**item["source"])
    versus = item.get("versus")
    return Record(
        name=item["name"],
        task=item["task"],
        model=item["model"],
        measure=item["measure"],
        value=float(item["value"]),
        unit=item["unit"],
        bound=item.get("bound", "exact"),
        stated=item["stated"],
        status=item.get("status", "unstated"),
        configuration=_configuration(item["configuration"]),
        source=source,
        versus=None if versus is None else _configuration(versus),
        at=item.get("at"),
        parameters=dict(item.get("parameters", {})),
        day=_day(item.get("date")) or days[source.document],
        notes=item.get("notes"),
    )


def _configuration(item: dict[str, Any]) -> Configuration:
    framework, batch = item.get("framework", []), item.get("batch_size", [])
    rest = {key: value for key, value in item.items() if key not in ("framework", "batch_size")}
    return Configuration(
        frameworks=(framework,) if isinstance(framework, str) else tuple(framework),
        batch_sizes=tuple(batch) if isinstance(batch, list) else () if isinstance(batch, dict) else (batch,),
        batch_range=(batch["from"], batch["to"]) if isinstance(batch, dict) else None,
        **rest,
    )


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
