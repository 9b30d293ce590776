"""The JSON Schemas of answers, and of documents that people write."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from mlsub.commands.answers import asked, commands, schema
from mlsub.present.document import Column, Table
from mlsub.rounds import find_round, find_usage, known_name, known_rounds
from mlsub.systems.schema import schema_of

#: The kind of a document: what it is, and the function that makes its schema.
_WRITTEN = {
    "manifest": ("submission.yaml, for mlsub pack", "mlsub.packing.read:FORM.schema"),
    "claims": ("claims files, for mlsub audit", "mlsub.commands.audit.claims:FORM.schema"),
    "config": ("settings files: mlsub.toml, or [tool.mlsub] in pyproject.toml", "mlsub.config.model:FORM.schema"),
    "rules": ("rule files of your own, for --rules", "mlsub.rules.overlay:overlay_schema"),
    "watch": ("one line of mlsub watch --format jsonl", "mlsub.commands.watch.model:schema"),
}
SYSTEM = "system"


def names() -> tuple[str, ...]:
    """The names of all schemas, those of documents first."""
    return (*documents(), *commands())


def table_of_names() -> Table:
    """The names of all schemas, a line each."""
    about = documents() | {name: f"what mlsub {asked(name)} --format json writes" for name in commands()}
    return Table((Column("", when_narrow="keep"), Column("")), tuple(about.items()))


def find_schema(name: str, round_: str | None, usage: str | None) -> dict[str, Any]:
    """The schema of a name.

    Raises:
        MlsubError: there is no such name or round.
    """
    if name == SYSTEM:
        return system_schema(round_, usage or "training")
    if name in documents():
        return document_schema(name)
    return schema(known_name("schema", name, names()))


def documents() -> dict[str, str]:
    """What each kind of document is, by its name."""
    return {SYSTEM: "system descriptions of a round", **{name: about for name, (about, _) in _WRITTEN.items()}}


def document_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document that does not depend on the round.

    Raises:
        KeyError: there is no such kind.
    """
    made: dict[str, Any] = resolve_name(_WRITTEN[name][1])()
    return made


def system_schema(round_: str | None, usage: str) -> dict[str, Any]:
    """The JSON Schema of a round's system descriptions; None is the newest round.

    Raises:
        MlsubError: there is no such usage or round.
    """
    of = find_usage(usage)
    return schema_of(find_round(of, round_ or known_rounds(of)[-1]))
