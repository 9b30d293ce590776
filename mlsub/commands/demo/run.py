"""Run a whole rehearsal: train every run, lay the logs out as a submission, describe the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mlsub.commands.demo.model import Manifest, RehearsalEntry
from mlsub.commands.demo.train import Result, train_run
from mlsub.io.errors import MlsubError
from mlsub.io.output import write_file
from mlsub.io.output_folder import staging_beside
from mlsub.io.written import check_free, replace_folder
from mlsub.rules.load import benchmark
from mlsub.systems.capture.machine import capture_here
from mlsub.systems.capture.merge import merge
from mlsub.systems.draft import TO_FILL_IN, Asked, finish

ROUND_FOLDER = "rehearsal-v1.0"
_NOTE = "A rehearsal made with mlsub: real training of a small network, but not an MLPerf result.\n"

Progress = Callable[[RehearsalEntry, int, int, Result], None]


def rehearse(manifest: Manifest, output: Path, *, force: bool, progress: Progress | None = None) -> Path:
    """Train and lay out a rehearsal.

    Args:
        manifest: what to rehearse.
        output: the folder that gets ``rehearsal-v1.0/<organisation>``.
        force: whether an earlier rehearsal there may be replaced.
        progress: called after each run with entry, number of the run, number of runs and result.

    Returns:
        The organisation's folder. It appears complete or not at all.

    Raises:
        MlsubError: the folder exists and ``force`` is False, or it is not a rehearsal, cannot be written, or holds
            what somebody wrote or changed.
        OSError: something else cannot be written.
        ImportError: scikit-learn is not installed.
        DoomedRunError: the rules forbid what the manifest asks for.
    """
    final = output / ROUND_FOLDER / manifest.organisation
    if final.exists() and not force:
        raise MlsubError(f"{final} exists. Add --force to replace it.")
    if final.exists() and not ((final / "systems").is_dir() and (final / "results").is_dir()):
        raise MlsubError(f"{final} is not a rehearsal, so it is not replaced. Name another folder with --output.")
    check_free(final)
    with staging_beside(final) as work:
        _fill(work, manifest, progress)
        replace_folder(work, final)
    note = final.parent / "README.txt"
    if not os.path.lexists(note):
        write_file(note, _NOTE.encode(), force=False)
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


def describe_machine(organisation: str, system: str, division: str, status: str) -> dict[str, Any]:
    """A system description of this machine with every required field; what is not known is ``N/A``."""
    found, _ = merge([("this host", capture_here())])
    changes = {
        "submitter": organisation,
        "division": division,
        "status": status,
        "system_name": system,
        "framework": f"scikit-learn {version('scikit-learn')}",
        "hw_notes": "Rehearsal with mlsub on whatever machine was at hand",
        "sw_notes": "Real training, but not an MLPerf result",
    }
    description = {**finish(found, Asked()).description(), **changes}
    return {name: "N/A" if value == TO_FILL_IN else value for name, value in description.items()}
