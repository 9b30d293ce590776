"""The site in a real browser: it opens from a disk, draws, sorts, filters, and can be read on paper and on a phone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.build import build_site
from mlsub.commands.site.render import STATIC
from tests.commands.site.browser import AXE, Opened, absent, pages
from tests.commands.site.sites import checked, two_rounds
from tests.commands.site.test_build import SCRIPT

RESULT = "results/training_1.0_acme_rack1_resnet.html"
DARK, LIGHT = "rgb(18, 23, 29)", "rgb(255, 255, 255)"


#: Results of published rounds to open besides: one that the official checker rejects, and benchmarks unlike the others.
BESIDES = ("popart-closed-bert", "minigo", "stable-diffusion", "openfold", "llama2-70b-lora")


def chosen(site: Path) -> list[str]:
    """The pages at the top, the largest of each folder, and some results."""
    folders: dict[str, list[str]] = {}
    for name in pages(site):
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    top = folders.pop("")
    largest = [max(names, key=lambda name: (site / name).stat().st_size) for names in folders.values()]
    results = {name.replace("_", "-"): name for name in folders["results"]}
    besides = (next((name for plain, name in results.items() if word in plain), None) for word in BESIDES)
    return list(dict.fromkeys([*top, *largest, *filter(None, besides)]))


#: Pages of the site of systems of several sizes that have charts.
DRAWN = {"index.html", "benchmarks/resnet.html", "accelerators/a100.html", "organisations/acme.html"}
DRAWN |= {"systems/acme_rack8.html"}
#: The pages of a site that are opened, how many there are at least, and the widths below that of a screen.
LOOKED_AT: dict[str, tuple[Callable[[Path], list[str]], int, tuple[int, ...]]] = {
    "site": (pages, 17, (320, 390, 768)),
    "history": (chosen, 9, (320, 390)),
    "whole": (chosen, 17, (390,)),
}


@pytest.mark.parametrize(
    ("which", "scheme", "width"),
    [
        (which, scheme, width)
        for which, (_, _, narrow) in LOOKED_AT.items()
        for scheme, width in (("light", 1280), ("dark", 1280), *(("light", width) for width in narrow))
    ],
)
def test_pages_open_draw_fit_and_ask_for_nothing(
    browser: Any, which: str, scheme: str, width: int, request: pytest.FixtureRequest
) -> None:
    site, (choose, least, _) = request.getfixturevalue(which), LOOKED_AT[which]
    names = choose(site)
    assert len(names) >= least and (which != "history" or set(names) >= DRAWN)
    for name in names:
        with Opened(browser, site, name, color_scheme=scheme) as opened:
            opened.page.set_viewport_size({"width": width, "height": 900})
            opened.page.wait_for_timeout(150)
            assert (opened.said, opened.elsewhere, opened.overflow()) == ([], [], 0), name
            assert opened.page.locator("h1").inner_text()
            assert all(opened.marks()), f"{name}: {opened.marks()}"
            assert which != "history" or name not in DRAWN or opened.marks()
            boxes = filter(None, (chart.bounding_box() for chart in opened.page.locator("svg.plot").all()))
            assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes), name
            if width == 1280:
                assert opened.violations() == [], name
            opened.screenshot(f"{which}/{scheme}-{width}/{name}")


def test_published_pages_are_small(whole: Path) -> None:
    assert {name: size for name in pages(whole) if (size := (whole / name).stat().st_size) > 300_000} == {}


def test_the_libraries_are_those_of_npm() -> None:
    modules = AXE.parents[1]
    if not modules.is_dir():
        absent(f"needs the packages of npm: npm ci --prefix {modules.parent}")
    for ours, theirs in (("d3.min.js", "d3/dist"), ("plot.umd.min.js", "@observablehq/plot/dist")):
        assert (STATIC / ours).read_bytes() == (modules / theirs / ours).read_bytes()
    if shutil.which("npm") is None:
        absent("needs npm, which bundles the third library")
    command = ["npm", "--prefix", str(modules.parent), "run", "--silent", "parquet"]
    bundle = subprocess.run(command, capture_output=True, check=True).stdout
    assert (STATIC / "parquet.min.js").read_bytes() == bundle


def test_the_charts_of_a_result_are_those_it_should_have(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT) as opened:
        titles = opened.page.locator("figcaption").all_inner_texts()
        assert titles == [
            "Quality over epochs",
            "Quality over epochs near the target",
            "Quality over minutes",
            "Quality over minutes near the target",
            "Runs, each from its own run_start",
            "Points of convergence, epochs",
        ]
        label = opened.page.locator("svg.plot").first.get_attribute("aria-label")
        assert label.startswith("Quality over epochs. The last values of 5 runs are 0.7595 to 0.75954, target 0.759.")
        opened.page.locator("summary").click()
        assert opened.page.locator("details tbody tr").count() == 14


def test_tables_sort_by_any_column_and_say_how(browser: Any, site: Path) -> None:
    with Opened(browser, site, "rounds/training_1.0.html") as opened:
        head = opened.page.locator("#closed th:has-text('minutes')")
        assert head.get_attribute("aria-sort") is None
        head.locator("button").click()
        assert opened.column("closed", 2) == ["12", "14.5"]
        assert head.get_attribute("aria-sort") == "ascending"
        head.locator("button").press("Enter")
        assert opened.column("closed", 2) == ["14.5", "12"]
        assert head.get_attribute("aria-sort") == "descending"
        opened.page.locator("#closed th:has-text('organisation') button").click()
        assert opened.column("closed", 4) == ["ACME", "ACME"]
        assert head.get_attribute("aria-sort") is None
        assert opened.said == []


def test_the_headers_of_tables_are_headers_of_their_columns_and_rows(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT) as opened:
        opened.page.locator("summary").click()
        nodes = opened.context.new_cdp_session(opened.page).send("Accessibility.getFullAXTree")["nodes"]
        roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
        for role, selector in (("columnheader", "thead th"), ("rowheader", "tbody th"), ("image", "svg.plot")):
            assert roles.count(role) == opened.page.locator(selector).count() > 0, role


def test_light_and_dark_follow_the_system_and_the_button(browser: Any, site: Path) -> None:
    for scheme, first, second in (("light", LIGHT, DARK), ("dark", DARK, LIGHT)):
        with Opened(browser, site, RESULT, color_scheme=scheme) as opened:
            assert opened.colour() == first
            before = opened.page.locator("svg.plot").first.screenshot()
            button = opened.page.locator("[data-theme-toggle]")
            pressed = button.get_attribute("aria-pressed")
            button.click()
            assert opened.colour() == second
            assert button.get_attribute("aria-pressed") != pressed
            assert opened.page.locator("svg.plot").first.screenshot() != before, "charts change with the theme"
            opened.page.reload()
            assert opened.colour() == second, "the choice is remembered"
            assert opened.said == []


def test_on_paper_a_page_is_light_and_whole(browser: Any, site: Path, tmp_path: Path) -> None:
    with Opened(browser, site, RESULT, color_scheme="dark") as opened:
        opened.page.emulate_media(media="print", color_scheme="dark")
        assert opened.colour() == LIGHT
        assert not opened.page.locator("header.top").is_visible()
        clipped = "element => element.scrollHeight > element.clientHeight + 1"
        assert not any(table.evaluate(clipped) for table in opened.page.locator("main > section > .table").all())
        assert all(opened.marks())
        paper = opened.page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
        assert paper.startswith(b"%PDF")
        opened.screenshot(f"print/{RESULT}")


def test_on_paper_published_pages_are_light_and_whole(browser: Any, whole: Path) -> None:
    for name in ("index.html", "results.html"):
        with Opened(browser, whole, name, color_scheme="dark") as opened:
            opened.page.emulate_media(media="print", color_scheme="dark")
            assert opened.colour() == LIGHT
            assert all(opened.marks()), name
            opened.screenshot(f"published/print/{name}")


def test_without_scripts_the_figures_are_there_as_tables(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT, java_script_enabled=False) as opened:
        assert not opened.page.locator("svg.plot").first.is_visible()
        opened.page.locator("summary").click()
        assert opened.page.locator("details tbody tr").first.is_visible()
        assert not opened.page.locator("figure").first.is_visible(), "nothing is drawn in it"
        opened.screenshot(f"without-scripts/{RESULT}")


def test_a_reader_with_keys_alone_reaches_everything(browser: Any, site: Path) -> None:
    with Opened(browser, site, "results.html") as opened:
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("document.activeElement.className") == "skip"
        opened.page.keyboard.press("Enter")
        assert opened.page.evaluate("document.activeElement.id") == "main"
        unnamed = opened.page.evaluate(
            """() => Array.from(document.querySelectorAll("button, select, input, a, [role=region]"))
                .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.[0]?.textContent)).length"""
        )
        assert unnamed == 0


def test_nothing_of_a_log_ever_runs(browser: Any, tmp_path: Path) -> None:
    tree = two_rounds(tmp_path)[0] / "ACME"
    for old in sorted(tree.glob("results/*/resnet/result_*.txt")):
        text = old.read_text().replace('"lars"', '"<img src=x onerror=alert(1)>' + SCRIPT.replace('"', "'")[:60] + '"')
        old.with_name(f"result_<img src=x onerror=alert(1)>{old.name[7:]}").write_text(text)
        old.unlink()
    shutil.move(tree / "results" / "rack2", tree / "results" / "<b onclick=alert(1)>")
    build_site(checked(tree), tmp_path / "site", title=SCRIPT)
    for name in pages(tmp_path / "site"):
        with Opened(browser, tmp_path / "site", name) as opened:
            assert (opened.said, opened.elsewhere) == ([], [])
            assert opened.page.locator("img, main b, [onclick], [onerror]").count() == 0
