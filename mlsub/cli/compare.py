"""``mlsub compare``: what is different about two trainings, and why one is faster."""

from __future__ import annotations

import sys

import click


@click.command("compare")
@click.argument("old", metavar="A", type=click.Path())
@click.argument("new", metavar="B", type=click.Path())
@click.option("--pair", "pairs", metavar="A_ENTRY=B_ENTRY", multiple=True, help="Compare these two; repeatable.")
@click.option("--round", "round_", metavar="ROUND", help="Judge both by this round; else each by its own.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal; else read off the folders.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def command(
    old: str,
    new: str,
    pairs: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    jobs: int | None,
    format_: str,
) -> None:
    """Show what is different about two trainings, and what makes one of them faster.

    A and B are benchmark folders, systems, organisations' trees, or rounds' folders of organisations. Entries are
    paired by benchmark, division, name and number of accelerators. The difference in time is shared out among the
    length of the training, its speed, and the phases of a run. Nothing is written.

    Exit status: 0 compared, 1 findings, 2 could not compare.
    """
    from mlsub.cli.options import progress_bar
    from mlsub.compare.reading import NotComparableError
    from mlsub.comparison.compare import compare
    from mlsub.comparison.render import render
    from mlsub.pipeline import Settings
    from mlsub.reference.output import could_not, terminal_width, write_text

    try:
        with progress_bar() as progress:
            found = compare(old, new, Settings(round_, usage, jobs, progress), pairs)
    except NotComparableError as error:
        could_not("compare", error)
    write_text(render(found, format_, terminal_width()))
    sys.exit(0 if found.passed else 1)
