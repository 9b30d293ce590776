"""``mlsub score``: the results table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.options import asks, check
from mlsub.commands.output import Target, exit_with, output_options
from mlsub.present import CHART_FORMATS, FORMATS

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command("score", cls=Command, example="mlsub score v5.1/ACME --format csv -o scores.csv")
@asks(rules=True, convergence=True)
@click.option("--window", "select", type=click.IntRange(1), metavar="N", help="Select which N of more runs to submit.")
@click.option("--write-scaling", is_flag=True, help="Write missing scaling.json files with the expected factor.")
@click.option("--benchmark", metavar="NAME", help="Show the results of this benchmark alone.")
@click.option("--sort", type=click.Choice(("minutes", "accelerators", "chip-minutes")), help="Sort the results.")
@output_options("score", (*CHART_FORMATS, "csv", "wide", "parquet", "xlsx"))
def command(
    asked: Request,
    select: int | None,
    write_scaling: bool,
    benchmark: str | None,
    sort: str | None,
    target: Target,
) -> None:
    """Print the results: the score of each entry in minutes, and what it rests on.

    The score of an entry is the olympic mean of its times to train: without the fastest and the slowest run (unet3d:
    four and four). A noncompliant run counts as the slowest; an entry with more of them than are forgiven has no score.
    In v0.6, which had no package checker, that is a run that did not converge.
    Minutes are the published score: the mean times the factor of scaling.json, if there is one. Expected minutes, with
    the factor of the convergence test, are shown where they differ; --write-scaling writes that factor.

    text is for reading. markdown, html, csv, parquet and xlsx have one row for each result, with the columns of the
    official table; wide is CSV as the official result summarizer writes it, with a row for each system. svg is the
    chart alone, json the document of mlsub check. parquet and xlsx need: pip install '.[tables]'.

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
    if target.format == "json" and (benchmark or sort):
        raise click.UsageError("json is the document of mlsub check; leave out --benchmark and --sort.")
    from mlsub.commands.score import formats, run

    # Refuse what cannot come to a good end before reading gigabytes of logs.
    formats.check_library(target.format)
    if target.format in formats.LIBRARIES:
        target.refuse_terminal()
    reports = check(asked)
    run.deliver(reports, benchmark, sort, target)
    if write_scaling:
        run.write_scaling(reports)
    exit_with(reports)
