"""What changed from round to round for whole packages: seeds, system descriptions, the folders of HPC."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mlsub
from mlsub.convergence import algorithm_of, unit_of
from mlsub.convergence.reference import read_points, reference_file
from mlsub.findings import Verdict
from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements as needs
from mlsub.submission.find import PathKind, find
from mlsub.submission.report import Report
from tools.oracle.generate import Combination
from tools.oracle.log import Line, Log, generated, record_line
from tools.support.make_tree import make_description

SYSTEM = "rack1"
RDI = "Research, Development, or Internal (RDI)"


def _seeded(log: Log, run: int) -> Log:
    """The log with a seed of its own, before the run starts."""
    first = log[0].record or {}
    metadata = {"file": "train.py", "lineno": 7}
    seed = record_line({**first, "key": "seed", "value": 1000 + run, "metadata": metadata}, old=log[0].old)
    return [*(line for line in log[:8] if line.key != "seed"), seed, *(line for line in log[8:] if line.key != "seed")]


def _slow(log: Log, usage: str, name: str, benchmark: str) -> Log:
    """The log with its last evaluation so late that no reference is slower."""
    if benchmark == "qwen35_397b_grpo":
        return log  # Its evaluations count up by a formula, and are late enough.
    algorithm, file = algorithm_of(usage, name), reference_file(usage, get_round(usage, name).ruleset, benchmark)
    if algorithm is None or file is None:
        return log
    slowest = max(point.mean for point in read_points(file, benchmark, needs(usage, name, benchmark).runs, algorithm))
    unit = "step_num" if (benchmark, name) == ("stable_diffusion", "3.1") else unit_of(benchmark)
    unit = "samples_count" if benchmark == "stable_diffusion" and unit == "epoch_num" else unit
    if usage == "hpc":
        # The convergence checker wants an epoch of whatever mentions a quality, and a generated log has both keys.
        log = [_with_epoch(line) if line.key in ("eval_accuracy", "eval_error") else line for line in log]
    dated = [
        line for line in log if line.key in ("eval_accuracy", "eval_error") and unit in (line.record or {})["metadata"]
    ]
    if not dated:
        return log
    last = max(line.record["metadata"][unit] for line in dated if line.record)
    if last >= slowest:
        return log
    step = (
        last if len(dated) < 2 else max(1, last - min(line.record["metadata"][unit] for line in dated if line.record))
    )
    late = last + step * math.ceil(2 * slowest / step)

    def moved(line: Line) -> Line:
        record = line.record or {}
        if line not in dated or record["metadata"][unit] != last:
            return line
        return record_line({**record, "metadata": {**record["metadata"], unit: late}}, old=line.old)

    return [moved(line) for line in log]


def _with_epoch(line: Line) -> Line:
    record = line.record or {}
    return record_line({**record, "metadata": {"epoch_num": 1, **record["metadata"]}}, old=line.old)


def make_round(
    folder: Path,
    round_id: str,
    benchmark: str,
    *,
    below: str = "",
    runs: int | None = None,
    seeds: Callable[[int], bool] = lambda run: True,
    choice: str | None = None,
    division: str = "closed",
    **description: Any,
) -> Path:
    """An organisation's tree with one entry, in a folder named like the round."""
    usage, dash, name = round_id.partition("-")
    usage, name = (usage, name) if dash else ("training", round_id)
    organisation = folder / (f"{usage}-v{name}" if dash else f"v{name}") / "ACME"
    entry = organisation / "results" / SYSTEM / below / benchmark
    entry.mkdir(parents=True)
    (organisation / "systems").mkdir()
    described = make_description(division, system_name=SYSTEM, **{"status": "Available on-premise", **description})
    (organisation / "systems" / f"{SYSTEM}.json").write_text(json.dumps(described))
    log = _slow(generated(Combination(round_id, benchmark, division, choice)), usage, name, benchmark)
    for run in range(needs(usage, name, benchmark).runs if runs is None else runs):
        own = _seeded(log, run) if seeds(run) else [line for line in log if line.key != "seed"]
        (entry / f"result_{run}.txt").write_bytes(Log(own).content())
    return organisation


