"""The folder in which the calls of ``calls.yaml`` are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.places import everything
from tools.support.once import once


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something for every command: nobody may change it."""
    return once(tmp_path_factory, "everything", everything)
