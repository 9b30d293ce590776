"""What the tests of databases share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.workspace.memory import Memory, states, witness


@pytest.fixture
def remembering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory, for which files need not be old, and which asks no file whether its state tells the truth."""
    monkeypatch.setattr(states, "SETTLED_NS", -(10**18))
    monkeypatch.setattr(witness, "ONE_IN", 1 << 60)
    return Memory(tmp_path / "cache")
