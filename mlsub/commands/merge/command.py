"""``mlsub merge``: join packages that teams have prepared apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.lazy import Command
from mlsub.commands.opening import folder_option
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, format_option
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace.places import Settings


@click.command(
    "merge", cls=Command, example="mlsub merge team-a/v5.1/ACME team-b/v5.1/ACME -o merged/v5.1/ACME --write"
)
@asks("A B...")
@folder_option("-o", "--output", required=True, metavar="OUT", help="Write to this folder.")
@click.option("--write", is_flag=True, help="Write the package; without it, show the plan.")
@click.option("--force", is_flag=True, help="Replace OUT if mlsub wrote everything in it.")
@click.option("--even-rejected", is_flag=True, help="Write the package even if mlsub check rejects it.")
@format_option
def command(asked: Settings, output: Path, write: bool, force: bool, even_rejected: bool, format_: str) -> None:
    """Join packages A, B, ... of one organisation into OUT, the organisation's folder.

    Files that are the same are joined; any difference is a conflict, and then nothing is written. With --write the
    result is checked beside OUT and put in place in one step. A, B, ... are never changed.

    Exit status: 0 no conflict (with --write: written and accepted), 1 conflicts or rejected, 2 could not be done.
    """
    from mlsub.commands.merge.document import document_of
    from mlsub.commands.merge.run import merge

    with progress_bar() as progress:
        settings = ready(asked, progress)
        outcome = merge(asked.paths, output, settings, write=write, force=force, even_rejected=even_rejected)
    Target("merge", format_).write(outcome, lambda: document_of(outcome))
    sys.exit(outcome.exit_status)
