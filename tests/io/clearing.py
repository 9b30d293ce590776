"""Another process that clears leftovers away at the worst moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.io import leftovers


def cleared_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Clear a folder of leftovers before the first of them is locked; the list grows with each that is to be locked."""
    claimed, calls = leftovers._claimed, list[int]()

    def cleared(opened: int) -> bool:
        calls.append(opened)
        if len(calls) == 1:
            leftovers.clear_leftovers(folder)
        return claimed(opened)

    monkeypatch.setattr(leftovers, "_claimed", cleared)
    return calls
