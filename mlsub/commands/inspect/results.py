"""An inspection as results for CI: a part for each entry, whose findings count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlsub.commands.inspect.model import Inspection
from mlsub.findings import Verdict
from mlsub.present.results import Outcome, Results, part
from mlsub.rules.catalogue import finding


def results_of(inspection: Inspection, root: Path, skipped: Sequence[str]) -> Results:
    """The results of an inspection.

    Args:
        inspection: what was found.
        root: the folder that its paths are relative to.
        skipped: what is wrong with places that could not be inspected.
    """
    parts = [
        part(
            f"{entry.path} (v{entry.round})",
            [one.finding for one in entry.observations],
            lambda _: Outcome.COUNTS,
            root=str(root),
        )
        for entry in inspection.entries
    ]
    if skipped:
        lost = [finding("check.failed", ".", line) for line in skipped]
        parts.append(part("not inspected", lost, lambda _: Outcome.NOT_CHECKED, verdict=Verdict.NOT_CHECKED))
    return Results("inspect", tuple(parts))
