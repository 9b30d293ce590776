"""``mlsub db``: a database of results, and questions to it."""

from __future__ import annotations

import click

from mlsub.commands.db.command_build import build
from mlsub.commands.db.command_query import query, tables


@click.group("db")
def command() -> None:
    """A database of published results and benchmark records: build it, ask it.

    Needs: pip install 'mlsub[db]'. Worked questions are in docs/db.md.

    Exit status: 0, 1 if submissions had to be left out, 2 if it could not be done.
    """


command.add_command(build)
command.add_command(query)
command.add_command(tables)
