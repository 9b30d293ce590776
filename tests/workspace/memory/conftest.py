"""A memory in a folder of the test, for which files need not be old."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.workspace.memory import Memory, states, witness


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the memory lies."""
    return tmp_path / "cache"


@pytest.fixture
def memory(folder: Path) -> Memory:
    """A memory."""
    return Memory(folder)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now are taken for old."""
    monkeypatch.setattr(states, "SETTLED_NS", -(10**18))


@pytest.fixture
def every_one_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is recalled is compared with the content of a file."""
    monkeypatch.setattr(witness, "ONE_IN", 1)
