"""Which model each command answers with: what ``--format json`` writes, and its schema."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mlsub.present.envelope import Answer, schema_of

_ANSWERS = {
    "audit": "mlsub.commands.audit.verdict.Audit",
    "cache": "mlsub.commands.cache.run.CacheReport",
    "check": "mlsub.present.envelope.Reports",
    "check settings": "mlsub.commands.check.shown.ShownSettings",
    "compare": "mlsub.commands.compare.model.Comparison",
    "compare packages": "mlsub.commands.compare.model.PackageDiff",
    "db build": "mlsub.commands.db.build.BuiltDatabase",
    "explain": "mlsub.present.explanation.Explanation",
    "db query": "mlsub.commands.db.query.QueryResult",
    "db tables": "mlsub.commands.db.schema.Tables",
    "fix": "mlsub.commands.fix.run.Fix",
    "fix truncate": "mlsub.packing.truncate.Truncation",
    "merge": "mlsub.commands.merge.run.Merge",
    "pack": "mlsub.packing.pack.Packing",
    "redact": "mlsub.commands.redact.run.Redaction",
    "review": "mlsub.commands.review.model.Review",
    "review rates": "mlsub.commands.review.model.Rates",
    "rules diff": "mlsub.commands.rules.diff.RoundDiff",
    "rules keys": "mlsub.commands.rules.keys.KeyList",
    "rules keys check": "mlsub.commands.rules.keys.KeyCheck",
    "rules list": "mlsub.commands.rules.table.Overview",
    "rules list every": "mlsub.commands.rules.table.EveryRule",
    "rules show": "mlsub.commands.rules.table.RuleTable",
    "score": "mlsub.present.envelope.Reports",
    "rcp build": "mlsub.commands.rcp.run.NewReference",
    "rcp margin": "mlsub.commands.rcp.run.Margins",
    "rcp plan": "mlsub.commands.rcp.run.Planned",
    "rcp show": "mlsub.commands.rcp.run.Points",
    "system check": "mlsub.commands.system.run.Checks",
    "system list": "mlsub.commands.system.run.KnownSystems",
    "system show": "mlsub.commands.system.run.Shown",
    "score selection": "mlsub.commands.score.window.Selected",
    "seal": "mlsub.commands.seal.run.Sealing",
    "site": "mlsub.commands.site.build.BuiltSite",
    "status": "mlsub.commands.status.run.Status",
    "unseal": "mlsub.commands.unseal.run.Unsealing",
    "verify": "mlsub.commands.verify.run.Verification",
}


#: What asks for an answer that a command gives beside its usual one.
_ASKED = {
    "check settings": "check --show-settings",
    "compare packages": "compare OLD NEW --packages",
    "fix truncate": "fix PATH --truncate",
    "review rates": "review PATH --rates",
    "rules keys check": "rules keys BENCHMARK --check FILE",
    "rules list every": "rules list --ids",
    "score selection": "score PATH --window N",
}


def asked(command: str) -> str:
    """The command line that an answer comes of, without ``mlsub`` and the options of its output."""
    return _ASKED.get(command, command)


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
    return {**schema_of(command, answer_type(command)), "title": f"What mlsub {asked(command)} --format json writes"}