def rejecting(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings if finding.rejects}


ROUNDS = [
    *(("0.6", "gnmt"), ("0.7", "transformer"), ("1.0", "unet3d"), ("1.1", "bert"), ("2.0", "ssd"), ("2.1", "rnnt")),
    *(("3.0", "gpt3"), ("3.1", "stable_diffusion"), ("4.0", "gnn"), ("4.1", "llama2_70b_lora"), ("5.0", "rgat")),
    *(("5.1", "llama31_8b"), ("6.0", "gpt_oss_20b"), ("6.1", "qwen35_397b_grpo")),
]


@pytest.mark.parametrize(("round_name", "benchmark"), ROUNDS)
def test_a_package_of_each_round_is_accepted_and_its_round_read_off_the_folder(
    round_name: str, benchmark: str, tmp_path: Path
) -> None:
    report = mlsub.check(make_round(tmp_path, round_name, benchmark), jobs=1)
    assert rejecting(report) == set()
    assert (report.official, report.usage, report.round) == (Verdict.ACCEPTED, "training", round_name)
    (entry,) = report.entries
    assert entry.minutes is not None
    assert entry.scaling_type is None


@pytest.mark.parametrize(
    ("round_name", "benchmark", "seeds", "verdict"),
    [
        ("0.7", "bert", lambda run: run == 0, Verdict.ACCEPTED),
        ("1.0", "bert", lambda run: False, Verdict.ACCEPTED),
        ("4.0", "bert", lambda run: False, Verdict.ACCEPTED),
        ("4.0", "bert", lambda run: run > 4, Verdict.ACCEPTED),
        ("4.0", "bert", lambda run: run != 4, Verdict.REJECTED),
        ("4.1", "bert", lambda run: run > 0, Verdict.REJECTED),
        ("4.1", "bert", lambda run: False, Verdict.REJECTED),
        ("6.1", "flux1", lambda run: run != 9, Verdict.REJECTED),
    ],
)
def test_seeds_are_asked_for_as_in_the_rounds_day(
    round_name: str, benchmark: str, seeds: Callable[[int], bool], verdict: Verdict, tmp_path: Path
) -> None:
    report = mlsub.check(make_round(tmp_path, round_name, benchmark, seeds=seeds), jobs=1)
    assert report.official is verdict
    assert rejecting(report) == (set() if verdict is Verdict.ACCEPTED else {"seed.missing"})


@pytest.mark.parametrize(
    ("division", "seeds", "actual"),
    [
        ("closed", True, ["the seeds would pass"]),
        ("closed", False, ["not shown: 1 finding on seeds"]),
        ("open", False, []),
    ],
)
def test_a_flag_turns_the_seed_check_off_where_there_is_one(
    division: str, seeds: bool, actual: list[str], tmp_path: Path
) -> None:
    tree = make_round(tmp_path, "5.1", "flux1", runs=1, division=division, seeds=lambda run: seeds)
    (tree / "results" / SYSTEM / "package_checker_params").write_text("seed-checker-bypass")
    found = [finding for finding in mlsub.check(tree, jobs=1).findings if finding.rule.startswith("seed.")]
    assert [(finding.rule, finding.actual) for finding in found] == [("seed.bypass", words) for words in actual]


@pytest.mark.parametrize(
    ("round_name", "status", "accepted"),
    [
        *(("4.0", status, True) for status in ("onprem", "AVAILABLE Cloud", "rdi", RDI)),
        *(("3.1", "whatever", True), ("4.0", "Preview cloud", False)),
        *(("4.1", status, True) for status in ("Available on-premise", "Preview")),
        *(("4.1", status, False) for status in ("available on-premise", "onprem")),
        *(("6.1", "", False), ("6.1", 1, False)),
    ],
)
def test_the_status_of_a_system_is_one_the_round_knows(
    round_name: str, status: Any, accepted: bool, tmp_path: Path
) -> None:
    benchmark = get_round("training", round_name).benchmarks[-1]
    report = mlsub.check(make_round(tmp_path, round_name, benchmark, status=status), jobs=1)
    assert rejecting(report) == (set() if accepted else {"system.status"})


