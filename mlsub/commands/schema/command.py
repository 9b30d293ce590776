"""``mlsub schema``: the JSON Schema of a command's answer, or of a document that people write."""

from __future__ import annotations

import json
import sys

import click

from mlsub.commands import Command
from mlsub.commands.output import write_answer
from mlsub.present.terminal import put


def _next_words(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """What may follow in the name of a schema, for completion."""
    from mlsub.commands.schema.run import names

    before = list(ctx.params.get("words") or ())
    split = [name.split() for name in names()]
    words = dict.fromkeys(name[len(before)] for name in split if name[: len(before)] == before != name)
    return [word for word in words if word.startswith(incomplete)]


@click.command("schema", cls=Command, example="mlsub schema manifest")
@click.argument("words", metavar="[NAME]", nargs=-1, shell_complete=_next_words)
@click.option("--round", "round_", metavar="ROUND", help="Set the round of the system schema; otherwise the newest.")
@click.option("--usage", metavar="USAGE", help="Set the usage of the system schema: training, hpc or rehearsal.")
def command(words: tuple[str, ...], round_: str | None, usage: str | None) -> None:
    """Print the JSON Schema of NAME, for editors and other tools.

    NAME is an answer, such as check or compare packages: what its command writes with --format json. Or it is a kind of
    document: manifest, system, claims, config or rules; or watch, for a line of mlsub watch --format
    jsonl. Without NAME, it lists the names.

    Exit status: 0, or 2 for an unknown name or round.
    """
    from mlsub.commands.schema import run

    name = " ".join(words)
    if name != run.SYSTEM and (round_ or usage):
        raise click.UsageError(f"--round and --usage go with {run.SYSTEM}: mlsub schema {run.SYSTEM} --round 5.1")
    if not name:
        put(sys.stdout, run.table_of_names())
    else:
        write_answer(json.dumps(run.find_schema(name, round_, usage), indent=2) + "\n")
