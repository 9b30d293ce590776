"""Where today's release judges a past round otherwise than the checker in force then, whose verdict is mlsub's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mlperf_logging.result_summarizer import result_summarizer

import mlsub
from mlsub.findings import Verdict
from tests.differential.deviations.test_page import DEVIATIONS
from tests.differential.test_entries import case_of
from tools.oracle.compare import judged
from tools.oracle.entries import Place, tried
from tools.oracle.generate import Combination, usage_and_round
from tools.oracle.log import generated
from tools.oracle.official_rcp import official_test
from tools.oracle.oracle import official, prepared
from tools.oracle.packages import Package, accepted, build, empty_entry, log_of, ours, speed_up
from tools.oracle.packages import official as official_package
from tools.oracle.scores import lasting
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.effort import effort

#: The keys that a log of a combination is without.
LOGS: dict[str, tuple[Combination, tuple[str, ...]]] = {
    "weights-initialization": (Combination("1.1", "maskrcnn", "closed", None), ("weights_initialization",)),
    "opt-epsilon": (Combination("2.1", "bert", "closed", None), ()),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_the_checker_in_force_accepted_is_rejected_today(name: str, tmp_path: Path) -> None:
    combination, keys = LOGS[name]
    file = tmp_path / "result_0.txt"
    file.write_bytes(generated(combination).without(*keys).content())
    in_force, today = (official(file, combination.round, today=today).compliant for today in (False, True))
    assert (in_force, today) == (True, False)
    assert judged(file, combination.round).compliant


STATUSES = (
    *("available", "onprem", "cloud", "available on-premise", "available onprem", "available cloud", "preview"),
    *("research", "development", "internal", "rdi", "RESEARCH, Development, or Internal (RDI)", "OnPrem"),
)


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_of_v40_is_rejected_today(status: str, tmp_path: Path) -> None:
    package = build(tmp_path, Combination("4.0", "ssd", "open", None))
    package.describe(status=status)
    assert accepted(ours(package))
    assert not official_package(package, today=True).accepted


def _flags_in_the_system(package: Package) -> None:
    speed_up(package)
    (package.system / "package_checker_params").write_text("rcp-bypass")


def _without_seeds(package: Package) -> None:
    for file in package.logs:
        file.write_bytes(log_of(package.combination, 0).without("seed").content())


def _seeds_of_the_last(package: Package) -> None:
    for run, file in enumerate(package.logs[:-1]):
        file.write_bytes(log_of(package.combination, run).without("seed").content())


def _power_of_one_run(package: Package) -> None:
    (package.entry / "power" / "result_0").mkdir(parents=True)
    (package.entry / "power" / "result_0" / "node_0.txt").touch()


class Case(NamedTuple):
    """A package by a change, and whether mlsub accepts it; today's release says the opposite."""

    combination: Combination
    change: Callable[[Package], Any]
    accepted: bool


