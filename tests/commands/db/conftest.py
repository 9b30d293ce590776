"""What the tests of databases share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.workspace import cache as caches
from mlsub.workspace.cache import Cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache, for which files need not be old."""
    monkeypatch.setattr(caches, "SETTLED_NS", -(10**18))
    return Cache(tmp_path / "cache")
