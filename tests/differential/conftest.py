"""What tests beside the official tools share: the history of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.oracle.scores import HISTORY, fetch_history
from tools.support.once import once


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history of the official tools, unpacked."""
    if not HISTORY.is_file():
        pytest.skip(f"needs the history of the official tool ({HISTORY.name})")
    return once(tmp_path_factory, "official history", fetch_history)
