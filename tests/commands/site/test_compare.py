"""Where a result stands, its neighbours, what results are compared by, and numbers whose points stand in a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.commands.site.compare_page import Comparisons, compare_page, name_of
from mlsub.commands.site.page import render_table, three_text
from mlsub.commands.site.result_page import is_pattern, result_page, source_href
from mlsub.commands.site.results import Results, Site
from mlsub.commands.site.runs import convergence_section
from mlsub.commands.site.views import standings
from mlsub.present.document import Column, Span, Table
from mlsub.score.difference.measure import measure
from mlsub.score.difference.words import explain
from tests.commands.site.sites import blocks_of, changed, facts_of, made_of, script, sections_of, site_of, words_of
from tests.commands.site.sites import charts_of as charts
from tools.support.make_tree import make_tree

#: Rows of a round, each with where it stands, and the next faster and the next slower one by their places.
STANDINGS: dict[str, list[tuple[tuple[str, int, float, str], Any]]] = {
    "sizes are apart, chip-minutes are not": [
        (("bert", 8, 10.0, "closed"), ("1st of 2 at this size; 1st of 3 per accelerator", None, 1)),
        (("bert", 8, 12.0, "closed"), ("2nd of 2 at this size; 3rd of 3 per accelerator", 0, None)),
        (("bert", 64, 1.4, "closed"), ("The only one at this size; 2nd of 3 per accelerator", None, None)),
    ],
    "equals share the better place": [
        (("bert", 8, 12.0, "closed"), ("2nd of 4 at this size; 2nd of 4 per accelerator", 1, 2)),
        (("bert", 8, 10.0, "closed"), ("1st of 4 at this size; 1st of 4 per accelerator", None, 0)),
        (("bert", 8, 12.0, "closed"), ("2nd of 4 at this size; 2nd of 4 per accelerator", 0, 3)),
        (("bert", 8, 13.0, "closed"), ("4th of 4 at this size; 4th of 4 per accelerator", 2, None)),
    ],
    "benchmarks are apart, and Open is not ranked": [
        (("bert", 8, 10.0, "closed"), ("The only one at this size", None, None)),
        (("resnet", 8, 9.0, "closed"), ("The only one at this size", None, None)),
        (("bert", 8, 1.0, "open"), None),
        (("bert", 0, 1.0, "closed"), ("1st of 2 at this size", None, 4)),
        (("bert", 0, 2.0, "closed"), ("2nd of 2 at this size", 3, None)),
        (("bert", 8, 0.0, "closed"), None),
    ],
}


def made(rows: Sequence[tuple[str, int, float, str]], *rounds: str) -> Results:
    words = [(benchmark, "ACME", "NVIDIA H100", *facts) for benchmark, *facts in rows]
    return made_of(dict.fromkeys(rounds or ("5.1",), words)).results


@pytest.mark.parametrize("name", STANDINGS)
def test_a_result_stands_among_those_of_its_size_and_per_accelerator(name: str) -> None:
    results = made([facts for facts, _ in STANDINGS[name]])
    place = {one.href: at for at, one in enumerate(results)}
    found = standings(results)
    for one, (_, told) in zip(results, STANDINGS[name], strict=True):
        words, *beside = found.get(one.href, ("",))
        at = [it and place[it.href] for it in beside if not isinstance(it, str)]
        assert ((words, *at) if beside else None) == told


def test_rounds_and_weak_scaling_are_apart() -> None:
    results = made([("bert", 8, 10.0, "closed")], "5.0", "5.1")
    assert [one.words for one in standings(results).values()] == ["The only one at this size"] * 2
    assert standings(Results(changed(one, scaling_type="weak") for one in results)) == {}


@given(st.lists(st.tuples(st.sampled_from((8, 16, 64)), st.floats(0.1, 100)), min_size=1, max_size=12))
def test_places_count_what_is_faster(sizes: list[tuple[int, float]]) -> None:
    results = made([("bert", chips, minutes, "closed") for chips, minutes in sizes])
    found = standings(results)
    for one in results:
        same = [it for it in results if it.result.accelerators_count == one.result.accelerators_count]
        expected = [
            (str(1 + sum(field(it.result) < field(one.result) for it in some)), str(len(some)))
            for some, field in ((same, attrgetter("published_minutes")), (results, attrgetter("chip_minutes")))
            if len(some) > 1
        ]
        assert re.findall(r"(\d+)\w\w of (\d+)", found[one.href].words) == expected


def test_numbers_of_places() -> None:
    (*_, last) = results = made([("bert", 8, 1.0 + number, "closed") for number in range(112)])
    said = [standings(results)[one.href].words.split(" of ")[0] for one in results]
    assert [said[at - 1] for at in (1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th"]
    )
    assert standings(results)[last.href].slower is None


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Three racks of as many accelerators, of 12, 10 and 15 minutes."""
    tree = make_tree(tmp_path)
    for number, minutes in ((2, 10.0), (3, 15.0)):
        tree.add_system(f"rack{number}")
        tree.add_entry("resnet", f"rack{number}")
        tree.edit(lambda log, minutes=minutes: log.last(minutes), *range(5), system=f"rack{number}")
    return site_of(tree.folder)


