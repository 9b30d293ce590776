"""One checked submission, and benchmark records, as rows of the tables; a cell becomes what its column holds later."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.db.batch import Batch
from mlsub.commands.db.cells import as_text, minutes, text
from mlsub.commands.db.discover import Package
from mlsub.commands.db.fingerprint import FileMark, Fingerprint
from mlsub.commands.db.schema import Rows, stored
from mlsub.divisions import division_meant
from mlsub.findings import Verdict
from mlsub.io.errors import MlsubError
from mlsub.log.report import LogReport
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.score.named import Named, named
from mlsub.score.table import Row, rows_of
from mlsub.submission.organisations import organisation
from mlsub.submission.report import EmptyFolder, EntryResult, SystemResult
from mlsub.systems.availability import category
from mlsub.systems.chips import chip_of
from mlsub.systems.description import read_description
from mlsub.systems.facts import SystemFacts
from mlsub.workspace import Checked

if TYPE_CHECKING:
    from mlsub.commands.db.records import Configuration, Record, Records

_NO_FILE = FileMark("", 0, "")
#: Columns of evaluations that are as the log has them.
_AS_LOGGED = ("line", "value", "epoch_num", "samples_count", "step_num")
#: The tables of records whose rows have a name, and its column.
_NAMED = {"records": "record", "record_documents": "document", "record_systems": "system"}


def add_package(
    batch: Batch, package: Package, checked: Checked, print_: Fingerprint, options: Mapping[str, Any]
) -> None:
    """Add the rows of a submission.

    Args:
        batch: what takes them.
        package: where it is.
        checked: what came of checking its whole tree: paths are relative to the organisation's folder.
        print_: of its files.
        options: what the convergence test was asked for.
    """
    report = checked.report
    of = {"round": package.round_key, "organisation": package.organisation}
    place = "/".join(of.values())
    names = {row.path: (row, named(row)) for row in rows_of([report])}
    keys = {entry.path: f"{place}/{text(entry.path.removeprefix('results/'))}" for entry in report.entries}
    submission = {
        **of,
        "organisation_name": organisation(package.organisation),
        "systems": len(report.systems),
        "entries": len(report.entries),
        "accepted": sum(entry.official is Verdict.ACCEPTED for entry in report.entries),
        "runs": len(report.logs),
        "files": sum(not path.endswith("/") for path in print_.files),
        "bytes": print_.bytes,
        "fingerprint": print_.digest,
        "options": options,
    }
    findings = [
        {
            **_fields(finding),
            **of,
            "entry": keys.get(finding.path) or keys.get(finding.path.rpartition("/")[0]),
            "run": _run_key(keys, finding.path) if finding.path.endswith(".txt") else None,
        }
        for finding in report.findings
    ]
    batch.rows("submissions", [submission])
    batch.rows("systems", [{**_system(package, system, print_.files), **of} for system in report.systems])
    batch.rows("findings", findings)
    batch.rows("folders_without_logs", [{**_empty(package, folder), **of} for folder in report.without_logs])
    by_entry: dict[str, list[LogReport]] = {}
    for log in checked.logs:
        by_entry.setdefault(log.path.rpartition("/")[0], []).append(log)
    for entry in report.entries:
        logs, key = by_entry.get(entry.path, []), keys[entry.path]
        batch.rows("entries", [{**_entry(entry, logs), **_names(*names[entry.path]), **of, "entry": key}])
        for log in logs:
            _add_log(batch, log, print_.files.get(log.path, _NO_FILE), key)


def _empty(package: Package, folder: EmptyFolder) -> dict[str, Any]:
    known = benchmark_of(package.round.usage, package.round.name, folder.benchmark)
    return {**_fields(folder), "file": folder.path, "benchmark_name": known.name if known else folder.benchmark}


def _fields(struct: msgspec.Struct | None, prefix: str = "") -> dict[str, Any]:
    """The fields of a struct by the columns that they fill; those of other names go nowhere."""
    return {} if struct is None else {prefix + name: value for name, value in msgspec.structs.asdict(struct).items()}


def _run_key(keys: Mapping[str, str], path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    return f"{keys[folder]}/{text(name)}" if folder in keys else None


def _entry(entry: EntryResult, logs: Sequence[LogReport]) -> dict[str, Any]:
    score = entry.score
    return {
        **_fields(entry),
        "verdict": entry.official,
        "batch_size": logs[0].run.hyperparameters.get("global_batch_size") if logs else None,
        **_fields(score),
        "unscaled_minutes": score.unscaled,
        "published_minutes": score.published,
        "expected_minutes": score.expected,
        **_fields(entry.rcp, "rcp_"),
        **_fields(entry.rcp.also, "rcp_also_"),
        "energy_joules": entry.energy.scaled if entry.energy else None,
    }


def _names(row: Row, known: Named) -> dict[str, Any]:
    """What joins an entry with the dimensions, and what is counted by them."""
    return {
        "organisation_name": known.organisation,
        "accelerator_name": known.accelerator,
        "accelerators": row.accelerators_count,
        "benchmark_name": known.benchmark,
        "compatible_group": known.group,
        "division_name": known.division,
        "chip_minutes": known.chip_minutes,
    }


def _add_log(batch: Batch, log: LogReport, mark: FileMark, entry: str) -> None:
    """Add the rows of a log of an entry."""
    run, times = log.run, log.run.timeline
    key = f"{entry}/{text(log.name)}"
    result = {
        **_fields(mark),
        **_fields(times),
        "run": key,
        "entry": entry,
        "file": log.path,
        "compliant": log.compliant,
        "status": None if run.status is None else as_text(run.status),
        "converged": run.converged,
        "minutes": log.minutes,
        "init_minutes": minutes(times.init_start, times.init_stop),
        "seed": next((seed.value for seed in run.seeds), None),
    }
    batch.rows("runs", [result])
    seen, stated = run.evaluations, run.hyperparameters
    evaluations: dict[str, Sequence[Any]] = {
        "run": [key] * len(seen),
        "entry": [entry] * len(seen),
        "number": range(len(seen)),
        "minutes": [minutes(times.run_start, one.time_ms) for one in seen],
        "text": [as_text(one.value) for one in seen],
        "metric": [None if one.metric is None else as_text(one.metric) for one in seen],
        **{name: [getattr(one, name) for one in seen] for name in _AS_LOGGED},
    }
    batch.columns("evaluations", len(seen), evaluations)
    hyperparameters: dict[str, Sequence[Any]] = {
        "run": [key] * len(stated),
        "entry": [entry] * len(stated),
        "key": list(map(as_text, stated)),
        "text": list(map(as_text, stated.values())),
        "number": list(stated.values()),
        "line": list(map(run.lines.get, stated)),
    }
    batch.columns("hyperparameters", len(stated), hyperparameters)


def _system(package: Package, system: SystemResult, files: Mapping[str, FileMark]) -> dict[str, Any]:
    facts = system.facts or SystemFacts()
    content = read_description(package.folder / system.path, system.path, package.round).content
    nodes, per_node = facts.number_of_nodes, facts.accelerators_per_node
    name, model = system.path.rpartition("/")[2].removesuffix(".json"), facts.accelerator_model_name or ""
    division = (content or {}).get("division")
    chip, meant = chip_of(model, facts.system_name or "", name), division_meant(division)
    return {
        **_fields(facts),
        "organisation_name": organisation(package.organisation),
        "system": name,
        "verdict": system.official,
        "division": division,
        "division_name": meant.name if meant else None,
        "availability": None if facts.status is None else category(facts.status),
        "nodes": nodes,
        "host_processor": facts.host_processor_model_name,
        "accelerator": facts.accelerator_model_name,
        "accelerator_name": chip.name if chip else None,
        "accelerator_memory_gb": chip.memory_of(model) if chip else None,
        "accelerators": None if nodes is None or per_node is None else nodes * per_node,
        "description": content,
        "file": system.path,
        "sha256": files.get(system.path, _NO_FILE).sha256,
    }


def record_rows(files: Sequence[Path]) -> Rows:
    """The rows of files of records; names must be each file's own.

    Raises:
        FileProblemsError: a file cannot be read.
        MlsubError: two files use one name.
    """
    rows: Rows = {table.name: [] for table in stored() if "records" in table.touches}
    for file in files:
        from mlsub.commands.db.records import read_records

        for table, found in _of_records(read_records(file)).items():
            rows[table] += found
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        rows["record_files"].append({"file": file.name, "sha256": digest})
    for table, key in _NAMED.items():
        seen: set[str] = set()
        for row in rows[table]:
            if row[key] in seen:
                raise MlsubError(f"Two files of records have a {key} {row[key]}. Rename one.")
            seen.add(row[key])
    return rows


def _of_records(records: Records) -> Rows:
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


def _record(record: Record) -> dict[str, Any]:
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


def _side(side: Configuration, prefix: str = "") -> dict[str, Any]:
    sizes = side.batch_sizes or side.batch_range or ()
    return {
        **_fields(side, prefix),
        f"{prefix}framework": ", ".join(side.frameworks) or None,
        f"{prefix}batch_size_from": min(sizes, default=None),
        f"{prefix}batch_size_to": max(sizes, default=None),
    }
