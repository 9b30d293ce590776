"""Read one side of a comparison: a package, or a part of one, checked, with its runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mlsub.commands.compare.model import Side
from mlsub.findings import Finding, Verdict
from mlsub.io import MlsubError
from mlsub.rounds import Round, get_round
from mlsub.rounds.benchmarks import Compatible, ResultsFolder
from mlsub.submission.find import PathKind, Place, locate
from mlsub.submission.report import EntryResult, Report
from mlsub.submission.result import Result
from mlsub.systems.description import read_content
from mlsub.workspace import Context, check_with_logs


class ComparedSide(Struct, frozen=True):
    """One side, checked: where it lies, its report, the results of its entries with their logs, and its rules."""

    path: str
    place: Place
    report: Report
    results: tuple[Result, ...]
    rules: Round

    @property
    def side(self) -> Side:
        """What is shown of it: path, rules and verdict."""
        rules = self.rules
        return Side(path=self.path, usage=rules.usage, round=rules.name, official=self.report.official.value)

    @property
    def findings(self) -> list[Finding]:
        """The findings; those of one benchmark's folder with paths in which the system has no name."""
        if self.place.kind is not PathKind.BENCHMARK:
            return list(self.report.findings)
        folder = self.report.entries[0].path

        def inside(path: str) -> str:
            if path.startswith("systems/"):
                return "systems"
            return path if folder == "." else path.removeprefix(folder).removeprefix("/") or "."

        return [replace(finding, path=inside(finding.path)) for finding in self.report.findings]

    def description(self, path: str | None) -> Mapping[str, Any] | None:
        """Return what a system description says; None where there is none, or it is not an object."""
        return None if path is None else read_content(Path(self.report.root, path), self.rules)


def read_side(path: str, context: Context, *, intervals: bool = False) -> ComparedSide:
    """Check a package, a part of one, a folder of organisations, or one run of an entry, by the rules of the entry.

    Args:
        path: where it lies.
        context: with the round to judge it by, None for its own.
        intervals: collect the intervals of its logs too.

    Raises:
        MlsubError: it holds nothing to compare, or is not a folder.
    """
    try:
        file = Path(path) if Path(path).is_file() else None
        folder = path if file is None else str(file.parent)
        place = locate(Path(folder))
        alone = file is not None and place.kind is not PathKind.BENCHMARK
        if alone or (place.kind is PathKind.LOG and Path(path).exists()):
            raise MlsubError(f"{path} is a file. Name a folder, or a result file in a benchmark's folder.")
    except (OSError, ValueError) as error:
        raise MlsubError(f"{path} cannot be read: {error}") from error
    (checked,) = check_with_logs([folder], replace(context, request=replace(context.request, intervals=intervals)))
    report = checked.report
    no_entry = place.kind is PathKind.BENCHMARK and len(report.entries) != 1
    if report.official is Verdict.NOT_CHECKED or no_entry:
        why = next((f for f in report.findings if f.rejects), None)
        raise MlsubError(f"{path} cannot be checked: {why.message if why else 'it holds nothing'}")
    rules = get_round(str(report.usage), str(report.round), checked.overlay)
    results = checked.results
    if file is not None:
        named = ((result, at) for result in results for at, log in enumerate(result.logs) if log.name == file.name)
        results = tuple(_single_run(result, at) for result, at in named)
        if not results:
            raise MlsubError(f"{path} is no run of the entry in its folder. Name a result file, or a folder.")
    return ComparedSide(path, place, report, results, rules)


def _single_run(result: Result, at: int) -> Result:
    """Return a result of one of its runs alone, whose time stands in for the score."""
    score = replace(result.score, unscaled=None, scaling=1.0, expected_scaling=1.0)
    rcp = replace(result.rcp, points=result.rcp.points[at : at + 1])
    return replace(result, logs=(result.logs[at],), runs=1, score=score, rcp=rcp)


def entry_name(result: EntryResult) -> str:
    """Return organisation, system and benchmark as a path, such as ``--pair`` takes it."""
    return "/".join(filter(None, (result.organisation, result.system, result.scaling_type, result.benchmark)))


def compatibility(one: Result, other: Result) -> tuple[Compatible, str | None]:
    """Return whether two results may be compared by the table of MLCommons, and where not, why in words."""
    ours, theirs = (ResultsFolder(result.usage, result.round, result.benchmark) for result in (one, other))
    return ours.compatibility_with(theirs)