def test_a_misspelled_status_gets_a_did_you_mean(tmp_path: Path) -> None:
    report = mlsub.check(make_round(tmp_path, "5.1", "flux1", status="available on-premise"), jobs=1)
    (found,) = [finding for finding in report.findings if finding.rule == "system.status"]
    assert found.fix == "Write Available on-premise; mlsub fix PATH --write does it."


@pytest.mark.parametrize(("round_name", "checked"), [("0.6", False), ("0.7", False), ("1.0", True)])
def test_descriptions_are_checked_from_v10_on(round_name: str, checked: bool, tmp_path: Path) -> None:
    tree = make_round(tmp_path, round_name, "ssd")
    (tree / "systems" / f"{SYSTEM}.json").write_text(json.dumps({"division": "closed"}))
    assert rejecting(mlsub.check(tree, jobs=1)) == ({"system.field-missing"} if checked else set())


@pytest.mark.parametrize("spoil", ["missing", "broken", "no folder"])
@pytest.mark.parametrize(("round_name", "checked"), [("0.6", False), ("0.7", False), ("1.0", True)])
def test_a_missing_or_broken_description_rejects_from_v10_on(
    round_name: str, checked: bool, spoil: str, tmp_path: Path
) -> None:
    tree = make_round(tmp_path, round_name, "ssd")
    file = tree / "systems" / f"{SYSTEM}.json"
    file.unlink()
    if spoil == "broken":
        file.write_text("{")
    elif spoil == "no folder":
        file.parent.rmdir()
    report = mlsub.check(tree, jobs=1)
    assert report.official is (Verdict.REJECTED if checked else Verdict.ACCEPTED)
    assert {entry.official for entry in report.entries} == {report.official}
    rules = {
        "missing": "tree.system-description-missing",
        "broken": "system.not-json",
        "no folder": "tree.systems-missing",
    }
    # A reviewer will ask all the same.
    (found,) = [f for f in report.findings if f.rule in rules.values()]
    assert (found.rule, found.severity, found.rejects) == (rules[spoil], "error", checked)


@pytest.mark.parametrize(("round_name", "demanded"), [("0.6", False), ("0.7", False), ("1.0", True)])
def test_another_number_of_runs_is_reported_and_rejects_from_v10_on(
    round_name: str, demanded: bool, tmp_path: Path
) -> None:
    report = mlsub.check(make_round(tmp_path, round_name, "ssd", runs=4), jobs=1)
    [found] = [finding for finding in report.findings if finding.rule.startswith("entry.run-count")]
    assert found.rule == ("entry.run-count" if demanded else "entry.run-count-reported")
    assert report.official is (Verdict.REJECTED if demanded else Verdict.ACCEPTED)


@pytest.mark.parametrize(
    ("scaling", "runs", "accepted"),
    [("strong", 10, True), ("strong", 9, False), ("strong", 11, False), ("weak", 9, False), ("weak", 25, True)],
)
def test_strong_scaling_needs_so_many_runs_and_weak_scaling_at_least(
    scaling: str, runs: int, accepted: bool, tmp_path: Path
) -> None:
    tree = make_round(tmp_path, "hpc-3.0", "cosmoflow", below=scaling, runs=runs)
    report = mlsub.check(tree, jobs=1)
    assert (report.usage, report.round) == ("hpc", "3.0")
    assert rejecting(report) == (set() if accepted else {"entry.run-count"})
    (entry,) = report.entries
    assert (entry.system, entry.scaling_type) == (SYSTEM, scaling)


