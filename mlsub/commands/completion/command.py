"""``mlsub completion``: completion of commands and options in a shell."""

from __future__ import annotations

import click

from mlsub.commands.lazy import Command


@click.command("completion", cls=Command, example="mlsub completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes mlsub's commands and options in SHELL.

    Add it to the start-up file of the shell: eval "$(mlsub completion bash)" in ~/.bashrc, eval "$(mlsub completion
    zsh)" in ~/.zshrc; for fish: mlsub completion fish > ~/.config/fish/completions/mlsub.fish.

    Exit status: 0, or 2 for another shell.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None  # noqa: S101  (the choices are those that click has)
    click.echo(found(ctx.find_root().command, {}, "mlsub", "_MLSUB_COMPLETE").source())
