"""``mlsub merge``: join packages that teams have prepared apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlsub.commands import Command
from mlsub.commands.opening import folder_option
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, format_option
from mlsub.commands.settings import setting
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command(
    "merge", cls=Command, example="mlsub merge team-a/v5.1/ACME team-b/v5.1/ACME -o merged/v5.1/ACME --write"
)
@asks("A B...")
@folder_option("-o", "--output", required=True, metavar="OUT", help="Write to this folder.")
@click.option("--write", is_flag=True, help="Write the package; without it, show the plan.")
@click.option("--force", is_flag=True, help="Replace OUT if mlsub wrote everything in it.")
@click.option("--even-rejected", is_flag=True, help="Write the package even if mlsub check rejects it.")
@click.option("--even-with-errors", is_flag=True, help="Write the package although review errors are found.")
@setting("--strict/--no-strict", help="Refuse to write a package with review warnings, too.")
@format_option
def command(
    asked: Request, output: Path, even_rejected: bool, even_with_errors: bool, format_: str, **chosen: Any
) -> None:
    """Join packages A, B, ... of one organisation into OUT, the organisation's folder.

    Their folders have the organisation's name, or this and a number (ACME_1). Files that are the same are joined; any
    difference is a conflict, and then nothing is written. With --write the result is checked beside OUT, judged as
    mlsub pack does, with the waivers of their manifests, and put in place in one step. A, B, ... are never changed.

    Exit status: 0 no conflict (with --write: written), 1 something prevents it or rejects, 2 could not be done.
    """
    from mlsub.commands.merge.run import document_of, merge
    from mlsub.packing.pack import PackOptions

    with progress_bar() as progress:
        careless = even_with_errors or even_rejected
        options = PackOptions(**chosen, even_with_errors=careless, context=ready(asked, progress))
        outcome = merge(asked.paths, output, options, even_rejected=even_rejected)
    Target("merge", format_).write(outcome, lambda: document_of(outcome))
    sys.exit(outcome.exit_status)
