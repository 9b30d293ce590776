"""Deliver the results of reports in the format that is asked for, and write missing scaling factors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mlsub.commands.output import Target, tell, tell_unchecked
from mlsub.commands.score.document import document_of, rows_document, status_notes
from mlsub.commands.score.formats import render_rows
from mlsub.commands.settings import current
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from mlsub.io.problems import did_you_mean
from mlsub.io.write import write_file
from mlsub.present import FORMATS
from mlsub.present.entries import missing_results
from mlsub.present.envelope import Reports, answer
from mlsub.score import missing_scaling, render_scaling
from mlsub.submission.report import Report
from mlsub.submission.result import Result, results_of

#: What results can be sorted by, and their property that says it.
SORT_BY = {"minutes": "published_minutes", "accelerators": "accelerators_count", "chip-minutes": "chip_minutes"}


def write_scaling(reports: Sequence[Report]) -> None:
    """Write the expected factors into the folders of their entries, each file whole or not at all.

    A ``scaling.json`` that is there stays, for it may be the review committee's; an entry that needs none gets none.

    Raises:
        MlsubError: a file cannot be written; those before it are there.
    """
    missing = [(Path(report.root), *each) for report in reports for each in missing_scaling(report.entries)]
    for root, place, factor in missing:
        file = root / place
        if os.path.lexists(file):
            raise MlsubError(f"{file} is there and is never replaced. Move it away to have it written.")
        write_file(file, render_scaling(factor), force=False)
        tell(f"written: {file}: {factor!r}")
    if not missing:
        tell("no scaling.json to write: every entry that is to be scaled has one")


def select(reports: Sequence[Report], benchmark: str | None, sort: str | None) -> list[Result]:
    """Return the results of reports that are shown, in their order: all of them, or those of a benchmark.

    Raises:
        MlsubError: none is of the benchmark.
    """
    found = [result for report in reports for result in results_of(report)]
    if benchmark is not None:
        known = {one.benchmark for one in found}
        found = [one for one in found if benchmark in (one.benchmark, one.benchmark_name, one.benchmark_title)]
        if not found:
            raise MlsubError(f"There is no result of {benchmark!r}{did_you_mean(benchmark, sorted(known))}")
    if sort is not None:
        # What has no number comes last, what has the same one by its minutes.
        names = (SORT_BY[sort], "published_minutes")
        found.sort(key=lambda one: [((value := getattr(one, name)) is None, value) for name in names])
    return found


def deliver(reports: Sequence[Report], benchmark: str | None, sort: str | None, target: Target) -> None:
    """Print or write the answer; on standard error, what there is to say of it."""
    if target.format == "json":
        own = current().loaded
        target.put(answer("score", Reports(reports=tuple(reports), settings=str(own.file) if own else None)))
    if target.format != "text" or target.file is not None:
        tell_unchecked(reports)
    if target.format == "json":
        return
    results = select(reports, benchmark, sort)
    if target.format in ("text", "svg"):
        target.put(target.rendered(document_of(reports, results)))
    elif any(report.official is not Verdict.NOT_CHECKED for report in reports):
        # Else there is nothing: an empty table would look like an answer.
        if not results:
            tell("the table has no rows: a single log is not a result. Name the folder of its benchmark.")
        if target.format in FORMATS:
            target.put(target.rendered(rows_document([result.columns() for result in results])))
        else:
            target.put(render_rows(target.format, results))
        for missing in filter(None, map(missing_results, reports)):
            tell(missing)
    for note in status_notes(reports):
        tell(note)
