"""The site of all published rounds that are here, in a real browser: a page of each kind, wide, narrow and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.site.browser import Opened, pages
from tools.oracle.shared import ABSENT, present
from tools.support.corpus import CORPUS
from tools.support.runner import run

pytestmark = pytest.mark.skipif(not present(), reason=ABSENT)
#: Results to open besides: one that the official checker rejects, and benchmarks unlike the others.
BESIDES = ("popart-closed-bert", "minigo", "stable-diffusion", "openfold", "llama2-70b-lora")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all rounds."""
    site = tmp_path_factory.mktemp("whole") / "site"
    rounds = sorted(str(folder) for folder in CORPUS.iterdir() if folder.is_dir())
    done = run("site", *rounds, "-o", str(site))
    assert done.status == 1, done.stderr  # some results are rejected
    return site


def chosen(site: Path) -> list[str]:
    """The pages at the top, the largest of each folder, and some results."""
    found = pages(site)
    folders: dict[str, list[str]] = {}
    for name in found:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    top = folders.pop("")
    largest = [max(names, key=lambda name: (site / name).stat().st_size) for names in folders.values()]
    results = {name.replace("_", "-"): name for name in folders["results"]}
    besides = [next(name for plain, name in results.items() if word in plain) for word in BESIDES]
    return list(dict.fromkeys([*top, *largest, *besides]))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_pages_open_draw_and_can_be_read(browser: Any, whole: Path, scheme: str, width: int) -> None:
    names = chosen(whole)
    assert len(names) >= 17
    for name in names:
        with Opened(browser, whole, name, color_scheme=scheme) as opened:
            opened.page.set_viewport_size({"width": width, "height": 900})
            opened.page.wait_for_timeout(150)
            assert (opened.said, opened.elsewhere, opened.overflow()) == ([], [], 0), name
            assert all(opened.marks()), f"{name}: {opened.marks()}"
            if width == 1280:
                assert opened.violations() == [], name
            opened.screenshot(f"published/{scheme}-{width}/{name}")


def test_pages_are_small(whole: Path) -> None:
    large = {name: size for name in pages(whole) if (size := (whole / name).stat().st_size) > 300_000}
    assert large == {}


def test_on_paper_pages_are_light_and_whole(browser: Any, whole: Path) -> None:
    for name in ("index.html", "results.html"):
        with Opened(browser, whole, name, color_scheme="dark") as opened:
            opened.page.emulate_media(media="print", color_scheme="dark")
            assert opened.colour() == "rgb(255, 255, 255)"
            assert all(opened.marks()), name
            opened.screenshot(f"published/print/{name}")
