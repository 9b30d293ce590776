"""Run a rehearsal: train every run, lay the logs out as a submission, describe the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mlsub.commands.demo.train import Parameters, Trained, train_run
from mlsub.emit import Recorder
from mlsub.io import MlsubError
from mlsub.io.documents import DocumentType, read_document
from mlsub.io.folders import check_free, replace_folder
from mlsub.io.write import staging_beside, write_file
from mlsub.rules.load import entry_requirements
from mlsub.systems.capture import capture_here, merge_captures
from mlsub.systems.draft import TO_FILL_IN, Asked, finish

ROUND_FOLDER = "rehearsal-v1.0"
_NOTE = "A rehearsal made with mlsub: real training of a small network, but not an MLPerf result.\n"

Name = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        extra_json_schema={
            "patternErrorMessage": "becomes a folder's name; use up to 100 letters, digits, '.', '_' and '-'"
        },
    ),
]


class RehearsalEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One system and division to rehearse."""

    system: Name
    division: Literal["closed", "open"]
    hyperparameters: Parameters = Parameters()
    benchmark: Literal["digits"] = "digits"


class Rehearsal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole rehearsal."""

    organisation: Name
    status: Literal["cloud", "onprem", "preview", "research"]
    entries: tuple[RehearsalEntry, ...]


FORM = DocumentType(type=Rehearsal, kind="manifests", title="What mlsub demo runs")

Progress = Callable[[RehearsalEntry, int, int, Trained], None]


def read_rehearsal(path: Path) -> Rehearsal:
    """Read a manifest.

    Raises:
        FileProblemsError: it cannot be read, is not YAML, lacks a field or has one that is not known.
    """
    rehearsal, tree = read_document(path, FORM)
    systems = {entry.system for entry in rehearsal.entries}
    if not systems:
        tree.report("name at least one system", "entries")
    if len(systems) < len(rehearsal.entries):
        tree.report("name each system once; one system cannot have two divisions", "entries")
    tree.raise_problems()
    return rehearsal


def rehearse(rehearsal: Rehearsal, output: Path, *, force: bool, progress: Progress | None = None) -> Path:
    """Train and lay out a rehearsal.

    Args:
        rehearsal: what to rehearse.
        output: the folder that gets ``rehearsal-v1.0/<organisation>``.
        force: whether an earlier rehearsal there may be replaced.
        progress: called after each run with entry, number of the run, number of runs and how the run ended.

    Returns:
        The organisation's folder. It appears complete or not at all.

    Raises:
        MlsubError: the folder exists and ``force`` is False, or it is not a rehearsal, cannot be written, or holds
            what somebody wrote or changed.
        OSError: something else cannot be written.
        ImportError: scikit-learn is not installed.
        DoomedRunError: the rules forbid what the manifest asks for.
    """
    final = output / ROUND_FOLDER / rehearsal.organisation
    if final.exists() and not force:
        raise MlsubError(f"{final} exists. Add --force to replace it.")
    if final.exists() and not ((final / "systems").is_dir() and (final / "results").is_dir()):
        raise MlsubError(f"{final} is not a rehearsal, so it is not replaced. Name another folder with --output.")
    check_free(final)
    with staging_beside(final) as work:
        _fill(work, rehearsal, progress)
        replace_folder(work, final)
    note = final.parent / "README.txt"
    if not os.path.lexists(note):
        write_file(note, _NOTE.encode(), force=False)
    return final


def _fill(folder: Path, rehearsal: Rehearsal, progress: Progress | None) -> None:
    systems = folder / "systems"
    systems.mkdir()
    for entry in rehearsal.entries:
        runs = entry_requirements("rehearsal", "1.0", entry.benchmark).runs
        results = folder / "results" / entry.system / entry.benchmark
        results.mkdir(parents=True)
        for number in range(runs):
            recorder = open_recorder(results / f"result_{number}.txt", rehearsal.organisation, rehearsal.status, entry)
            trained = train_run(recorder, entry.hyperparameters)
            if progress is not None:
                progress(entry, number + 1, runs, trained)
        description = _describe_machine(rehearsal, entry)
        text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        (systems / f"{entry.system}.json").write_text(text, encoding="utf-8")


def open_recorder(log: Path, organisation: str, status: str, entry: RehearsalEntry) -> Recorder:
    """Return the recorder that writes the log of one run of an entry."""
    return Recorder(
        log,
        usage="rehearsal",
        round="1.0",
        benchmark=entry.benchmark,
        division=entry.division,
        organisation=organisation,
        platform=entry.system,
        status=status,
        namespace="rehearsal, no MLPerf result",
        root=Path(__file__).resolve().parents[3],
    )


def _describe_machine(rehearsal: Rehearsal, entry: RehearsalEntry) -> dict[str, Any]:
    """Return a system description of this machine with every required field; what is not known is ``N/A``."""
    found, _ = merge_captures([("this host", capture_here())])
    changes = {
        "submitter": rehearsal.organisation,
        "division": entry.division,
        "status": rehearsal.status,
        "system_name": entry.system,
        "framework": f"scikit-learn {version('scikit-learn')}",
        "hw_notes": "Rehearsal with mlsub on whatever machine was at hand",
        "sw_notes": "Real training, but not an MLPerf result",
    }
    description = {**finish(found, Asked()).description(), **changes}
    return {name: "N/A" if value == TO_FILL_IN else value for name, value in description.items()}
