"""The defects of the official tool that a survey found by running it, numbered as there: mlsub gets them right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.runner import check
from tests.make_tree import Log, Tree, make_log, make_tree, snapshot, spoil


def test_01_errors_end_with_a_status_other_than_0(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    process = subprocess.run(
        [sys.executable, "-m", "mlsub", "check", tree.folder], capture_output=True, check=False, text=True
    )
    assert process.returncode == 1
    assert "rejected: 1 of 1 entries rejected" in process.stdout
    assert process.stderr == ""


def test_02_a_whole_round_with_one_bad_organisation_ends_with_a_status_other_than_0(tmp_path: Path) -> None:
    make_tree(tmp_path, org="Good")
    assert check(tmp_path / "v1.0").status == 0
    spoil(make_tree(tmp_path, org="Bad"), 0, 1)
    outcome = check(tmp_path / "v1.0")
    assert (outcome.status, outcome.official) == (1, "rejected")
    assert {entry["organisation"]: entry["official"] for entry in outcome.report["entries"]} == {
        "Good": "accepted",
        "Bad": "rejected",
    }


def test_03_a_bad_field_of_a_description_does_not_hide_a_missing_one(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(status="whatever", cooling=None, framework=15)
    outcome = check(tree.folder)
    found = {(finding["rule"], finding["message"]) for finding in outcome.findings}
    assert found == {
        ("system.field-missing", "The required field cooling is missing"),
        ("system.field-not-text", "The field framework is not text"),
        ("system.unknown-status", "The status is not an availability category of the results table"),
    }
    assert outcome.status == 1


def test_04_an_empty_submission_is_no_success(tmp_path: Path) -> None:
    for name in ("results", "systems"):
        (tmp_path / "v1.0" / "ACME" / name).mkdir(parents=True)
    outcome = check(tmp_path / "v1.0" / "ACME")
    assert (outcome.status, outcome.official) == (2, "not-checked")


def test_04_a_misnamed_benchmark_folder_is_no_success(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.entry().rename(tree.entry("flux"))
    assert check(tree.folder).status == 2
    tree.add_entry()
    outcome = check(tree.folder)
    assert (outcome.status, outcome.errors()) == (1, {"tree.unknown-benchmark"})


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_06_line_numbers_are_those_of_the_file_counted_from_1(ending: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    log = Log.read(tree.log())
    log.put("eval_accuracy", value=0.5)
    at = log.at("eval_accuracy")
    log.lines[at:at] = ["Epoch 1: 100%", ""]
    log.lines[:0] = ["some framework output", ""] * 5
    tree.log().write_text(log.text().replace("\n", ending), newline="")
    (finding,) = check(tree.folder).of("key.eval_accuracy.target")
    assert finding["line"] == at + 13 + len(log.records("eval_accuracy")) - 1
    assert '"key": "eval_accuracy"' in tree.log().read_bytes().split(b"\n")[finding["line"] - 1].decode()


def test_07_a_record_without_value_is_a_finding(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.records("train_samples")[0].pop("value"))
    (finding,) = check(tree.folder).of("log.record-incomplete")
    assert finding["actual"] == "value"
    assert '"train_samples"' in tree.log().read_text().splitlines()[finding["line"] - 1]


def test_07_a_missing_system_description_is_a_finding(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    assert check(tree.folder).errors() == {"tree.system-description-missing"}


def test_07_an_unknown_benchmark_in_a_log_is_a_finding(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("submission_benchmark", value="flux"), 0, 1)
    outcome = check(tree.folder)
    assert outcome.status == 1
    assert {"key.submission_benchmark.value", "entry.noncompliant-runs"} <= outcome.errors()


def test_08_the_first_of_two_records_on_a_line_is_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    lines = tree.log().read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if '"key": "epoch_stop"' in line)
    lines[at : at + 2] = [lines[at] + lines[at + 1]]
    tree.log().write_text("\n".join(lines) + "\n")
    (finding,) = check(tree.folder).of("log.hidden-record")
    assert (finding["kind"], finding["line"], finding["actual"]) == ("review", at + 1, "key epoch_stop")


def test_09_run_stop_before_run_start_is_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    start = make_log().records("run_start")[0]["time_ms"]
    tree.edit(lambda log: log.put("run_stop", time_ms=start - 100_000_000_000))
    (finding,) = check(tree.folder).of("run.interval-negative")
    assert finding["actual"].startswith("-1.66667e+06 minutes")


def test_10_an_aborted_run_is_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("run_stop", metadata={"status": "aborted"}))
    outcome = check(tree.folder)
    assert outcome.rules() == {"run.status-aborted"}
    assert outcome.report["entries"][0]["converged"] == 4


def test_10_an_organisation_other_than_the_submitter_is_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(submitter="Globex")
    findings = check(tree.folder).of("cross.org")
    assert len(findings) == 5
    assert {(finding["expected"], finding["actual"]) for finding in findings} == {("Globex", '"ACME"')}


def _all_at_the_same_time(tree: Tree) -> None:
    for run in range(1, 5):
        log = make_log()
        log.put("seed", value=1000 + run)
        tree.log(run).write_text(log.text())


def test_11_logs_of_the_same_times_and_different_seeds_are_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    _all_at_the_same_time(tree)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.rules()) == (0, {"entry.same-log-twice"})
    assert len(outcome.findings) == 4


def test_11_the_same_seed_from_another_line_is_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for run in range(5):
        tree.edit(lambda log, run=run: log.put("seed", value=42, metadata={"lineno": 100 + run}), run)  # type: ignore[misc]
    outcome = check(tree.folder)
    assert (outcome.status, outcome.rules()) == (0, {"seed.reused"})
    assert len(outcome.findings) == 4


def test_12_a_forgiven_run_is_marked_on_the_entry_and_on_the_log(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 3)
    outcome = check(tree.folder)
    assert outcome.status == 0
    (mark,) = outcome.of("entry.forgiven-runs")
    assert mark["path"] == "results/rack1/resnet"
    assert "result_3.txt" in mark["actual"]
    assert [log["official"] for log in outcome.report["logs"]].count("noncompliant") == 1
    assert outcome.report["entries"][0]["compliant"] == 4


@pytest.mark.parametrize("round_folder", ["v1.0", "v1.1"])
def test_13_nothing_is_written_into_the_submission(
    round_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_tree(tmp_path, round_folder, benchmarks=["resnet", "bert", "unet3d"])
    monkeypatch.chdir(tree.folder)
    before = snapshot(tmp_path)
    first = check(".")
    assert snapshot(tmp_path) == before
    assert check(".").report == first.report
