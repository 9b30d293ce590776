"""The constants that bound foreign input, with the figure of each in docs/reliability.md."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import yaml

#: Items of the list under "Limits", and of each the constants with their figures as they are written there.
BOUNDS: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("bounds.yaml").read_text())


def value(where: str) -> Any:
    """The value of a constant, ``module:NAME``, or of a field of a class or an object there."""
    module, _, path = where.removeprefix("mlsub.").partition(":")
    found: Any = importlib.import_module(f"mlsub.{module}")
    for name in path.split("."):
        found = getattr(found() if isinstance(found, type) else found, name)
    return found
