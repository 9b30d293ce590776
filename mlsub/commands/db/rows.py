"""A checked submission as rows of the tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from mlsub.commands.db.query import plain_value
from mlsub.commands.db.schema import stored
from mlsub.divisions import division_meant
from mlsub.io.look import content_digest
from mlsub.io.show import readable
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.submission.find import organisation
from mlsub.submission.model import LogReport
from mlsub.submission.report import SystemResult
from mlsub.systems.description import read_content
from mlsub.systems.fields import SystemFacts, category
from mlsub.systems.names import chip_columns
from mlsub.workspace import Checked

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


#: A row: its values by column. What it does not name is NULL, what no column is named goes nowhere.
Row = Mapping[str, Any]
#: Rows, each with the name of its table.
Rows = Iterator[tuple[str, Row]]
#: Rows that are inserted at once at most.
_BATCH = 20_000
#: Longer texts are cut: descriptions and logs are not bounded by anybody else.
MAX_TEXT = 20_000
_MAX_INTEGER = 1 << 62
#: Microseconds of the year 9999 or so; DuckDB's calendar ends later.
_MAX_MICROSECONDS = 250_000_000_000_000_000


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
    return text(readable(value)) if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str | None:
    """Return a value as JSON; None where it cannot be: nested too deeply, or longer than a cell."""
    try:
        # Escaped, so that halves of characters do no harm; NaN and Infinity are no JSON and go as texts.
        found = json.dumps(plain_value(value, text), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return found if len(found) <= MAX_TEXT else None


def moment(time_ms: object) -> int | None:
    """Return the microseconds since the Unix epoch of a time in ms; None where no calendar has it."""
    found = number(time_ms) if not isinstance(time_ms, str) else None
    return None if found is None or abs(found) * 1000 >= _MAX_MICROSECONDS else round(found * 1000)


#: What makes a cell of a value, by the type of its column; others are taken as they are.
_CELLS: dict[str, Callable[[Any], Any]] = {
    "VARCHAR": text,
    "JSON": as_json,
    "BIGINT": integer,
    "DOUBLE": number,
    "TIMESTAMP": moment,
}


def insert_rows(connection: DuckDBPyConnection, rows: Rows) -> None:
    """Insert rows into the tables of a database; nothing from outside becomes part of a statement."""
    import pyarrow as pa

    while some := list(islice(rows, _BATCH)):
        for table in stored():
            of_table = [row for name, row in some if name == table.name]
            # DuckDB makes the types of the table of what Arrow takes the cells for.
            arrays = {}
            for column in table.columns:
                cell, values = _CELLS.get(str(column.type)), [row.get(column.name) for row in of_table]
                cells = [value if value is None or cell is None else cell(value) for value in values]
                arrays[column.name] = pa.array(cells, pa.timestamp("us") if column.type == "TIMESTAMP" else None)
            connection.register("incoming", pa.table(arrays))
            connection.execute(f"INSERT INTO {table.name} SELECT * FROM incoming")  # noqa: S608  (our own name)
            connection.unregister("incoming")


def package_rows(folder: Path, round_: Round, checked: Checked) -> Rows:
    """Yield the rows of a submission.

    Args:
        folder: the organisation's.
        round_: its round.
        checked: what came of checking its whole tree: paths are relative to the organisation's folder.
    """
    report, results = checked.report, checked.results
    name = text(folder.name) or "."
    of = {"usage": round_.usage, "round": round_.name, "organisation": name, "organisation_name": organisation(name)}
    keys = {one.path: text(one.entry) for one in results}
    counts = {"systems": len(report.systems), "entries": len(results), "runs": len(report.logs)}
    yield "submissions", {**of, **counts, "accepted": sum(result.accepted for result in results)}
    for system in report.systems:
        yield "systems", {**_system_row(folder, round_, system), **of}
    for result in results:
        logs, entry = result.logs, {"entry": keys[result.path]}
        # Without the convergence test, the batch size that the first run logs.
        logged = logs[0].run.hyperparameters.get("global_batch_size") if logs else None
        yield "entries", {**result.columns(), **of, **entry, "batch_size": result.rcp.batch_size or logged}
        for log in logs:
            of_run = {**entry, "run": f"{entry['entry']}/{text(log.name)}"}
            for table, row in _run_rows(log, folder):
                yield table, {**row, **of_run}
    for finding in report.findings:
        above, _, file = finding.path.rpartition("/")
        run = f"{keys[above]}/{text(file)}" if above in keys and file.endswith(".txt") else None
        about = {"entry": keys.get(finding.path) or keys.get(above), "run": run}
        yield "findings", {**asdict(finding), **of, **about}
    for empty in report.without_logs:
        known = benchmark_of(round_.usage, round_.name, empty.benchmark)
        named = {"file": empty.path, "benchmark_name": known.name if known else empty.benchmark}
        yield "folders_without_logs", {**asdict(empty), **of, **named}


def _run_rows(log: LogReport, folder: Path) -> Rows:
    """Yield the row of a run, and those of its evaluations and hyperparameters."""
    run, times = log.run, log.run.timeline
    row = {
        **_file_columns(folder / log.path),
        **asdict(times),
        "file": log.path,
        "compliant": log.compliant,
        "status": None if run.status is None else as_text(run.status),
        "converged": run.converged,
        "minutes": log.minutes,
        "init_minutes": _minutes(times.init_start, times.init_stop),
        "seed": next((seed.value for seed in run.seeds), None),
    }
    yield "runs", row
    for at, one in enumerate(run.evaluations):
        texts = {"text": as_text(one.value), "metric": None if one.metric is None else as_text(one.metric)}
        yield "evaluations", {**asdict(one), **texts, "number": at, "minutes": _minutes(times.run_start, one.time_ms)}
    for key, value in run.hyperparameters.items():
        line = run.lines.get(key)
        yield "hyperparameters", {"key": as_text(key), "text": as_text(value), "number": value, "line": line}


def _minutes(start: object, stop: object) -> float | None:
    """Return the minutes from one time in ms to another."""
    first, last = number(start), number(stop)
    return None if first is None or last is None else (last - first) / 60_000


def _file_columns(file: Path) -> Row:
    """Return the SHA-256 and the size of a file; nothing of one that is no regular file, or cannot be read any more."""
    digest = content_digest(file)
    return {} if digest is None else {"sha256": digest.hex(), "bytes": file.stat().st_size}


def _system_row(folder: Path, round_: Round, system: SystemResult) -> Row:
    """Return the row of a system description."""
    facts = system.facts or SystemFacts()
    content = read_content(folder / system.path, round_)
    nodes, per_node = facts.number_of_nodes, facts.accelerators_per_node
    name = system.path.rpartition("/")[2].removesuffix(".json")
    division = (content or {}).get("division")
    meant = division_meant(division)
    return {
        **asdict(facts),
        **_file_columns(folder / system.path),
        **chip_columns(facts.accelerator_model_name, facts.system_name or "", name),
        "system": name,
        "verdict": system.official,
        "division": division,
        "division_name": meant.name if meant else None,
        "availability": None if facts.status is None else category(facts.status),
        "accelerators_count": None if nodes is None or per_node is None else nodes * per_node,
        "description": content,
        "file": system.path,
    }
