"""``mlsub diff``: what changes between two packages."""

from __future__ import annotations

import sys

import click


@click.command("diff")
@click.argument("old", metavar="A", type=click.Path())
@click.argument("new", metavar="B", type=click.Path())
@click.option("--round", "round_", metavar="ROUND", help="Judge both by this round; else each by its own.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal; else read off the folders.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def command(old: str, new: str, round_: str | None, usage: str | None, jobs: int | None, format_: str) -> None:
    """Show what changes from package A to package B: entries, scores, hyperparameters, systems, findings, files.

    A and B are organisations' trees, benchmark folders, or two rounds' folders of organisations. Nothing is written.

    Exit status: 0 no difference, 1 differences, 2 could not compare.
    """
    from mlsub.commands.compare.packages.compare import compare
    from mlsub.commands.compare.packages.render import render
    from mlsub.commands.options import progress_bar
    from mlsub.commands.output import terminal_width, write_text
    from mlsub.workspace import Settings

    with progress_bar() as progress:
        found = compare(old, new, Settings(round_, usage, jobs, progress))
    write_text(render(found, format_, terminal_width()))
    sys.exit(1 if found.different else 0)
