"""Every command of ``mlsub``, by the words that call it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from mlsub.cli import main

Words = tuple[str, ...]


def every(command: click.Command = main, words: Words = ()) -> Iterator[tuple[Words, click.Command]]:
    """The commands and groups, the program itself first."""
    yield words, command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            if below is not None and not below.hidden:
                yield from every(below, (*words, name))


def leaves() -> dict[str, click.Command]:
    """The commands that are not groups, such as ``check`` and ``rcp show``."""
    return {" ".join(words): command for words, command in every() if not isinstance(command, click.Group)}
