"""The JSON Schema of a system description, composed from the table of fields and the table of rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlsub.rounds import Round, Statuses, Summarizer
from mlsub.systems.fields import Field, aliases, fields, insensitive

#: What Python's ``int`` reads, what joins with another text, by what rows are sorted, and where a text is looked for.
_COUNTED = {
    "anyOf": [
        {"type": "string", "pattern": r"^[ \t\r\n]*[+-]?[0-9]+(_[0-9]+)*[ \t\r\n]*$"},
        {"type": ["number", "boolean"]},
    ]
}
_JOINED = {"anyOf": [{"type": "string"}, {"enum": [None, False, 0, [], {}]}]}
_SORTED = {"not": {"type": ["array", "object"]}}
_SEARCHED = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "not": {"contains": {"const": "TensorFlow"}}},
        {"type": "object", "not": {"required": ["TensorFlow"]}},
    ]
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(round_: Round) -> dict[str, Any]:
    """Return the schema of a round, draft 2020-12.

    It accepts exactly what the official checker in force for the round accepts (little is asked) and its result
    summarizer can compute with.
    """
    table, about = fields(), "The official checker of this round looked at no system description."
    if round_.descriptions_checked:
        about = "What the official system description checker and the result summarizer of this round accept."
    schema: dict[str, Any] = {
        "$schema": _DIALECT,
        "title": f"System description, {round_.title}",
        "description": about,
        "type": "object",
        "properties": {name: _field_schema(name, field, round_) for name, field in table.fields.items()},
    }
    if round_.descriptions_checked:
        schema["required"] = list(table.required)
    if round_.summarizer is not None:
        schema["allOf"] = list(_summarizer_schema(round_.summarizer, whole=round_.descriptions_checked))
    return schema


def _summarizer_schema(summarizer: Summarizer, *, whole: bool) -> Iterator[dict[str, Any]]:
    """Yield what the result summarizer computes with; where not ``whole``, a description may lack fields of its row."""
    asked = {
        **dict.fromkeys(summarizer.counted, _COUNTED),
        **dict.fromkeys(summarizer.joined, _JOINED),
        **dict.fromkeys(summarizer.sorted, _SORTED),
        **dict.fromkeys(summarizer.searched, _SEARCHED),
    }
    row: dict[str, Any] = {"required": list(summarizer.printed)}
    yield {"properties": asked} if whole else {"if": row, "then": {"properties": asked}}
    if summarizer.counted_of_tpu:
        tpu = {**row, "properties": {"system_name": {"const": summarizer.TPU}}}
        yield {"if": tpu, "then": {"properties": dict.fromkeys(summarizer.counted_of_tpu, _COUNTED)}}


def _field_schema(name: str, field: Field, round_: Round) -> dict[str, Any]:
    made: dict[str, Any] = {"title": field.title, "description": field.about}
    if field.text and round_.descriptions_checked:
        made["type"] = "string"
    if name == "status":
        made |= _status_schema(round_.statuses)
    else:
        made["examples"] = list(field.suggest) or [field.example]
    return made


def _status_schema(statuses: Statuses | None) -> dict[str, Any]:
    """Return the statuses a round allows; where it allows any, an editor still offers the known ones."""
    if statuses is None:
        return {"examples": list(aliases())}
    if statuses.case_counts:
        return {"enum": list(statuses.one_of)}
    words = "|".join(insensitive(word) for word in statuses.one_of)
    return {"type": "string", "pattern": f"^({words})$", "examples": list(statuses.one_of)}
