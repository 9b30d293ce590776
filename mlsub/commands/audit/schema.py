"""The schema of claims files, and words that it does not have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mlsub.io.yamlfile import Flaws, child, unknown

#: Sections of named things, and what each of them is in the schema.
_SECTIONS = {"documents": "source", "results": "result", "inputs": "input", "published": "published"}


def claims_schema() -> dict[str, Any]:
    """The JSON Schema of claims files, for editors as well."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("claims.schema.json").read_text("utf-8"))
    return content


def unknown_words(node: yaml.Node, schema: Mapping[str, Any]) -> Flaws:
    """Words at any place that the schema does not have."""
    defs = schema["$defs"]
    yield from unknown(node, schema["properties"], "word")
    source = child(node, "source")
    if source is not None:
        yield from unknown(source, defs["source"]["properties"], "word")
    for section, kind in _SECTIONS.items():
        named = child(node, section)
        for _, value in named.value if isinstance(named, yaml.MappingNode) else ():
            yield from unknown(value, defs[kind]["properties"], "word")
    claims = child(node, "claims")
    for claim in claims.value if isinstance(claims, yaml.SequenceNode) else ():
        yield from unknown(claim, defs["claim"]["properties"], "word")
        for part in ("stated", "says"):
            if (inner := child(claim, part)) is not None:
                yield from unknown(inner, defs[part]["properties"], "word")
