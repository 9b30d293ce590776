"""What the tests of the site in a browser share: the browser, and a small site to look into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.build import build_site
from tests.commands.site.browser import chromium
from tests.commands.site.sites import checked, two_rounds


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of two rounds."""
    above = tmp_path_factory.mktemp("site in a folder, with 'odd' #1 name")
    build_site(checked(*two_rounds(above)), above / "site")
    return above / "site"
