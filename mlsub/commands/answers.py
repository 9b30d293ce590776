"""Which model each command answers with: what ``--format json`` writes, and its schema."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mlsub.present.envelope import Answer, schema_of

_ANSWERS = {
    "audit": "mlsub.commands.audit.answer.ClaimsAudit",
    "compare": "mlsub.commands.compare.trainings.model.Comparison",
    "compare packages": "mlsub.commands.compare.packages.model.PackageDiff",
    "merge": "mlsub.commands.merge.model.Merge",
    "rcp margin": "mlsub.commands.rcp.model.Margins",
    "rcp plan": "mlsub.commands.rcp.model.Planned",
    "rcp show": "mlsub.commands.rcp.model.Points",
    "score selection": "mlsub.commands.score.select_runs.Selected",
}


def commands() -> tuple[str, ...]:
    """The commands whose answers have a schema."""
    return tuple(_ANSWERS)


def answer_type(command: str) -> type[Answer]:
    """The model that a command answers with.

    Raises:
        KeyError: the command has no such answer.
    """
    module, _, name = _ANSWERS[command].rpartition(".")
    found: type[Answer] = getattr(import_module(module), name)
    return found


def schema(command: str) -> dict[str, Any]:
    """The JSON Schema of a command's answer.

    Raises:
        KeyError: the command has no such answer.
    """
    return schema_of(command, answer_type(command))
