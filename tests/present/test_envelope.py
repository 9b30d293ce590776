"""Answers to machines: one envelope, schemas made of types, and no change of a schema without its version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from jsonschema import Draft202012Validator

import mlsub
from mlsub.commands.answers import commands, schema
from mlsub.present.envelope import Answer, answer, schema_of
from tests.conftest import ExpectedText

DIGESTS = Path(__file__).parent / "expected" / "schemas.json"


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
    """A schema without its words and the keys of mappings; ``names``: the keys here name fields or types.

    msgspec before 0.23 leaves out which keys a mapping of an enumeration has.
    """
    if isinstance(node, list):
        return [shape(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: shape(one, names=not names and key in ("properties", "$defs"))
        for key, one in node.items()
        if names or key not in ("description", "title", "propertyNames")
    }


def numbered(schema: dict[str, Any]) -> list[Any]:
    """The schema and the types that it uses, which have numbers for names: a type may get another name."""
    types, names = schema.get("$defs", {}), [""]

    def number(node: Any) -> Any:
        if isinstance(node, list):
            return [number(one) for one in node]
        if not isinstance(node, dict):
            return node
        name = str(node.get("$ref", "")).removeprefix("#/$defs/")
        if name and name not in names:
            names.append(name)
        return {key: names.index(name) if key == "$ref" else number(node[key]) for key in sorted(node)}

    used = [number({key: value for key, value in schema.items() if key != "$defs"})]
    while len(used) < len(names):
        used.append(number(types[names[len(used)]]))
    return used


def test_the_name_of_a_type_is_no_part_of_a_schema() -> None:
    text = json.dumps(shape(schema_of("part show", Whole)))
    assert numbered(json.loads(text)) == numbered(json.loads(text.replace("Part", "AnotherPart")))
    assert numbered(json.loads(text)) != numbered(json.loads(text.replace('"share"', '"portion"')))


def recorded(command: str) -> dict[str, Any]:
    found = schema(command)
    text = json.dumps(numbered(shape(found)), sort_keys=True)
    return {"schema": found["properties"]["schema"]["const"], "digest": hashlib.sha256(text.encode()).hexdigest()}


def test_a_schema_changes_with_its_version_alone(expected_text: ExpectedText) -> None:
    known = json.loads(DIGESTS.read_text())
    now = {command: recorded(command) for command in commands()}
    silent = [
        command
        for command in now.keys() & known.keys()
        if now[command] != known[command] and now[command]["schema"] == known[command]["schema"]
    ]
    assert not silent, f"the answers of {', '.join(silent)} have other fields: raise their SCHEMA"
    expected_text("schemas.json", json.dumps(now, indent=2, sort_keys=True) + "\n")


@pytest.mark.parametrize("command", commands())
def test_schemas_are_schemas_and_describe_every_type(command: str) -> None:
    found = schema(command)
    Draft202012Validator.check_schema(found)
    assert all(part.get("description") for part in found["$defs"].values())
