"""Reports made by hand: every kind of result that a table has to show."""

from __future__ import annotations

from typing import Any

from mlsub.findings import Verdict
from mlsub.present.tables import Row
from mlsub.submission.report import EnergyResult, EntryResult, LogResult, RcpResult, Report, ScoreResult, SystemResult
from mlsub.submission.result import Result, results_of
from mlsub.systems.fields import SystemFacts

UNTESTED = RcpResult(verdict="not-required", how="open-division")


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
        "minutes": 27.123456789012345,
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
    return EntryResult(**content | changes)


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


def variety() -> Report:
    """Entries of every verdict and kind of scaling, with energy, and one that has no score."""
    power = EnergyResult(unscaled=18_000_000.5, scaled=18_500_000.25, runs=(18e6, None))
    epochs: dict[str, Any] = {"counted": "epoch_num", "unit": "epochs"}
    return make_report(
        make_entry(energy=power),
        make_entry(
            path="results/rack1/retinanet",
            benchmark="retinanet",
            runs=5,
            compliant=5,
            converged=5,
            rcp=RcpResult(verdict="pass", how="interpolated", batch_size=256.0, mean=3.6666666666666665, **epochs),
            score=make_score(34.0, 1.0284, 1.0284),
        ),
        make_entry(
            path="results/rack1-open/retinanet",
            system="rack1-open",
            benchmark="retinanet",
            division="open",
            rcp=UNTESTED,
            score=make_score(30.0),
        ),
        make_entry(
            path="results/rack2/bert",
            system="rack2",
            benchmark="bert",
            official=Verdict.REJECTED,
            converged=4,
            compliant=4,
            rcp=RcpResult(verdict="fail", how="insufficient-convergence", **epochs),
            score=make_score(None),
        ),
        make_entry(
            path="results/rack2/rgat",
            system="rack2",
            benchmark="rgat",
            rcp=RcpResult(
                verdict="bypassed",
                how="missing",
                batch_size=131072.0,
                mean=0.9361234,
                bypass="results/rack2/package_checker_params",
                **epochs,
            ),
            score=make_score(2.5),
        ),
        systems=(
            make_system(),
            make_system("rack1-open", make_facts(status="Available in Cloud", system_name="Rack One | open")),
            make_system(
                "rack2", make_facts(status="onprems", number_of_nodes=None, hw_notes="", sw_notes="two\nlines")
            ),
        ),
        official=Verdict.REJECTED,
    )


def bases() -> Report:
    """Every way in which the factor of scaling.json and the expected one meet, and BERT counted in two ways."""
    expected = RcpResult(verdict="pass", how="exact", counted="samples_count", unit="samples", mean=3168.0)
    samples = RcpResult(verdict="pass", how="exact", counted="train_samples", unit="samples", mean=2775192.0)
    epochs = RcpResult(verdict="fail", how="exact", counted="epoch_num", unit="samples", mean=1.0, also=samples)
    scores = {
        "no-factor": make_score(20.0),
        "missing-file": make_score(20.0, expected_scaling=1.25),
        "as-expected": make_score(20.0, 1.25, 1.25),
        "other-factor": make_score(20.0, 1.5, 1.25),
        "needless-file": make_score(20.0, 1.25),
        "one-in-file": make_score(20.0, 1.0, 1.25, file=True),
        "no-score": make_score(None, expected_scaling=1.25),
    }
    return make_report(
        *(
            make_entry(path=f"results/{name}/llama2_70b_lora", system=name, rcp=expected, score=score)
            for name, score in scores.items()
        ),
        make_entry(
            path="results/mlm/bert",
            system="mlm",
            benchmark="bert",
            official=Verdict.REJECTED,
            rcp=epochs,
            score=make_score(0.25),
        ),
        official=Verdict.REJECTED,
    )


def organisations() -> Report:
    """Two organisations of HPC, with strong and weak scaling."""
    return make_report(
        make_entry(
            path="ACME/results/rack1/strong/cosmoflow", benchmark="cosmoflow", scaling_type="strong", rcp=UNTESTED
        ),
        make_entry(path="ACME/results/rack1/weak/cosmoflow", benchmark="cosmoflow", scaling_type="weak", rcp=UNTESTED),
        make_entry(
            path="Zeta/results/a-very-long-name-of-a-system-that-has-to-break/strong/deepcam",
            organisation="Zeta",
            system="a-very-long-name-of-a-system-that-has-to-break",
            benchmark="deepcam",
            scaling_type="strong",
            rcp=UNTESTED,
        ),
        usage="hpc",
        round="3.0",
        root="/somewhere/hpc-v3.0",
        systems=(
            SystemResult(
                path="ACME/systems/rack1.json", organisation="ACME", official=Verdict.ACCEPTED, facts=make_facts()
            ),
            SystemResult(path="Zeta/systems/other.json", organisation="Zeta", official=Verdict.ACCEPTED),
        ),
    )
