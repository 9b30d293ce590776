"""A checked submission, and files of records, as rows of the tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.db.schema import stored
from mlsub.divisions import division_meant
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.look import content_digest
from mlsub.io.show import readable
from mlsub.judge.result import Result, round_key
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.submission.find import organisation
from mlsub.submission.report import SystemResult
from mlsub.systems.description import read_description
from mlsub.systems.fields import SystemFacts, category
from mlsub.systems.names import chip_of
from mlsub.workspace import Checked

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from mlsub.score.records import Configuration, Record, Records

#: A row: its values by column. What it does not name is NULL, what no column is named goes nowhere.
Row = Mapping[str, Any]
#: Rows of one table that wait at most.
_BATCH = 20_000
#: Longer texts are cut: descriptions and logs are not bounded by anybody else.
MAX_TEXT = 20_000
_MAX_INTEGER = 1 << 62
#: Microseconds of the year 9999 or so; DuckDB's calendar ends later.
_MAX_MICROSECONDS = 250_000_000_000_000_000


class Inserter:
    """Inserts rows into the tables of a database; nothing from outside becomes part of a statement."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._tables = {table.name: table for table in stored()}
        self._waiting: dict[str, list[Row]] = {name: [] for name in self._tables}

    def add(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows to a table."""
        self._waiting[table] += rows
        if len(self._waiting[table]) >= _BATCH:
            self._insert(table)

    def flush(self) -> None:
        """Insert what waits."""
        for name in self._tables:
            self._insert(name)

    def _insert(self, name: str) -> None:
        import pyarrow as pa

        rows, self._waiting[name] = self._waiting[name], []
        columns = {
            column.name: _array([row.get(column.name) for row in rows], str(column.type))
            for column in self._tables[name].columns
        }
        self._connection.register("incoming", pa.table(columns))
        self._connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")  # noqa: S608  (our own name)
        self._connection.unregister("incoming")


def _array(values: list[Any], type_: str) -> pa.Array:
    import pyarrow as pa

    cell = _CELLS.get(type_)
    kinds = {
        "VARCHAR": pa.string(),
        "VARCHAR[]": pa.list_(pa.string()),
        "JSON": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
        "DATE": pa.date32(),
    }
    return pa.array([None if value is None else cell(value) for value in values] if cell else values, kinds[type_])


def text(value: object) -> str | None:
    """Return a text, cut where it is too long; None for anything else."""
    if not isinstance(value, str):
        return None
    if value.isascii() and len(value) <= MAX_TEXT:
        return value
    return value[:MAX_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")


def integer(value: object) -> int | None:
    """Return a whole number that fits; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER else None


def number(value: object) -> float | None:
    """Return a finite number, or that of a text that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def as_text(value: Any) -> str | None:
    """Return a value of a log as a text: a text as it was written, anything else as JSON."""
    if (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < _MAX_INTEGER):
        return repr(value)  # As JSON has it.
    return text(readable(value)) if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str | None:
    """Return a value as JSON; None where it cannot be: nested too deeply, or longer than a cell."""
    try:
        # Escaped, so that halves of characters do no harm; NaN and Infinity are no JSON and go as texts.
        found = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return found if len(found) <= MAX_TEXT else None


def moment(time_ms: object) -> int | None:
    """Return the microseconds since the Unix epoch of a time in ms; None where no calendar has it."""
    found = number(time_ms) if not isinstance(time_ms, str) else None
    if found is None or abs(found) * 1000 >= _MAX_MICROSECONDS:
        return None
    return round(found * 1000)


def _plain(value: Any) -> Any:
    """The value with texts and numbers that a column can hold."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _MAX_INTEGER else str(value)
    if isinstance(value, dict):
        return {text(str(key)): _plain(item) for key, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, list) else value


#: What makes a cell of a value, by the type of its column; others are taken as they are.
_CELLS: dict[str, Callable[[Any], Any]] = {
    "VARCHAR": text,
    "JSON": as_json,
    "BIGINT": integer,
    "DOUBLE": number,
    "TIMESTAMP": moment,
}


#: The tables of records whose rows have a name, and its column.
_NAMED = {"records": "record", "record_documents": "document", "record_systems": "system"}


def add_package(into: Inserter, folder: Path, round_: Round, checked: Checked) -> None:
    """Add the rows of a submission.

    Args:
        into: the database.
        folder: the organisation's.
        round_: its round.
        checked: what came of checking its whole tree: paths are relative to the organisation's folder.
    """
    report, results = checked.report, checked.results
    round_name, name = round_key(round_.usage, round_.name), text(folder.name) or "."
    of = {"round": round_name, "organisation": name, "organisation_name": organisation(name)}
    keys = {one.path: f"{round_name}/{name}/{text(one.path.removeprefix('results/'))}" for one in results}
    submission = {
        **of,
        "systems": len(report.systems),
        "entries": len(results),
        "accepted": sum(result.accepted for result in results),
        "runs": len(report.logs),
    }
    into.add("submissions", [submission])
    into.add("systems", [{**_system(folder, round_, system), **of} for system in report.systems])
    for result in results:
        logs, key = result.logs, keys[result.path]
        into.add("entries", [{**result.columns(), **_logged(logs), **_chip(result), **of, "entry": key}])
        for log in logs:
            run = f"{key}/{text(log.name)}"
            into.add("runs", [{**_run(log, folder), "run": run, "entry": key}])
            into.add("evaluations", ({**row, "run": run, "entry": key} for row in _evaluations(log)))
            into.add("hyperparameters", ({**row, "run": run, "entry": key} for row in _hyperparameters(log)))
    for finding in report.findings:
        into.add("findings", [{**_fields(finding), **of, **_place(finding, keys)}])
    for empty in report.without_logs:
        known = benchmark_of(round_.usage, round_.name, empty.benchmark)
        names = {"file": empty.path, "benchmark_name": known.name if known else empty.benchmark}
        into.add("folders_without_logs", [{**_fields(empty), **of, **names}])


def _place(finding: Finding, keys: Mapping[str, str]) -> Row:
    """The entry and the run that a finding is about."""
    above, _, name = finding.path.rpartition("/")
    run = f"{keys[above]}/{text(name)}" if above in keys and name.endswith(".txt") else None
    return {"entry": keys.get(finding.path) or keys.get(above), "run": run}


def _fields(struct: msgspec.Struct | None, prefix: str = "") -> dict[str, Any]:
    """The fields of a struct by the columns that they fill; those of other names go nowhere."""
    return {} if struct is None else {prefix + name: value for name, value in msgspec.structs.asdict(struct).items()}


def _logged(logs: Sequence[LogReport]) -> Row:
    """The batch size that the first run logs, whether the convergence test took place or not."""
    return {"batch_size": logs[0].run.hyperparameters.get("global_batch_size")} if logs else {"batch_size": None}


def _chip(result: Result) -> Row:
    """What the table of accelerators knows of a system's besides its name."""
    model = result.accelerator_model_name or ""
    chip = chip_of(model, result.system_name or "", result.system)
    return {"generation": chip.generation, "accelerator_memory_gb": chip.memory_of(model)} if chip else {}


def _run(log: LogReport, folder: Path) -> Row:
    run, times = log.run, log.run.timeline
    return {
        **_file(folder / log.path),
        **_fields(times),
        "file": log.path,
        "compliant": log.compliant,
        "status": None if run.status is None else as_text(run.status),
        "converged": run.converged,
        "minutes": log.minutes,
        "init_minutes": _minutes(times.init_start, times.init_stop),
        "seed": next((seed.value for seed in run.seeds), None),
    }


def _evaluations(log: LogReport) -> Iterator[Row]:
    for at, one in enumerate(log.run.evaluations):
        yield {
            "number": at,
            "line": one.line,
            "minutes": _minutes(log.run.timeline.run_start, one.time_ms),
            "value": one.value,
            "text": as_text(one.value),
            "metric": None if one.metric is None else as_text(one.metric),
            "epoch_num": one.epoch_num,
            "samples_count": one.samples_count,
            "step_num": one.step_num,
        }


def _hyperparameters(log: LogReport) -> Iterator[Row]:
    for key, value in log.run.hyperparameters.items():
        yield {"key": as_text(key), "text": as_text(value), "number": value, "line": log.run.lines.get(key)}


def _minutes(start: object, stop: object) -> float | None:
    """The minutes from one time in ms to another."""
    first, last = number(start), number(stop)
    return None if first is None or last is None else (last - first) / 60_000


def _file(file: Path) -> Row:
    """The SHA-256 and the size of a file; nothing of one that is no regular file, or cannot be read any more."""
    digest = content_digest(file)
    return {} if digest is None else {"sha256": digest.hex(), "bytes": file.stat().st_size}


def _system(folder: Path, round_: Round, system: SystemResult) -> Row:
    facts = system.facts or SystemFacts()
    content = read_description(folder / system.path, system.path, round_).content
    nodes, per_node = facts.number_of_nodes, facts.accelerators_per_node
    name, model = system.path.rpartition("/")[2].removesuffix(".json"), facts.accelerator_model_name or ""
    division = (content or {}).get("division")
    chip, meant = chip_of(model, facts.system_name or "", name), division_meant(division)
    return {
        **_fields(facts),
        **_file(folder / system.path),
        "system": name,
        "verdict": system.official,
        "division": division,
        "division_name": meant.name if meant else None,
        "availability": None if facts.status is None else category(facts.status),
        "accelerators_count": None if nodes is None or per_node is None else nodes * per_node,
        "accelerator_name": chip.name if chip else None,
        "accelerator_memory_gb": chip.memory_of(model) if chip else None,
        "description": content,
        "file": system.path,
    }


def record_rows(files: Sequence[Path]) -> dict[str, list[Row]]:
    """Return the rows of files of records by table; names must be each file's own.

    Raises:
        FileProblemsError: a file cannot be read.
        MlsubError: two files use one name.
    """
    rows: dict[str, list[Row]] = {table.name: [] for table in stored() if "records" in table.touches}
    for file in files:
        from mlsub.score.records import read_records

        for table, found in _records(read_records(file)).items():
            rows[table] += found
        rows["record_files"].append({"file": file.name, **_file(file)})
    for table, key in _NAMED.items():
        seen: set[str] = set()
        for row in rows[table]:
            if row[key] in seen:
                raise MlsubError(f"Two files of records have a {key} {row[key]}. Rename one.")
            seen.add(row[key])
    return rows


def _records(records: Records) -> dict[str, list[Row]]:
    systems = records.systems.items()
    return {
        "records": [_record(record) for record in records.records],
        "record_documents": [
            {**_fields(document), "document": name, "day": document.date}
            for name, document in records.documents.items()
        ],
        "record_systems": [
            {**_fields(system), "system": name, "accelerators": system.accelerators} for name, system in systems
        ],
        "record_facts": [
            {**_fields(fact), **_fields(fact.source), "system": name}
            for name, system in systems
            for fact in system.facts
        ],
        "record_mlperf_ids": [
            {**_fields(cited.source), "round": f"v{cited.round}", "id": name}
            for cited in records.mlperf_ids
            for name in cited.ids
        ],
    }


def _record(record: Record) -> Row:
    return {
        **_fields(record),
        **_fields(record.source),
        **_side(record.configuration),
        **(_side(record.versus, "versus_") if record.versus else {}),
        "record": record.name,
        "kind": "ratio" if record.ratio else "value",
        "parameters": record.parameters or None,
        "table_name": record.source.table,
    }


def _side(side: Configuration, prefix: str = "") -> Row:
    sizes = side.batch_sizes or side.batch_range or ()
    return {
        **_fields(side, prefix),
        f"{prefix}framework": ", ".join(side.frameworks) or None,
        f"{prefix}batch_size_from": min(sizes, default=None),
        f"{prefix}batch_size_to": max(sizes, default=None),
    }
