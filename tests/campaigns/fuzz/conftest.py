"""In tests of the engine no clock decides: a process that is not scheduled for long is not taken for stuck."""

from __future__ import annotations

import pytest

from tests.campaigns.fuzz import guard
from tests.effort import HUNG


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for minutes until an input counts as stuck."""
    monkeypatch.setattr(guard, "PATIENCE", HUNG)
