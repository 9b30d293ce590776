"""System descriptions in the forms of v0.6, brought to the fields of later rounds.

The hardware stands in an object of ``hardware``, ``framework`` and ``nodes``. A description is that object itself, its
``nodes`` a list; or it is records like those of a log, ``key: {"value": ...}``, one a line, where ``entry`` holds the
object as Python writes it, and ``nodes`` in it as text again. Others have the fields of later rounds already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mlsub.io.jsontext import loads

_RECORD = re.compile(r"(\w+): (\{.*\})")
#: A name and a text in an object that Python wrote, however deep it stands in texts.
_PAIR = re.compile(r"'(\w+)': '([^']*)'")
_PROCESSORS = re.compile(r"(\d{1,3})x (.+)")
#: The later name of each field.
_FIELDS = {
    "org": "submitter",
    "hardware": "system_name",
    "platform": "system_name",
    "num_nodes": "number_of_nodes",
    "cpu": "host_processor_model_name",
    "num_vcpus": "host_processor_vcpu_count",
    "sys_mem_size": "host_memory_capacity",
    "sys_storage_type": "host_storage_type",
    "sys_storage_size": "host_storage_capacity",
    "interconnect": "host_networking",
    "accelerator": "accelerator_model_name",
    "num_accelerators": "accelerators_per_node",
    "cpu_accel_interconnect": "accelerator_host_interconnect",
    "os": "operating_system",
}
_PER_NODE = "host_processors_per_node"
#: What holds the others.
_NESTED = ("entry", "nodes", "libraries")


def read_records(text: str) -> dict[str, Any] | None:
    """The values of a description of records by their keys; None where it is none."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        match = _RECORD.fullmatch(line.strip())
        if match is None:
            return None
        try:
            record = loads(match[2])
        except (RecursionError, ValueError):
            return None
        if "value" not in record:
            return None
        found[match[1]] = record["value"]
    return found or None


def in_later_fields(content: dict[str, Any]) -> dict[str, Any]:
    """The content with what it says in the forms of v0.6; fields of later rounds stay as they are."""
    fields: dict[str, Any] = {}
    for name, value in _stated(content):
        fields.setdefault(_FIELDS.get(name, name), value)
    model = fields.get("host_processor_model_name")
    several = _PROCESSORS.fullmatch(model) if isinstance(model, str) else None
    if several is not None and "host_processor_model_name" not in content:
        fields["host_processor_model_name"] = several[2]
        fields.setdefault(_PER_NODE, several[1])
    return fields | {name: value for name, value in content.items() if name not in (*_FIELDS, *_NESTED)}


def _stated(content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values, those in nested objects last."""
    inner: list[tuple[str, Any]] = []
    for name, value in content.items():
        first = value[0] if isinstance(value, list) and value else value
        if name not in _NESTED:
            yield name, value
        elif isinstance(first, str):
            inner += _PAIR.findall(first)
        elif isinstance(first, dict):
            inner += first.items()
    yield from inner
