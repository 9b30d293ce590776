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
from mlsub.io.write import write_file
from mlsub.present import FORMATS
from mlsub.present.entries import missing_results
from mlsub.present.envelope import Reports, answer
from mlsub.score import missing_scaling, render_scaling
from mlsub.submission.report import Report
from mlsub.submission.result import results_of


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


def deliver(reports: Sequence[Report], target: Target) -> None:
    """Print or write the answer; on standard error, what there is to say of it."""
    if target.format == "json":
        own = current().loaded
        target.put(answer("score", Reports(reports=tuple(reports), settings=str(own.file) if own else None)))
    if target.format != "text" or target.file is not None:
        tell_unchecked(reports)
    if target.format == "json":
        return
    if target.format == "text":
        target.put(target.rendered(document_of(reports)))
    elif any(report.official is not Verdict.NOT_CHECKED for report in reports):
        # Else there is nothing: an empty table would look like an answer.
        rows = [result.columns() for report in reports for result in results_of(report)]
        if not rows:
            tell("the table has no rows: a single log is not a result. Name the folder of its benchmark.")
        page = target.format in FORMATS
        target.put(target.rendered(rows_document(rows)) if page else render_rows(target.format, rows))
        for missing in filter(None, map(missing_results, reports)):
            tell(missing)
    for note in status_notes(reports):
        tell(note)
