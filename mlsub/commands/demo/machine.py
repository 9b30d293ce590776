"""Describe the machine a rehearsal ran on, as far as it tells."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from mlsub.systems.capture.machine import capture_here
from mlsub.systems.capture.merge import merge
from mlsub.systems.draft import TO_FILL_IN, Asked, finish

_NOT_THERE = "N/A"


def describe_machine(organisation: str, system: str, division: str, status: str) -> dict[str, Any]:
    """A system description of this machine with every required field; what nobody can tell is ``N/A``."""
    found, _ = merge([("this host", capture_here())])
    changes = {
        "submitter": organisation,
        "division": division,
        "status": status,
        "system_name": system,
        "framework": f"scikit-learn {version('scikit-learn')}",
        "hw_notes": "Rehearsal with mlsub on whatever machine was at hand",
        "sw_notes": "Real training, but not an MLPerf result",
    }
    description = {**finish(found, Asked()).description(), **changes}
    return {name: _NOT_THERE if value == TO_FILL_IN else value for name, value in description.items()}
