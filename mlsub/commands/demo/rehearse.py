"""Run a whole rehearsal: train every run, lay the logs out as a submission, describe the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from mlsub.commands.demo.machine import describe_machine
from mlsub.commands.demo.manifest import Manifest, RehearsalEntry
from mlsub.commands.demo.train import Result, train_run
from mlsub.io.errors import MlsubError
from mlsub.io.output_folder import staging_beside
from mlsub.io.written import check_free, replace_folder
from mlsub.rules.load import benchmark

ROUND_FOLDER = "rehearsal-v1.0"
_NOTE = "A rehearsal made with mlsub: real training of a small network, but not an MLPerf result.\n"

Progress = Callable[[RehearsalEntry, int, int, Result], None]


def rehearse(manifest: Manifest, output: Path, *, replace: bool, progress: Progress | None = None) -> Path:
    """Train and lay out a rehearsal.

    Args:
        manifest: what to rehearse.
        output: the folder that gets ``rehearsal-v1.0/<organisation>``.
        replace: whether an earlier rehearsal there may be replaced.
        progress: called after each run with entry, number of the run, number of runs and result.

    Returns:
        The organisation's folder. It appears complete or not at all.

    Raises:
        MlsubError: the folder exists and ``replace`` is False, or it is no rehearsal.
        MlsubError: the organisation's folder cannot be written, or holds what somebody wrote or changed.
        OSError: something else cannot be written.
        ImportError: scikit-learn is not installed.
        DoomedRunError: the rules forbid what the manifest asks for.
    """
    final = output / ROUND_FOLDER / manifest.organisation
    if final.exists() and not (replace and (final / "systems").is_dir() and (final / "results").is_dir()):
        raise MlsubError(str(final))
    check_free(final)
    with staging_beside(final) as work:
        _fill(work, manifest, progress)
        replace_folder(work, final)
    note = final.parent / "README.txt"
    if not os.path.lexists(note):
        note.write_text(_NOTE, encoding="utf-8")
    return final


def _fill(folder: Path, manifest: Manifest, progress: Progress | None) -> None:
    systems = folder / "systems"
    systems.mkdir()
    for entry in manifest.entries:
        runs = benchmark("rehearsal", "1.0", entry.benchmark).runs
        results = folder / "results" / entry.system / entry.benchmark
        results.mkdir(parents=True)
        for number in range(runs):
            log = results / f"result_{number}.txt"
            result = train_run(log, manifest.organisation, manifest.status, entry)
            if progress is not None:
                progress(entry, number + 1, runs, result)
        description = describe_machine(manifest.organisation, entry.system, entry.division, manifest.status)
        text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        (systems / f"{entry.system}.json").write_text(text, encoding="utf-8")
