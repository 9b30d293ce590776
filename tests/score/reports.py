"""Reports made by hand: every kind of result that a table has to show."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from msgspec import convert, to_builtins
from msgspec.structs import replace

from mlsub.findings import Verdict
from mlsub.present.tables import Row
from mlsub.submission.report import EntryResult, LogResult, RcpResult, Report, ScoreResult, SystemResult
from mlsub.submission.result import Result, results_of
from mlsub.systems.fields import SystemFacts

_REPORTS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def make_score(
    unscaled: float | None, scaling: float = 1.0, expected_scaling: float = 1.0, *, file: bool | None = None
) -> ScoreResult:
    """A score on its three bases; it has a scaling.json where a factor is not 1, unless ``file`` says otherwise."""
    return ScoreResult(
        unscaled=unscaled,
        published=None if unscaled is None else unscaled * scaling,
        expected=None if unscaled is None else unscaled * expected_scaling,
        scaling=scaling,
        expected_scaling=expected_scaling,
        scaling_file=scaling != 1 if file is None else file,
    )


def make_facts(**changes: Any) -> SystemFacts:
    """A description with every field filled in."""
    content: dict[str, Any] = {
        "submitter": "ACME Inc.",
        "status": "onprem",
        "system_name": "Rack One",
        "number_of_nodes": 4,
        "host_processor_model_name": "EPYC 9575F",
        "host_processors_per_node": 2,
        "accelerator_model_name": "MI355X",
        "accelerators_per_node": 8,
        "framework": "PyTorch 2.5",
        "hw_notes": "air cooled",
        "sw_notes": "nightly",
    }
    return SystemFacts(**content | changes)


def make_entry(**changes: Any) -> EntryResult:
    """An accepted entry of Closed that has no scaling.json, though the convergence test gives a factor."""
    content: dict[str, Any] = {
        "path": "results/rack1/llama2_70b_lora",
        "organisation": "ACME",
        "system": "rack1",
        "benchmark": "llama2_70b_lora",
        "scaling_type": None,
        "division": "closed",
        "official": Verdict.ACCEPTED,
        "runs": 10,
        "compliant": 9,
        "converged": 9,
        "rcp": RcpResult(
            verdict="pass",
            how="exact",
            counted="samples_count",
            unit="samples",
            batch_size=8.0,
            mean=3168.0,
            reference_mean=3178.5,
            reference_stdev=150.25,
            reference_runs=18,
            minimum=3000.0,
            scaling=1.0034,
        ),
        "score": make_score(27.123456789012345, expected_scaling=1.0034),
    }
    content |= changes
    return EntryResult(minutes=content["score"].published, **content)


def make_system(name: str = "rack1", facts: SystemFacts | None = None, organisation: str = "ACME") -> SystemResult:
    """A system description."""
    return SystemResult(
        path=f"systems/{name}.json", organisation=organisation, official=Verdict.ACCEPTED, facts=facts or make_facts()
    )


def make_report(*entries: EntryResult, **changes: Any) -> Report:
    """A report of training v5.1."""
    content: dict[str, Any] = {
        "usage": "training",
        "round": "5.1",
        "root": "/somewhere/v5.1/ACME",
        "official": Verdict.ACCEPTED,
        "logs": (make_log(),),
        "entries": entries or (make_entry(),),
        "systems": (make_system(),),
    }
    return Report(**content | changes)


def make_log(**changes: Any) -> LogResult:
    """A compliant log."""
    content: dict[str, Any] = {
        "path": "results/rack1/llama2_70b_lora/result_0.txt",
        "organisation": "ACME",
        "official": "compliant",
        "benchmark": "llama2_70b_lora",
        "division": "closed",
        "status": "success",
        "minutes": 27.5,
    }
    return LogResult(**content | changes)


def make_result(report: Report | None = None) -> Result:
    """The result of a report with one entry."""
    (result,) = results_of(report or make_report())
    return result


def rows_of(*reports: Report) -> list[Row]:
    """The cells of the results of reports."""
    return [result.columns() for report in reports for result in results_of(report)]


def make_row(report: Report | None = None, **changes: Any) -> Row:
    """The cells of a report with one entry, some of them changed."""
    (row,) = rows_of(report or make_report())
    return {**row, **changes}


def _said(name: str) -> Report:
    """A report of reports.yaml."""
    said = deepcopy(_REPORTS[name])
    entries = []
    for one in said.pop("entries"):
        if at := one.pop("at", None):
            system, benchmark = at.split("/")
            one |= {"path": f"results/{at}", "system": system, "benchmark": benchmark}
        if score := one.pop("score", None):
            one["score"] = make_score(*score, file=one.pop("file", None))
        entry = convert({**to_builtins(make_entry()), **to_builtins(one)}, EntryResult)
        entries.append(replace(entry, minutes=entry.score.published))
    said["official"] = Verdict(said.get("official", "accepted"))
    if "systems" in said:
        said["systems"] = tuple(make_system(system, make_facts(**facts)) for system, facts in said["systems"].items())
    return make_report(*entries, **said)


def variety() -> Report:
    """Entries of every verdict and kind of scaling, with energy, and one that has no score."""
    return _said("variety")


def bases() -> Report:
    """Every way in which the factor of scaling.json and the expected one meet, and BERT counted in two ways."""
    return _said("bases")


def organisations() -> Report:
    """Two organisations of HPC, with strong and weak scaling; the system of the second one is not described."""
    described = replace(make_system(), path="ACME/systems/rack1.json")
    other = SystemResult(path="Zeta/systems/other.json", organisation="Zeta", official=Verdict.ACCEPTED)
    return replace(_said("organisations"), systems=(described, other))
