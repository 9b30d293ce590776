"""``mlsub score``: the results table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import asks, check
from mlsub.commands.output import Target, exit_with, output_options, tell, tell_unchecked
from mlsub.commands.settings import current
from mlsub.io.errors import MlsubError
from mlsub.present import FORMATS

if TYPE_CHECKING:
    from mlsub.present.tables import Row
    from mlsub.submission.report import Report
    from mlsub.workspace.places import Request


@click.command("score", cls=Command, example="mlsub score v5.1/ACME --format csv -o scores.csv")
@asks(rules=True, convergence=True)
@click.option("--window", "select", type=click.IntRange(1), metavar="N", help="Select which N of more runs to submit.")
@click.option("--write-scaling", is_flag=True, help="Write missing scaling.json files with the expected factor.")
@output_options("score", (*FORMATS, "csv", "parquet", "xlsx"), by_name=True)
def command(
    asked: Request,
    select: int | None,
    write_scaling: bool,
    target: Target,
) -> None:
    """Print the results: the score of each entry in minutes, and what it rests on.

    The score of an entry is the olympic mean of its times to train: without the fastest and the slowest run (unet3d:
    four and four). A noncompliant run counts as the slowest; an entry with more of them than are forgiven has no score.
    In v0.6, which had no package checker, that is a run that did not converge.
    Minutes are the published score: the mean times the factor of scaling.json, if there is one. Expected minutes, with
    the factor of the convergence test, are shown where they differ; --write-scaling writes that factor.

    text is for reading. markdown, html, csv, parquet and xlsx have one row for each result, with the columns of the
    official table; json is the document of mlsub check. parquet and xlsx need: pip install '.[tables]'.

    --window N applies the rules' median window to runs of one benchmark, which need not be in a submission: each N
    consecutive runs are a window, and the window whose score is nearest the median of all is the result.

    Exit status: 0 all entries accepted; 1 an entry or the package rejected; 2 something could not be checked or
    written. mlsub check says why.
    """
    if select is not None:
        from mlsub.commands.score.window import run_selection

        if target.format not in FORMATS:
            raise click.UsageError(f"--window answers as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
        run_selection(asked, select, target)
    from mlsub.commands.score.formats import LIBRARIES, check_library

    # Refuse what cannot come to a good end before reading gigabytes of logs.
    check_library(target.format)
    if target.format in LIBRARIES:
        target.refuse_terminal()
    reports = check(asked)
    _deliver(reports, target)
    if write_scaling:
        _write_scaling(reports)
    exit_with(reports)


def _write_scaling(reports: Sequence[Report]) -> None:
    """Write the expected factors into the folders of their entries, each file whole or not at all.

    A ``scaling.json`` that is there stays, for it may be the review committee's; an entry that needs none gets none.

    Raises:
        MlsubError: a file cannot be written; those before it are there.
    """
    import os

    from mlsub.io.write import write_file
    from mlsub.score.scaled import missing_scaling, render_scaling

    missing = [(Path(report.root), *each) for report in reports for each in missing_scaling(report.entries)]
    for root, place, factor in missing:
        file = root / place
        if os.path.lexists(file):
            raise MlsubError(f"{file} is there and is never replaced. Move it away to have it written.")
        write_file(file, render_scaling(factor), force=False)
        tell(f"written: {file}: {factor!r}")
    if not missing:
        tell("no scaling.json to write: every entry that is to be scaled has one")


def _deliver(reports: Sequence[Report], target: Target) -> None:
    """Print or write the answer; on standard error, what there is to say of it."""
    from mlsub.commands.score.document import document_of, status_notes
    from mlsub.findings import Verdict
    from mlsub.present.entries import missing_results
    from mlsub.submission.result import results_of

    if target.format == "json":
        from mlsub.present.entries import Reports
        from mlsub.present.envelope import answer

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
        target.put(_rendered_rows(rows, target))
        for missing in filter(None, map(missing_results, reports)):
            tell(missing)
    for note in status_notes(reports):
        tell(note)


def _rendered_rows(rows: Sequence[Row], target: Target) -> str | bytes:
    if target.format in FORMATS:
        from mlsub.commands.score.document import rows_document

        return target.rendered(rows_document(rows))
    from mlsub.commands.score.formats import render_rows

    return render_rows(target.format, rows)
