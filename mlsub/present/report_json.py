"""The report as JSON: one document, plain ASCII, so that no name in a hostile tree can break the stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from mlsub.submission.report import Report


def to_document(reports: Sequence[Report]) -> dict[str, Any]:
    """The document for one report, or ``{"reports": [...]}`` for the reports of several rounds."""
    documents: list[dict[str, Any]] = [msgspec.to_builtins(report) for report in reports]
    return documents[0] if len(documents) == 1 else {"reports": documents}


def render_json(reports: Sequence[Report]) -> str:
    """The document as text, ending in a line feed."""
    return json.dumps(to_document(reports), indent=2, allow_nan=False) + "\n"
