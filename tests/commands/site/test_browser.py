"""The site in a real browser: it opens from a disk, draws, sorts, filters, and can be read on paper and on a phone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.build import build_site
from mlsub.commands.site.dataset import SEARCH_SCRIPT
from mlsub.commands.site.page import STATIC
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
DRAWN = {"benchmarks/resnet.html", "accelerators/a100.html", "organisations/acme.html"}
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
            "Epochs to converge by batch size",
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
        assert opened.column("closed", 2) == ["12.0", "14.5"]
        assert head.get_attribute("aria-sort") == "ascending"
        head.locator("button").press("Enter")
        assert opened.column("closed", 2) == ["14.5", "12.0"]
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
            names = {LIGHT: "Dark", DARK: "Light"}
            assert button.inner_text() == names[first], "the button says what it changes to"
            button.click()
            assert opened.colour() == second
            assert button.inner_text() == names[second]
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


# The search box in the head of each page: what it finds, by which spelling, and by keys alone.

NAMES = """"use strict";
window.mlsubNames = [
  ["ResNet-50", "benchmark, 64 results", "benchmarks/resnet.html", ["resnet", "image classification"]],
  ["GB200", "accelerator, 3 results", "accelerators/gb200.html", ["gb200", "blackwell"]],
  ["B200", "accelerator, 2 results", "accelerators/b200.html", ["b200", "blackwell"]],
  ["A10", "accelerator, 1 result", "accelerators/a10.html", ["a10"]],
  ["A100", "accelerator, 1 result", "accelerators/a100.html", ["a100"]],
  ["Graphcore", "organisation, 27 results", "organisations/graphcore.html", ["graphcore"]],
  ["Rack <b>", "ACME, 8 × GB200", "systems/rack.html", ["dgxa100_n8", "8xB200-SXM"]]
];
"""
#: What is typed, what is said, and what is found before the results with these words.
FOUND = {
    "resnet50": ("1 name", ["ResNet-50"]),
    "Image  CLASS": ("1 name", ["ResNet-50"]),
    "b200": ("2 names", ["B200", "Rack <b>"]),
    "a10": ("1 name", ["A10"]),
    "a100": ("2 names", ["A100", "Rack <b>"]),
    "blackwell": ("2 names", ["GB200", "B200"]),
    "acme 8": ("1 name", ["Rack <b>"]),
    "raphcor": ("1 name", ["Graphcore"]),
    "grpahcore": ("Nothing is called “grpahcore”. Did you mean graphcore?", ["Graphcore"]),
    "resnte50": ("Nothing is called “resnte50”. Did you mean resnet50?", ["ResNet-50"]),
    "b201": ("Nothing is called “b201”.", []),
    "<img src=x>": ("Nothing is called “<img src=x>”.", []),
    "((": ("Nothing is called “((”.", []),
}


def test_names_are_found_by_any_spelling_the_exact_first(browser: Any, site: Path) -> None:
    script = (site / SEARCH_SCRIPT).read_text()
    assert '["ResNet-50","benchmark, 3 results","benchmarks/resnet.html",["image classification","resnet"]]' in script
    (site / SEARCH_SCRIPT).write_text(NAMES)
    with Opened(browser, site, "benchmarks/bert.html") as opened:
        box, options = opened.page.get_by_role("combobox"), opened.page.get_by_role("option")
        assert not any(SEARCH_SCRIPT in url for url in opened.asked), "loaded when the box is used"
        for words, (said, names) in FOUND.items():
            box.fill(words)
            opened.page.locator(".found [role=status]", has_text=said).wait_for()
            *found, everywhere = [option.locator("span").inner_text() for option in options.all()]
            assert found == names, words
            assert everywhere.startswith("Results with")
        assert (opened.said, opened.elsewhere, opened.page.locator(".found img").count()) == ([], [], 0)
    (site / SEARCH_SCRIPT).write_text(script)


def test_keys_alone_find_and_open(browser: Any, site: Path) -> None:
    with Opened(browser, site, "rounds/training_1.0.html") as opened:
        box, press = opened.page.get_by_role("combobox"), opened.page.keyboard.press
        box.focus()
        opened.page.keyboard.type("resnet50")
        opened.page.get_by_role("option").first.wait_for()
        assert box.get_attribute("aria-expanded") == "true"
        press("Escape")
        assert (box.get_attribute("aria-expanded"), box.input_value()) == ("false", "resnet50")
        press("Enter")
        opened.page.wait_for_url("**/benchmarks/resnet.html")
        opened.page.get_by_role("combobox").focus()
        opened.page.keyboard.type("acme")
        opened.page.get_by_role("option").first.wait_for()
        press("ArrowDown")
        assert opened.page.locator("[aria-selected=true] span").inner_text() == "ACME"
        press("ArrowUp")
        press("ArrowUp")
        assert opened.page.locator("[aria-selected=true] span").inner_text() == "Results with “acme”"
        assert opened.said == []
        assert opened.violations() == []
        press("Enter")
        opened.page.wait_for_url("**/results.html#division_name=&q=acme")
        assert opened.page.locator("output.shown").inner_text() == "3 of 4 results"


def test_an_index_has_a_box_whose_words_stand_in_the_address(browser: Any, site: Path) -> None:
    with Opened(browser, site, "systems.html") as opened:
        opened.page.goto(f"{opened.page.url}#q=zeta")
        box, said = opened.page.locator(".controls input"), opened.page.locator(".controls output")
        assert (box.input_value(), said.inner_text(), len(opened.column("all", 1))) == ("zeta", "1 of 2", 1)
        box.fill("amce")
        opened.page.get_by_role("button", name="acme", exact=True).click()
        assert (said.inner_text(), opened.page.evaluate("location.hash")) == ("1 of 2", "#q=acme")
        box.fill("")
        assert (said.inner_text(), len(opened.column("all", 1))) == ("", 2)


def test_on_a_phone_the_pages_are_a_menu(browser: Any, site: Path) -> None:
    with Opened(browser, site, "benchmarks/bert.html") as opened:
        opened.page.set_viewport_size({"width": 390, "height": 844})
        menu, links = opened.page.get_by_role("button", name="Menu"), opened.page.locator("#pages a")
        head = opened.page.locator("header.top").bounding_box()
        assert (head["height"] < 60, links.first.is_visible()) == (True, False)
        menu.press("Enter")
        assert (menu.get_attribute("aria-expanded"), links.first.is_visible()) == ("true", True)
        assert opened.violations() == []
        opened.page.keyboard.press("Escape")
        assert not links.first.is_visible()


@pytest.mark.parametrize("name", ["rounds/training_1.0.html", "benchmarks/resnet.html", "results.html", "index.html"])
def test_tables_fold_where_they_are_too_wide_and_never_scroll(browser: Any, site: Path, name: str) -> None:
    with Opened(browser, site, name) as opened:
        for width in (1440, 1024, 390):
            opened.page.set_viewport_size({"width": width, "height": 844})
            opened.page.wait_for_timeout(100)
            cut = "(all) => all.filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).length"
            assert opened.page.locator(".table").evaluate_all(cut) == 0, (name, width)
        row = opened.page.locator("table.fold tbody tr").first
        shown = {cell.inner_text(): cell.bounding_box()["y"] for cell in row.locator("th, .stays").all()}
        assert max(shown.values()) - min(shown.values()) < 12, "the first column, minutes and verdict are one line"
        assert all(cell.bounding_box()["x"] < 390 for cell in row.locator("td[data-head]").all())