def test_a_result_has_its_rank_and_why_its_neighbours_are_faster_and_slower(site: Site) -> None:
    page = result_page(site.results[0], *Comparisons(site.results).beside(site.results[0]))
    assert facts_of(page)["Rank"] == Span(
        "2nd of 3 at this size; 2nd of 3 per accelerator", note="Closed results of v1.0"
    )
    (table,) = blocks_of(sections_of(page)["neighbours"], Table)
    shown = [[cell.text for cell in row if isinstance(cell, Span)] for row in table.rows]
    assert [row[:1] + row[2:3] for row in shown] == [["next faster", "10.0"], ["next slower", "15.0"]]
    assert shown[0][3].startswith("B is 16.7 % shorter (1.20x, 12.0 → 10.0 min)")
    assert shown[1][3].startswith("B is 25.0 % longer (0.80x, 12.0 → 15.0 min)")
    first = table.rows[0][0]
    assert isinstance(first, Span)
    assert first.link == "compare.html#a=training_1.0_acme_rack1_resnet&b=training_1.0_acme_rack2_resnet"


def test_the_sentence_on_a_neighbour_names_accelerators_that_differ(site: Site) -> None:
    one, other = (changed(site.results[0], accelerator_name=chip) for chip in ("MI325X", "MI355X"))
    none = changed(one, accelerator_name=None, accelerator_model_name="N/A", accelerators_count=0)
    answers = [explain(measure(one.result), measure(it.result)).answer for it in (other, none, one)]
    assert answers[0].endswith(" Also different: accelerator MI325X -> MI355X.")
    assert answers[1].endswith(" Also different: accelerator MI325X -> CPU only.")
    assert "accelerator" not in answers[2]


def test_folders_without_logs_are_said_beside_a_rank(site: Site) -> None:
    note = facts_of(result_page(changed(site.results[0], without_logs=2), "1st of 2 at this size"))["Rank"].note
    assert note == "Closed results of v1.0; 2 folders of ResNet-50 in v1.0 have no logs here."


def test_results_are_compared_by_what_their_logs_say(site: Site) -> None:
    scripts = Comparisons(site.results).scripts()
    assert list(scripts) == ["data/compare-resnet.js"]
    found = script(scripts["data/compare-resnet.js"])
    assert list(found["entries"]) == [name_of(one.href) for one in site.results]
    entry = found["entries"]["training_1.0_acme_rack2_resnet"]
    values = {key: found["texts"][at] for key, at in zip(found["keys"], entry["values"], strict=True) if at >= 0}
    assert (entry["minutes"], entry["accelerators"], values["global_batch_size"]) == (10.0, 8, "3200")
    assert (entry["curve"]["measure"], entry["curve"]["goal"], entry["curve"]["unit"]) == ("quality", 0.759, "epochs")
    assert len(entry["curve"]["values"]) == len(entry["curve"]["progress"]) == len(entry["curve"]["minutes"]) > 1
    page = compare_page(site.results)
    assert {chart.data["files"]["resnet"] for chart in charts(page)} == set(scripts)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("", "https://github.com/mlcommons/training_results_v1.0/tree/main/ACME/results/rack1/resnet"),
        ("https://a.org/{path}", "https://a.org/ACME/results/rack1/resnet"),
        ("https://a.org/{usage}/v{round}/{path}?raw", "https://a.org/training/v1.0/ACME/results/rack1/resnet?raw"),
    ],
)
def test_the_folder_of_a_result_has_an_address(site: Site, pattern: str, told: str) -> None:
    result = site.results[0].result
    assert source_href(result, pattern) == told
    odd = changed(site.results[0], organisation="A {round}&<b>").result
    assert source_href(odd, "https://a.org/{path}") == "https://a.org/A%20%7Bround%7D%26%3Cb%3E/results/rack1/resnet"
    unpublished = changed(site.results[0], publication_date=None).result
    assert source_href(unpublished) == ""


def test_patterns_have_a_path_and_no_other_names() -> None:
    patterns = ("{path}", "{round}{path}{usage}", "", "{round}", "{path}{organisation}", "{path}{}", "{path}{0.a}")
    assert [is_pattern(one) for one in patterns] == [True, True, False, False, False, False, False]


@pytest.mark.parametrize(("round_name", "grace"), [("4.1", False), ("5.0", True)])
def test_limits_with_an_evaluation_of_grace_say_so(site: Site, round_name: str, grace: bool) -> None:
    name = "llama31_405b" if grace else "bert"
    one = changed(replace(site.results[0], tested_as=name), round=round_name, benchmark=name)
    said = "The round gives one evaluation of grace: limits are 46,080 samples below those of the reference."
    assert (said in words_of(convergence_section(one))) == grace


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (12.0, "12.0"), (5.9712, "5.97"), (0.34, "0.340"), (0.01234, "0.0123"), (999.4, "999"), (999.6, "1,000"),
        (1234.5, "1,234"), (100.0, "100"), (0.0, "0"), (None, "–"), (float("inf"), "–"), (-2.0, "-2.00"),
    ],
)  # fmt: skip
def test_three_digits(value: float | None, shown: str) -> None:
    assert three_text(value) == shown


def test_decimal_points_of_a_column_stand_below_each_other() -> None:
    texts = ("5.97", "12.0", "1,234", "–", "0.340†")
    html = render_table(Table((Column("a"), Column("b")), tuple(("x", text) for text in texts)), "")
    cells = [cell.partition("<")[0] for cell in html.split("<td>")[1:]]
    point, digit = "\u2008", "\u2007"
    assert cells == [f"5.97{digit}", f"12.0{digit * 2}", f"1,234{point}{digit * 3}", f"–{point}{digit * 3}", "0.340†"]
