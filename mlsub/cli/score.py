"""``mlsub score``: the table of scores."""

from __future__ import annotations

import click

from mlsub.cli.options import exit_with, path_and_round, print_json, run_check


@click.command("score")
@path_and_round
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    rules: str | None,
    jobs: int | None,
    format_: str,
) -> None:
    """Print the time to train of each entry, in minutes.

    The score of an entry is the olympic mean: without the fastest and the slowest run (unet3d: four and four). A
    noncompliant run counts as slowest; where more of them fall out than are forgiven there is no score.

    Exit status: 0 accepted, 1 rejected, 2 nothing could be checked; mlsub check says why.
    """
    reports = run_check(paths, round_, usage, jobs, rules)
    if format_ == "json":
        print_json(reports)
    else:
        from mlsub.report.text import console, render_scores

        render_scores(reports, console())
    exit_with(reports)
