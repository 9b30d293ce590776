"""Pages over many results in a real browser: the records, a benchmark by round and division, and what results share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mlsub.commands.site.build import build_site
from tests.commands.site.browser import Opened
from tests.commands.site.sites import checked
from tools.support.make_tree import make_tree

BENCHMARK = "benchmarks/resnet.html"


def point(opened: Opened, figure: int, place: int, name: str = "dot") -> None:
    """Put the pointer on a mark of a chart."""
    mark = opened.page.locator("figure.chart").nth(figure).locator(f"g[data-mark={name}] > *").nth(place)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def tip(opened: Opened, figure: int) -> str:
    found: str = opened.page.locator("figure.chart").nth(figure).locator("g[aria-label=tip]").text_content(timeout=5000)
    return found


def test_two_rounds_have_bars_by_family_with_the_round_before_and_a_click_opens_one(
    browser: Any, history: Path
) -> None:
    with Opened(browser, history, "index.html") as opened:
        assert opened.page.locator("figcaption").all_inner_texts() == ["ResNet-50: 3.3 times as fast as in v1.0"]
        assert "A record fell" in opened.page.locator("p.lead").nth(1).inner_text()
        texts = opened.page.locator("figure g[data-mark=text] text").all_text_contents()
        assert texts == [
            *("NVIDIA GPU Ampere: 512 × A100, ZETA", "no known accelerator: no accelerators, ZETA"),
            *("1.5 min, v1.0: 5", "200 min"),
        ]
        point(opened, 0, 0, "rect")
        words = tip(opened, 0)
        assert "rack512" in words and "1.5 minutes in v1.1" in words and "5 minutes in v1.0: 64 × A100, ACME" in words
        opened.page.mouse.down()
        opened.page.mouse.up()
        opened.page.wait_for_url("**/results/training_1.1_zeta_rack512_resnet.html")
        assert opened.said == []


def test_keys_move_through_the_marks_of_a_chart_and_enter_opens_one(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        opened.page.goto(f"{opened.page.url}#round=all&division=closed")
        keys, area = opened.page.keyboard, opened.page.locator("#chart-accelerators-and-minutes .plot-area")
        said = opened.page.locator("#chart-accelerators-and-minutes .said")
        assert opened.page.get_by_role("application").count() == opened.page.locator("figure.chart").count()
        assert area.get_attribute("aria-label").startswith("Accelerators and minutes: 5 marks; arrow keys")
        area.focus()
        heard = []
        for key in ("ArrowRight", "ArrowDown", "End", "ArrowLeft", "Home"):
            keys.press(key)
            heard.append(said.inner_text().split("\n")[0])
        assert heard == ["rack8", "rack8", "rack512", "rack64", "rack8"]
        assert said.inner_text().split("\n")[1:] == ["ACME", "8 × A100", "25 minutes", "v1.1, closed"], (
            "of one number the fastest first"
        )
        middles = [
            (round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2))
            for mark in area.locator(".ring, g[data-mark=dot] > *").all()
            if (box := mark.bounding_box())
        ]
        x, y = middles[-1]
        assert any(abs(x - left) <= 1 >= abs(y - top) for left, top in middles[:-1]), "a ring around the mark"
        keys.press("Escape")
        assert (said.inner_text(), opened.page.locator(".ring").count()) == ("", 0)
        keys.press("End")
        keys.press("Enter")
        opened.page.wait_for_url("**/results/training_1.1_zeta_rack512_resnet.html")
        assert opened.said == []


def test_every_chart_has_a_link_that_keeps_what_is_chosen(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        opened.page.goto(f"{opened.page.url}#round=v1.0&division=open")
        ids = opened.page.locator("figure.chart").evaluate_all("some => some.map((one) => one.id)")
        assert ids == ["chart-accelerators-and-minutes", "chart-chip-minutes-over-rounds"]
        opened.page.get_by_role("link", name="Link to: Chip-minutes over rounds").click()
        assert opened.page.url.endswith("#round=v1.0&division=open&chart=chart-chip-minutes-over-rounds")
        opened.page.reload()
        assert rows(opened) == ["rack8-open"]
        assert opened.page.locator("figure.linked").get_attribute("id") == ids[1]


def test_a_chart_without_anything_to_draw_is_not_there(browser: Any, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(accelerators_per_node=0, accelerator_model_name="N/A")
    build_site(checked(tree.folder), tmp_path / "site")
    with Opened(browser, tmp_path / "site", BENCHMARK) as opened:
        assert (opened.said, rows(opened)) == ([], ["rack1"])
        assert [one.is_visible() for one in opened.page.locator("figure.chart, .tools").all()] == [False, False]


def drawn(opened: Opened) -> tuple[int, ...]:
    """How many marks of the choice the first chart of a benchmark has, of all rounds, and lines of ideal scaling."""
    chart = opened.page.locator("figure.chart").first
    return tuple(chart.locator(f"g[data-mark={name}] > *").count() for name in ("dot", "others", "line"))


def rows(opened: Opened) -> list[str]:
    return opened.column("explore", 1)


def test_a_round_and_a_division_choose_what_a_benchmark_shows(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        page, slider = opened.page, opened.page.get_by_role("slider", name="Round")
        assert rows(opened) == ["rack512", "rack8", "processors"]
        assert slider.get_attribute("aria-valuetext") == "v1.1"
        assert drawn(opened) == (2, 5, 1), "of five systems with accelerators two, and the line of ideal scaling"
        assert page.locator("output.count").inner_text() == "3 results, 1 without accelerators in the table alone"
        slider.press("ArrowLeft")
        assert (slider.get_attribute("aria-valuetext"), rows(opened)) == ("v1.0", ["rack64", "rack8", "pod16"])
        assert page.locator("#explore caption").inner_text() == "3 results: v1.0, Closed; the fastest first"
        assert page.url.endswith("#round=v1.0&division=closed")
        page.get_by_role("radio", name="Open").check()
        assert (rows(opened), drawn(opened)) == (["rack8-open"], (1, 1, 0))
        assert page.url.endswith("#round=v1.0&division=open")
        page.get_by_role("radio", name="Closed").check()
        slider.press("Home")
        assert len(rows(opened)) == 6
        assert page.url.endswith("#round=all&division=closed")
        head = page.locator("#explore th:has-text('chip-minutes') button")
        head.click()
        assert opened.column("explore", 5)[:3] == ["200", "240", "320"]
        assert opened.said == []


def test_the_choice_is_in_the_address(browser: Any, history: Path) -> None:
    with Opened(browser, history, f"{BENCHMARK}") as opened:
        opened.page.goto(f"{(history / BENCHMARK).as_uri()}#round=v1.0&division=open")
        opened.page.reload()
        assert rows(opened) == ["rack8-open"]
        opened.page.evaluate("location.hash = '#round=nonsense&division=closed'")
        opened.page.locator("#explore caption", has_text="3 results: v1.1, Closed").wait_for()


def test_marks_of_a_benchmark_name_their_system_and_open_it(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        point(opened, 0, 1)
        assert "rack512" in tip(opened, 0) and "512 × A100" in tip(opened, 0)
        opened.page.mouse.down()
        opened.page.mouse.up()
        opened.page.wait_for_url("**/results/training_1.1_zeta_rack512_resnet.html")


def test_without_scripts_the_fastest_are_there_as_a_table(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK, java_script_enabled=False) as opened:
        assert rows(opened) == ["rack512", "rack64", "rack8", "rack8", "pod16", "processors", "rack8-open"]
        assert not opened.page.locator("svg.plot, form").first.is_visible()


def test_names_lead_to_the_pages_about_them(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        for name, title in (("rack8", "rack8, ACME"), ("ZETA", "ZETA"), ("512 × A100", "A100")):
            opened.page.goto((history / BENCHMARK).as_uri())
            opened.page.get_by_role("link", name=name, exact=True).first.click()
            assert opened.page.locator("h1").inner_text() == title
