"""The power measurements of an entry, from its folder to findings and joules."""

from __future__ import annotations

from pathlib import PurePath

import msgspec

from mlsub.energy.audit import audit_copies, audit_run
from mlsub.energy.model import RunPower
from mlsub.energy.read import read_run
from mlsub.energy.score import NoEnergyError, run_joules
from mlsub.energy.structure import faults, judge_structure
from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry

FOLDER = "power"


class Power(msgspec.Struct, frozen=True):
    """What an entry's power measurements come to.

    ``faulted`` names the result files that the checker of the round counts as noncompliant for their power files;
    ``joules`` is the energy of each run in the order of the logs, None where it cannot be computed.
    """

    findings: tuple[Finding, ...]
    faulted: frozenset[str]
    joules: tuple[float | None, ...]


def judge_power(entry: Entry, round_: Round) -> Power | None:
    """Read and judge the power measurements of an entry; None where it has no folder of them.

    From v5.0 the official checker looks at names and numbers of the files; before, no tool does, and the same defects
    are audit findings.
    """
    folder = entry.files.folder / FOLDER
    if FOLDER not in entry.files.strays:
        return None
    path = FOLDER if entry.path in ("", ".") else f"{entry.path}/{FOLDER}"
    names = [PurePath(log.path).name for log in entry.logs]
    runs = [read_run(folder, path, name.rpartition(".")[0] or name) for name in names]
    structure = tuple(judge_structure(runs))
    if not round_.power_checked:
        structure = tuple(map(_unchecked, structure))
    found = faults(runs) if round_.power_checked else frozenset()
    joules, uncomputed = _energies(entry, runs)
    audits = [f for run, log in zip(runs, entry.logs, strict=True) for f in audit_run(run, log, _described(entry))]
    return Power(
        findings=(*structure, *uncomputed, *audits, *audit_copies(runs)),
        faulted=frozenset(name for name, run in zip(names, runs, strict=True) if run.result in found),
        joules=joules,
    )


def _unchecked(found: Finding) -> Finding:
    return msgspec.structs.replace(found, kind=Kind.AUDIT, severity=Severity.WARNING, blocks=Blocks.NONE)


def _energies(entry: Entry, runs: list[RunPower]) -> tuple[tuple[float | None, ...], list[Finding]]:
    joules: list[float | None] = []
    findings = []
    for run, log in zip(runs, entry.logs, strict=True):
        duration = log.run.duration_ms
        try:
            if duration is None:
                raise NoEnergyError("the run has no run interval")
            joules.append(run_joules(run, duration))
        except NoEnergyError as error:
            joules.append(None)
            if run.there and duration is not None:
                findings.append(
                    finding("power.no-energy", run.path, "The energy of the run cannot be computed", actual=str(error))
                )
    return tuple(joules), findings


def _described(entry: Entry) -> int | None:
    content = entry.description.content if entry.description else None
    value = (content or {}).get("number_of_nodes")
    try:
        number = int(value) if isinstance(value, (int, str)) and len(str(value)) < 10 else None
    except ValueError:
        return None
    return number if number is not None and number > 0 else None
