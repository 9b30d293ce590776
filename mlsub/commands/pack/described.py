"""A system description made of a known system's, as a manifest asks for it."""

from __future__ import annotations

import json

from mlsub.commands.pack.model import MadeDescription
from mlsub.commands.pack.written import KnownSystem
from mlsub.systems.catalogue import find_system
from mlsub.systems.draft import Asked, check_field, new_from


def make_description(wanted: KnownSystem, organisation: str, division: str | None) -> MadeDescription:
    """The description.

    Args:
        wanted: the known system and what the manifest says of it.
        organisation: the submitter.
        division: that of the manifest, where the system names none.

    Raises:
        MlsubError: there is no such system.
        MlsubError: it cannot be as it is asked for.
    """
    for name in wanted.changes:
        check_field(name)
    system = find_system(wanted.of)
    asked = Asked(
        submitter=organisation,
        division=wanted.division or division,
        status=wanted.status,
        framework=wanted.framework,
        hosts=wanted.hosts,
        changes=tuple(wanted.changes.items()),
    )
    content = new_from(system, asked).description()
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return MadeDescription(system.name, text.encode("utf-8", "surrogatepass"), asked.division)
