"""A cache in a folder of the test, for which files need not be old."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.workspace.cache import Cache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the cache lies."""
    return tmp_path / "cache"


@pytest.fixture
def cache(folder: Path) -> Cache:
    """A cache."""
    return Cache(folder)
