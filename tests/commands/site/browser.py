"""A real browser without a window, and what it says while a page is open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tools.support.effort import HUNG

#: Where a picture of each page is put; nowhere without it.
SCREENSHOTS = os.environ.get("MLSUB_SCREENSHOTS")
#: Set where the browser has to be there, so that its tests cannot be passed over without a word.
REQUIRED = os.environ.get("MLSUB_BROWSER") == "required"
#: Accessibility rules, as npm has them.
AXE = Path(__file__).parent / "npm" / "node_modules" / "axe-core" / "axe.min.js"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
#: What keeps it from looking for the network; it runs as root in containers, where its own sandbox cannot.
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def absent(why: str) -> NoReturn:
    """Skip the test, or fail where the browser is required."""
    if REQUIRED:
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; the test is skipped, with the reason, where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("needs Playwright: pip install '.[browser]'")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        absent("needs Chromium, of which there is none: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def pages(site: Path) -> list[str]:
    """Where each page of a site lies in it."""
    return sorted(file.relative_to(site).as_posix() for file in site.rglob("*.html"))


class Opened:
    """A page of a site in the browser; ``said`` is what it complained of, ``asked`` what it wanted from elsewhere.

    The site is a folder, or the address that it is served at.
    """

    def __init__(self, browser: Any, site: Path | str, name: str, **context: Any) -> None:
        self._site = site
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(HUNG * 1000)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._heard)
        self.page.on("requestfailed", lambda request: self.said.append(request.url))
        self.page.on("request", lambda request: self.asked.append(request.url))
        path, _, chosen = name.partition("#")
        address = (site / path).as_uri() if isinstance(site, Path) else site + path
        self.page.goto(address + (f"#{chosen}" if chosen else ""))

    def _heard(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *of: object) -> None:
        self.context.close()

    @property
    def elsewhere(self) -> list[str]:
        """What was asked for that is no file of a disk, and not of the site."""
        own = ("file:", "data:") if isinstance(self._site, Path) else (self._site, f"blob:{self._site}", "data:")
        return [url for url in self.asked if not url.startswith(own)]

    def column(self, section: str, place: int) -> list[str]:
        """The texts of one column of a section's first table, in the order of the rows that are shown."""
        cells = f"#{section} table tbody tr:not([hidden]) > :nth-child({place})"
        return [text.strip() for text in self.page.locator(cells).all_inner_texts()]

    def marks(self) -> list[int]:
        """For each chart that is shown how many marks it has: dots, bars, lines and words beside those of its axes."""
        counts: list[int] = self.page.evaluate(
            """() => Array.from(document.querySelectorAll("figure.chart")).filter((one) => one.checkVisibility()).map(
                (figure) => figure.querySelectorAll(
                    "svg.plot > g:not([data-mark*=axis]):not([data-mark*=grid]):not([data-mark=tip]) > *"
                ).length)"""
        )
        return counts

    def violations(self) -> list[str]:
        """What axe-core finds of the page that is serious or critical: the rule, and the first elements."""
        if not AXE.is_file():
            absent(f"needs axe-core: npm ci --prefix {AXE.parents[2]}")
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{one['id']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
            for one in found
            if one["impact"] in {"serious", "critical"}
        ]

    def colour(self, selector: str = "body", name: str = "background-color") -> str:
        """A colour as the browser computes it."""
        script = "(element, name) => getComputedStyle(element).getPropertyValue(name)"
        found: str = self.page.locator(selector).first.evaluate(script, name)
        return found

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        found: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return found

    def screenshot(self, name: str) -> None:
        """A picture of the whole page, where pictures are wanted."""
        if SCREENSHOTS:
            folder = Path(SCREENSHOTS)
            folder.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(
                path=str(folder / f"{name.replace('/', '-').removesuffix('.html')}.png"), full_page=True
            )
