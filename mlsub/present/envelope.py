"""The one shape of every machine answer: an envelope around a model, and its JSON Schema made of the model's types."""

from __future__ import annotations

import json
from numbers import Rational
from typing import Annotated, Any, ClassVar

import msgspec

from mlsub.findings import Says
from mlsub.io import VERSION
from mlsub.submission.report import A_VERDICT_HAS_LOGS, Report

#: An exact number in an answer.
EXACT: dict[str, Any] = {
    "type": "object",
    "description": "A double, null beyond the range of doubles, and the exact fraction as numerator/denominator.",
    "required": ["value", "exact"],
    "properties": {"value": {"type": ["number", "null"]}, "exact": {"type": "string"}},
}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A model that a command answers with. ``SCHEMA`` is raised with every change of the fields, here or below.

    ``OPEN``: the schema also accepts fields that it does not name, so that who validates can meet a later version.
    """

    SCHEMA: ClassVar[int]
    OPEN: ClassVar[bool] = False


class Reports(Answer, frozen=True, kw_only=True):
    """A report for each round, then one for each path that could not be checked. Fields may be added."""

    SCHEMA: ClassVar[int] = 5
    OPEN: ClassVar[bool] = True

    reports: Annotated[tuple[Annotated[Report, Says(**A_VERDICT_HAS_LOGS)], ...], Says(minItems=1)]
    settings: Annotated[str | None, Says("The settings file in force; null without one.")] = None


def answer(command: str, model: Answer) -> bytes:
    """The answer as JSON in plain ASCII, ending in a line feed: envelope first, then the fields of the model."""
    envelope = {"schema": model.SCHEMA, "mlsub": VERSION, "command": command}
    content = {**envelope, **msgspec.to_builtins(model, enc_hook=_encoded)}
    return json.dumps(content, indent=2, allow_nan=False).encode("ascii") + b"\n"


def parts_of(*kinds: type, open_: bool = False) -> dict[str, Any]:
    """The JSON Schemas of types and of all that they are made of, by name; see :func:`schema_of`."""
    _, parts = msgspec.json.schema_components(kinds, schema_hook=_shape, ref_template="#/$defs/{name}")
    for part in parts.values():
        part["description"] = " ".join(part.get("description", "").split()).replace("``", "")
        if "properties" in part:
            part.update(required=list(part["properties"]), additionalProperties=open_)
        _join_numbers(part)
    return parts


def _join_numbers(part: Any) -> None:
    """Where a number may be an integer or a float, say number: Python keeps the two apart, and JSON does not."""
    for below in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _join_numbers(below)
    if isinstance(part, dict) and {"type": "number"} in (choices := part.get("anyOf", [])):
        choices[:] = [one for one in choices if one != {"type": "integer"}]


def schema_of(command: str, kind: type[Answer]) -> dict[str, Any]:
    """The JSON Schema of a command's answer. Every field is always there, and unless it is open there are no others."""
    parts = parts_of(kind, open_=kind.OPEN)
    model = parts.pop(kind.__name__)
    envelope = {
        "schema": {"const": kind.SCHEMA, "description": "The version of this schema."},
        "mlsub": {"type": "string", "description": "The version of mlsub."},
        "command": {"const": command},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:mlsub:{command.replace(' ', ':')}",
        "description": model["description"],
        "type": "object",
        "required": [*envelope, *model["required"]],
        "additionalProperties": kind.OPEN,
        "properties": {**envelope, **model["properties"]},
        "$defs": parts,
    }


def _encoded(value: Any) -> Any:
    """What JSON has for a type that is not its own: an exact number as a double and a fraction, else the text."""
    if not isinstance(value, Rational):
        return str(value)
    try:
        double: float | None = float(value)
    except OverflowError:
        double = None
    return {"value": double, "exact": f"{value.numerator}/{value.denominator}"}


def _shape(kind: type[Any]) -> dict[str, Any]:
    """The schema of such a type."""
    return EXACT if issubclass(kind, Rational) else {"type": "string"}
