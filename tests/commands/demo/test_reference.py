"""The reference points of the rehearsal: real runs, and a test that catches a training that is not the reference's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mlsub
from mlsub.commands.demo import train
from mlsub.commands.demo.run import Manifest, RehearsalEntry, rehearse
from mlsub.commands.demo.train import Parameters
from mlsub.convergence.algorithm import newest_algorithm
from mlsub.convergence.filecheck import check_reference_file
from mlsub.convergence.reference import points_of, reference_file
from tests.commands.demo.reference import FIRST_SEED, RUNS, SIZES, train_reference


@pytest.fixture
def reference() -> Path:
    file = reference_file("rehearsal", "1.0.0", "digits")
    assert file is not None
    return file


def test_the_file_is_whole_and_has_the_batch_sizes(reference: Path) -> None:
    assert check_reference_file(reference) == ()
    points = points_of(reference, "digits", 5, newest_algorithm())
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
    tree = rehearse(Manifest("Org", "research", (entry,)), folder, force=False)
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
