"""The documents that people write, by the names that ``mlsub schema`` knows, and what makes the JSON Schema of each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The kind of a document: what it is, and the function that makes its schema.
_WRITTEN = {
    "manifest": ("submission.yaml, for mlsub pack", "mlsub.commands.pack.read.manifest_schema"),
    "claims": ("claims files, for mlsub audit", "mlsub.commands.audit.written.claims_schema"),
    "records": ("records beyond MLPerf, for mlsub db build", "mlsub.commands.db.records.records_schema"),
    "ids": ("lists of the IDs of results, for mlsub site --ids", "mlsub.submission.ids.ids_schema"),
    "config": ("settings files: mlsub.toml, or [tool.mlsub] in pyproject.toml", "mlsub.config.model.config_schema"),
    "rules": ("rule files of your own, for --rules", "mlsub.rules.overlay.overlay_schema"),
    "watch": ("one line of mlsub watch --format jsonl", "mlsub.commands.watch.news.schema"),
}
SYSTEM = "system"


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


def system_schema(round_: str | None, usage: str, *, strict: bool) -> dict[str, Any]:
    """The JSON Schema of a round's system descriptions; None is the newest round.

    Raises:
        MlsubError: there is no such usage or round.
    """
    from mlsub.rounds import known_rounds
    from mlsub.rounds.names import find_round, find_usage
    from mlsub.systems.schema import schema_of

    of = find_usage(usage)
    return schema_of(find_round(of, round_ or known_rounds(of)[-1]), strict=strict)
