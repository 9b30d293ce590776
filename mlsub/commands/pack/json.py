"""What packing found, as one JSON document."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from mlsub.commands.pack.pack import Packed
from mlsub.io.version import VERSION


def render_json(packed: Packed) -> str:
    """The document, plain ASCII, ending in a line feed.

    Its fields: ``manifest``, ``out``, ``organisation``, ``usage``, ``round``; ``written`` and ``refused``; ``runs`` by
    entry; ``files`` with their places and sources; ``left_out``; ``difference`` to what was there; ``findings`` of
    packing; ``blocking`` and ``waived`` findings; ``report`` of the check (see ``mlsub check --format json``), or null.
    """
    plan, outcome = packed.plan, packed.outcome
    manifest = plan.manifest
    document: dict[str, Any] = {
        "mlsub": VERSION,
        "manifest": str(manifest.file),
        "out": str(packed.out),
        "organisation": manifest.organisation,
        "usage": manifest.round.usage,
        "round": manifest.round.name,
        "written": packed.written,
        "refused": packed.refused,
        "runs": [
            {"entry": planned.entry.name, "how": planned.how, "runs": [str(run) for run in planned.runs]}
            for planned in plan.runs
        ],
        "files": [
            {
                "to": item.to,
                "from": None if item.source is None else str(item.source),
                "made": item.made,
                "link": item.link,
                "executable": item.executable,
            }
            for item in plan.items
        ],
        "left_out": [{"path": str(left.path), "why": left.why} for left in plan.left_out],
        "difference": msgspec.to_builtins(packed.difference),
        "findings": msgspec.to_builtins(packed.findings),
        "blocking": msgspec.to_builtins(outcome.blocking if outcome else ()),
        "waived": [
            {
                "rule": each.finding.rule,
                "path": each.finding.path,
                "reason": each.waiver.reason,
                "expires": str(each.waiver.expires) if each.waiver.expires else "never",
            }
            for each in (outcome.waived if outcome else ())
        ],
        "report": None if packed.report is None else msgspec.to_builtins(packed.report),
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
