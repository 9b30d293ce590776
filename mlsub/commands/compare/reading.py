"""Read one side of a comparison: a package, or a part of one, checked, with its runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.compare.model import Side
from mlsub.findings import Finding, Verdict
from mlsub.io import MlsubError
from mlsub.log.run import Run
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import Compatible, ResultsFolder
from mlsub.submission.find import PathKind, Place, locate
from mlsub.submission.report import EntryResult, Report, SystemResult
from mlsub.submission.result import Result
from mlsub.systems.description import read_content
from mlsub.workspace import Context, check_with_logs


class Reading(msgspec.Struct, frozen=True):
    """One side, checked: where it lies, its report, and the results of its entries with their logs."""

    path: str
    place: Place
    report: Report
    results: tuple[Result, ...]

    @property
    def side(self) -> Side:
        """What is shown of it: path, rules and verdict."""
        report = self.report
        return Side(path=self.path, usage=report.usage, round=report.round, official=report.official.value)

    @property
    def findings(self) -> list[Finding]:
        """The findings; those of one benchmark's folder with paths in which the system has no name."""
        if self.place.kind is not PathKind.BENCHMARK:
            return list(self.report.findings)
        (result,) = self.results
        return [msgspec.structs.replace(f, path=_without_system(f.path, result)) for f in self.report.findings]

    def description(self, of: Result | SystemResult) -> Mapping[str, Any] | None:
        """Return what a system description says; None where there is none, or it is not an object."""
        report, path = self.report, of.description_path if isinstance(of, Result) else of.path
        if path is None:
            return None
        round_ = get_round(report.usage, report.round) if report.usage and report.round else None
        return read_content(Path(report.root, path), round_)


def read_side(path: str, context: Context) -> Reading:
    """Check a package, a part of one, or a folder of organisations.

    Raises:
        MlsubError: it holds nothing to compare, or is not a folder.
    """
    try:
        place = locate(Path(path))
        if place.kind is PathKind.LOG and Path(path).exists():
            raise MlsubError(f"{path} is a file. Name a folder: an organisation's tree or a part of one.")
    except (OSError, ValueError) as error:
        raise MlsubError(f"{path} cannot be read: {error}") from error
    (checked,) = check_with_logs([path], context)
    report = checked.report
    no_entry = place.kind is PathKind.BENCHMARK and len(report.entries) != 1
    if report.official is Verdict.NOT_CHECKED or no_entry:
        why = next((f for f in report.findings if f.rejects), None)
        raise MlsubError(f"{path} cannot be checked: {why.message if why else 'it holds nothing'}")
    return Reading(path, place, report, checked.results)


def _without_system(path: str, entry: EntryResult) -> str:
    if path.startswith("systems/"):
        return "systems"
    return path if entry.path == "." else path.removeprefix(entry.path).removeprefix("/") or "."


def entry_name(result: EntryResult) -> str:
    """Return organisation, system and benchmark as a path, such as ``--pair`` takes it."""
    return "/".join(filter(None, (result.organisation, result.system, result.scaling_type, result.benchmark)))


def runs_of(result: Result) -> list[Run]:
    """Return the runs of an entry, in the order of the files."""
    return [log.run for log in result.logs]


def comparable(one: Result, other: Result) -> tuple[Compatible, str | None]:
    """Return whether two results may be compared by the table of MLCommons, and where not, why in words."""
    held, beside = (ResultsFolder(result.usage, result.round, result.benchmark) for result in (one, other))
    return held.compatibility_with(beside)
