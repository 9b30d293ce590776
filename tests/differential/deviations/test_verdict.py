"""Where the official tool crashes, skips something or accepts it, and mlsub rejects with a reason."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.oracle.compare import KNOWN_DEVIATIONS, disagrees, judge_log, known_deviation
from tools.oracle.generate import Combination, line_of
from tools.oracle.log import Line, Log, generated, smallest
from tools.oracle.packages import Answer, Package, accepted, build, log_of, official, ours, rejecting
from tools.oracle.scores import RELEASES, of_history
from tools.support.effort import HUNG
from tools.support.runner import run

DLRM = Combination("6.1", "dlrmv4", "closed", None)
RETINANET = Combination("5.1", "retinanet", "open", None)
COSMOFLOW = Combination("hpc-3.0", "cosmoflow", "open", None)


def _null_before_the_base_rate(log: Log) -> Log:
    sparse = log.first("opt_sparse_base_learning_rate")
    return log.altered(sparse, value=None).moved(sparse, log.first("opt_base_learning_rate"))


def _nested(log: Log, levels: int = 600) -> Log:
    record = {"namespace": "", "time_ms": 1_620_000_000_001, "event_type": "POINT_IN_TIME", "key": "note"}
    line = line_of({**record, "value": "?", "metadata": {"file": "a.py", "lineno": 1}})
    return log.inserted(len(log), Line(line.replace('"?"', "[" * levels + "]" * levels)))


CASES: dict[str, tuple[Combination, Callable[[Log], Log]]] = {
    "null-rate": (DLRM, _null_before_the_base_rate),
    "nested-records": (RETINANET, _nested),
}


@pytest.mark.parametrize("name", KNOWN_DEVIATIONS)
def test_a_known_deviation_of_a_log_is_one(name: str, tmp_path: Path) -> None:
    combination, change = CASES[name]
    both = judge_log(change(smallest(combination)), combination.round, tmp_path)
    assert disagrees(both), "no deviation any more: take it from KNOWN_DEVIATIONS and from docs/deviations.yaml"
    assert known_deviation(both) == name


def test_another_difference_is_no_known_deviation(tmp_path: Path) -> None:
    """A null that both refuse, and one beside another defect."""
    log = smallest(DLRM)
    late = log.altered(log.first("opt_sparse_base_learning_rate"), value=None)
    both = judge_log(late, "6.1", tmp_path)
    assert not disagrees(both)
    assert known_deviation(both) is None
    worse = _null_before_the_base_rate(log).without("seed")
    worse = worse.altered(worse.first("opt_adam_beta_1"), value=0)
    assert known_deviation(judge_log(worse, "6.1", tmp_path)) is None


@pytest.mark.parametrize(("levels", "ours_too"), [(400, True), (600, False)])
def test_a_deeply_nested_record_is_noncompliant(levels: int, ours_too: bool, tmp_path: Path) -> None:
    both = judge_log(_nested(generated(RETINANET), levels), "5.1", tmp_path)
    assert (both.theirs.compliant, both.ours.compliant) == (True, ours_too), both.describe()


@pytest.mark.parametrize("lacks", ["step", "partner"])
@pytest.mark.parametrize("round_name", ["3.1", "4.0", "4.1", "5.0"])
def test_a_measure_that_lacks_its_step_or_partner_is_noncompliant(round_name: str, lacks: str, tmp_path: Path) -> None:
    log = generated(Combination(round_name, "stable_diffusion", "closed", None))
    place = log.places("eval_accuracy")[-1]
    metadata = {"metric": log.metadata(place)["metric"]}
    log = log.altered(place, metadata=metadata) if lacks == "step" else log.replaced(place)
    both = judge_log(log, round_name, tmp_path)
    assert any(message.startswith("crash: ") for message in both.theirs.messages)
    assert not both.ours.compliant


def test_a_benchmark_named_common_never_ends_there(tmp_path: Path) -> None:
    log = generated(RETINANET)
    both = judge_log(log.altered(log.first("submission_benchmark"), value="common"), "5.1", tmp_path)
    assert len(both.theirs.configs) > 50, "the same rules are queued again and again"
    assert not both.ours.compliant


def test_a_folder_beside_strong_and_weak_is_rejected(tmp_path: Path) -> None:
    package = build(tmp_path, COSMOFLOW)
    (package.system / "medium").mkdir()
    assert official(package).accepted
    assert rejecting(ours(package)) == {"tree.unknown-scaling"}
    shutil.copytree(package.entry, package.system / "medium" / "cosmoflow")
    assert official(package).crash == "AssertionError: "
    assert rejecting(ours(package)) == {"tree.unknown-scaling"}
    assert [entry.path for entry in ours(package).entries] == ["results/rack1/strong/cosmoflow"]


def _hidden_system(package: Package) -> None:
    shutil.copytree(package.system, package.folder / "results" / ".rack2")
    content = json.loads(package.description().read_text())
    del content["framework"]
    package.description(".rack2").write_text(json.dumps(content))


def _pattern(package: Package) -> None:
    (package.folder / "results" / "rack[1]" / "retinanet").mkdir(parents=True)
    shutil.copy(package.description(), package.description("rack[1]"))


#: Packages by a change that the official checker accepts, and the rules by which mlsub rejects them.
ACCEPTED: dict[str, tuple[Callable[[Package], Any], set[str]]] = {
    "unknown-benchmark": (lambda p: shutil.copytree(p.entry, p.system / "ncf"), {"tree.unknown-benchmark"}),
    "no-logs": (lambda p: shutil.rmtree(p.system), {"tree.no-logs"}),
    "broken-link": (lambda p: (p.folder / "results" / "rack2").symlink_to("nowhere"), {"tree.unreadable"}),
    "hidden-description": (_hidden_system, {"system.field-missing"}),
    "glob-name": (_pattern, {"entry.glob-name", "entry.run-count"}),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_official_checker_accepts_is_rejected(name: str, tmp_path: Path) -> None:
    change, rules = ACCEPTED[name]
    package = build(tmp_path, RETINANET)
    change(package)
    report = ours(package)
    assert (official(package), accepted(report)) == (Answer(True), False)
    assert rejecting(report) == rules


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("log.empty", lambda whole: b""),
        ("log.no-records", lambda whole: b"no record\n" * 100),
        ("log.no-records", lambda whole: bytes(range(256)) * 10),
        ("log.wide-encoding", lambda whole: whole.decode().encode("utf-16")),
    ],
)
def test_a_result_file_that_is_no_log_is_rejected(rule: str, change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    package = build(tmp_path, RETINANET)
    package.logs[0].write_bytes(change(package.logs[0].read_bytes()))
    assert (official(package), rejecting(ours(package))) == (Answer(True), {rule})


@pytest.mark.slow
def test_the_official_checkers_end_with_success_whatever_they_find(tmp_path: Path) -> None:
    package = build(tmp_path, RETINANET)
    shutil.copy(package.logs[0], package.entry / "result 9.txt")
    package.logs[0].unlink()
    for tool in ("package_checker", "repo_checker"):
        command = [sys.executable, "-m", f"mlperf_logging.{tool}", package.folder, "training", "5.1.0"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HUNG, check=False)
        assert (done.returncode, "ERROR" in done.stderr) == (0, True), done.stderr
    assert run("check", package.folder).status == 1


def test_a_line_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    log = generated(RETINANET).inserted(0, Line("some output"))
    place = log.first("submission_org")
    both = judge_log(log.altered(place, value=""), "5.1", tmp_path)
    (found,) = [finding for finding in both.ours.findings if finding.rejects]
    assert found.line == place + 1
    assert any(f"failed in line {place - 1}:" in message for message in both.theirs.messages), both.theirs.messages


def test_oc20_of_hpc_v10_has_five_runs(history: Path, tmp_path: Path) -> None:
    counts = {}
    for commit in (RELEASES["hpc-1.0"], "6d57529"):
        meta: dict[str, Any] = {}
        exec(of_history(history, commit, "mlperf_logging/benchmark_meta.py"), meta)  # noqa: S102  (the official tool)
        counts[commit] = meta["get_result_file_counts"]("hpc")["oc20"]
    assert counts == {"hpc-1.0.0-rc2": 10, "6d57529": 5}
    package = build(tmp_path, Combination("hpc-1.0", "oc20", "open", None))
    assert (len(package.logs), accepted(ours(package))) == (5, True)
    for number in range(5, 10):
        (package.entry / f"result_{number}.txt").write_bytes(log_of(package.combination, number).content())
    assert "entry.run-count" in rejecting(ours(package))
