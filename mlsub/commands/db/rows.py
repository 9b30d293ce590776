"""One checked submission as rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlsub.commands.db.cells import as_json, as_text, integer, minutes, moment, number, text
from mlsub.commands.db.discover import Package
from mlsub.commands.db.fingerprint import FileMark, Fingerprint
from mlsub.findings import Finding, Verdict
from mlsub.log.report import LogReport
from mlsub.submission.report import EntryResult, SystemResult
from mlsub.systems.description import read_description
from mlsub.systems.facts import SystemFacts
from mlsub.workspace import Checked

#: Rows by table; a row has its values by column.
Rows = dict[str, list[dict[str, Any]]]
_NO_FILE = FileMark("", 0, "")


def rows_of(package: Package, checked: Checked, print_: Fingerprint, options: str = "{}") -> Iterator[Rows]:
    """The rows of a submission: its own first, then those of one entry after the other, so that few are in memory.

    Args:
        package: where it is.
        checked: what came of checking its whole tree: paths are relative to the organisation's folder.
        print_: of its files.
        options: what the convergence test was asked for, as JSON.
    """
    report = checked.report
    of = {"round": package.round_key, "organisation": package.organisation}
    keys = {entry.path: _entry_key(of, entry) for entry in report.entries}
    accepted = sum(entry.official is Verdict.ACCEPTED for entry in report.entries)
    counts = {"systems": len(report.systems), "entries": len(report.entries), "accepted": accepted}
    files = [path for path in print_.files if not path.endswith("/")]
    seen = {"runs": len(report.logs), "files": len(files), "bytes": print_.bytes, "fingerprint": print_.digest}
    yield {
        "submissions": [{**of, **counts, **seen, "options": text(options)}],
        "systems": [{**of, **_system(package, system, print_.files)} for system in report.systems],
        "findings": [{**of, **_finding(finding, keys)} for finding in report.findings],
    }
    by_entry: dict[str, list[LogReport]] = {}
    for log in checked.logs:
        by_entry.setdefault(log.path.rpartition("/")[0], []).append(log)
    for entry in report.entries:
        logs = by_entry.get(entry.path, [])
        key = keys[entry.path]
        yield {"entries": [{**of, "entry": key, **_entry(entry, logs)}], **_of_logs(logs, key, keys, print_.files)}


def _of_logs(logs: list[LogReport], entry: str, keys: Mapping[str, str], files: Mapping[str, FileMark]) -> Rows:
    """The rows of an entry's logs."""
    rows: Rows = {"runs": [], "evaluations": [], "hyperparameters": []}
    for log in logs:
        ids = {"run": _run_key(keys, log.path), "entry": entry}
        rows["runs"].append({**ids, **_run(log, files.get(log.path, _NO_FILE))})
        rows["evaluations"].extend({**ids, **row} for row in _evaluations(log))
        rows["hyperparameters"].extend({**ids, **row} for row in _hyperparameters(log))
    return rows


def _entry_key(of: Mapping[str, Any], entry: EntryResult) -> str:
    place = entry.path.removeprefix("results/")
    return f"{of['round']}/{of['organisation']}/{text(place)}"


