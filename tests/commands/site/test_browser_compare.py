"""Two results compared in a real browser: the figures and words of mlsub compare, as a waterfall and tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.commands.compare.packages.reading import Entry, Reading
from mlsub.commands.compare.trainings.compare import compare_entries
from mlsub.commands.site.build import Wanted, build_site
from mlsub.commands.site.results import Result, rounds_of
from mlsub.log.intervals import IntervalFold
from mlsub.rounds import get_round
from mlsub.submission.ids import IdList, ids_of
from mlsub.submission.locate import locate
from mlsub.workspace import Checked, Settings, check_with_logs
from tests.commands.compare.test_canon import submission
from tests.commands.site.browser import Opened
from tests.commands.site.sites import two_rounds
from tests.differential.shared import ABSENT, folder, present
from tests.make_tree import Log, make_tree

DECOMPOSED = "pairs => pairs.map(([a, b]) => mlsubDecompose.compare(a, b))"
SLUG = "training_1.0_acme_rack1_{}"


def counted_in_samples(log: Log) -> None:
    """Progress under the name of epochs that counts samples."""
    for record in log.records():
        if "epoch_num" in record["metadata"]:
            record["metadata"]["epoch_num"] *= 1_281_167


def timed(*paths: Path) -> list[Checked]:
    return check_with_logs([str(path) for path in paths], Settings(jobs=1, folds=(IntervalFold,)))


@pytest.fixture(scope="module")
def rounds_checked(tmp_path_factory: pytest.TempPathFactory) -> list[Checked]:
    """Rounds with results that are compared, that are compared with a warning, and that are not compared."""
    above = tmp_path_factory.mktemp("rounds")
    places = two_rounds(above)
    submission(above, "1.0", "rnnt", organisation="OTHER")
    submission(above, "1.1", "rnnt", "ssd", organisation="OTHER")
    make_tree(above, "v1.1", "UNTIMED").edit(lambda log: log.drop("run_stop", "run_start"), *range(5))
    make_tree(above, "v1.1", "SAMPLES").edit(counted_in_samples, *range(5))
    return timed(*places, submission(above, "2.0", "ssd", "rnnt").parent)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, rounds_checked: list[Checked]) -> Path:
    place = tmp_path_factory.mktemp("pairs") / "site"
    build_site(rounds_checked, place, Wanted())
    return place


def results_of(checked: Sequence[Checked]) -> list[tuple[Result, Entry]]:
    """The results in the order of the site, each with the entry that mlsub compare makes of it."""
    rounds = rounds_of(
        checked, lambda report: get_round(str(report.usage), str(report.round)), ids_of(IdList(rounds=()))
    )
    read = {id(one.report): Reading(one.report.root, locate(Path(one.report.root)), one) for one in checked}
    entries = {(key, entry.result.path): entry for key, reading in read.items() for entry in reading.entries}
    return [(result, entries[id(one.report), result.entry.path]) for one in rounds for result in one.results]


def compared(found: Sequence[tuple[Result, Entry]], chosen: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(compare_entries((found[a][1], found[b][1]))) for a, b in chosen]


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """The comparison of the page and that of the command: words and names equal, figures to 1e-9."""
    words = ("undivided", "same", "compatible", "warning", "answer")
    assert {key: ours[key] for key in words} == {key: theirs[key] for key in words}
    for key in ("ratio", "reduction"):
        assert ours[key] == (theirs[key] if theirs[key] is None else pytest.approx(theirs[key], rel=1e-9, abs=1e-9))
    changes = [(one["name"], one["old"], one["new"]) for one in theirs["hyperparameters"]]
    assert [(one["name"], one["old"], one["new"]) for one in ours["hyperparameters"]] == changes
    for one, other in zip(ours["parts"], theirs["parts"], strict=True):
        assert {**one} == {
            key: pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value
            for key, value in other.items()
        }


def test_any_two_results_are_compared_as_the_command_does(
    browser: Any, pairs: Path, rounds_checked: list[Checked]
) -> None:
    found = results_of(rounds_checked)
    chosen = list(product(range(len(found)), repeat=2))
    theirs = compared(found, chosen)
    with Opened(browser, pairs, "compare.html") as opened:
        ours = opened.page.evaluate(DECOMPOSED, [list(pair) for pair in chosen])
        assert opened.said == []
    for one, other in zip(ours, theirs, strict=True):
        assert_same(one, other)
    undivided = {one["undivided"] for one in theirs}
    untimed = "no run has a time that counts, or its log cannot be read"
    assert undivided == {None, "they train different benchmarks", untimed}
    assert {one["compatible"] for one in theirs} == {"yes", "no"}
    divided = [any(part["name"] == "work" for part in one["parts"]) for one in theirs if not one["undivided"]]
    assert set(divided) == {True}, "each pair of one benchmark is compared by its work"
    assert any("SSD (training v1.1) and RetinaNet (training v2.0)" in (one["warning"] or "") for one in theirs)


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_published_results_are_compared_as_the_command_does(browser: Any, tmp_path: Path) -> None:
    checked = timed(*(folder("1.0") / name for name in ("Graphcore", "PCL")), folder("1.1") / "Graphcore",
                    folder("hpc-3.0"), folder("4.1") / "Google")  # fmt: skip
    build_site(checked, tmp_path / "site", Wanted())
    found = results_of(checked)
    benchmarks = [result.named.benchmark for result, _ in found]
    chosen = [(a, b) for a, b in product(range(len(found)), repeat=2) if benchmarks[a] == benchmarks[b]][::4]
    theirs = compared(found, chosen)
    with Opened(browser, tmp_path / "site", "compare.html") as opened:
        ours = opened.page.evaluate(DECOMPOSED, [list(pair) for pair in chosen])
    assert len(chosen) > 20
    for one, other in zip(ours, theirs, strict=True):
        assert_same(one, other)
    assert {part["name"] for one in theirs for part in one["parts"]} >= {"work", "pace", "accelerators", "evaluation"}


def open_pair(browser: Any, site: Path, a: str, b: str, **context: Any) -> Opened:
    opened = Opened(browser, site, "compare.html", **context)
    opened.page.goto(f"{(site / 'compare.html').as_uri()}#a={a}&b={b}")
    return opened


def test_a_link_names_the_two_and_the_chart_goes_from_one_to_the_other(browser: Any, pairs: Path) -> None:
    with open_pair(browser, pairs, "training_1.0_acme_rack2_resnet", SLUG.format("resnet")) as opened:
        answer = opened.page.locator(".answer").inner_text()
        assert "Warning: Closed and Open results are not comparable" in answer
        assert "B takes as long as A (12.000000 → 12.000000 min)" in answer
        links = [link.get_attribute("href") for link in opened.page.locator(".now a").all()]
        assert links == [f"results/{name}.html" for name in ("training_1.0_acme_rack2_resnet", SLUG.format("resnet"))]
        assert all(opened.marks())
        captions = opened.page.locator("#difference caption").all_inner_texts()
        assert captions[:2] == ["Parts of the difference", "Side by side"]
        opened.screenshot("compare/open-with-closed.html")


def test_pairs_that_have_no_parts_say_why(browser: Any, pairs: Path) -> None:
    with open_pair(browser, pairs, SLUG.format("resnet"), SLUG.format("bert")) as opened:
        answer = opened.page.locator(".answer").inner_text()
        assert "Warning: ResNet-50 (training v1.0) and BERT (training v1.0) are different benchmarks." in answer
        assert "Not divided: they train different benchmarks." in answer
        assert opened.page.locator("svg.plot text", has_text="No parts to draw").is_visible()
    with open_pair(browser, pairs, SLUG.format("resnet"), "training_1.1_untimed_rack1_resnet") as opened:
        assert "B has no time to compare." in opened.page.locator(".answer").inner_text()


def test_a_and_b_are_chosen_searched_swapped_and_undone(browser: Any, pairs: Path) -> None:
    with open_pair(browser, pairs, SLUG.format("resnet"), SLUG.format("bert")) as opened:
        page = opened.page
        page.get_by_role("button", name="Swap A and B").click()
        assert page.url.endswith(f"#a={SLUG.format('bert')}&b={SLUG.format('resnet')}")
        page.get_by_label("Search for B").fill("ssd v1.1")
        choices = page.get_by_label("Results, to choose B from")
        assert choices.locator("option").count() == 1
        choices.select_option(index=0)
        assert "_ssd" in page.url.partition("&b=")[2]
        page.go_back()
        assert page.url.endswith(f"&b={SLUG.format('resnet')}")
        assert page.locator(".now a").nth(1).get_attribute("href") == f"results/{SLUG.format('resnet')}.html"
        assert (opened.said, opened.elsewhere) == ([], [])


def test_any_address_of_a_pair_is_read(browser: Any, pairs: Path) -> None:
    with Opened(browser, pairs, "compare.html") as opened:
        for choice in ("", "a=nothing&b=../x", "a=%", "b=constructor", "a=%3Cimg%20src%3Dx%3E&b=1"):
            opened.page.goto(f"{(pairs / 'compare.html').as_uri()}#{choice}")
            warned = "is not a result of this site" in opened.page.locator(".answer").inner_text()
            assert (opened.said, opened.page.locator("main img").count(), warned) == ([], 0, "=" in choice)
            assert all(opened.marks())


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light"), (320, "light")])
def test_the_comparison_is_accessible_and_fits(browser: Any, pairs: Path, width: int, scheme: str) -> None:
    with open_pair(browser, pairs, SLUG.format("resnet"), SLUG.format("bert"), color_scheme=scheme) as opened:
        opened.page.set_viewport_size({"width": width, "height": 844})
        opened.page.wait_for_timeout(100)
        assert opened.overflow() == 0
        if width != 320:
            assert opened.violations() == []
        opened.screenshot(f"compare/{width}-{scheme}.html")
