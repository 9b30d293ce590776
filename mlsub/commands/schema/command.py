"""``mlsub schema``: the JSON Schema of a command's answer, or of a document that people write."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from mlsub.commands.lazy import Command

#: The kind of a document: what it is, and the function that makes its schema.
_WRITTEN = {
    "manifest": ("submission.yaml, for mlsub pack", "mlsub.packing.read.manifest_schema"),
    "claims": ("claims files, for mlsub audit", "mlsub.commands.audit.claims.claims_schema"),
    "config": ("settings files: mlsub.toml, or [tool.mlsub] in pyproject.toml", "mlsub.config.model.config_schema"),
    "rules": ("rule files of your own, for --rules", "mlsub.rules.overlay.overlay_schema"),
    "watch": ("one line of mlsub watch --format jsonl", "mlsub.commands.watch.model.schema"),
}
SYSTEM = "system"


def _next_words(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """What may follow in the name of a schema, for completion."""
    from mlsub.commands.answers import commands

    before = list(ctx.params.get("words") or ())
    names = [name.split() for name in (*documents(), *commands())]
    words = dict.fromkeys(name[len(before)] for name in names if name[: len(before)] == before != name)
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
    import json

    from mlsub.commands.output import write_answer

    name = " ".join(words)
    if name != SYSTEM and (round_ or usage):
        raise click.UsageError(f"--round and --usage go with {SYSTEM}: mlsub schema {SYSTEM} --round 5.1")
    if not name:
        _list()
    else:
        write_answer(json.dumps(_schema(name, round_, usage), indent=2) + "\n")


def _list() -> None:
    """Print the names, a line each."""
    from mlsub.commands.answers import asked, commands
    from mlsub.present.document import Column, Table
    from mlsub.present.terminal import put

    about = documents() | {name: f"what mlsub {asked(name)} --format json writes" for name in commands()}
    put(sys.stdout, Table((Column("", when_narrow="keep"), Column("")), tuple(about.items())))


def _schema(name: str, round_: str | None, usage: str | None) -> dict[str, Any]:
    """The schema of a name.

    Raises:
        MlsubError: there is no such name or round.
    """
    from mlsub.commands.answers import commands, schema
    from mlsub.rounds import known_name

    if name == SYSTEM:
        return system_schema(round_, usage or "training")
    if name in documents():
        return document_schema(name)
    return schema(known_name("schema", name, (*documents(), *commands())))


def documents() -> dict[str, str]:
    """What each kind of document is, by its name."""
    return {SYSTEM: "system descriptions of a round", **{name: about for name, (about, _) in _WRITTEN.items()}}


def document_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document that does not depend on the round.

    Raises:
        KeyError: there is no such kind.
    """
    module, _, function = _WRITTEN[name][1].rpartition(".")
    made: dict[str, Any] = getattr(import_module(module), function)()
    return made


def system_schema(round_: str | None, usage: str) -> dict[str, Any]:
    """The JSON Schema of a round's system descriptions; None is the newest round.

    Raises:
        MlsubError: there is no such usage or round.
    """
    from mlsub.rounds import find_round, find_usage, known_rounds
    from mlsub.systems.schema import schema_of

    of = find_usage(usage)
    return schema_of(find_round(of, round_ or known_rounds(of)[-1]))
