"""The JSON Schema of the answers, made from their types: ``python -m mlsub.commands.rules.schema`` writes it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.rules.document import KINDS, SCHEMA

FILE = Path(__file__).with_name("schema.json")


def document_schema() -> dict[str, Any]:
    """The schema."""
    references, parts = msgspec.json.schema_components(list(KINDS), ref_template="#/$defs/{name}")
    head = {
        "schema": {"description": "Raised where a field is renamed or goes.", "const": SCHEMA},
        "mlsub": {"description": "Version of mlsub.", "type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+"},
    }
    answers = [
        {"properties": {"kind": {"const": kind}}, "required": ["kind"], **reference}
        for kind, reference in zip(KINDS.values(), references, strict=True)
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:mlsub:reference",
        "title": "What mlsub rules and mlsub rules keys write with --format json",
        "description": "Fields may be added.",
        "type": "object",
        "properties": {**head, "kind": {"description": "Which answer it is.", "enum": list(KINDS.values())}},
        "required": ["schema", "mlsub", "kind"],
        "oneOf": answers,
        "$defs": {name: _described(parts[name]) for name in sorted(parts)},
    }


def schema_text() -> str:
    """The schema as a file."""
    return json.dumps(document_schema(), indent=2) + "\n"


def _described(part: dict[str, Any]) -> dict[str, Any]:
    """A part whose description is one line."""
    text = re.sub(r"\s+", " ", part.get("description", "")).replace("``", "").strip()
    return {**part, "description": text}


if __name__ == "__main__":
    FILE.write_text(schema_text(), "utf-8")
