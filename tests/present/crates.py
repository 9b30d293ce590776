"""What the specifications ask of a Dataset and of an RO-Crate, as schemas, and of a crate's folder.

https://schema.org/Dataset with what search engines ask of one, and https://w3id.org/ro/crate/1.2 where it says MUST.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

DAY = r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?"
_FILE: dict[str, Any] = {
    "name": {"type": "string", "minLength": 1},
    "encodingFormat": {"enum": ["text/csv", "application/vnd.apache.parquet"]},
    "contentSize": {"type": "string", "pattern": r"^\d+$"},
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}


def _named(kind: str, *required: str) -> dict[str, Any]:
    fields = {name: {"type": "string", "minLength": 1} for name in ("name", *required)}
    return {"type": "object", "required": ["@type", *fields], "properties": {"@type": {"const": kind}, **fields}}


_DATASET: dict[str, Any] = {
    "type": "object",
    "required": ["@type", "name", "description", "version", "creator", "variableMeasured"],
    "properties": {
        "@type": {"const": "Dataset"},
        "name": {"type": "string", "minLength": 1},
        "description": {"type": "string", "minLength": 50, "maxLength": 5000},
        "url": {"type": "string", "pattern": "^https?://"},
        "datePublished": {"type": "string", "pattern": f"^{DAY}$"},
        "temporalCoverage": {"type": "string", "pattern": f"^{DAY}(/{DAY})?$"},
    },
}
DATASET = Draft202012Validator(
    {
        **_DATASET,
        "required": ["@context", *_DATASET["required"], "distribution"],
        "properties": {
            **_DATASET["properties"],
            "@context": {"const": "https://schema.org/"},
            "creator": {"type": "array", "minItems": 1, "items": _named("Organization")},
            "variableMeasured": {"type": "array", "minItems": 1, "items": _named("PropertyValue", "description")},
            "distribution": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "required": ["@type", "contentUrl", *_FILE],
                    "properties": {"@type": {"const": "DataDownload"}, **_FILE},
                },
            },
        },
    }
)
_REFERENCE = {"type": "object", "required": ["@id"], "properties": {"@id": {"type": "string"}}, "maxProperties": 1}
_CRATE = Draft202012Validator(
    {
        "required": ["@context", "@graph"],
        "properties": {
            "@context": {"const": "https://w3id.org/ro/crate/1.2/context"},
            "@graph": {"type": "array", "items": {"required": ["@id", "@type"]}},
        },
    }
)
_DESCRIPTOR = Draft202012Validator(
    {
        "required": ["@type", "about", "conformsTo"],
        "properties": {
            "@type": {"const": "CreativeWork"},
            "about": {"const": {"@id": "./"}},
            "conformsTo": {"const": {"@id": "https://w3id.org/ro/crate/1.2"}},
        },
    }
)
_ROOT = Draft202012Validator(
    {
        **_DATASET,
        "required": [*_DATASET["required"], "datePublished", "license", "hasPart"],
        "properties": {
            **_DATASET["properties"],
            "license": _REFERENCE,
            **{key: {"type": "array", "items": _REFERENCE} for key in ("creator", "variableMeasured", "hasPart")},
        },
    }
)
_PART = Draft202012Validator({"required": ["@type", *_FILE], "properties": {"@type": {"const": "File"}, **_FILE}})


def check_crate(content: bytes) -> dict[str, dict[str, Any]]:
    """Return the entities of a crate by their ids, all of which is as the specification asks."""
    crate = json.loads(content)
    _CRATE.validate(crate)
    entities = {one["@id"]: one for one in crate["@graph"]}
    assert len(entities) == len(crate["@graph"]), "each entity is there once"
    assert list(entities)[:2] == ["ro-crate-metadata.json", "./"]
    _DESCRIPTOR.validate(entities["ro-crate-metadata.json"])
    _ROOT.validate(entities["./"])
    for one in entities.values():
        for name, value in one.items():
            for part in value if isinstance(value, list) else [value]:
                # A graph is flat: what is in it is named, and nothing is in anything.
                if isinstance(part, dict):
                    assert part.keys() == {"@id"}
                    assert part["@id"] in entities or name == "conformsTo"
    assert {one["@id"] for one in entities["./"]["hasPart"]} == {
        id_ for id_, one in entities.items() if one["@type"] == "File"
    }
    return entities


def check_folder(folder: Path) -> dict[str, dict[str, Any]]:
    """The same of a folder: its files are those that its crate describes, to the byte."""
    entities = check_crate((folder / "ro-crate-metadata.json").read_bytes())
    for part in entities["./"]["hasPart"]:
        entity = entities[part["@id"]]
        _PART.validate(entity)
        content = (folder / part["@id"]).read_bytes()
        found = (str(len(content)), hashlib.sha256(content).hexdigest())
        assert (entity["contentSize"], entity["sha256"]) == found
    return entities
