"""Two results side by side in a real browser: what is ticked, the page, and the same words as ``mlsub compare``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.compare_page import name_of
from mlsub.commands.site.results import Site, SiteResult
from mlsub.score.difference.measure import measure
from mlsub.score.difference.words import explain
from tests.commands.site.browser import Opened
from tests.commands.site.sites import site_of
from tools.oracle.shared import ABSENT, present
from tools.support.corpus import CORPUS

RACK8, RACK64 = "training_1.0_acme_rack8_resnet", "training_1.0_acme_rack64_resnet"
PAGE = "compare.html"
#: Of the data of a page, and the names of two results: the difference as the page has it.
SAYS = """async ([path, pairs]) => {
    await window.mlsub.load(path);
    const { keys, texts, entries } = window.mlsubCompare[path];
    const rows = window.mlsub.results();
    const value = (entry, at) => { const place = entry.values[at] ?? -1; return place < 0 ? place : texts[place]; };
    return pairs.map(([one, other]) => {
        const row = (name) => rows.find(({ href }) => href.endsWith(`results/${name}.html`));
        const sides = [one, other].map((name) => ({ entry: entries[name], row: row(name) }));
        const [a, b] = sides.map(({ entry }) => entry);
        const both = keys.map((key, at) => [key, value(a, at), value(b, at)]).sort(([x], [y]) => x < y ? -1 : 1);
        const differ = both.filter(([, x, y]) => x !== y && x !== -2 && y !== -2);
        const changes = differ.map(([key, ...two]) => [key, ...two.map((x) => x === -1 ? "-" : x)]);
        const { parts, said } = window.mlsub.differenceOf(sides, changes);
        return [said, parts.map((part) => part.minutes)];
    });
}"""


def pairs_of(site: Site) -> Iterator[tuple[SiteResult, SiteResult]]:
    """Two results of each benchmark after each other, within rounds and across them."""
    for some in site.benchmarks:
        yield from pairwise(some)
        yield from zip(some, some[7:], strict=False)


def assert_same_words(browser: Any, folder: Path, site: Site) -> int:
    """Compare what the page says of pairs with what ``mlsub compare`` says, and return how many pairs there were."""
    measured = {one.href: measure(one.result) for one in site.results}
    by_path: dict[str, list[tuple[SiteResult, SiteResult]]] = {}
    for one, other in pairs_of(site):
        by_path.setdefault(f"data/compare-{name_of(one.benchmark_href)}.js", []).append((one, other))
    with Opened(browser, folder, PAGE) as opened:
        for path, pairs in by_path.items():
            found = opened.page.evaluate(SAYS, [path, [[name_of(it.href) for it in pair] for pair in pairs]])
            for (one, other), (said, minutes) in zip(pairs, found, strict=True):
                theirs = explain(measured[one.href], measured[other.href])
                assert said == theirs.answer, (one.href, other.href)
                assert minutes == pytest.approx([part.minutes for part in theirs.parts], rel=1e-9, abs=1e-9)
                if theirs.parts and one.score_minutes and other.score_minutes:
                    assert math.isclose(sum(minutes), other.score_minutes - one.score_minutes, abs_tol=1e-6)
    return sum(map(len, by_path.values()))


def test_the_page_says_what_compare_says(browser: Any, history: Path) -> None:
    rounds = (history.parent / name for name in ("v1.0", "v1.1"))
    assert assert_same_words(browser, history, site_of(*rounds)) == 6


#: What is said of a result and the same one as another benchmark, and as one that trains a little slower.
OTHERS = """async ([path, name]) => {
    await window.mlsub.load(path);
    const entry = window.mlsubCompare[path].entries[name];
    const row = window.mlsub.results().find(({ href }) => href.endsWith(`results/${name}.html`));
    const bert = { entry, row: { ...row, benchmark_name: "bert", benchmark_title: "BERT" } };
    const phases = { ...entry.phases, training: entry.phases.training + entry.minutes * 0.2 };
    const one = { row, entry: { ...entry, throughput: 2.8249 } };
    const slower = { row, entry: { ...entry, throughput: 2.8165, phases, minutes: entry.minutes * 1.003 } };
    return [[{ entry, row }, bert], [one, slower]].map((sides) => window.mlsub.differenceOf(sides, []).said);
}"""


def test_two_benchmarks_and_near_rates_are_told_apart(browser: Any, history: Path) -> None:
    with Opened(browser, history, PAGE) as opened:
        benchmarks, rates = opened.page.evaluate(OTHERS, ["data/compare-resnet.js", RACK8])
    assert benchmarks == "A and B train different benchmarks, ResNet-50 and BERT. They take 30.0 and 30.0 min."
    assert "2.825 -> 2.817 samples/s" in rates


@pytest.mark.slow
def test_the_page_says_what_compare_says_of_published_results(browser: Any, whole: Path) -> None:
    if not present():
        pytest.skip(ABSENT)
    rounds = sorted(folder for folder in CORPUS.iterdir() if folder.is_dir())
    assert assert_same_words(browser, whole, site_of(*rounds)) > 200


def ticks(opened: Opened) -> list[str]:
    """What is ticked on a page, by the names of the results."""
    return [box.get_attribute("value") for box in opened.page.locator("input.tick:checked").all()]


def test_two_results_are_ticked_on_any_pages_and_compared(browser: Any, history: Path) -> None:
    with Opened(browser, history, "benchmarks/resnet.html") as opened:
        page, bar = opened.page, opened.page.get_by_role("complementary", name="Results to compare")
        page.goto(f"{page.url}#view=any-size&round=v1.0&division=closed")
        assert not bar.is_visible()
        page.get_by_role("checkbox", name=f"Compare {RACK64.replace('_', ' ')}").check()
        assert "Tick another result" in bar.inner_text()
        page.goto((history / f"results/{RACK8}.html").as_uri())
        assert ticks(opened) == [], "what is ticked on another page is remembered, and is not this one"
        page.get_by_label("Compare this result with another").check()
        page.goto((history / "rounds/training_1.0.html").as_uri())
        assert sorted(ticks(opened)) == sorted([RACK8, RACK64])
        page.get_by_role("checkbox", name="pod16").check()
        assert RACK64 not in ticks(opened), "of three the first is let go"
        bar.get_by_role("button", name="Do not compare ACME, pod16, ResNet-50, v1.0").click()
        assert ticks(opened) == [RACK8]
        page.get_by_role("checkbox", name=f"Compare {RACK64.replace('_', ' ')}").check()
        bar.get_by_role("link", name="Compare the two").click()
        page.wait_for_url(f"**/{PAGE}#a={RACK8}&b={RACK64}")
        page.locator(".answer").wait_for()
        assert page.locator(".answer").inner_text().startswith("B is 83.3 % shorter (6.00x, 30.0 → 5.00 min): ")
        assert not bar.is_visible()
        assert opened.said == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (820, "dark"), (390, "dark"), (390, "light")])
def test_two_results_have_steps_from_one_to_the_other_and_both_curves(
    browser: Any, history: Path, width: int, scheme: str
) -> None:
    with Opened(browser, history, PAGE, color_scheme=scheme) as opened:
        page = opened.page
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{(history / PAGE).as_uri()}#a={RACK8}&b={RACK64}")
        page.locator(".answer").wait_for()
        page.wait_for_timeout(150)
        titles = page.locator("figure.chart:visible figcaption").all_inner_texts()
        assert titles == [
            "What makes the difference, in minutes",
            "Training curves over minutes since run_start",
            "Training curves over progress (epochs)",
        ]
        rows = page.locator("#chart-what-makes-the-difference-in-minutes .legend").inner_text().split()
        assert {"minutes", "shorter"} <= set(rows)
        assert page.locator("#chart-training-curves-over-progress .legend").inner_text().count("ACME, rack") == 2
        side_by_side = page.locator("table.sides").nth(0).locator("tr", has_text="chip-minutes")
        assert side_by_side.inner_text().split() == ["chip-minutes", "240.000000", "320.000000"]
        assert (opened.overflow(), opened.said) == (0, [])
        assert opened.violations() == []
        page.get_by_role("link", name="Exchange A and B").click()
        page.locator(".answer", has_text="B is 500.0 % longer").wait_for()
        opened.screenshot(f"compare-{width}-{scheme}/{PAGE}")


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("", "Tick two results in the table of all results or on any other page."),
        (f"a={RACK8}&b=nobody", "No result here is called nobody."),
        (f"a={RACK8}&b=training_1.0_acme_rack8-open_resnet", "Closed and Open results are not comparable"),
        (f"a={RACK8}&b={RACK8}", "B takes as long as A (30.0 → 30.0 min)."),
    ],
)
def test_what_is_not_to_be_compared_is_said(browser: Any, history: Path, choice: str, told: str) -> None:
    with Opened(browser, history, PAGE) as opened:
        opened.page.goto(f"{(history / PAGE).as_uri()}#{choice}")
        opened.page.locator("#compare", has_text=told).wait_for()
        assert opened.said == []


# The chart of what is chosen among all results, and where the buttons of charts lie.


def test_what_is_chosen_among_all_results_is_drawn_over_two_columns(browser: Any, history: Path) -> None:
    with Opened(browser, history, "results.html") as opened:
        page, dots = opened.page, opened.page.locator("#chart-selection [data-mark=dot] > *")
        page.get_by_text("Chart of what is chosen").click()
        dots.first.wait_for()
        assert page.url.endswith("#division_name=closed&axes=accelerators_count,published_minutes")
        assert page.locator("#chart-selection figcaption").inner_text() == "Time to train over accelerators"
        assert (dots.count(), page.locator("#chart-selection .about").inner_text()) == (
            5, "5 of 6 results. 1 without both values are in the table alone."
        )  # fmt: skip
        page.get_by_label("Across").select_option("round_key")
        page.get_by_label("Upwards").select_option("chip_minutes")
        page.locator("figcaption", has_text="Chip-minutes over round").wait_for()
        page.locator("details.facet").filter(has_text="Round").locator("li", has_text="v1.0").get_by_role(
            "checkbox"
        ).check()
        page.wait_for_timeout(100)
        assert dots.count() == 3, "the chart follows the facets"
        page.reload()
        dots.first.wait_for()
        assert (dots.count(), page.get_by_label("Across").input_value()) == (3, "round_key"), "the address keeps it"
        assert opened.said == []
        assert opened.violations() == []
        page.get_by_text("Chart of what is chosen").click()
        page.wait_for_function("!location.hash.includes('axes')")
        page.evaluate("location.hash = '#axes=system_name,published_minutes'")
        page.wait_for_timeout(100)
        assert not page.locator("#chart-selection").is_visible(), "axes are numbers, or rounds"


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("name", ["accelerators/a100.html", "benchmarks/resnet.html", f"results/{RACK8}.html"])
def test_buttons_of_a_chart_lie_beside_its_title_or_below_it(
    browser: Any, history: Path, name: str, width: int
) -> None:
    with Opened(browser, history, name, has_touch=True, is_mobile=width < 1000) as opened:
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.wait_for_timeout(150)
        figures = [one for one in opened.page.locator("figure.chart").all() if one.is_visible()]
        assert figures
        for figure in figures:
            parts = (figure.locator(part).first.bounding_box() for part in ("figcaption", ".tools", ".plot-area"))
            title, tools, plot = parts
            beside = title["x"] + title["width"] <= tools["x"] + 1
            below = title["y"] + title["height"] <= tools["y"] + 1
            assert (beside or below) and tools["y"] + tools["height"] <= plot["y"] + 1
            assert all(box.bounding_box()["height"] >= 24 for box in figure.locator(".tools > *").all())


#: Links of tables that have the focus and are not what lies at their middle, in order: something covers them.
COVERED = """() => Array.from(document.querySelectorAll("tbody tr a")).flatMap((link) => {
    link.focus();
    const box = link.getClientRects()[0];
    const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return link.contains(there) ? [] : [`${link.textContent} at ${box.y}: ${there?.outerHTML?.slice(0, 80)}`];
})"""


@pytest.mark.parametrize("scripts", [True, False])
def test_heads_that_stay_in_place_cover_no_row(browser: Any, history: Path, scripts: bool) -> None:
    for name in ("rounds/training_1.0.html", "benchmarks/resnet.html"):
        with Opened(browser, history, name, java_script_enabled=scripts) as opened:
            for width in (390, 820, 1070, 1280):
                opened.page.set_viewport_size({"width": width, "height": 400})
                opened.page.wait_for_timeout(100)
                opened.page.mouse.wheel(0, 5000)
                if scripts:
                    assert opened.page.evaluate(COVERED) == [], (name, width)
                    continue
                kinds = opened.page.locator("thead th, header.top")
                assert set(kinds.evaluate_all("all => all.map(one => getComputedStyle(one).position)")) == {"static"}
