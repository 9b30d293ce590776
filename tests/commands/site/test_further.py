"""Pages about what results share: which there are, what they say, and how large they get."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count, pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from mlsub.commands.site.charts import legend_of, looks
from mlsub.commands.site.groups import group_pages
from mlsub.commands.site.home import home_page
from mlsub.commands.site.page import STATIC, Frame, Page, write_page
from mlsub.commands.site.results import NO_ACCELERATOR, Results, Site
from mlsub.submission.result import CPU_ONLY
from mlsub.systems.names import all_chips, registry
from tests.commands.site.sites import (
    Words,
    charts_of,
    facts_of,
    made_of,
    result,
    sections_of,
    tables_of,
    view_of,
    words_of,
)
from tests.conftest import ExpectedText

CASES: dict[str, list[list[object]]] = {
    "0.7": [["bert", "ACME", "V100-SXM3-32GB", 8, 80.0]],
    "4.0": [
        ["bert", "ACME", "NVIDIA H100-SXM5-80GB", 8, 6.0],
        ["bert", "ACME", "NVIDIA H100-SXM5-80GB", 64, 1.0],
        ["bert", "ZETA", "N/A", 0, 50.0],
        ["bert", "ZETA", "Quantum Cat 9", 4, 500.0],
        ["bert", "ZETA", "NVIDIA H100-SXM5-80GB", 8, 0.5, "open"],
    ],
    "5.0": [["bert", "ACME", "NVIDIA H100-SXM5-80GB", 8, 5.0], ["rgat", "ACME", "AMD Instinct MI300X", 8, None]],
}


@pytest.fixture(scope="module")
def site() -> Site:
    return made_of(CASES)


@pytest.fixture(scope="module")
def pages(site: Site) -> dict[str, Page]:
    return {page.path: page for page in (home_page(site, None), *group_pages(site))}


def group_pages_of(words: Words) -> list[Page]:
    """The page of the system of two results."""
    return [page for page in group_pages(made_of({"4.0": [words], "5.0": [words]})) if page.path.startswith("systems/")]


def cells(page: Page, section: str, table: int = 0) -> list[list[str]]:
    return [[cell.text for cell in row] for row in tables_of(sections_of(page)[section])[table].rows]


def test_everything_that_results_share_has_a_page_and_no_page_is_of_nothing(
    pages: dict[str, Page], expected_text: ExpectedText
) -> None:
    expected_text("shared.txt", "".join(f"{name}\n" for name in sorted(pages)))


def test_an_accelerator_says_what_the_table_of_names_says(pages: dict[str, Page], expected_text: ExpectedText) -> None:
    facts = facts_of(pages["accelerators/h100.html"])
    expected_text("h100.txt", "".join(f"{name}: {cell.text}\n" for name, cell in facts.items()))
    assert cells(pages["accelerators/mi300x.html"], "results")[0][4] == "–", "a result without a time is listed"
    assert charts_of(pages["accelerators/mi300x.html"]) == ()


def test_an_accelerator_is_drawn_over_time(pages: dict[str, Page]) -> None:
    (over_time,) = charts_of(pages["accelerators/h100.html"])
    same, each, whole = (view_of(over_time, name) for name in ("same-size", "per-accelerator", "any-size"))
    assert (same["at"], each["at"], whole["at"]) == ([1, 6], [1, 6], [2, 6]), "the best of each round"
    lines = whole["lines"]
    assert [line["at"] for line in lines] == [[0], [2], [2, 6]], "BERT of v0.7 is not that of v1.0; its own line"
    assert (over_time.data["rounds"], lines[1]["until"]) == (["v0.7", "v4.0", "v5.0"], "v5.0")
    assert over_time.link == "benchmarks/bert.html"


def test_the_home_draws_the_fastest_of_each_vendor_in_each_round(pages: dict[str, Page]) -> None:
    (chart,) = charts_of(pages["index.html"])
    assert {name: view["at"] for name, view in chart.data["views"].items()} == {
        "same-size": [0, 1, 6],
        "per-accelerator": [0, 1, 6, 4],
        "any-size": [0, 2, 6, 3, 4],
    }
    assert chart.data["rounds"] == ["v0.7", "v4.0", "v5.0"], "its own rounds"
    assert view_of(chart, "any-size")["keys"] == [
        ("NVIDIA", "nvidia-2", "circle"), (CPU_ONLY, "c5", "square"), (NO_ACCELERATOR, "c5", "circle"),
    ]  # fmt: skip
    assert [view["title"] for view in chart.data["views"].values()] == [
        "BERT on 8 accelerators: 5 minutes (H100), 1.2 times as fast as v4.0",
        "BERT per accelerator: 40 chip-minutes (8 × H100), 1.2 times as efficient as v4.0",
        "BERT at any size: 1 minute (64 × H100) in v4.0, not beaten since",
    ]
    assert (chart.title, chart.anchor) == (view_of(chart)["title"], "chart-record-bert")
    assert chart.about == "Record: ACME, 8 × H100, v5.0; first ACME, 8 × H100, v4.0."
    sections = {name: section.title for name, section in sections_of(pages["index.html"]).items()}
    titles = (
        "Fastest Closed results of MLPerf Training v5.0", "Records: MLPerf Training v5.0", "Rounds",
        "Fastest Closed results",
    )  # fmt: skip
    assert sections == dict(zip(("leaders", "newest-0", "rounds", "fastest"), titles, strict=True))
    counts = [row[-1] for row in cells(pages["index.html"], "rounds")]
    assert counts == [f"{number} of {number} meet the official checker" for number in (2, 5, 1)]
    assert len(words_of(pages["index.html"])) == 2


def test_a_benchmark_has_all_its_results_as_data_and_the_fastest_as_a_table(pages: dict[str, Page]) -> None:
    page = pages["benchmarks/bert.html"]
    sizes, over_rounds, efficiency = charts_of(page)
    explore = sizes.data["explore"]
    assert (explore["rounds"], explore["results"]) == (["v0.7", "v4.0", "v5.0"], [0, 1, 2, 3, 4, 5, 6])
    assert explore["divisions"] == [("closed", "Closed"), ("open", "Open")]
    assert sizes.data["at"] == [0, 1, 2, 4, 5, 6], "without those that have no accelerators"
    assert explore["pages"]["accelerator"]["H100"] == "accelerators/h100.html"
    assert explore["pages"]["system"]["ZETA\n4 Quantum Cat 9"] == "results/training_4.0_zeta_rack4_bert.html"
    assert [line["at"] for line in view_of(over_rounds)["lines"]] == [[1, 6]]
    assert [row[2:4] + row[6:7] for row in cells(page, "explore")] == [
        ["8 × H100", "5.00", "v5.0"], ["8 × H100", "6.00", "v4.0"],
        ["8 × V100", "80.0", "v0.7"], ["8 × H100", "0.500", "v4.0"],
    ], "those of the size that is compared"  # fmt: skip
    facts = {name: cell.text for name, cell in facts_of(page).items()}
    assert facts["Rounds that may be compared"] == "v0.7; v4.0 to v5.0"
    assert facts_of(page)["Fastest in minutes"].note == "on 8 accelerators"
    assert (facts["Compared on"], facts["Fastest in minutes"], facts["By"]) == (
        "8 accelerators",
        "5.00",
        "ACME, 8 × H100, v5.0",
    )
    assert efficiency.data["families"] == [{"at": [1, 2], "efficiency": [1.0, 0.75]}]
    assert cells(page, "efficiency") == [["ACME", "H100", "v4.0", "8", "64", "1.00", "75.0", "nothing"]]


def test_the_table_of_a_benchmark_without_scripts_is_of_one_size_whatever_the_division() -> None:
    rows = [
        ["bert", "ACME", "V100", 8, 9.0],
        ["bert", "ACME", "V100", 512, 1.0],
        ["bert", "ACME", "V100", 512, 1.0, "?"],
    ]
    rows = [["bert", "ACME", "V100", 8, 9.0], ["bert", "ACME", "V100", 512, 1.0]]
    rows += [["bert", "ACME", "V100", 512, 1.0, "?"]]
    pages = group_pages(made_of({"0.7": [*rows, ["bert", "ACME", "V100", 8, 5.0, "open"]]}))
    (page,) = [page for page in pages if page.path == "benchmarks/bert.html"]
    (table,) = tables_of(sections_of(page)["explore"])
    assert table.caption == "Results on 8 accelerators, the newest round first"
    assert [row[2:6:3] for row in cells(page, "explore")] == [["8 × V100", "closed"], ["8 × V100", "open"]]


def test_what_is_best_of_a_round_and_by_how_much_is_said_in_each_view(pages: dict[str, Page]) -> None:
    choices = charts_of(pages["benchmarks/bert.html"])[0].data["explore"]["choices"]
    assert (choices["closed"][""]["size"], choices["open"]["v4.0"]["size"]) == ("8 accelerators",) * 2
    assert choices["closed"]["v4.0"] == {
        "size": "8 accelerators",
        "leads": {
            "same-size": "Fastest on 8 accelerators: 6 minutes, ACME, 8 × H100, v4.0.",
            "per-accelerator": (
                "Fewest chip-minutes: 48 chip-minutes, ACME, 8 × H100, v4.0; of another size than the next "
                "(64 chip-minutes, ACME, 64 × H100, v4.0)."
            ),
            "any-size": (
                "Fastest at any size: 1 minute, ACME, 64 × H100, v4.0; 6 times as fast as the next (6 minutes, ACME, "
                "8 × H100, v4.0)."
            ),
        },
    }


def test_another_size_than_that_of_the_benchmark_is_explained() -> None:
    rows = {"4.0": [1024, 1024], "4.1": [1024], "5.0": [1024, 2048, 2048]}
    site = made_of({name: [["gpt3", "ACME", "H100", size, 9.0] for size in sizes] for name, sizes in rows.items()})
    (page,) = [page for page in group_pages(site) if page.path == "benchmarks/gpt3.html"]
    choices = charts_of(page)[0].data["explore"]["choices"]["closed"]
    assert facts_of(page)["Compared on"].text == choices[""]["size"] == "1,024 accelerators"
    told = {name: choice["leads"]["same-size"].partition(" Here ")[2] for name, choice in choices.items()}
    said = "the usual size is 2,048 accelerators; over all rounds it is 1,024 accelerators."
    assert told == {"": "", "v4.0": "", "v4.1": "", "v5.0": said}


def test_tables_of_the_best_show_one_view_without_scripts(pages: dict[str, Page]) -> None:
    for section, last in (("leaders", "the only one"), ("fastest", "5.00")):
        tables = tables_of(sections_of(pages["index.html"])[section])
        assert [table.folded for table in tables] == [False, True, True]
        assert [table.anchor for table in tables] == [
            f"{section}-{view}" for view in ("same-size", "per-accelerator", "any-size")
        ]
        assert (cells(pages["index.html"], section)[0][0], cells(pages["index.html"], section)[0][-1]) == (
            "BERT on 8 accelerators", last,
        )  # fmt: skip


def test_one_round_or_two_draw_no_records() -> None:
    before = [["bert", "ACME", "NVIDIA H100-SXM5-80GB", 8, 6.0], ["bert", "ZETA", "GC200", 16, 9.0]]
    now = [["bert", "ZETA", "NVIDIA H200", 64, 2.5], ["bert", "ACME", "AMD Instinct MI300X", 8, 5.0]]
    for cases in ({"5.0": now}, {"4.1": before, "5.0": now}):
        home = home_page(made_of(cases), None)
        assert charts_of(home) == ()
        assert list(sections_of(home)) == ["leaders", "rounds", *(["fastest"] if len(cases) > 1 else [])]


def test_a_system_is_called_as_its_description_calls_it_and_nothing_is_made_up(pages: dict[str, Page]) -> None:
    called = {("N/A", 0): "CPU only", ("Quantum Cat 9", 4): "4 × Quantum Cat 9", ("unknown", 16): "16, not named"}
    for (model, number), words in called.items():
        (page,) = group_pages_of(["bert", "ACME", model, number, 1.0])
        assert facts_of(page)["Accelerators"].text == words
    names = [row[0] for row in cells(pages["accelerators.html"], "all")]
    assert names == ["V100", "H100", "MI300X"], "makers together, older ones first"


def test_a_system_with_several_rounds_is_drawn_over_them(pages: dict[str, Page]) -> None:
    (chart,) = charts_of(pages["systems/acme_8-nvidia-h100-sxm5-80gb.html"])
    assert view_of(chart)["at"] == [1, 6]
    assert "systems/acme_64-nvidia-h100-sxm5-80gb.html" not in pages, "the page of its one result says it all"
    assert len(cells(pages["systems/acme_8-nvidia-h100-sxm5-80gb.html"], "results")) == 2


def test_families_have_one_colour_and_shape_each_on_all_pages() -> None:
    models = ["V100", "A100", "H100", "MI300X", "TPU v3", "TPU v4", "TPU v5p", "GC200", "Bow IPU", "Gaudi 2", "L40S"]
    site = made_of({"5.0": [["bert", "ACME", model, 8, 9.0] for model in models]})
    for by, number in (("family", len(models)), ("vendor", 5)):
        shown = {(colour, shape) for _, colour, shape in legend_of(by, site.results)}
        assert len(shown) == len(legend_of(by, site.results)) == number
        assert all(colour != "c5" for colour, _ in shown), "grey is for what has no known accelerator"


def test_every_accelerator_has_a_look_of_its_own_with_contrast() -> None:
    chips = all_chips().values()
    own = {name: look for name, *look in (looks()[chip.family] for chip in chips)}
    assert len(set(map(tuple, own.values()))) == len(own)
    for chip in chips:
        assert own[chip.family][0].startswith(looks()[chip.vendor[0]][1][:-1]), "a shade of the colour of its vendor"
    style = dict(re.findall(r"(--[a-z0-9-]+): light-dark\((#\w+, #\w+)\)", (STATIC / "site.css").read_text()))
    paper = list(map(luminance, style["--paper"].split(", ")))
    for colour, _ in own.values():
        for back, ink in zip(paper, map(luminance, style[f"--{colour}"].split(", ")), strict=True):
            assert (max(back, ink) + 0.05) / (min(back, ink) + 0.05) >= 3, colour


def test_families_of_neighbouring_generations_have_different_shapes() -> None:
    for shades in registry().shades.values():
        for older, newer in pairwise(shades):
            shapes = [looks()[name][2] for name in (*older, *newer)]
            assert len(set(shapes)) == len(shapes), (older, newer)


def luminance(colour: str) -> float:
    """The relative luminance of WCAG."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("names", [("<<", ">>"), ("日本", "中国"), ("a*b", "a^b"), ("x" * 200, "x" * 201)])
