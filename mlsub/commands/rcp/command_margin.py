"""``mlsub rcp margin``: how near the limit of the convergence test the results at hand are."""

from __future__ import annotations

import sys

import click

from mlsub.commands.options import Target, convergence_options, output_options, path_and_round, run_check, tell


@click.command("margin", short_help="How near the limit runs at hand are.")
@path_and_round
@convergence_options
@click.option("--runs", type=click.IntRange(1, 200), metavar="N", help="Of how many further runs the chance is.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@output_options("rcp margin")
def command(
    paths: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    rules: str | None,
    jobs: int | None,
    rcp: str | None,
    rcp_points: str,
    train_samples: bool,
    runs: int | None,
    seed: int,
    target: Target,
) -> None:
    """Show how near the limit of the convergence test results at hand are.

    For each Closed entry: the distance of its mean to the least that is accepted, what the scaling costs, and the
    chance that N further runs (by default as many as an entry has) from the same distribution pass, with an interval
    that shows how little so few runs can say. A folder that holds only the first runs will do.

    Exit status: 0 all pass, 1 an entry fails or has no reference, 2 no entry could be compared with a reference. An
    entry with fewer runs than it needs counts as it stands so far.
    """
    from mlsub.commands.output import overlay_of
    from mlsub.commands.rcp.document_margin import margins_document
    from mlsub.commands.rcp.margin import margins_of, unchecked
    from mlsub.convergence.chance import Bootstrap

    overlay = overlay_of(rules)
    reports = run_check(paths, round_, usage, jobs, rules, rcp, train_samples=train_samples, points=rcp_points)
    margins = margins_of(reports, overlay, Bootstrap(seed), runs, rcp)
    if margins.reports or target.format == "json":
        target.write(margins, lambda: margins_document(margins))
    problems = list(unchecked(reports))
    for line in problems or ["no entry can be compared with a reference"] * (not margins.entries):
        tell(line, "rcp margin")
    if not margins.entries:
        sys.exit(2)
    sys.exit(1 if problems or not all(margin.stands for margin in margins.entries) else 0)
