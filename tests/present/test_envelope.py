"""Answers to machines: one envelope, schemas made of types, and no change of a schema without its version."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from jsonschema import Draft202012Validator

import mlsub
from mlsub.commands.answers import commands, schema
from mlsub.present.envelope import Answer, answer, schema_of

DIGESTS = Path(__file__).with_name("schemas.json")


class Part(msgspec.Struct, frozen=True):
    """A part."""

    name: str
    share: float | None = None


class Whole(Answer, frozen=True, kw_only=True):
    """An example."""

    SCHEMA: ClassVar[int] = 7

    parts: tuple[Part, ...]
    note: str | None = None


def test_the_envelope_stands_before_the_fields() -> None:
    text = answer("part show", Whole(parts=(Part("a\udcff\n", 1 / 3), Part("b"))))
    document = json.loads(text)
    assert list(document) == ["schema", "mlsub", "command", "parts", "note"]
    assert (document["schema"], document["mlsub"], document["command"]) == (7, mlsub.__version__, "part show")
    assert document["parts"][0] == {"name": "a\udcff\n", "share": 1 / 3}
    assert text.isascii()
    assert text.endswith(b"}\n")
    validator = Draft202012Validator(schema_of("part show", Whole))
    validator.validate(document)
    for broken in (
        {**document, "more": 1},
        {**document, "schema": 8},
        {k: document[k] for k in document if k != "note"},
    ):
        assert not validator.is_valid(broken)


def shape(node: Any, *, names: bool = False) -> Any:
    """A schema without its words; ``names``: the keys are names of fields or types, not words of JSON Schema."""
    if isinstance(node, list):
        return [shape(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: shape(one, names=not names and key in ("properties", "$defs"))
        for key, one in node.items()
        if names or key not in ("description", "title")
    }


def recorded(command: str) -> dict[str, Any]:
    found = schema(command)
    text = json.dumps(shape(found), sort_keys=True)
    return {"schema": found["properties"]["schema"]["const"], "digest": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("command", commands())
def test_a_schema_changes_with_its_version_alone(command: str) -> None:
    known = json.loads(DIGESTS.read_text())
    now = recorded(command)
    changed = known.get(command) != now
    if changed and os.environ.get("UPDATE_EXPECTED") and known.get(command, {}).get("schema") != now["schema"]:
        known[command] = now
        DIGESTS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        changed = False
    assert not changed, f"the answer of {command} has other fields: raise its SCHEMA, then run with UPDATE_EXPECTED=1"


@pytest.mark.parametrize("command", commands())
def test_schemas_are_schemas_and_describe_every_type(command: str) -> None:
    found = schema(command)
    Draft202012Validator.check_schema(found)
    assert all(part.get("description") for part in found["$defs"].values())
