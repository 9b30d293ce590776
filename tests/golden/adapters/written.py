"""Answers of commands that write something, and of those that follow or show it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from tests.golden.adapters.judged import report
from tests.golden.answer import Answer
from tests.golden.figures import Facts, finding_facts, numbers, rounded, shortened, values
from tests.golden.pages import page_facts

_IDENTITY = ("path", "round", "benchmark", "division", "batch_size")
_EVENTS = {
    "run": (*_IDENTITY, "phase", "status", "elapsed_ms", "blocks", "epochs"),
    "evaluation": ("line", "key", "value", "progress", "unit", "elapsed_ms", "reached"),
    "end": ("official", "status", "minutes", "errors", "warnings", "review"),
    "verdict": ("official", "exit_status", "reason", "logs", "compliant"),
}


def nothing(answer: Answer) -> Facts:
    """No facts but the exit status and what was written."""
    return {}


def manifest(answer: Answer) -> Facts:
    """A manifest that was written: what it names, without the way to it."""
    content = yaml.safe_load((answer.folder / "submission.yaml").read_text(encoding="utf-8"))
    facts: Facts = {"about": values(content, "organisation", "usage", "round"), "systems": sorted(content["systems"])}
    for entry in content["entries"]:
        runs = entry["runs"] if isinstance(entry["runs"], list) else [entry["runs"]]
        told = values(entry, "division", "implementation", "scaling")
        name = f"entry {entry['system']}/{entry['benchmark']}"
        facts[name] = [*(told or ()), shortened([PurePosixPath(run).name for run in runs])]
    return facts


def packed(answer: Answer) -> Facts:
    """The plan of a package, and the verdict on it."""
    document = answer.document
    facts: Facts = {
        "about": values(document, "organisation", "usage", "round", "written", "refused"),
        "left out": shortened(document["left_out"]),
        **finding_facts(document["findings"]),
    }
    facts |= {f"difference {name}": len(paths) for name, paths in document["difference"].items()}
    for file in document["files"]:
        source = "/".join(PurePosixPath(file["from"]).parts[-3:]) if file["from"] else None
        facts[f"file {file['to']}"] = [source, *(values(file, "link", "executable") or ())]
    for runs in document["runs"]:
        facts[f"runs {runs['entry']}"] = shortened([PurePosixPath(run).name for run in runs["runs"]])
    return facts | _checked(document.get("report"))


def stands(answer: Answer) -> Facts:
    """Where a submission stands: its entries, and what is left to do."""
    document = answer.document
    names = ("organisation", "usage", "round", "written", "state", "official", "review")
    facts: Facts = {"about": values(document, *names)}
    for entry in document["entries"]:
        told = ("division", "runs", "needed", "official", "rcp", "percent", "minutes")
        facts[f"entry {entry['entry']}"] = values(entry, *told)
    return facts | {"tasks": shortened([task["kind"] for task in document["tasks"]])}


def merged(answer: Answer) -> Facts:
    """The plan of a merge, its conflicts, and the verdict."""
    document = answer.document
    facts: Facts = {
        "about": values(document, "organisation", "usage", "round", "written", "files", "joined"),
        "left out": shortened(document["left_out"]),
        **finding_facts(document["findings"]),
    }
    for part in document["parts"]:
        facts[f"part {part['path']}"] = values(part, "files", "own", "entries")
    return facts | _checked(document["report"])


def _checked(document: Mapping[str, Any] | None) -> Facts:
    return {} if document is None else {f"then {name}": value for name, value in report(document).items()}


def repairs(answer: Answer) -> Facts:
    """Mechanical repairs: rule, place, how many, and the verdicts before and after."""
    facts: Facts = {"written": answer.document["written"]}
    for plan in answer.document["plans"]:
        root = PurePosixPath(plan["root"]).name
        facts[f"package {root}"] = [*(values(plan, "before", "after") or ()), len(plan["not_repaired"])]
        for change in plan["changes"]:
            rows = [values(row, "rule", "line", "count") for row in change["repairs"]]
            facts[f"repair {root} {change['path']}"] = [change["renamed_to"], *rows]
    return facts


def truncated(answer: Answer) -> Facts:
    """Logs to shorten, and by how much."""
    facts: Facts = {"about": values(answer.document, "written", "limit")}
    for log in answer.document["logs"]:
        names = ("size", "size_after", "lines_left_out", "bytes_left_out", "records")
        facts[f"log {PurePosixPath(log['path']).name}"] = values(log, *names)
    return facts


def redacted(answer: Answer) -> Facts:
    """Private names by their placeholders, and where they stand."""
    facts: Facts = {"logs": answer.document["logs"]}
    for item in answer.document["items"]:
        places = [values(place, "path", "line") for where in item["places"].values() for place in where]
        told = values(item, "kind", "text", "counts")
        facts[f"item {item['placeholder']}"] = [*(told or ()), shortened(places)]
    return facts | {"unsearched": shortened([one["path"] for one in answer.document["unsearched"]])}


def sealed(answer: Answer) -> Facts:
    """The receipt, but for the date and for what differs with each key."""
    receipt = answer.document.get("receipt")
    if receipt is None:
        return {"files": values(answer.document, "files", "files_size"), **finding_facts(answer.document["findings"])}
    names = ("organisation", "round", "tar_sha256", "manifest_sha256", "files", "files_size", "encryption")
    return {"receipt": values(receipt, *names), **finding_facts(answer.document["findings"])}


def unsealed(answer: Answer) -> Facts:
    """What came out of an archive."""
    return {
        "opened": values(answer.document["opened"], "tree", "files", "size"),
        **finding_facts(answer.document["findings"]),
    }


def verified(answer: Answer) -> Facts:
    """Whether a tree or an archive is what its manifest says."""
    return {"numbers": numbers(answer.document["compared"]), **finding_facts(answer.document["findings"])}


def db_built(answer: Answer) -> Facts:
    """What a database was made of, and the rows of its tables."""
    document = answer.document
    facts: Facts = {f"rows of {table}": count for table, count in document["rows"].items()}
    return facts | {"submissions": sorted(document["submissions"])}


def db_rows(answer: Answer) -> Facts:
    """The answer of a database; its columns are a contract of their own."""
    document = answer.document
    facts: Facts = {"columns": [[column["name"], column["type"]] for column in document["columns"]]}
    return facts | {f"row {number}": rounded(row) for number, row in enumerate(document["rows"], 1)}


def db_tables(answer: Answer) -> Facts:
    """The tables and views of a database, and their columns."""
    return {
        f"{table['kind']} {table['name']}": [f"{column['name']} {column['type']}" for column in table["columns"]]
        for table in answer.document["tables"]
    }


def site(answer: Answer) -> Facts:
    """The pages of a site and the figures of their tables and charts."""
    return page_facts(answer.folder / "site")


def watched(answer: Answer) -> Facts:
    """What was reported of a log, in order, without the hour of day."""
    facts: Facts = {}
    for number, event in enumerate(answer.lines):
        kind = event["event"]
        told = values(event, *_EVENTS.get(kind, ())) or []
        if kind == "run" and event["evaluation"]:
            told.append(values(event["evaluation"], *_EVENTS["evaluation"]))
        elif kind == "finding":
            facts |= finding_facts([event["finding"]])
        facts[f"event {number:03d}"] = [kind, *told]
    return facts
