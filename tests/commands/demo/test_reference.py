"""The reference points of the rehearsal: real runs, and a test that catches a training that is not the reference's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mlsub
from mlsub.commands.demo.model import Manifest, Parameters, RehearsalEntry
from mlsub.commands.demo.reference import FIRST_SEED, RUNS, SIZES, train_reference
from mlsub.commands.demo.run import rehearse
from mlsub.commands.demo.verses import run as verses_run
from mlsub.commands.demo.verses.run import Samples, verses
from mlsub.commands.rcp.build import Built
from mlsub.convergence.algorithm import newest_algorithm
from mlsub.convergence.filecheck import check_reference_file
from mlsub.convergence.reference import points_of, reference_file


def file_of(benchmark: str) -> Path:
    file = reference_file("rehearsal", "1.0.0", benchmark)
    assert file is not None
    return file


@pytest.mark.parametrize("benchmark", SIZES)
def test_the_files_are_whole_and_have_the_batch_sizes(benchmark: str) -> None:
    assert check_reference_file(file_of(benchmark)) == ()
    points = points_of(file_of(benchmark), benchmark, 5, newest_algorithm())
    assert [(point.batch_size, point.runs) for point in points] == [(size, RUNS) for size in SIZES[benchmark]]


@pytest.mark.parametrize("benchmark", SIZES)
def test_a_reference_run_comes_to_the_same_again(benchmark: str, tmp_path: Path) -> None:
    """On another processor arithmetic may round otherwise, so an evaluation more or less is no difference."""
    size = max(SIZES[benchmark])
    logs = train_reference(benchmark, size, tmp_path, runs=2)
    recorded = json.loads(file_of(benchmark).read_text())[f"{benchmark}_ref_{size}"]["Epochs to converge"][:2]
    key, step = ("samples_count", 1024) if benchmark == "verses" else ("epoch_num", 1)
    for number, (log, before) in enumerate(zip(logs, recorded, strict=True)):
        text = log.read_text()
        assert f'"value": {FIRST_SEED + number}' in text
        evaluations = [line for line in text.splitlines() if '"eval_accuracy"' in line]
        last = json.loads(evaluations[-1].removeprefix(":::MLLOG "))
        assert abs(last["metadata"][key] - before) <= 2 * step


def entry_of(folder: Path, entry: RehearsalEntry) -> mlsub.submission.report.EntryResult:
    tree = rehearse(Manifest("Org", "research", (entry,)), folder, force=False)
    (result,) = mlsub.check(tree).entries
    return result


@pytest.mark.parametrize(
    ("benchmark", "parameters"),
    [
        ("digits", Parameters(opt_base_learning_rate=0.01)),
        ("verses", Parameters(opt_base_learning_rate=0.012)),
    ],
)
def test_an_honest_entry_passes(benchmark: str, parameters: Parameters, tmp_path: Path) -> None:
    result = entry_of(tmp_path, RehearsalEntry("here", "closed", parameters, benchmark))
    assert (result.rcp.verdict, result.official, result.rcp.batch_size) == ("pass", "accepted", 32)


def test_training_on_what_is_held_out_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = verses()
    leaked = text._replace(
        train=Samples(
            np.concatenate([text.train.contexts[:-2750], text.held_out.contexts, text.held_out.contexts]),
            np.concatenate([text.train.following[:-2750], text.held_out.following, text.held_out.following]),
        )
    )
    monkeypatch.setattr(verses_run, "verses", lambda: leaked)
    result = entry_of(tmp_path, RehearsalEntry("here", "closed", Parameters(), "verses"))
    assert (result.rcp.verdict, result.official) == ("fail", "rejected")


def test_an_open_entry_is_not_tested(tmp_path: Path) -> None:
    result = entry_of(tmp_path, RehearsalEntry("here", "open", Parameters(opt_base_learning_rate=0.05)))
    assert (result.rcp.verdict, result.rcp.how) == ("not-required", "open-division")


def test_reference_points_are_made_anew_where_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlsub.commands.demo import reference as command

    written: list[Path] = []
    monkeypatch.setattr(command, "build_reference", lambda *_: Built(records={}, problems=(), notes=()))
    monkeypatch.setattr(command, "write_file", lambda file, content, force: written.append(file))
    monkeypatch.setattr("sys.argv", ["reference"])
    assert command.main() == 0
    assert written == [file_of(benchmark) for benchmark in SIZES]
