"""``mlsub merge``: join packages that teams have prepared apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.asked import Asked, asks
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, format_option
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.commands.merge.model import Merge


@click.command(
    "merge", cls=Command, example="mlsub merge team-a/v5.1/ACME team-b/v5.1/ACME -o merged/v5.1/ACME --write"
)
@asks("A B...")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write to this folder.",
)
@click.option("--write", is_flag=True, help="Write the package; without it, show the plan.")
@click.option("--force", is_flag=True, help="Replace OUT if mlsub wrote everything in it.")
@click.option("--even-rejected", is_flag=True, help="Write the package even if mlsub check rejects it.")
@format_option
def command(asked: Asked, output: Path, write: bool, force: bool, even_rejected: bool, format_: str) -> None:
    """Join packages A, B, ... of one organisation into OUT, the organisation's folder.

    Files that are the same are joined; any difference is a conflict, and then nothing is written. With --write the
    result is checked beside OUT and put in place in one step. A, B, ... are never changed.

    Exit status: 0 no conflict (with --write: written and accepted), 1 conflicts or rejected, 2 could not be done.
    """
    from mlsub.commands.merge.document import document_of

    outcome = _merge(asked, output, write=write, force=force, even_rejected=even_rejected)
    Target("merge", format_).write(outcome, lambda: document_of(outcome))
    sys.exit(outcome.exit_status)


def _merge(asked: Asked, output: Path, *, write: bool, force: bool, even_rejected: bool) -> Merge:
    import msgspec

    from mlsub.commands.merge.plan import plan_merge
    from mlsub.commands.merge.sources import check_place, read_sources, round_of
    from mlsub.commands.merge.write import write_merge
    from mlsub.io.written import check_free

    sources = read_sources(asked.paths)
    rules = round_of(sources, asked.round, asked.usage)
    check_place(output, sources, force=force)
    plan, pieces = plan_merge(sources, rules, output)
    check_free(output, {piece.to: piece.source for piece in pieces if piece.source is not None})
    if plan.findings or not write:
        return plan
    with progress_bar() as progress:
        settings = msgspec.structs.replace(asked.settings(progress), round=rules.name, usage=rules.usage)
        report, written = write_merge(pieces, output.absolute(), settings, rejected_too=even_rejected)
    return msgspec.structs.replace(plan, report=report, written=written)
