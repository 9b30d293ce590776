"""The pages of results and rounds in a real browser: runs that stand out, pictures as files, texts to copy."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlsub.commands.site.build import build_site
from tests.commands.site.browser import Opened
from tests.commands.site.sites import checked
from tools.support.make_tree import Log, make_tree

RESULT = "results/training_1.0_acme_rack1_resnet.html"
ROUND = "rounds/training_1.0.html"
SVG = "{http://www.w3.org/2000/svg}"
LONG = "A system with a name of many words, as descriptions of published systems have it (8x chip-80GB, Ethernet)"


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one round with several results: one is rejected, one has a long name, one has fewer accelerators."""
    above = tmp_path_factory.mktemp("rounds")
    tree = make_tree(above)
    tree.add_system("large", system_name=LONG, accelerators_per_node=8)
    tree.add_entry("resnet", "large")
    tree.add_system("bad")
    tree.add_entry("resnet", "bad")
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 20}), *range(5), system="bad")
    build_site(checked(tree.folder), above / "site")
    return above / "site"


def saved(opened: Opened, kind: str, at: int, to: Path) -> bytes:
    """What a button below a chart saves."""
    with opened.page.expect_download() as download:
        opened.page.locator(f".tools button:has-text('{kind}')").nth(at).click()
    download.value.save_as(to)
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*\.(svg|png)", download.value.suggested_filename)
    return to.read_bytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", [RESULT, ROUND])
def test_a_chart_is_saved_as_a_file_that_stands_alone(
    browser: Any, site: Path, tmp_path: Path, scheme: str, page: str
) -> None:
    with Opened(browser, site, page) as opened:
        charts = opened.page.locator("figure.chart").count()
    assert charts
    for at in range(charts):
        # A page of its own for each chart: Chromium drops the eleventh download that a page starts within a second.
        with Opened(browser, site, page, color_scheme=scheme, accept_downloads=True) as opened:
            text = saved(opened, "SVG", at, tmp_path / "chart.svg").decode("utf-8")
            png = saved(opened, "PNG", at, tmp_path / "chart.png")
            assert opened.said == []
        root = ET.fromstring(text)  # noqa: S314  (our own)
        assert root.tag == f"{SVG}svg"
        assert "var(" not in text, "colours are there by value"
        assert "http" not in text.replace("http://www.w3.org/", ""), "nothing is loaded from elsewhere"
        (back, *_) = root.iter(f"{SVG}rect")
        assert (back.get("fill"), root.get("fill")) == ("#ffffff", "#1b2530"), "light whatever the page shows"
        title, said = root.find(f"{SVG}title"), " ".join("".join(one.itertext()) for one in root.iter(f"{SVG}text"))
        assert title is not None
        assert title.text
        assert "not verified by MLCommons" in said
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        wide, high = (int.from_bytes(png[place : place + 4]) for place in (16, 20))
        sizes = [2 * float(root.get(name) or 0) for name in ("width", "height")]
        assert (wide, high) == tuple(map(pytest.approx, sizes)), "two pixels of the picture are one of the chart"


def test_the_median_and_the_range_of_runs(browser: Any, site: Path) -> None:
    cases = yaml.safe_load((Path(__file__).parent / "spread.yaml").read_text())["spread"]
    spread_of = """runs => window.mlsub.spreadOf(runs.map(run => run.map(([x, y]) => ({ x, y }))))
        .flatMap(({ x, low, median, high }) => [x, low, median, high])"""
    with Opened(browser, site, RESULT) as opened:
        for name, case in cases.items():
            found = opened.page.evaluate(spread_of, case["runs"])
            assert found == pytest.approx([value for one in case["spread"] for value in one]), name
        assert len(opened.page.evaluate(spread_of, [[[x, x] for x in range(500)]] * 3)) == 4 * 120


def test_the_part_of_a_chart_near_the_target(browser: Any, site: Path) -> None:
    cases = yaml.safe_load((Path(__file__).parent / "spread.yaml").read_text())["window"]
    window_of = """({ runs, target, up }) => {
        const found = window.mlsub.windowOf(runs.map(run => run.map(([x, y]) => ({ x, y }))), { level: target, up });
        return found && [...found.x, ...found.y];
    }"""
    with Opened(browser, site, RESULT) as opened:
        for name, case in cases.items():
            found = opened.page.evaluate(window_of, case)
            assert found == (case["window"] and pytest.approx(case["window"])), name


def test_charts_of_runs_say_what_they_show(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT) as opened:
        said = opened.page.locator("figure[data-kind=runs] .about").all_inner_texts()
        assert said[0] == (
            "The last values of 5 runs are 0.7595 to 0.75954, target 0.759. The line is the median of the runs, the "
            "band the range from the lowest to the highest run. Between two evaluations of a run its value is "
            "interpolated linearly, and a run that has ended counts with its last value."
        )
        assert said[1] == (
            "5 of 5 runs reach 0.759, the first at 40 epochs and the last at 40: each evaluation is a dot, and the one "
            "that reaches the target is larger."
        )


