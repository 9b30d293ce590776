"""``mlsub mcp``: check, review, score, rules and explain as tools of an assistant, over standard input and output."""

from __future__ import annotations

import click

from mlsub.commands import Command


@click.command("mcp", cls=Command, example="mlsub mcp ~/training_results_v5.1")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path())
def command(folders: tuple[str, ...]) -> None:
    """Serve check, review, score, rules and explain to an assistant, over the Model Context Protocol.

    The assistant starts it and talks to it on standard input and output. Answers are the JSON of the commands. Paths
    are those below DIR, and no other is read; nothing is written but the cache. Needs: pip install '.[mcp]'.

    Exit status: 0 after the assistant has gone, 2 where it cannot start.
    """
    from mlsub.commands.mcp.server import build_server

    build_server(folders).run("stdio")