def _run_key(keys: Mapping[str, str], path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    return f"{keys[folder]}/{text(name)}" if folder in keys else None


def _entry(entry: EntryResult, logs: list[LogReport]) -> dict[str, Any]:
    rcp, score = entry.rcp, entry.score
    first = logs[0].run.hyperparameters if logs else {}
    return {
        "system": text(entry.system),
        "benchmark": text(entry.benchmark),
        "scaling_type": entry.scaling_type,
        "division": text(entry.division),
        "verdict": entry.official.value,
        "runs": entry.runs,
        "compliant": entry.compliant,
        "converged": entry.converged,
        "batch_size": number(first.get("global_batch_size")),
        "unscaled_minutes": number(score.unscaled),
        "published_minutes": number(score.published),
        "expected_minutes": number(score.expected),
        "scaling": number(score.scaling),
        "expected_scaling": number(score.expected_scaling),
        "rcp_verdict": rcp.verdict,
        "rcp_counted": rcp.counted,
        "rcp_how": rcp.how,
        "rcp_unit": rcp.unit,
        "rcp_mean": number(rcp.mean),
        "rcp_reference_mean": number(rcp.reference_mean),
        "rcp_minimum": number(rcp.minimum),
        "rcp_also_verdict": rcp.also.verdict if rcp.also else None,
        "rcp_also_counted": rcp.also.counted if rcp.also else None,
        "rcp_also_mean": number(rcp.also.mean) if rcp.also else None,
        "energy_joules": number(entry.energy.scaled) if entry.energy else None,
    }


def _run(log: LogReport, mark: FileMark) -> dict[str, Any]:
    run, times = log.run, log.run.timeline
    seed = next((seed.value for seed in run.seeds), None)
    return {
        "file": text(log.path),
        "sha256": mark.sha256,
        "bytes": mark.bytes,
        "compliant": log.compliant,
        "status": None if run.status is None else as_text(run.status),
        "converged": run.converged,
        "minutes": number(log.minutes),
        "init_minutes": minutes(times.init_start, times.init_stop),
        "init_start": moment(times.init_start),
        "init_stop": moment(times.init_stop),
        "run_start": moment(times.run_start),
        "run_stop": moment(times.run_stop),
        "seed": number(seed),
        "epochs": times.epochs,
        "blocks": times.blocks,
        "events": times.events,
    }


def _evaluations(log: LogReport) -> Iterator[dict[str, Any]]:
    start = log.run.timeline.run_start
    for position, found in enumerate(log.run.evaluations):
        yield {
            "number": position,
            "line": found.line,
            "minutes": minutes(start, found.time_ms),
            "value": number(found.value),
            "text": as_text(found.value),
            "metric": None if found.metric is None else as_text(found.metric),
            "epoch_num": number(found.epoch_num),
            "samples_count": number(found.samples_count),
            "step_num": number(found.step_num),
        }


def _hyperparameters(log: LogReport) -> Iterator[dict[str, Any]]:
    for key, value in log.run.hyperparameters.items():
        line = integer(log.run.lines.get(key))
        yield {"key": as_text(key), "text": as_text(value), "number": number(value), "line": line}


def _system(package: Package, system: SystemResult, files: Mapping[str, FileMark]) -> dict[str, Any]:
    facts = system.facts or SystemFacts()
    content = read_description(package.folder / system.path, system.path, package.round).content
    nodes, per_node = facts.number_of_nodes, facts.accelerators_per_node
    return {
        "system": text(system.path.rpartition("/")[2].removesuffix(".json")),
        "verdict": system.official.value,
        "submitter": text(facts.submitter),
        "division": text((content or {}).get("division")),
        "status": text(facts.status),
        "system_name": text(facts.system_name),
        "nodes": nodes,
        "host_processor": text(facts.host_processor_model_name),
        "host_processors_per_node": facts.host_processors_per_node,
        "accelerator": text(facts.accelerator_model_name),
        "accelerators_per_node": per_node,
        "accelerators": None if nodes is None or per_node is None else nodes * per_node,
        "framework": text(facts.framework),
        "hw_notes": text(facts.hw_notes),
        "sw_notes": text(facts.sw_notes),
        "description": None if content is None else as_json(content),
        "file": text(system.path),
        "sha256": files.get(system.path, _NO_FILE).sha256,
    }


def _finding(finding: Finding, keys: Mapping[str, str]) -> dict[str, Any]:
    return {
        "entry": keys.get(finding.path) or keys.get(finding.path.rpartition("/")[0]),
        "run": _run_key(keys, finding.path) if finding.path.endswith(".txt") else None,
        "rule": finding.rule,
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "blocks": finding.blocks.value,
        "path": text(finding.path),
        "line": finding.line,
        "message": text(finding.message),
        "expected": text(finding.expected),
        "actual": text(finding.actual),
    }
