"""``mlsub rcp margin``: how near the limit of the convergence test the results at hand are."""

from __future__ import annotations

import sys

import click

from mlsub.commands.asked import Asked, asks
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, output_options, tell


@click.command(
    "margin",
    cls=Command,
    example="mlsub rcp margin v5.1/NVIDIA",
    short_help="Show how near the limit existing runs are.",
)
@asks(rules=True, convergence=True)
@click.option("--runs", type=click.IntRange(1, 200), metavar="N", help="Compute the chance that N further runs pass.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@output_options("rcp margin")
def command(asked: Asked, runs: int | None, seed: int, target: Target) -> None:
    """Show how near the limit of the convergence test existing results are.

    For each Closed entry: the distance of its mean to the least that is accepted, what the scaling costs, and the
    chance that N further runs (by default as many as an entry has) from the same distribution pass, with an interval
    that shows how little so few runs can say. A folder of only the first runs is enough.

    Exit status: 0 all pass, 1 an entry fails or has no reference, 2 no entry could be compared with a reference. An
    entry with fewer runs than it needs counts as it stands so far.
    """
    from mlsub.commands.rcp.document_margin import margins_document
    from mlsub.commands.rcp.margin import margins_of, unchecked
    from mlsub.convergence.chance import Bootstrap

    reports = asked.check()
    margins = margins_of(reports, asked.overlay, Bootstrap(seed), runs, asked.rcp)
    if margins.reports or target.format == "json":
        target.write(margins, lambda: margins_document(margins))
    problems = list(unchecked(reports))
    for line in problems or ["no entry can be compared with a reference"] * (not margins.entries):
        tell(line, "rcp margin")
    if not margins.entries:
        sys.exit(2)
    sys.exit(1 if problems or not all(margin.stands for margin in margins.entries) else 0)
