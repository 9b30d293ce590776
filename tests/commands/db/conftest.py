"""What the tests of databases share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.db.place import Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Two submissions in the current folder."""
    from tests.commands.db.place import Place

    monkeypatch.chdir(tmp_path)
    return Place(tmp_path)
