"""``mlsub score``: the results table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.asked import Asked, asks
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, exit_with, output_options, tell, tell_unchecked
from mlsub.io.errors import MlsubError
from mlsub.present import FORMATS

if TYPE_CHECKING:
    from mlsub.score.table import Row
    from mlsub.submission.report import Report


def _format_of(file: Path) -> str | None:
    from mlsub.commands.score.formats import format_of_file

    return format_of_file(file)


@click.command("score", cls=Command, example="mlsub score v5.1/NVIDIA --format csv -o scores.csv")
@asks(rules=True, convergence=True)
@click.option("--window", "select", type=click.IntRange(1), metavar="N", help="Of more runs than N, which to submit.")
@click.option("--write-scaling", is_flag=True, help="Write a missing scaling.json with the expected factor.")
@output_options("score", (*FORMATS, "csv", "parquet", "xlsx"), _format_of)
def command(
    asked: Asked,
    select: int | None,
    write_scaling: bool,
    target: Target,
) -> None:
    """Print the results: the score of each entry in minutes, and what it rests on.

    The score of an entry is the olympic mean of its times to train: without the fastest and the slowest run (unet3d:
    four and four). A noncompliant run counts as slowest; where more of them fall out than are forgiven there is no
    score. Minutes are the published score: times the factor of scaling.json, and 1 without one. Expected minutes, with
    the factor that the convergence test gives, are shown where they differ; --write-scaling writes that factor.

    text is for reading. markdown, html, csv, parquet and xlsx have one row a result, with the columns of the official
    table; json is the document of mlsub check. parquet and xlsx need: pip install 'mlsub[tables]'.

    --window N applies the rules' median window to runs of one benchmark, which need not lie in a submission: each N
    consecutive runs are a window, and the one whose score is nearest the median of all is the result.

    Exit status: 0 all entries accepted, 1 an entry or the package rejected, 2 something could not be checked or
    written; mlsub check says why.
    """
    if select is not None:
        from mlsub.commands.score.command_select import run_selection

        if target.format not in FORMATS:
            raise click.UsageError(f"--window answers as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
        run_selection(asked, select, target)
    _check_before(target)
    reports = asked.check()
    _deliver(reports, target)
    if write_scaling:
        _write_scaling(reports)
    exit_with(reports)


def _write_scaling(reports: Sequence[Report]) -> None:
    from mlsub.commands.score.put_scaling import put_scaling

    written = list(put_scaling(reports))
    for line in written:
        tell(f"written: {line}")
    if not written:
        tell("no scaling.json to write: every entry that is to be scaled has one")


def _check_before(target: Target) -> None:
    """Refuse what cannot come to a good end before reading gigabytes of logs."""
    from mlsub.commands.score.formats import FORMATS, check_library

    check_library(target.format)
    if target.file is None and not FORMATS[target.format].text and sys.stdout.isatty():
        raise MlsubError(f"{target.format} cannot be read on a terminal. Name a file with --output FILE.")


def _deliver(reports: Sequence[Report], target: Target) -> None:
    """Print or write the answer; on standard error, what there is to say of it."""
    if target.format == "json":
        from mlsub.present.report_json import render_json

        target.put(render_json("score", reports))
        tell_unchecked(reports)
        return
    if target.format == "text":
        from mlsub.commands.score.document import document_of

        if target.file is not None:
            tell_unchecked(reports)
        target.put(target.rendered(document_of(reports)))
    else:
        tell_unchecked(reports)
        _deliver_rows(reports, target)
    from mlsub.score.table import status_notes

    for note in status_notes(reports):
        tell(note)


def _deliver_rows(reports: Sequence[Report], target: Target) -> None:
    """The rows; nothing where nothing was checked, because an empty table would look like an answer."""
    from mlsub.findings import Verdict
    from mlsub.score.table import rows_of

    if all(report.official is Verdict.NOT_CHECKED for report in reports):
        return
    rows = rows_of(reports)
    if not rows:
        tell("the table has no rows: a single log is not a result. Name the folder of its benchmark.")
    target.put(_rendered_rows(rows, target))


def _rendered_rows(rows: Sequence[Row], target: Target) -> str | bytes:
    if target.format in FORMATS:
        from mlsub.commands.score.document_rows import rows_document

        return target.rendered(rows_document(rows))
    from mlsub.commands.score.formats import render_rows

    return render_rows(target.format, rows)
