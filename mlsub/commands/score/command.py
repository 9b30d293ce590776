"""``mlsub score``: the results table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import (
    convergence_options,
    exit_with,
    path_and_round,
    print_json,
    run_check,
    tell,
    tell_unchecked,
    write_output,
)
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from mlsub.submission.report import Report

_FORMATS = ("table", "csv", "json", "markdown", "parquet", "xlsx")


@click.command("score")
@path_and_round
@convergence_options
@click.option(
    "--format",
    "format_",
    # text is the old name of table.
    type=click.Choice([*_FORMATS, "text"]),
    metavar=f"[{'|'.join(_FORMATS)}]",
    help="Else what the ending of FILE says; else table.",
)
@click.option("--output", "-o", type=click.Path(), metavar="FILE", help="Write into FILE; - is standard output.")
@click.option("--force", is_flag=True, help="Replace FILE; what it held is kept as FILE.~1~.")
@click.option("--select", type=click.IntRange(1), metavar="N", help="Of more runs than N, which to submit.")
@click.option("--write-scaling", is_flag=True, help="Write a missing scaling.json with the expected factor.")
def command(
    paths: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    rules: str | None,
    jobs: int | None,
    rcp: str | None,
    rcp_points: str,
    train_samples: bool,
    format_: str | None,
    output: str | None,
    force: bool,
    select: int | None,
    write_scaling: bool,
) -> None:
    """Print the results: the score of each entry in minutes, and what it rests on.

    The score of an entry is the olympic mean of its times to train: without the fastest and the slowest run (unet3d:
    four and four). A noncompliant run counts as slowest; where more of them fall out than are forgiven there is no
    score. Minutes are the published score: times the factor of scaling.json, and 1 without one. Expected minutes, with
    the factor that the convergence test gives, are shown where they differ; --write-scaling writes that factor.

    table is for reading. csv, markdown, parquet and xlsx have one row a result, with the columns of the official table;
    json is the document of mlsub check. parquet and xlsx need: pip install 'mlsub[tables]'.

    --select N applies the rules' median window to runs of one benchmark that need lie in no submission: each N that
    follow one another are a window, and the one whose score is nearest the median of all is the result.

    Exit status: 0 all entries accepted, 1 an entry or the package rejected, 2 something could not be checked or
    written; mlsub check says why.
    """
    if select is not None:
        from mlsub.commands.score.command_select import run_selection

        if format_ not in (None, "table", "text", "json"):
            raise click.UsageError("--select answers as table or json.")
        run_selection(paths, select, round_, usage, rules, jobs, format_ or "table")
    from mlsub.commands.score.formats import format_of_file

    file = None if output in (None, "-") else output
    name = format_ or (format_of_file(file) if file else None) or "table"
    name = "table" if name == "text" else name
    _check_before(name, file, force)
    reports = run_check(paths, round_, usage, jobs, rules, rcp, train_samples=train_samples, points=rcp_points)
    _deliver(reports, name, file, force)
    if write_scaling:
        _write_scaling(reports)
    exit_with(reports)


def _write_scaling(reports: Sequence[Report]) -> None:
    from mlsub.commands.score.put_scaling import put_scaling

    written = list(put_scaling(reports))
    for line in written:
        tell(f"written: {line}")
    if not written:
        tell("no scaling.json to write: nothing is to be scaled that has none")


def _check_before(name: str, file: str | None, force: bool) -> None:
    """Refuse what cannot come to a good end before reading gigabytes of logs."""
    from mlsub.commands.score.formats import FORMATS, check_library
    from mlsub.io.output import check_output

    check_library(name)
    if file is not None:
        check_output(Path(file), force=force)
    elif not FORMATS[name].text and sys.stdout.isatty():
        raise MlsubError(f"{name} is nothing to read on a terminal. Name a file with --output FILE.")


def _deliver(reports: Sequence[Report], name: str, file: str | None, force: bool) -> None:
    """Print or write the answer; on standard error, what there is to say of it."""
    if file is None and name == "json":
        print_json("score", reports)
        return
    if file is None and name == "table":
        from mlsub.commands.score.render_table import render_table
        from mlsub.present.report import console

        render_table(reports, console())
    else:
        tell_unchecked(reports)
        content = _as_text(reports, name) if name in ("table", "json") else _as_rows(reports, name)
        if content:
            _put(content, file, force)
    if name != "json":
        _tell_statuses(reports)


def _as_text(reports: Sequence[Report], name: str) -> bytes:
    """The whole report as a file, for people or as JSON."""
    if name == "json":
        from mlsub.present.report_json import render_json

        return render_json("score", reports)
    import io

    from mlsub.commands.score.render_table import render_table
    from mlsub.present.report import console

    stream = io.StringIO()
    render_table(reports, console(stream))
    return stream.getvalue().encode("utf-8", "backslashreplace")


def _as_rows(reports: Sequence[Report], name: str) -> bytes:
    """The table; nothing where nothing was checked, for an empty table would look like an answer."""
    from mlsub.commands.score.formats import render_rows
    from mlsub.findings import Verdict
    from mlsub.score.table import rows_of

    if all(report.official is Verdict.NOT_CHECKED for report in reports):
        return b""
    rows = rows_of(reports)
    if not rows:
        tell("the table has no rows: a single log is no result. Name the folder of its benchmark.")
    return render_rows(name, rows)


def _put(content: bytes, file: str | None, force: bool) -> None:

    if file is not None:
        write_output(Path(file), content, force=force)
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _tell_statuses(reports: Sequence[Report]) -> None:
    from mlsub.score.table import status_notes

    for note in status_notes(reports):
        tell(note)
