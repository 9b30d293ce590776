"""``mlsub diff``: what changes between two packages."""

from __future__ import annotations

import sys

import click

from mlsub.commands.options import Target, output_options


@click.command("diff")
@click.argument("old", metavar="A", type=click.Path())
@click.argument("new", metavar="B", type=click.Path())
@click.option("--round", "round_", metavar="ROUND", help="Judge both by this round; else each by its own.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal; else read off the folders.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs.")
@output_options("diff")
def command(old: str, new: str, round_: str | None, usage: str | None, jobs: int | None, target: Target) -> None:
    """Show what changes from package A to package B: entries, scores, hyperparameters, systems, findings, files.

    A and B are organisations' trees, benchmark folders, or two rounds' folders of organisations. Nothing is written.

    Exit status: 0 no difference, 1 differences, 2 could not compare.
    """
    from mlsub.commands.compare.packages.compare import compare
    from mlsub.commands.compare.packages.document import document_of
    from mlsub.commands.options import progress_bar
    from mlsub.workspace import Settings

    with progress_bar() as progress:
        found = compare(old, new, Settings(round_, usage, jobs, progress))
    target.write(found, lambda: document_of(found))
    sys.exit(1 if found.different else 0)
