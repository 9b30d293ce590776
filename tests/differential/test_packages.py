"""mlsub and the official package checker give one verdict on whole packages with faults."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mlsub.rules.catalogue import catalogue
from tools.oracle.compare import assert_none
from tools.oracle.faults import FAULTS, STRICTER, tried
from tools.oracle.generate import Combination
from tools.oracle.packages import Package, accepted, build, official, ours, package_combinations, rejecting
from tools.support.effort import effort

SEED = "ci-1"
EACH = effort(1, 4)
TOGETHER = effort(20, 40, 6)
COMBINATIONS = package_combinations()


@pytest.mark.product
@pytest.mark.parametrize("combination", COMBINATIONS[:: effort(6, 1)], ids=str)
def test_a_package_without_faults_is_accepted_by_both(combination: Combination, tmp_path: Path) -> None:
    package = build(tmp_path, combination)
    report = ours(package)
    assert (rejecting(report), accepted(report), official(package)) == (set(), True, (True, None))


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_gets_one_verdict(fault: str, tmp_path: Path) -> None:
    assert_none(tried(SEED, number, tmp_path / str(number), fault).problem for number in range(EACH))


def test_faults_together_get_one_verdict(tmp_path: Path) -> None:
    assert_none(tried(SEED, number, tmp_path / str(number)).problem for number in range(TOGETHER))


def test_every_rule_that_is_stricter_exists() -> None:
    assert STRICTER.keys() <= catalogue().keys()


def _flags(package: Package, place: Path, content: bytes) -> None:
    (place / "package_checker_params").write_bytes(content)


def _hidden(package: Package, name: str, *, described: bool, runs: int) -> None:
    folder = package.folder / "results" / name / package.combination.benchmark
    folder.mkdir(parents=True)
    for log in package.logs[:runs]:
        (folder / log.name).write_bytes(log.read_bytes())
    if described:
        package.description(name).write_bytes(package.description().read_bytes())


RETINANET = next(c for c in COMBINATIONS if (c.round, c.benchmark, c.division) == ("5.1", "retinanet", "open"))
CLOSED = RETINANET._replace(division="closed")
POWER = "results/rack1/retinanet/power"


def _power(package: Package, *names: str) -> None:
    for name in names:
        file = package.folder / POWER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


#: Packages that the official checker refuses, each by a change, and the rules by which mlsub does.
REFUSED = {
    "brackets in a system's name": (
        lambda p: (
            p.system.rename(p.folder / "results" / "rack[8xH100]"),
            p.description().rename(p.description("rack[8xH100]")),
        ),
        {"entry.glob-name"},
    ),
    "hidden system of four logs": (lambda p: _hidden(p, ".old", described=True, runs=4), {"entry.run-count"}),
    "what an editor left": (
        lambda p: _hidden(p, ".ipynb_checkpoints", described=False, runs=5),
        {"tree.system-description-missing"},
    ),
    "what git left": (lambda p: (p.folder / "results/.git/hooks").mkdir(parents=True), {"official.crash"}),
    "undecodable flags": (lambda p: _flags(p, p.system, b"\xff"), {"official.crash"}),
    "power without runs": (lambda p: (p.folder / POWER).mkdir(), {"official.crash", "power.missing"}),
    "power of a run that is a file": (
        lambda p: _power(p, "result_0", *(f"result_{n}/node_0.txt" for n in range(1, 5))),
        {"official.crash", "power.missing"},
    ),
    "power without a number": (
        lambda p: _power(p, "result_0/node_x.txt", *(f"result_{n}/node_0.txt" for n in range(1, 5))),
        {"official.crash", "power.names"},
    ),
    "a description that is a folder": (
        lambda p: (p.description().unlink(), p.description().mkdir()),
        {"system.unreadable"},
    ),
    "a log that is a folder": (lambda p: (p.logs[0].unlink(), (p.entry / "result_0.txt").mkdir()), {"log.unreadable"}),
    "a number where the official tool joins text": (
        lambda p: p.describe(accelerators_per_node=8),
        {"system.field-not-text"},
    ),
    "a description without division": (lambda p: p.describe(division=None), {"system.field-missing"}),
}


@pytest.mark.parametrize("combination", [RETINANET, CLOSED], ids=str)
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_official_checker_refuses_is_refused_by_its_reason(
    name: str, combination: Combination, tmp_path: Path
) -> None:
    change, rules = REFUSED[name]
    package = build(tmp_path, combination)
    change(package)
    report = ours(package)
    assert not official(package).accepted
    assert not accepted(report)
    found = rejecting(report)
    assert found >= rules
    # Logs taken over from another entry share its seeds, which counts within one entry only.
    assert found - rules <= {"key.eval_accuracy.target", "entry.noncompliant-runs"}


def test_a_system_without_benchmarks_needs_no_description_there(tmp_path: Path) -> None:
    package = build(tmp_path, RETINANET)
    shutil.rmtree(package.entry)
    shutil.rmtree(package.folder / "systems")
    report = ours(package)
    assert (rejecting(report), accepted(report)) == ({"tree.systems-missing"}, False)
    assert official(package) == (True, None)


def test_a_scaling_factor_that_is_a_folder_stops_the_official_checker_in_closed(tmp_path: Path) -> None:
    package = build(tmp_path, CLOSED)
    (package.entry / "scaling.json").mkdir()
    report = ours(package)
    assert rejecting(report) == {"official.crash"}
    assert official(package).crash is not None


def test_flags_in_results_itself_let_nothing_pass(tmp_path: Path) -> None:
    package = build(tmp_path, CLOSED)
    _flags(package, package.folder / "results", b"seed-checker-bypass")
    for log in package.logs:
        log.write_bytes(log.read_bytes().replace(b'"value": 100', b'"value": 1000, "was": 100'))
    report = ours(package)
    assert not official(package).accepted
    assert not accepted(report)
    assert {"params.misplaced"} <= {f.rule for f in report.findings}