def test_an_hpc_benchmark_outside_strong_and_weak_is_told(tmp_path: Path) -> None:
    tree = make_round(tmp_path, "hpc-2.0", "oc20", below="medium")
    (found,) = [finding for finding in mlsub.check(tree, jobs=1).findings if finding.rule == "tree.unknown-scaling"]
    assert found.path == "results/rack1/medium"
    assert found.expected == "strong or weak"


@pytest.mark.parametrize(
    ("below", "target"),
    [
        ("results/rack1", PathKind.SYSTEM),
        ("results/rack1/strong", PathKind.SCALING),
        ("results/rack1/strong/oc20", PathKind.BENCHMARK),
        ("results/rack1/strong/oc20/result_0.txt", PathKind.LOG),
    ],
)
def test_each_part_of_an_hpc_tree_is_recognised_and_accepted(below: str, target: PathKind, tmp_path: Path) -> None:
    tree = make_round(tmp_path, "hpc-1.0", "oc20", below="strong")
    place = find(tree / below)
    assert (place.kind, place.organisation) == (target, tree)
    assert (place.usage, place.round) == ("hpc", "1.0")
    report = mlsub.check(tree / below, jobs=1)
    assert report.official is Verdict.ACCEPTED
    assert len(report.logs) == (1 if target is PathKind.LOG else 5)


@pytest.mark.parametrize(("name", "choice"), [("deepcam", "Adam+multistep"), ("openfold", None)])
def test_hpc_packages_are_accepted(name: str, choice: str | None, tmp_path: Path) -> None:
    report = mlsub.check(make_round(tmp_path, "hpc-3.0", name, below="strong", choice=choice), jobs=1)
    assert report.official is Verdict.ACCEPTED, rejecting(report)


def test_what_rightly_lies_beside_results_is_no_stray(tmp_path: Path) -> None:
    tree = make_round(tmp_path, "5.1", "flux1")
    entry = tree / "results" / SYSTEM / "flux1"
    (entry / "scaling.json").write_text('{"scaling_factor": 1.01}')
    (entry / "package_checker_params").write_text("seed-checker-bypass")
    (entry / "power").mkdir()
    report = mlsub.check(tree, jobs=1)
    assert "entry.stray-files" not in {finding.rule for finding in report.findings}
    (entry / "notes.txt").write_text("")
    (found,) = [finding for finding in mlsub.check(tree, jobs=1).findings if finding.rule == "entry.stray-files"]
    assert found.actual == "notes.txt"


@pytest.mark.parametrize(
    ("round_name", "missing", "verdict"),
    [
        ("4.1", 10, Verdict.ACCEPTED),
        ("5.1", 0, Verdict.ACCEPTED),
        ("5.1", 1, Verdict.ACCEPTED),
        ("5.1", 2, Verdict.REJECTED),
    ],
)
def test_runs_without_power_files_count_as_noncompliant_from_v50_on(
    round_name: str, missing: int, verdict: Verdict, tmp_path: Path
) -> None:
    tree = make_round(tmp_path, round_name, "llama2_70b_lora")
    power = tree / "results" / SYSTEM / "llama2_70b_lora" / "power"
    power.mkdir()
    for run in range(missing, 10):
        (power / f"result_{run}").mkdir()
        (power / f"result_{run}" / "node_0.txt").write_text("")
    report = mlsub.check(tree, jobs=1)
    assert report.official is verdict
    (entry,) = report.entries
    assert (entry.compliant, entry.minutes is not None) == (10, True)
    assert entry.energy is not None and entry.energy.runs == (None,) * 10
    told = {finding.rule for finding in report.findings}
    assert ("power.missing" in told) == (missing > 0)
    assert ("entry.noncompliant-runs" in told) == (verdict is Verdict.REJECTED)
    assert ("entry.forgiven-runs" in told) == (missing == 1 and round_name == "5.1")
