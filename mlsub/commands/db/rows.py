"""A checked submission, and files of records, as rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.db.insert import Inserter, Row, as_text, number, text
from mlsub.commands.db.schema import stored
from mlsub.divisions import division_meant
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.look import content_digest
from mlsub.judge.result import Result, round_key
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.submission.organisations import organisation
from mlsub.submission.report import SystemResult
from mlsub.systems.description import read_description
from mlsub.systems.fields import SystemFacts, category
from mlsub.systems.names import chip_of
from mlsub.workspace import Checked

if TYPE_CHECKING:
    from mlsub.commands.db.records import Configuration, Record, Records

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
        from mlsub.commands.db.records import read_records

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
