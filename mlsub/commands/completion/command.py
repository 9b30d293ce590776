"""``mlsub completion``: completion of commands, options and their values in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from mlsub.commands import Command


@click.command("completion", cls=Command, example="mlsub completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and values in SHELL.

    Values are what mlsub knows: benchmarks (those of --round, if it is given), rounds, rules, systems, schemas. Add the
    script to the start-up file of the shell:

    \b
      bash   eval "$(mlsub completion bash)" in ~/.bashrc; needs bash 4.4
      zsh    eval "$(mlsub completion zsh)" in ~/.zshrc, after compinit
      fish   mlsub completion fish > ~/.config/fish/completions/mlsub.fish

    Exit status: 0, or 2 for another shell.
    """
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101  (the choices are those that click has)
    script = found(ctx.find_root().command, {}, "mlsub", "_MLSUB_COMPLETE")
    # source() of bash would start a bash for its version; the script may be for another machine.
    click.echo(script.source_template % script.source_vars())
