"""What the tests of databases share."""

from __future__ import annotations

import pytest

from mlsub.workspace.memory import states


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not be old for a database to be up to date."""
    monkeypatch.setattr(states, "SETTLED_NS", -(10**18))