SSD, OC20 = Combination("3.0", "ssd", "closed", None), Combination("hpc-3.0", "oc20", "closed", None)
PACKAGES: dict[str, Case] = {
    "seeds": Case(SSD, _without_seeds, accepted=True),
    "seeds of HPC": Case(OC20, _without_seeds, accepted=True),
    "seeds of the last run": Case(SSD._replace(round="4.0"), _seeds_of_the_last, accepted=True),
    "empty-benchmark": Case(SSD._replace(round="1.0", division="open"), lambda p: (p.system / "bert").mkdir(), True),
    "flags-in-folders": Case(SSD._replace(round="3.1"), _flags_in_the_system, accepted=False),
    "flags in folders of HPC": Case(OC20, _flags_in_the_system, accepted=False),
    "power files of HPC": Case(OC20._replace(division="open"), _power_of_one_run, accepted=True),
    "power-files": Case(SSD._replace(round="4.1", division="open"), _power_of_one_run, accepted=True),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_the_checker_in_force_judged_otherwise(name: str, tmp_path: Path) -> None:
    combination, change, accepts = PACKAGES[name]
    package = build(tmp_path, combination)
    change(package)
    assert accepted(ours(package)) is accepts
    in_force, today = (official_package(package, today=today).accepted for today in (False, True))
    assert (in_force, today) == (accepts, not accepts)


def test_a_description_of_v07_without_a_division_ends_todays_checker(tmp_path: Path) -> None:
    package = build(tmp_path, SSD._replace(round="0.7", division="open"))
    package.describe(division=None)
    assert accepted(ours(package))
    assert official_package(package, today=True).crash == "KeyError: 'division'"


@pytest.mark.parametrize(
    ("round_id", "name", "size", "runs", "point", "passes"),
    [
        ("hpc-3.0", "oc20", 256, 5, 18.4, (False, True)),
        ("hpc-1.0", "oc20", 256, 5, 19.0, (True, True)),
        ("3.0", "gpt3", 1536, 3, 1.1e9, (True, False)),
        ("3.1", "unet3d", 56, 40, 350_000, (False, True)),
        ("3.1", "resnet", 4096, 5, 35.5, (True, True)),
        ("1.1", "resnet", 1632, 5, 34.5, (True, True)),
    ],
)
def test_todays_release_computes_past_rounds_as_v41(
    round_id: str, name: str, size: int, runs: int, point: float, passes: tuple[bool, bool], tmp_path: Path
) -> None:
    place = Place(*usage_and_round(round_id), name)
    both = tried(case_of(place, [size] * runs, [point] * runs), tmp_path)
    today = official_test(tmp_path / name, place.usage, place.round, today=True)
    assert (both.passed, today.passed, both.problem) == (*passes, None)
    assert both.ours.scaling != pytest.approx(today.scaling, rel=1e-4)


@pytest.mark.parametrize("round_name", ["1.0", "1.1", "2.0", "2.1"])
def test_dlrm_ends_todays_release_in_a_traceback(round_name: str, tmp_path: Path) -> None:
    both = tried(case_of(Place("training", round_name, "dlrm"), [32_768] * 5, [10**8] * 5), tmp_path)
    today = official_test(tmp_path / "dlrm", "training", round_name, today=True)
    assert (both.passed, both.theirs.passed, today.crash) == (True, True, "KeyError: 'dlrm'")


def test_the_minutes_of_v06_are_a_thousandth_there(tmp_path: Path) -> None:
    combination = Combination("0.6", "resnet", "open", "sgd")
    folder = empty_entry(tmp_path, combination)
    for run in range(5):
        (folder / f"result_{run}.txt").write_bytes(lasting(generated(combination), 12).content())
    with prepared("0.6"):
        theirs, _, _ = result_summarizer._compute_strong_score_standalone(
            "resnet", "rack1", False, str(folder), "training", "0.6.0"
        )
    (entry,) = mlsub.check(folder.parents[2], round="0.6", jobs=1).entries
    assert entry.official is Verdict.ACCEPTED
    assert entry.score.published == pytest.approx(12.0, abs=1e-6)
    assert theirs == pytest.approx(0.012, abs=1e-9)


#: Published packages that today's release judges otherwise than mlsub, and the row that says why.
EXPLAINED = {
    "v0.7/SIAT": "no-division",
    "v1.0/GIGABYTE": "dlrm",
    "v1.0/Habana": "seeds",
    "v1.0/Inspur": "dlrm",
    "v1.0/NVIDIA": "bert-samples",
    "v1.1/Baidu": "weights-initialization",
    "v1.1/Intel-HabanaLabs": "weights-initialization",
    "v1.1/NVIDIA": "weights-initialization",
    "v2.0/Google": "dlrm",
    "v2.1/Azure-HazyResearch": "opt-epsilon",
    "v2.1/Baidu": "opt-epsilon",
    "v2.1/Intel": "dlrm",
    "v3.0/IEI": "seeds",
    "v4.0/Google": "algorithm",
    "v4.0/Intel-HabanaLabs": "system-status",
    "v4.0/Lenovo": "system-status",
    "v4.0/smc-ac-power": "system-status",
    "v4.0/tinycorp": "system-status",
}
#: Bytes of logs; larger packages are left to long runs.
LARGEST = effort(500_000, 8_000_000)


SMALL = [
    folder.parent
    for folder in sorted(CORPUS.glob("*/*/systems"))
    if sum(log.stat().st_size for log in folder.parent.glob("results/**/result_*.txt")) <= LARGEST
]


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize("organisation", SMALL, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_where_todays_release_judges_a_published_package_otherwise_a_row_says_why(
    organisation: Path, tmp_path: Path
) -> None:
    name = organisation.parent.name.replace("hpc-v", "vhpc-").removeprefix("v")
    # The official checker writes into what it checks.
    copy = tmp_path / organisation.parent.name / organisation.name
    shutil.copytree(organisation, copy, symlinks=True)
    package = Package(copy, Combination(name, "", "", None))
    if accepted(ours(package)) != official_package(package, today=True).accepted:
        assert EXPLAINED[f"{organisation.parent.name}/{organisation.name}"] in {row.id for row in DEVIATIONS.rows}
