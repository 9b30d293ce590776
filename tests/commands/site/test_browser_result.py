"""The pages of results, rounds and benchmarks in a real browser: runs that stand out, pictures as files, choices."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from functools import partial
from itertools import pairwise
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


def test_batch_sizes_of_reference_points_stand_at_the_axis_where_they_have_room(browser: Any, site: Path) -> None:
    with Opened(browser, site, RESULT) as opened:
        chart = opened.page.locator("#rcp figure.chart")
        data = json.loads(chart.locator("script").text_content())
        marked = [f"{size:,.0f}" for size in data["x"]["ticks"]]
        (limits,) = [one for one in data["series"] if one["name"] == "limit"]
        assert data["x"]["ticks"] == limits["points"][0]
        beside = "[data-mark=dot][transform^='translate(15']"
        assert chart.locator(beside).count() == 2, "the runs and their mean, which hide no mark of the reference"
        words = chart.locator("[data-mark='x-axis tick label'] text")
        wide = words.all_text_contents()
        assert set(wide) < set(marked) and wide[0] == marked[0]
        boxes = [one.bounding_box() for one in words.all()]
        assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(boxes)), "none lies on another"
        opened.page.set_viewport_size({"width": 390, "height": 900})
        opened.page.wait_for_function("document.querySelector('#rcp svg.plot').width.baseVal.value < 390")
        assert 1 < words.count() < len(wide)


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
        assert opened.page.locator("table.fold").count() == (width < 1000), "where there is room no table folds"
        opened.page.get_by_role("radio", name="any size").check()
        title, tools = (opened.page.locator(f".chart {part}").first.bounding_box() for part in ("figcaption", ".tools"))
        assert width < 1000 or tools["y"] < title["y"] + title["height"], "buttons stay beside the title"
        opened.screenshot(f"round-{width}-{scheme}/{ROUND}")


def test_a_round_of_many_shows_the_fastest_of_each_size_and_family_at_first(browser: Any, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    changes = {number: {} for number in range(2, 26)}
    changes |= {26: {"accelerator_model_name": "AMD MI250X"}, 27: {"number_of_nodes": 64}}
    for number, change in changes.items():
        tree.add_system(f"rack{number}", **change)
        tree.add_entry("resnet", f"rack{number}")
        tree.edit(partial(Log.last, minutes=20.0 + number), *range(5), system=f"rack{number}")
    build_site(checked(tree.folder), tmp_path / "site")
    with Opened(browser, tmp_path / "site", ROUND) as opened:
        dots = opened.page.locator("figure[data-kind=round] [data-mark=dot] > *")
        title = opened.page.locator("figure[data-kind=round] figcaption")
        numbers = opened.page.locator("[data-mark='x-axis tick label']")
        assert (
            "checker"
            not in opened.page.locator(".legend").inner_text() + opened.page.locator("figure .about").inner_text()
        )
        assert dots.count() == 4, "of 8 accelerators three NVIDIA and the slow AMD"
        assert title.inner_text() == "ResNet-50, Closed division, on 8 accelerators: 4 of 27 results"
        opened.page.get_by_role("radio", name="any size").check()
        assert dots.count() == 5, "and the larger one"
        assert title.inner_text() == "ResNet-50, Closed division: 5 of 27 results"
        sizes = ("8 accelerators: 4 of 26 results", "512 accelerators")
        for label in (*sizes, "rack26", "8 × MI250X", "rack27", "64 × 8"):
            assert label in labels(opened)
        assert "rack21" not in labels(opened)
        assert opened.page.locator("figure[data-kind=round]").bounding_box()["height"] < 700
        opened.page.get_by_role("button", name="All 26 of 8 accelerators").press("Enter")
        assert (dots.count(), "rack25" in labels(opened)) == (27, True)
        assert opened.page.evaluate("document.activeElement.textContent") == "Fold 8 accelerators"
        assert numbers.count() == 2, "numbers above and below"
        assert title.inner_text() == "ResNet-50, Closed division: 27 results"
        opened.page.reload()
        assert dots.count() == 27, "the address has the choice"
        opened.page.get_by_role("radio", name="per accelerator").check()
        assert title.inner_text() == "ResNet-50, Closed division, per accelerator: 27 results"
        opened.page.get_by_role("button", name="Fold 8 accelerators").click()
        assert dots.count() == 5
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


# Pages over many results: the records, a benchmark by round and division, and what results share.

BENCHMARK = "benchmarks/resnet.html"


def point(opened: Opened, figure: int, place: int, name: str = "dot") -> None:
    """Put the pointer on a mark of a chart."""
    mark = opened.page.locator("figure.chart").nth(figure).locator(f"g[data-mark={name}] > *").nth(place)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def tip(opened: Opened, figure: int) -> str:
    found: str = opened.page.locator("figure.chart").nth(figure).locator("g[aria-label=tip]").text_content()
    return found


def test_keys_move_through_the_marks_of_a_chart_and_enter_opens_one(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        opened.page.goto(f"{opened.page.url}#round=all&division=closed&view=any-size")
        keys, area = opened.page.keyboard, opened.page.locator("#chart-sizes .plot-area")
        said = opened.page.locator("#chart-sizes .said")
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
        assert any(abs(x - left) <= 2 >= abs(y - top) for left, top in middles[:-1]), "a ring around the mark"
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
        assert ids == ["chart-sizes", "chart-rounds", "chart-scaling-efficiency"]
        opened.page.get_by_role("link", name="Link to: Minutes over rounds on 8 accelerators").click()
        assert opened.page.url.endswith("#round=v1.0&division=open&chart=chart-rounds")
        opened.page.reload()
        assert rows(opened) == ["rack8-open"]
        assert opened.page.locator("figure.linked").get_attribute("id") == ids[1]


def test_a_chart_without_anything_to_draw_is_not_there(browser: Any, tmp_path: Path) -> None:
    for round_folder in ("v1.0", "v1.1"):
        tree = make_tree(tmp_path, round_folder)
        tree.describe(accelerators_per_node=0, accelerator_model_name="N/A")
    build_site(checked(tmp_path / "v1.0", tmp_path / "v1.1"), tmp_path / "site")
    for name, charts in ((BENCHMARK, 2), ("organisations/acme.html", 1)):
        for view, shown in (("same-size", 1), ("per-accelerator", 0), ("any-size", 1)):
            with Opened(browser, tmp_path / "site", f"{name}#view={view}") as opened:
                figures = opened.page.locator("figure.chart").all()
                assert (len(figures), sum(figure.is_visible() for figure in figures)) == (charts, shown)
                assert opened.said == []


def drawn(opened: Opened) -> tuple[int, ...]:
    """How many marks of the choice the first chart of a benchmark has, and of other rounds."""
    chart = opened.page.locator("figure.chart").first
    return tuple(chart.locator(f"g[data-mark={name}] > *").count() for name in ("dot", "others"))


def rows(opened: Opened) -> list[str]:
    return opened.column("explore", 1)


def test_a_round_and_a_division_choose_what_a_benchmark_shows(browser: Any, history: Path) -> None:
    with Opened(browser, history, f"{BENCHMARK}#view=any-size") as opened:
        page, slider = opened.page, opened.page.get_by_role("slider", name="Round")
        assert rows(opened) == ["rack512", "rack8", "processors"]
        assert slider.get_attribute("aria-valuetext") == "v1.1"
        assert drawn(opened) == (2, 3), "of five systems with accelerators two"
        assert page.locator("output.count").inner_text() == "3 results, 1 without accelerators in the table alone"
        slider.press("ArrowLeft")
        assert (slider.get_attribute("aria-valuetext"), rows(opened)) == ("v1.0", ["rack64", "rack8", "pod16"])
        assert page.locator("#explore caption").inner_text() == "3 results: v1.0, Closed; the fastest first"
        assert page.url.endswith("#view=any-size&round=v1.0&division=closed")
        page.get_by_role("radio", name="Open").check()
        assert (rows(opened), drawn(opened)) == (["rack8-open"], (1, 0))
        assert page.url.endswith("#view=any-size&round=v1.0&division=open")
        page.get_by_role("radio", name="Closed").check()
        slider.press("Home")
        assert (len(rows(opened)), drawn(opened)) == (6, (5, 0))
        assert page.url.endswith("#view=any-size&round=all&division=closed")
        head = page.locator("#explore th:has-text('chip-minutes') button")
        head.click()
        assert opened.column("explore", 5)[:3] == ["200", "240", "320"]
        assert opened.said == []


#: In each view: the titles of the charts, the marks of the first one, the rows, what is said of them and of the best.
VIEWS = {
    "same size": (
        ["Minutes on 8 accelerators", "Minutes over rounds on 8 accelerators"], 1, ["rack8"],
        "1 of 3 results, those on 8 accelerators: v1.1, Closed; the fastest first",
        "Fastest on 8 accelerators: 25 minutes, ACME, 8 × A100, v1.1. ",
    ),
    "per accelerator": (
        ["Accelerators and chip-minutes", "Chip-minutes over rounds"], 2, ["rack8", "rack512", "processors"],
        "3 results: v1.1, Closed; the fewest chip-minutes first",
        "Fewest chip-minutes: 200 chip-minutes, ACME, 8 × A100, v1.1; of another size than the next ",
    ),
    "any size": (
        ["Accelerators and minutes", "Minutes over rounds at any size"], 2, ["rack512", "rack8", "processors"],
        "3 results: v1.1, Closed; the fastest first",
        "Fastest at any size: 1.5 minutes, ZETA, 64 × 8 A100, v1.1; 17 times as fast as the next ",
    ),
}  # fmt: skip


def test_a_switch_by_keys_chooses_what_charts_and_table_compare(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        page = opened.page
        page.get_by_role("radio", name="same size").focus()
        for place, (name, (titles, marks, shown, caption, best)) in enumerate(VIEWS.items()):
            if place:
                page.keyboard.press("ArrowRight")
            assert page.get_by_role("radio", name=name).is_checked()
            assert page.locator("#explore figcaption").all_inner_texts() == titles
            assert (drawn(opened)[0], rows(opened)) == (marks, shown), name
            assert page.locator("#explore caption").inner_text() == caption
            assert page.locator("#chart-sizes .about").inner_text().startswith(best)
            assert page.get_by_role("link", name=f"Link to: {titles[0]}").count() == 1
            assert page.url.endswith(f"#view={name.replace(' ', '-')}" if place else BENCHMARK)
            assert opened.said == []
            assert opened.violations() == [], name
            opened.said.clear()  # axe reads the style sheet
        page.reload()
        assert (page.get_by_role("radio", name="any size").is_checked(), drawn(opened)[0]) == (True, 2)
        page.evaluate("location.hash = '#view=same-size&round=v1.0'")
        page.locator("#explore caption", has_text="1 of 3 results, those on 8 accelerators: v1.0").wait_for()


def test_the_first_page_shows_records_and_tables_of_the_view_that_is_chosen(browser: Any, whole: Path) -> None:
    with Opened(browser, whole, "index.html") as opened:
        page = opened.page
        for name in ("same size", "per accelerator", "any size"):
            page.get_by_role("radio", name=name).check()
            words = {"same size": " on 8 accelerators: ", "any size": " at any size: "}.get(name, f" {name}: ")
            assert words in page.locator("#newest-0 figcaption").first.inner_text()
            shown = page.locator("table[id]:visible").evaluate_all("some => some.map((one) => one.id)")
            assert shown == [f"table-{kind}-{name.replace(' ', '-')}" for kind in ("leaders", "fastest")]
            assert (opened.said, opened.overflow()) == ([], 0)
            assert opened.violations() == [], name
            opened.said.clear()  # axe reads the style sheet


def test_families_of_several_sizes_are_drawn_by_their_efficiency(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        chart = opened.page.locator("#chart-scaling-efficiency")
        assert not chart.is_visible(), "v1.1 has no system family of several sizes"
        opened.page.get_by_role("slider", name="Round").press("ArrowLeft")
        area = chart.locator(".plot-area")
        assert area.locator("[data-mark=dot] > *").count() == 2
        assert area.locator("svg text", has_text="ACME, A100: 75.0 %").count() == 1
        assert chart.locator("figcaption").inner_text() == "Scaling efficiency, v1.0"
        area.focus()
        opened.page.keyboard.press("End")
        assert chart.locator(".said").inner_text() == "ACME, A100, v1.0\n64 accelerators: 75.0 %\n5 minutes"
        table = opened.page.locator("#efficiency tbody tr")
        assert table.all_inner_texts() == ["ACME\tA100\tv1.0\t8\t64\t5.00\t75.0\tnothing"]


def test_marks_of_one_place_do_not_cover_each_other(browser: Any, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for number in range(2, 8):
        tree.add_system(f"rack{number}", system_name=f"rack {number}")
        tree.add_entry("resnet", f"rack{number}")
    build_site(checked(tree.folder), tmp_path / "site")
    for view in ("same-size", "any-size"):
        with Opened(browser, tmp_path / "site", f"{BENCHMARK}#view={view}") as opened:
            marks = opened.page.locator("#chart-sizes [data-mark=dot] > *").all()
            places = {(round(box["x"]), round(box["y"])) for mark in marks if (box := mark.bounding_box())}
            assert len(places) == len(marks) == 7, view


def test_marks_stay_at_their_number_of_accelerators(browser: Any, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for number in range(2, 14):
        tree.add_system(f"rack{number}", accelerators_per_node=4 if number == 2 else 8)
        tree.add_entry("resnet", f"rack{number}")
    tree.add_system("large", number_of_nodes=256)
    tree.add_entry("resnet", "large")
    build_site(checked(tree.folder), tmp_path / "site")
    with Opened(browser, tmp_path / "site", f"{BENCHMARK}#view=any-size") as opened:
        opened.page.set_viewport_size({"width": 390, "height": 900})
        opened.page.wait_for_timeout(150)
        chart = opened.page.locator("#chart-sizes svg.plot")
        places = chart.evaluate("(svg, numbers) => numbers.map(svg.scale('x').apply)", [4, 8, 2048])
        left = chart.bounding_box()["x"]
        nearest = []
        for mark in chart.locator("[data-mark=dot] > *").all():
            box = mark.bounding_box()
            apart = [abs(box["x"] + box["width"] / 2 - left - place) for place in places]
            assert min(apart) < 7
            nearest.append(apart.index(min(apart)))
        assert [nearest.count(place) for place in range(3)] == [1, 12, 1]


def test_the_choice_is_in_the_address(browser: Any, history: Path) -> None:
    with Opened(browser, history, f"{BENCHMARK}") as opened:
        opened.page.goto(f"{(history / BENCHMARK).as_uri()}#round=v1.0&division=open")
        opened.page.reload()
        assert rows(opened) == ["rack8-open"]
        opened.page.evaluate("location.hash = '#round=nonsense&division=closed&view=any-size'")
        opened.page.locator("#explore caption", has_text="3 results: v1.1, Closed").wait_for()


def test_marks_of_a_benchmark_name_their_system_and_open_it(browser: Any, history: Path) -> None:
    with Opened(browser, history, f"{BENCHMARK}#view=any-size") as opened:
        point(opened, 0, 1)
        assert "rack512" in tip(opened, 0) and "64 × 8 A100" in tip(opened, 0)
        opened.page.mouse.down()
        opened.page.mouse.up()
        opened.page.wait_for_url("**/results/training_1.1_zeta_rack512_resnet.html")


def test_without_scripts_the_results_of_one_size_are_there_as_a_table(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK, java_script_enabled=False) as opened:
        assert rows(opened) == ["rack8", "rack8", "rack8-open"]
        assert not opened.page.locator("svg.plot, form").first.is_visible()
        assert not any(figure.is_visible() for figure in opened.page.locator("figure").all()), (
            "nothing is drawn in them"
        )


def lie_apart(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes do not lie on each other, but for the outline of a text."""
    return any(
        first[start] + first[length] <= second[start] + 4
        for start, length in (("x", "width"), ("y", "height"))
        for first, second in ((one, other), (other, one))
    )