def test_a_single_run_stands_out_under_the_pointer_and_by_its_name(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT) as opened:
        lit = "[data-run][stroke='var(--text)']"
        chart = opened.page.locator("figure[data-kind=runs]").first
        assert chart.locator("[data-run]").count() == 5
        assert chart.locator(lit).count() == 0
        chart.scroll_into_view_if_needed()
        box = chart.locator("svg.plot").bounding_box()
        opened.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.85)
        assert chart.locator(lit).count() == 1
        tip = chart.locator("[aria-label=tip] text").text_content()
        assert re.search(r"result_\d", tip)
        assert "median of the runs" in tip
        opened.page.mouse.move(5, 5)
        assert chart.locator(lit).count() == 0
        chart.get_by_role("combobox", name="Run").select_option("result_3")
        assert chart.locator(".pick output").inner_text() == "10 evaluations; 0.75953 at 40 reaches the target"
        charts = opened.page.locator("figure[data-kind=runs]").all()
        assert len(charts) == 4
        for one in charts:
            assert [path.get_attribute("data-run") for path in one.locator(lit).all()] == ["result_3"]
        opened.page.set_viewport_size({"width": 700, "height": 900})
        opened.page.wait_for_timeout(100)
        assert chart.locator(lit).count() == 1, "the choice outlasts a new size"
        opened.screenshot(f"chosen/{RESULT}")


def test_a_citation_is_copied_with_the_day_of_today(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT, permissions=["clipboard-read", "clipboard-write"]) as opened:
        texts = opened.page.locator(".quote pre").all_inner_texts()
        assert len(texts) == 3
        assert "entry [ID 1.0-...]" in texts[1]
        assert "[date]" not in "".join(texts)
        assert re.search(r"on \d{4}-\d\d-\d\d\. The MLPerf name", texts[1])
        opened.page.get_by_role("button", name="Copy: Footnote").click()
        opened.page.locator(".quote output", has_text="Copied").wait_for()
        assert opened.page.evaluate("navigator.clipboard.readText()") == texts[1]
        assert opened.said == []


def labels(opened: Opened) -> str:
    return " ".join(" ".join(opened.page.locator("figure[data-kind=round] svg text").all_text_contents()).split())


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_round_shows_all_results_with_their_whole_names(browser: Any, rounds: Path, width: int, scheme: str) -> None:
    with Opened(browser, rounds, ROUND, color_scheme=scheme) as opened:
        opened.page.set_viewport_size({"width": width, "height": 800})
        opened.page.wait_for_timeout(100)
        assert opened.overflow() == 0
        assert LONG.replace(" ", "") in labels(opened).replace(" ", ""), "no label is cut"
        dots = opened.page.locator("figure[data-kind=round] [data-mark=dot] > *")
        assert dots.count() == 3
        assert [dot.get_attribute("fill") for dot in dots.all()].count("var(--paper)") == 1, "a ring is not accepted"
        assert "does not meet the official checker" in opened.page.locator(".legend").inner_text()
        chart = opened.page.locator("figure[data-kind=round] svg.plot").bounding_box()
        for text in opened.page.locator("figure[data-kind=round] svg text").all():
            box = text.bounding_box()
            assert box is None or (
                box["x"] >= chart["x"] - 1 and box["x"] + box["width"] <= chart["x"] + chart["width"] + 1
            )
        ticks = opened.page.locator("[data-mark='x-axis tick label'] text")
        assert ticks.count() > 1
        assert all(re.fullmatch(r"[\d.,]+", text) for text in ticks.all_text_contents()), "each tick has its number"
        assert opened.violations() == []
        opened.screenshot(f"round-{width}-{scheme}/{ROUND}")


def test_a_round_of_many_shows_the_twenty_fastest_at_first(browser: Any, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for number in range(24):
        tree.add_system(f"rack{number + 2}")
        tree.add_entry("resnet", f"rack{number + 2}")
        tree.edit(partial(Log.last, minutes=20.0 + number), *range(5), system=f"rack{number + 2}")
    build_site(checked(tree.folder), tmp_path / "site")
    with Opened(browser, tmp_path / "site", ROUND) as opened:
        dots = opened.page.locator("figure[data-kind=round] [data-mark=dot] > *")
        numbers = opened.page.locator("[data-mark='x-axis tick label']")
        assert (dots.count(), numbers.count()) == (20, 2), "numbers above and below"
        assert "rack21" not in labels(opened)
        assert opened.page.locator("figure[data-kind=round]").bounding_box()["height"] < 700
        opened.page.get_by_role("button", name="Show all 25").click()
        assert (dots.count(), "rack25" in labels(opened)) == (25, True)
        opened.page.reload()
        assert dots.count() == 25, "the address has the choice"
        opened.page.get_by_role("button", name="Show the 20 fastest").click()
        assert dots.count() == 20
        assert opened.said == []


def test_a_dot_of_a_round_leads_to_its_result(browser: Any, rounds: Path) -> None:
    with Opened(browser, rounds, ROUND) as opened:
        dot = opened.page.locator("figure[data-kind=round] [data-mark=dot] > *").first
        dot.hover()
        tip = opened.page.locator("[aria-label=tip] text").first.text_content()
        assert "official checker" in tip
        dot.click()
        opened.page.wait_for_url("**/results/*.html")
        assert opened.page.locator(".score strong").inner_text().endswith("minutes")
