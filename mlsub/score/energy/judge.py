"""The power measurements of an entry, from its folder to findings and joules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from mlsub.findings import Finding, Severity
from mlsub.io import MlsubError, reason_of
from mlsub.io.look import status_of
from mlsub.io.show import several
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding, isolated, reviewed
from mlsub.score.energy.findings import audit_copies, audit_run, find_crashes, find_faulted, judge_structure, unreadable
from mlsub.score.energy.read import list_names, read_run
from mlsub.score.energy.score import Power, RunPower, run_joules
from mlsub.submission.model import POWER, Entry
from mlsub.systems.fields import count

#: The joules of each run, and why there are none.
_Joules = tuple[tuple[float | None, ...], list[Finding]]


def judge_power(entry: Entry, round_: Round) -> Power:
    """Read and judge the power measurements of an entry that has a folder of them.

    From v5.0 the official checker looks at names and numbers of the files; before, no tool does, and the same defects
    are review findings.
    """
    folder = entry.folder / POWER
    path = POWER if entry.path in ("", ".") else f"{entry.path}/{POWER}"
    names = [PurePath(log.path).name for log in entry.logs]
    if (why := _why_unreadable(folder)) is not None:
        return Power(findings=(unreadable(path, why),), faulted=frozenset(), joules=(None,) * len(names))
    runs = [read_run(folder, path, PurePath(name).stem, entry.listing) for name in names]
    # The summarizer reads the folder that is named up to the first dot, the checker up to the last.
    scored = [
        run if run.result == name.split(".")[0] else read_run(folder, path, name.split(".")[0], entry.listing)
        for run, name in zip(runs, names, strict=True)
    ]
    nothing: _Joules = ((None,) * len(runs), [])
    (joules, uncomputed), crashed = isolated(
        "power.no-energy", path, lambda: _compute_joules(entry, runs, scored, round_), nothing
    )
    faulted = find_faulted(runs) if round_.power_checked else frozenset()
    return Power(
        findings=(
            *judge_structure(runs, checked=round_.power_checked),
            *reviewed("power.strays", path, lambda: _find_strays(entry, path, (*runs, *scored))),
            *uncomputed,
            *crashed,
            *reviewed("power", path, lambda: _audit_runs(entry, scored)),
            *reviewed("power.same-readings", path, lambda: audit_copies(scored)),
        ),
        faulted=frozenset(name for name, run in zip(names, runs, strict=True) if run.result in faulted),
        joules=joules,
        crashes=tuple(find_crashes(runs, folder, path)) if round_.power_checked else (),
    )


def _audit_runs(entry: Entry, scored: Sequence[RunPower]) -> Iterator[Finding]:
    content = entry.description.content if entry.description else None
    nodes = count((content or {}).get("number_of_nodes")) or None
    for run, log in zip(scored, entry.logs, strict=True):
        yield from audit_run(run, log, nodes)


def _why_unreadable(folder: Path) -> str | None:
    """Why there is nothing to the official checker, which does not look at the measurements then; None where it is."""
    try:
        return None if status_of(folder) is not None else "the link is broken or circular"
    except OSError as error:
        return reason_of(error)


def _compute_joules(entry: Entry, runs: Sequence[RunPower], scored: Sequence[RunPower], round_: Round) -> _Joules:
    # The summarizers of earlier rounds computed some that the one of today does not.
    severity = None if round_.power_checked else Severity.NOTE
    joules: list[float | None] = []
    findings = []
    for run, measured, log in zip(runs, scored, entry.logs, strict=True):
        duration = log.run.duration_ms
        try:
            if duration is None:
                raise MlsubError("the run has no run interval")
            joules.append(run_joules(measured, duration))
        except MlsubError as error:
            joules.append(None)
            if duration is not None and (run.there or measured.there):
                message = "The official summarizer of today gives no energy for the run"
                findings.append(
                    finding("power.no-energy", measured.path, message, actual=str(error), severity=severity)
                )
    return tuple(joules), findings


def _find_strays(entry: Entry, path: str, runs: Sequence[RunPower]) -> list[Finding]:
    """Measurements of no result: of a run that was left out, or misspelled."""
    try:
        names = list_names(entry.folder / POWER, entry.listing)
    except NotADirectoryError:
        return []  # Then every run is missing, which is reported.
    except (MlsubError, OSError) as error:
        return [unreadable(path, reason_of(error)[:200])]
    known = {run.result for run in runs}
    others = [name for name in names if name not in known and not name.startswith(".")]
    if not others:
        return []
    return [finding("power.strays", path, expected="a folder with the name of each result", actual=several(others, 5))]
