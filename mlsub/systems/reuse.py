"""A new description made of an old one: what describes the machine is kept, what is of the submission left out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mlsub.io.errors import MlsubError
from mlsub.systems.accelerators import facts_of_model
from mlsub.systems.catalogue import Value
from mlsub.systems.description import read_description
from mlsub.systems.draft import LOOK_OVER, TO_FILL_IN, Asked, Draft, finish, framework_spelled
from mlsub.systems.fields import fields
from mlsub.systems.values import is_empty, is_placeholder

#: Of the submission it was made for.
_LEFT_OUT = frozenset(("submitter", "division", "status", "system_name", "sw_notes", "notes"))
#: True of that submission, and often of the next.
_SOFTWARE = ("framework", "framework_name", "other_software_stack", "operating_system", "hw_notes")


def new_from_file(file: Path, asked: Asked) -> Draft:
    """A description with the hardware of another; what is the submitter's to say is left to be filled in.

    Kept is what describes the machine, also in fields beyond the required ones; its software and notes on its hardware
    are to be looked over, and another framework leaves the old one's software out. Placeholders and empty values are
    to be filled in, but for what the catalogue has of its accelerators.

    Raises:
        MlsubError: the file is not a system description.
    """
    if not os.path.lexists(file):
        raise MlsubError(f"There is no {file}. Name a system description, or a system that mlsub system list shows.")
    description = read_description(file, str(file))
    if description.content is None or not description.content:
        raise MlsubError(*(f"{file}: {finding.message}." for finding in description.findings[:1]))
    found = {
        name: _kept(name, value, file)
        for name, value in description.content.items()
        if name not in _LEFT_OUT and not is_placeholder(value) and not is_empty(value)
    }
    found = facts_of_model(found.get("accelerator_model_name")) | found
    if asked.framework:
        for name in ("framework_name", "other_software_stack"):
            found.pop(name, None)
        found["framework"] = Value(framework_spelled(asked.framework), "given on the command line")
    if asked.hosts:
        found["number_of_nodes"] = Value(str(asked.hosts), "given on the command line")
    draft = finish(found, asked)
    more = {name: value for name, value in found.items() if name not in draft.values}
    return Draft({**draft.values, **more}, draft.remarks)


def _kept(name: str, value: Any, file: Path) -> Value:
    """A value as it was; a number where the field must be text is its digits."""
    field = fields().fields.get(name)
    if field is not None and field.text and not isinstance(value, str):
        value = str(value) if isinstance(value, (int, float)) else TO_FILL_IN
    look_over = name in _SOFTWARE or field is None
    return Value(value, f"{file.name}{LOOK_OVER if look_over else ''}")
