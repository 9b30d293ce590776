"""Answers of check, score, review and the commands on convergence."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from tests.golden.answer import Answer
from tests.golden.figures import Facts, finding_facts, rounded, shortened, sketch, values

_CONVERGENCE = (
    "verdict", "how", "counted", "unit", "batch_size", "mean", "reference_mean", "reference_stdev", "reference_runs",
    "minimum", "scaling", "bypass", "reference_points",
)  # fmt: skip
_SCORE = ("unscaled", "published", "expected", "scaling", "expected_scaling", "scaling_file")
_MARGIN = (
    "verdict", "how", "unit", "batch_size", "runs", "needed", "converged", "mean", "olympic", "reference_mean",
    "reference_stdev", "limit", "distance", "percent", "unscaled", "published", "expected", "scaling",
    "expected_scaling",
)  # fmt: skip
_POINT = ("batch_size", "runs", "mean", "stdev", "minimum", "kept", "on_hull")


def reports(answer: Answer) -> Facts:
    """Verdicts, scores and findings of one or several packages."""
    several = answer.document["reports"]
    if len(several) == 1:
        return report(several[0])
    facts: Facts = {}
    for one in several:
        place = f"{one['usage']} {one['round']} {PurePosixPath(one['root']).name}"
        facts |= {f"{place}: {name}": value for name, value in report(one).items()}
    return facts


def verdicts(answer: Answer) -> Facts:
    """Verdicts alone, of packages whose figures differ with the machine."""
    [document] = answer.document["reports"]
    facts: Facts = {"round": values(document, "usage", "round"), "verdict": document["official"]}
    facts |= {f"log {log['path']}": values(log, "official", "benchmark", "status") for log in document["logs"]}
    return facts | {f"entry {entry['path']}": values(entry, "official", "runs") for entry in document["entries"]}


def report(document: Mapping[str, Any]) -> Facts:
    """Verdicts, scores and findings of one package."""
    facts: Facts = {
        "round": values(document, "usage", "round"),
        "verdict": document["official"],
        **finding_facts(document["findings"]),
    }
    for log in document["logs"]:
        facts[f"log {log['path']}"] = values(log, "official", "benchmark", "division", "status", "minutes")
    for system in document["systems"]:
        facts[f"system {system['path']}"] = [system["official"], sketch(system["facts"])]
    for entry in document["entries"]:
        facts |= _entry(entry)
    return facts


def _entry(entry: Mapping[str, Any]) -> Facts:
    name = f"entry {entry['path']}"
    rcp, energy = entry["rcp"], entry["energy"]
    also = rcp["also"] if rcp else None
    facts: Facts = {
        name: values(entry, "official", "system", "benchmark", "division", "scaling_type"),
        f"{name} runs": values(entry, "runs", "compliant", "converged"),
        f"{name} minutes": entry["minutes"],
        f"{name} score": values(entry["score"], *_SCORE),
        f"{name} convergence": values(rcp, *_CONVERGENCE),
        f"{name} energy": energy and [*values(energy, "unscaled", "scaled"), shortened(energy["runs"])],  # type: ignore[misc]
    }
    if rcp:
        facts[f"{name} converges at"] = shortened(rcp["points"])
    if also:
        facts[f"{name} convergence otherwise"] = values(also, *_CONVERGENCE)
    return facts


def csv_rows(answer: Answer) -> Facts:
    """The rows of a table, without its head."""
    rows = list(csv.reader(io.StringIO(answer.stdout)))[1:]
    return {f"row {number}": [_number(cell) for cell in row] for number, row in enumerate(rows, 1)}


def _number(cell: str) -> Any:
    try:
        return rounded(float(cell))
    except ValueError:
        return cell


def selection(answer: Answer) -> Facts:
    """Of more runs than an entry needs, those to submit."""
    document = answer.document
    chosen = document["selection"]
    windows = [{**window, "selected": at == chosen["chosen"]} for at, window in enumerate(chosen["windows"])]
    return {
        "about": values({**document, **chosen}, "usage", "round", "benchmark", "size", "median", "chosen"),
        "in order": [values(run, "path", "minutes") for run in chosen["runs"]],
        "windows": [values(window, "first", "last", "minutes", "selected") for window in windows],
        "submit": document["submit"],
    }


def review(answer: Answer) -> Facts:
    """What to ask each organisation, its entries, and the figures behind what runs show beside each other."""
    facts: Facts = {}
    for one in answer.document["organisations"]:
        name = " ".join(map(str, values(one, "round", "path") or ()))
        facts[f"organisation {name}"] = [*(values(one, "official", "logs", "organisation_name") or ())]
        facts |= {f"entry {name} {entry['path']}": _of_entry(entry) for entry in one["entries"]}
        asked = [*one["asks"], *one["notes"]]
        facts |= finding_facts(found for ask in asked for found in ask["findings"])
        for ask in asked:
            for found, figures in zip(ask["findings"], ask["figures"], strict=False):
                facts[f"figures {ask['rule']} {found['path']}"] = sorted(map(_figure, figures.values()), key=str)
    return facts | {f"unread {line}": True for line in answer.document["unread"]}


def _of_entry(entry: dict[str, Any]) -> list[Any]:
    figures = entry["minutes"], entry["score"]["scaling"], entry["margin_percent"]
    return [
        *(values(entry, "benchmark_name", "division", "runs") or ()),
        entry["rcp"]["verdict"],
        *map(rounded, figures),
    ]


def _figure(figure: Any) -> Any:
    return sketch(figure) if isinstance(figure, list | dict) else rounded(figure)


def rates(answer: Answer) -> Facts:
    """How often each detector speaks: entries, share, findings."""
    return {
        f"rate {one['rule']}": [one["entries"], float(f"{100 * one['entries'] / one['of']:.1f}"), one["findings"]]
        for one in answer.document["rates"]
    }


def rcp_points(answer: Answer) -> Facts:
    """The reference points of a benchmark."""
    document = answer.document["reference"]
    facts: Facts = {"about": values(document, "usage", "round", "benchmark", "unit", "runs", "reference_points")}
    for number, row in enumerate(document["rows"], 1):
        facts[f"point {number}"] = [*(values(row, *_POINT) or ()), len(row["pruned_by"])]
    return facts


def rcp_plan(answer: Answer) -> Facts:
    """What a batch size needs."""
    names = ("usage", "round", "benchmark", "unit", "how", "reference_points")
    figures = ("batch_size", "mean", "stdev", "minimum", "normalised")
    plan = answer.document["plan"]
    return {"about": values(plan, *names), "plan": values(plan, *figures)}


def rcp_margin(answer: Answer) -> Facts:
    """How far each entry is from failing, and the chance that the next runs pass."""
    facts: Facts = {"bootstrap": values(answer.document["bootstrap"], "seed", "resamples", "worlds", "level")}
    for one in answer.document["reports"]:
        for entry in one["entries"]:
            name = f"entry {one['round']} {entry['path']}"
            facts[name] = values(entry, *_MARGIN)
            facts[f"{name} chance"] = values(entry["chance"], "runs", "value", "low", "high", "certain")
            facts[f"{name} completion"] = sketch(entry["completion"]) if entry["completion"] else None
        facts |= {f"untested {one['round']} {entry['path']}": True for entry in one["untested"]}
    return facts


def rcp_built(answer: Answer) -> Facts:
    """The records of a reference file, in the official tool's own format."""
    return {f"record {name}": sketch(record) for name, record in _json(answer, "rcps_resnet.json").items()}


def _json(answer: Answer, name: str) -> Any:
    file = answer.folder / name
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