def test_names_that_an_address_cannot_hold_do_not_share_a_page(names: tuple[str, str]) -> None:
    made = [result("4.0", ["bert", name, "N/A", 0, 1.0]) for name in names]
    for href in (lambda one: one.organisation_href, lambda one: one.system_href):
        found = {href(one) for one in made}
        assert len(found) == 2
        assert all(re.fullmatch(r"[a-z]+/[a-z0-9._-]{1,120}\.html", one) for one in found)
    assert made[0].benchmark_href == "benchmarks/bert.html"


def crowd() -> Iterable[tuple[str, list[Words]]]:
    """2,200 results of eleven rounds, more than half of them on three accelerators."""
    benchmarks = ["bert", "resnet", "ssd", "unet3d", "dlrm", "gpt3", "rgat", "llama2_70b_lora", "stable_diffusion"]
    models = ["NVIDIA A100-SXM4-80GB", "NVIDIA H100-SXM5-80GB", "NVIDIA H200", "TPU v4", "AMD MI300X", "N/A"]
    for name in ("0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1"):
        yield name, [
            [
                benchmarks[at % 9], f"Organisation {at % 17}", models[min(at % 11, 5) if at % 2 else at % 3],
                8 << (at % 7), 1 + at * 37 % 199, "open" if at % 13 == 0 else "closed",
            ]
            for at in range(200)
        ]  # fmt: skip


@pytest.mark.slow
def test_pages_stay_small_with_all_published_results(tmp_path: Path) -> None:
    site = made_of(dict(crowd()))
    assert len(site.results) == 2200
    numbers = count()
    renamed = [
        replace(one, results=Results(replace(it, system_href=f"systems/{next(numbers)}.html") for it in one.results))
        for one in site.rounds
    ]
    written = [home_page(site, None)]
    written += [page for page in group_pages(Site(renamed)) if not page.path.startswith("systems/")]
    for page in written:
        write_page(tmp_path, Frame(()), page)
    sizes = {page.path: (tmp_path / page.path).stat().st_size for page in written}
    assert {path: size for path, size in sizes.items() if size > 302_000} == {}
    (index,) = [page for page in written if page.path == "systems.html"]
    assert words_of(index)[0].endswith(
        "The first 1,200 of 2,200 are listed; the pages of organisations lead to the others."
    )
