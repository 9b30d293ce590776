"""What the tests of the recorder share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a run is to be recorded."""
    return tmp_path / "result_0.txt"
