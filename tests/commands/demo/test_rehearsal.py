"""The rehearsal round: real runs, real logs, its own rules, and reference points that catch another training."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import mlsub
from mlsub.commands.demo import train
from mlsub.commands.demo.run import Rehearsal, RehearsalEntry, open_recorder, read_rehearsal, rehearse
from mlsub.commands.demo.train import Parameters, train_run
from mlsub.convergence import newest_algorithm
from mlsub.convergence.filecheck import check_reference_file
from mlsub.convergence.reference import read_points, reference_file
from mlsub.emit import DoomedRunError
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from tests.commands.demo.reference import FIRST_SEED, RUNS, SIZES, train_reference
from tools.support.runner import run

MANIFEST = Path(__file__).resolve().parents[3] / "submissions" / "rehearsal" / "training.yaml"


@pytest.fixture
def submission(rehearsed: Path) -> Path:
    return rehearsed / "rehearsal-v1.0" / read_rehearsal(MANIFEST).organisation


def records(log: Path) -> list[dict]:
    return [json.loads(line.removeprefix(":::MLLOG ")) for line in log.read_text().splitlines()]


@pytest.mark.slow
def test_a_rehearsal_is_accepted_without_any_finding(submission: Path) -> None:
    report = mlsub.check(submission)
    assert (report.usage, report.round, report.official) == ("rehearsal", "1.0", Verdict.ACCEPTED)
    assert [(e.benchmark, e.division, e.runs, e.compliant, e.rcp.verdict) for e in report.entries] == [
        ("digits", "closed", 5, 5, "pass"),
        ("digits", "open", 5, 5, "not-required"),
    ]
    assert all(e.minutes is not None and e.minutes > 0 for e in report.entries)
    assert report.findings == ()


@pytest.mark.slow
def test_every_run_has_its_own_seed_and_really_trained(submission: Path) -> None:
    logs = sorted(submission.glob("results/*/*/result_*.txt"))
    assert len(logs) == 10
    seeds = [r["value"] for log in logs for r in records(log) if r["key"] == "seed"]
    assert len(set(seeds)) == 10
    logs = sorted(submission.glob("results/*/digits/result_*.txt"))
    curves = {tuple(r["value"] for r in records(log) if r["key"] == "eval_accuracy") for log in logs}
    # Real training: each run improves in its own way, and ends at the first evaluation that meets the target.
    assert len(curves) > 5
    assert all(curve[-1] >= 0.96 and all(value < 0.96 for value in curve[:-1]) for curve in curves)


@pytest.mark.slow
def test_everything_says_that_it_is_a_rehearsal(submission: Path) -> None:
    assert "not an MLPerf result" in (submission.parent / "README.txt").read_text()
    for description in submission.glob("systems/*.json"):
        assert "not an MLPerf result" in json.loads(description.read_text())["sw_notes"]
    log = next(submission.glob("results/*/digits/result_0.txt"))
    assert all("no MLPerf result" in record["namespace"] for record in records(log))


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_a_run_that_misses_the_target_says_so_and_is_noncompliant(tmp_path: Path) -> None:
    entry = RehearsalEntry(
        "short", "closed", Parameters(max_epochs=1, opt_base_learning_rate=1e-6, global_batch_size=128)
    )
    log = tmp_path / "result_0.txt"
    result = train_run(open_recorder(log, "Org", "research", entry), entry.hyperparameters, seed=1)
    assert not result.success
    report = mlsub.check(log, round="1.0", usage="rehearsal")
    assert report.official == Verdict.REJECTED
    assert {f.rule for f in report.findings} == {"key.eval_accuracy.target", "run.status-aborted"}


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_the_recorder_refuses_in_closed_what_open_may_do(tmp_path: Path) -> None:
    """Which values it refuses, tests/emit has."""

    def train(division: str) -> Path:
        entry = RehearsalEntry("here", division, Parameters(opt_base_learning_rate=0.005, opt_name="adam"))
        log = tmp_path / f"result_{division}.txt"
        train_run(open_recorder(log, "Org", "research", entry), entry.hyperparameters, seed=7)
        return log

    with pytest.raises(DoomedRunError) as refused:
        train("closed")
    assert {finding.rule for finding in refused.value.findings} == {"key.opt_name.value"}
    report = mlsub.check(train("open"), round="1.0", usage="rehearsal")
    assert [finding for finding in report.findings if finding.rejects] == []


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_a_refused_rehearsal_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(
        "organisation: Org\nstatus: research\n"
        "entries: [{system: a, division: closed, hyperparameters: {opt_name: adam}}]\n"
    )
    result = run("demo", path, "--output", tmp_path / "out")
    assert result.status == 1
    assert result.stderr.splitlines()[:2] == [
        "the run cannot become a compliant result:",
        "  opt_name has a value that the rules do not allow [key.opt_name.value]",
    ]
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_an_existing_rehearsal_is_replaced_only_on_request(tmp_path: Path) -> None:
    manifest = Rehearsal("Org", "research", (RehearsalEntry("here", "open", Parameters(opt_base_learning_rate=0.05)),))
    first = rehearse(manifest, tmp_path, force=False)
    before = (first / "results/here/digits/result_0.txt").read_bytes()
    with pytest.raises(MlsubError):
        rehearse(manifest, tmp_path, force=False)
    assert (first / "results/here/digits/result_0.txt").read_bytes() == before
    assert rehearse(manifest, tmp_path, force=True) == first
    assert (first / "results/here/digits/result_0.txt").read_bytes() != before
    assert sorted(p.name for p in first.parent.iterdir()) == [".Org.mlsub-written", "Org", "README.txt"]


def test_a_folder_that_is_no_rehearsal_is_never_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "rehearsal-v1.0" / "Org"
    precious.mkdir(parents=True)
    (precious / "thesis.txt").write_text("years of work")
    manifest = Rehearsal("Org", "research", (RehearsalEntry("here", "open"),))
    with pytest.raises(MlsubError):
        rehearse(manifest, tmp_path, force=True)
    assert (precious / "thesis.txt").exists()


HEAD, ENTRY = "organisation: X\nstatus: research\n", "{system: a, division: open}"
#: A manifest and what is said of it.
BAD = {
    f"{HEAD}entries: []\n": "at least one system",
    f"{HEAD}entries: [{ENTRY.replace('open', 'shut')}]\n": "shut",
    f"{HEAD}entries: [{ENTRY.replace(' a', ' ../a')}]\n": "folder's name",
    f"{HEAD}entries: [{ENTRY}, {ENTRY}]\n": "each system once",
    f"{HEAD}entries: [{ENTRY[:-1]}, hyperparameters: {{lr: 1}}}}]\n": "lr",
    f"{HEAD}entries: [{ENTRY[:-1]}, benchmark: verses}}]\n": "verses",
    f"organisation: X\nentries: [{ENTRY}]\n": "status is missing",
    f"{HEAD.replace('research', 'banana')}entries: [{ENTRY}]\n": "unknown value 'banana'",
    "- a list\n": ":1: expected a mapping",
    "a: [\n": ":2: not YAML",
    "": "none.yaml",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_manifest_is_refused_with_exit_2(text: str, tmp_path: Path) -> None:
    path = tmp_path / ("manifest.yaml" if text else "none.yaml")
    if text:
        path.write_text(text)
    result = run("demo", path, "--output", tmp_path / "out")
    assert (result.status, BAD[text] in result.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_without_scikit_learn_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "sklearn" or name.startswith("sklearn.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn.neural_network", None)
    result = run("demo", MANIFEST, "--output", tmp_path)
    assert result.status == 2
    assert "pip install '.[rehearsal]'" in result.stderr
    assert not list((tmp_path / "rehearsal-v1.0").glob(".rehearsal-*"))


@pytest.fixture
def reference() -> Path:
    file = reference_file("rehearsal", "1.0.0", "digits")
    assert file is not None
    return file


def test_the_file_is_whole_and_has_the_batch_sizes(reference: Path) -> None:
    assert check_reference_file(reference) == ()
    points = read_points(reference, "digits", 5, newest_algorithm())
    assert [(point.batch_size, point.runs) for point in points] == [(size, RUNS) for size in SIZES]


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_a_reference_run_comes_to_the_same_again(reference: Path, tmp_path: Path) -> None:
    """On another processor arithmetic may round otherwise, so an evaluation more or less is no difference."""
    size = max(SIZES)
    logs = train_reference(size, tmp_path, runs=2)
    recorded = json.loads(reference.read_text())[f"digits_ref_{size}"]["Epochs to converge"][:2]
    for number, (log, before) in enumerate(zip(logs, recorded, strict=True)):
        text = log.read_text()
        assert f'"value": {FIRST_SEED + number}' in text
        evaluations = [line for line in text.splitlines() if '"eval_accuracy"' in line]
        last = json.loads(evaluations[-1].removeprefix(":::MLLOG "))
        assert abs(last["metadata"]["epoch_num"] - before) <= 2


def entry_of(folder: Path, entry: RehearsalEntry) -> mlsub.submission.report.EntryResult:
    tree = rehearse(Rehearsal("Org", "research", (entry,)), folder, force=False)
    (result,) = mlsub.check(tree).entries
    return result


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_an_honest_entry_passes(tmp_path: Path) -> None:
    result = entry_of(tmp_path, RehearsalEntry("here", "closed", Parameters(opt_base_learning_rate=0.01)))
    assert (result.rcp.verdict, result.official, result.rcp.batch_size) == ("pass", "accepted", 32)


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_training_on_what_is_held_out_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pixels, labels), held_out = train._data()
    leaked = [
        np.concatenate([kept[:-1080], *[part] * 3]) for kept, part in zip((pixels, labels), held_out, strict=True)
    ]
    monkeypatch.setattr(train, "_data", lambda: (tuple(leaked), held_out))
    result = entry_of(tmp_path, RehearsalEntry("here", "closed"))
    assert (result.rcp.verdict, result.official) == ("fail", "rejected")


@pytest.mark.slow
@pytest.mark.usefixtures("scikit_learn")
def test_an_open_entry_is_not_tested(tmp_path: Path) -> None:
    result = entry_of(tmp_path, RehearsalEntry("here", "open", Parameters(opt_base_learning_rate=0.05)))
    assert (result.rcp.verdict, result.rcp.how) == ("not-required", "open-division")
