"""Files that the submission rules want and nobody has written yet, made from templates."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.model import Manifest
from mlsub.submission.layout.audit import CODE_USAGES
from mlsub.submission.layout.expected import PlannedEntry
from mlsub.submission.layout.templates import templates


def scaffold(manifest: Manifest, there: Collection[str]) -> Iterator[PlanItem]:
    """Templates for what is lacking; each says of itself that it is to be filled in.

    Args:
        manifest: the submission.
        there: the places that the plan fills already.
    """
    if manifest.round.usage not in CODE_USAGES:
        return
    taken = set(there)
    for entry in planned_entries(manifest):
        for template in templates(entry.system, entry.benchmark, entry.implementation):
            if template.path not in taken:
                taken.add(template.path)
                content = template.content.encode()
                made = "a template, to be filled in"
                yield PlanItem(
                    to=template.path, content=content, made=made, executable=template.executable, template=True
                )


def planned_entries(manifest: Manifest) -> list[PlannedEntry]:
    """The entries as the layout of a submission knows them; one without an implementation's name has its own."""
    named = {code.benchmark: code.implementation for code in reversed(manifest.code)}
    return [
        PlannedEntry(
            system=entry.system,
            benchmark=entry.benchmark,
            implementation=entry.implementation or named.get(entry.benchmark, "implementation"),
            scaling_type=entry.scaling,
            power=entry.power is not None,
        )
        for entry in manifest.entries
    ]