@pytest.mark.parametrize("name", ["bert", "resnet"])
@pytest.mark.parametrize("width", [390, 1280])
def test_names_of_families_lie_on_no_mark(browser: Any, whole: Path, name: str, width: int) -> None:
    with Opened(browser, whole, f"benchmarks/{name}.html#view=per-accelerator") as opened:
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.wait_for_timeout(100)
        chart = opened.page.locator("#chart-rounds svg")
        marks = [mark.bounding_box() for mark in chart.locator("[data-mark=dot] > *").all()]
        for text in chart.locator("[data-mark=text] text").all():
            assert all(lie_apart(text.bounding_box(), mark) for mark in marks), text.text_content()


def test_no_filled_mark_covers_a_hollow_one(browser: Any, tmp_path: Path) -> None:
    for name in ("v1.0", "v1.1"):
        tree = make_tree(tmp_path, name)
        if name == "v1.0":
            tree.add_system("rack2")
            (tree.folder / "results" / "rack2" / "resnet").mkdir(parents=True)
    build_site(checked(tmp_path / "v1.0", tmp_path / "v1.1"), tmp_path / "site")
    with Opened(browser, tmp_path / "site", f"{BENCHMARK}#round=all") as opened:
        marks = opened.page.locator("#chart-sizes [data-mark=dot] > *").all()
        assert [mark.get_attribute("fill") == "var(--paper)" for mark in marks] == [False, True], "the last is on top"


def test_the_names_of_efficiency_are_whole_on_a_phone(browser: Any, whole: Path) -> None:
    with Opened(browser, whole, "benchmarks/resnet.html#round=v4.0") as opened:
        opened.page.set_viewport_size({"width": 390, "height": 900})
        opened.page.wait_for_timeout(100)
        chart = opened.page.locator("#chart-scaling-efficiency")
        name = chart.locator("svg text", has_text="65.7 %").bounding_box()
        box = chart.bounding_box()
        assert name["x"] + name["width"] <= box["x"] + box["width"]


def test_names_lead_to_the_pages_about_them(browser: Any, history: Path) -> None:
    with Opened(browser, history, BENCHMARK) as opened:
        for name, title in (("rack8", "rack8, ACME"), ("ZETA", "ZETA"), ("64 × 8 A100", "A100")):
            opened.page.goto((history / "index.html").as_uri())
            opened.page.goto(f"{(history / BENCHMARK).as_uri()}#view=any-size")
            opened.page.get_by_role("link", name=name, exact=True).first.click()
            assert opened.page.locator("h1").inner_text() == title
