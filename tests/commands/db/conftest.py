"""What the tests of databases share."""

from __future__ import annotations

import pytest

from mlsub.workspace import cache


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not be old for a database to be up to date."""
    monkeypatch.setattr(cache, "SETTLED_NS", -(10**18))
