"""The folder in which the calls of ``calls.yaml`` are made."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import NO_SCIKIT_LEARN
from tests.golden.places import everything
from tools.support.once import once


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something for every command: nobody may change it."""
    return once(tmp_path_factory, "everything", everything)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave the calls of the table that train a network to runs with scikit-learn."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    words = [getattr(value, "words", getattr(value, "call", value)) for value in values]
    if any(isinstance(one, str) and one.split()[:1] == ["demo"] for one in words):
        item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.skipif(find_spec("sklearn") is None, reason=NO_SCIKIT_LEARN))
