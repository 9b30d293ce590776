"""The documentation in a real browser: its links are strict, and it opens and is searched from a disk alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from docs.reference import build
from tests.commands.site.browser import Opened, absent, chromium
from tests.docs.pages import REPOSITORY


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def site(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``make docs`` builds it, in a folder of its own."""
    if find_spec("material") is None:
        absent("needs MkDocs with Material: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("docs in a folder, with 'odd' #1 name")
    shutil.copy(REPOSITORY / "mkdocs.yml", folder)
    build(folder / "build" / "pages")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder / "build" / "docs"


@pytest.mark.parametrize(
    ("page", "title", "text"),
    [
        ("index.html", "mlsub", "rejected: 1 of 1 entries rejected"),
        ("official-tools.html", "Coming from the official tools", "--rcp-bert-train-samples"),
        ("keys/init_stop.html", "init_stop", "key.init_stop.time"),
    ],
)
def test_a_page_opens_and_asks_for_nothing(browser: Any, site: Path, page: str, title: str, text: str) -> None:
    with Opened(browser, site, page) as opened:
        assert opened.page.locator("h1").inner_text().startswith(title)
        assert opened.page.get_by_text(text).first.is_visible()
        assert (opened.said, opened.elsewhere) == ([], [])
        opened.screenshot(f"docs/{page}")
    with Opened(browser, site, page, color_scheme="dark") as opened:
        opened.screenshot(f"docs/dark/{page}")


@pytest.mark.parametrize(
    ("words", "found"), [("rcp_checker", "official-tools.html"), ("seed.shared", "rules/seed.shared.html")]
)
def test_the_search_finds_and_opens_a_page_from_a_disk(browser: Any, site: Path, words: str, found: str) -> None:
    with Opened(browser, site, "index.html") as opened:
        opened.page.locator("input.md-search__input").click()
        opened.page.locator("input.md-search__input").press_sequentially(words)
        first = opened.page.locator(".md-search-result__link").first
        first.wait_for()
        opened.screenshot(f"docs/search-{words}")
        first.click()
        opened.page.wait_for_url(f"**/{found}*")
        assert (opened.said, opened.elsewhere) == ([], [])


def test_a_phone_scrolls_blocks_and_not_the_page(browser: Any, site: Path) -> None:
    with Opened(browser, site, "first-check.html") as opened:
        opened.page.set_viewport_size({"width": 390, "height": 800})
        assert opened.overflow() <= 0
        opened.screenshot("docs/phone/first-check.html")
