"""``mlsub cache``: what is remembered of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.options import asks, open_user_cache
from mlsub.commands.output import Target, output_options

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command("cache", cls=Command, example="mlsub cache clear")
@click.argument("action", type=click.Choice(["show", "clear"]), default="show", metavar="[show|clear]")
@asks(None, rounds=False, jobs=False, reads=False)
@output_options("cache")
def command(asked: Request, action: str, target: Target) -> None:
    """Show the cache, where mlsub keeps the results of logs, or clear it.

    Nothing is lost with it but time: what is not there is read again. See docs/cache.md.

    Exit status: 0; 2 there can be no cache, or part of it cannot be removed.
    """
    from mlsub.commands.cache.run import clear, document_of, show

    found = (clear if action == "clear" else show)(open_user_cache())
    target.write(found, lambda: document_of(found))
