"""``mlsub compare``: two packages, or two trainings: what is different, and why one is faster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, output_options
from mlsub.present import CHART_FORMATS
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command("compare", cls=Command, example="mlsub compare v1.0/Graphcore v1.1/Graphcore")
@click.argument("old", metavar="A", type=click.Path())
@click.argument("new", metavar="[B]", required=False, type=click.Path())
@click.option(
    "--packages/--trainings",
    "packages",
    default=None,
    help="Compare as packages or as trainings; otherwise rounds are packages, and so is an organisation in two states.",
)
@click.option("--pair", "pairs", metavar="A_ENTRY=B_ENTRY", multiple=True, help="Pair these two entries; repeatable.")
@click.option("--borrow", is_flag=True, help="Check B, a resubmission of A, by the rules on borrowed hyperparameters.")
@click.option("--from", "source", metavar="C", type=click.Path(), help="Name the entry that --borrow borrows from.")
@click.option("--resubmit", is_flag=True, help="Check A, an old result, for a new round; B is optional.")
@click.option("-v", "--verbose", is_flag=True, help="Show all that differs between packages, not what comes first.")
@asks(None)
@output_options("compare", CHART_FORMATS)
def command(
    old: str,
    new: str | None,
    packages: bool | None,
    pairs: tuple[str, ...],
    borrow: bool,
    source: str | None,
    resubmit: bool,
    verbose: bool,
    asked: Request,
    target: Target,
) -> None:
    """Compare two packages or two trainings, A and B.

    Organisations and rounds are compared as packages: what changes in entries, scores, systems, hyperparameters,
    findings and files, in at most 60 lines without -v. Benchmark folders, systems, two organisations of a round and two
    result files are compared as trainings: entries are paired by benchmark, division, name and number of accelerators,
    and the difference in time is shared out among the length of the training, its speed, and the phases of a run.
    Nothing is written.

    Exit status: packages: 0 no difference, 1 differences; trainings: 0 compared, and nothing found against --borrow or
    --resubmit, 1 findings; 2 could not compare.
    """
    from mlsub.commands.compare import document, model, package_document, run

    with progress_bar() as progress:
        context = ready(asked, progress)
        found = run.run(
            old, new, context, packages=packages, pairs=pairs, borrow=borrow, source=source, resubmit=resubmit
        )
    if isinstance(found, model.PackageDiff):
        target.write(found, lambda: package_document.packages_document(found, full=verbose), "packages")
        sys.exit(1 if found.different else 0)
    target.write(found, lambda: document.trainings_document(found))
    sys.exit(0 if found.passed else 1)
