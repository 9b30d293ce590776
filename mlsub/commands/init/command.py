"""``mlsub init``: a manifest to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from mlsub.commands import Command


@click.command("init", cls=Command, example="mlsub init --from v5.1/ACME")
@click.argument("file", metavar="[FILE]", default="submission.yaml", type=click.Path(path_type=Path))
@click.option("--from", "tree", metavar="TREE", type=click.Path(path_type=Path), help="Start from this submission.")
@click.option("--organisation", metavar="NAME", help="Name the submitter.")
@click.option("--usage", metavar="USAGE", help="Set training, hpc or rehearsal.")
@click.option("--round", metavar="ROUND", help="Name the round, as 5.1, 5.1.0 or v5.1.")
@click.option("--division", type=click.Choice(["closed", "open"]), help="Set the division of all entries.")
@click.option("--system", metavar="NAME", multiple=True, help="Add a system; repeatable.")
@click.option("--benchmark", metavar="BENCHMARK", multiple=True, help="Add a benchmark; repeatable.")
@click.option("--scaling", type=click.Choice(["strong", "weak"]), help="Set the scaling of all entries (HPC).")
@click.option("--implementation", metavar="NAME", help="Name the folder of the code.")
@click.option("--force", is_flag=True, help="Replace FILE; the earlier file is kept as FILE.~1~.")
@click.option("--ask/--no-ask", default=None, help="Ask for what no option gives; the default on a terminal.")
def command(
    file: Path, tree: Path | None, force: bool, ask: bool | None, **flags: str | tuple[str, ...] | None
) -> None:
    """Write the manifest of a submission: from options, answers to questions, or an existing submission.

    It also prints the files that the submission rules expect. FILE is submission.yaml unless you name another.

    Exit status: 0 written, 2 could not be written.
    """
    from mlsub.commands.init.run import init

    given = {name: ",".join(said) if isinstance(said, tuple) else said for name, said in flags.items()}
    init(file, tree, given, force=force, ask=ask)
