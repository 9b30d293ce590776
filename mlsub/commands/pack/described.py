"""A system description made of a known system's, as a manifest asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mlsub.commands.pack.model import MadeDescription
from mlsub.systems.catalogue import find_system
from mlsub.systems.draft import Asked, check_field, new_from


def make_description(wanted: Mapping[str, Any], organisation: str, division: str | None) -> MadeDescription:
    """The description.

    Args:
        wanted: the known system (``from``) and what the manifest says of it.
        organisation: the submitter.
        division: that of the manifest, where the system names none.

    Raises:
        MlsubError: there is no such system.
        MlsubError: it cannot be as it is asked for.
    """
    changes = {str(name): str(value) for name, value in wanted.get("set", {}).items()}
    for name in changes:
        check_field(name)
    system = find_system(wanted["from"])
    asked = Asked(
        submitter=organisation,
        division=wanted.get("division", division),
        status=wanted.get("status"),
        framework=wanted.get("framework"),
        hosts=wanted.get("hosts"),
        changes=tuple(changes.items()),
    )
    content = new_from(system, asked).description()
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return MadeDescription(system.name, text.encode("utf-8", "surrogatepass"), asked.division)
