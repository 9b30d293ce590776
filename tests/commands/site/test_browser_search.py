"""The search box in the head of each page in a real browser: what it finds, by which spelling, and by keys alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.dataset import SEARCH_SCRIPT
from tests.commands.site.browser import Opened

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
