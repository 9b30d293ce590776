"""Records, lines of ideal scaling and chip-minutes, as charts get them; and the news that are made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.commands.site.charts import record_chart, rounds_chart
from mlsub.commands.site.dataset import results_script
from mlsub.commands.site.groups import group_pages
from mlsub.commands.site.home import home_page, news, records_beaten
from mlsub.commands.site.results import Results, Site, minutes_of
from mlsub.commands.site.tables import rounds_table
from mlsub.commands.site.views import ANY, PER_ACCELERATOR, View, best_tables, by_round, lead_words, views_of
from mlsub.present.document import Chart, text_of
from tests.commands.site.sites import (
    changed,
    charts_of,
    heads_of,
    made_of,
    rejected,
    result,
    result_rows,
    rounds_of,
    view_of,
    words_of,
)

H100 = "NVIDIA H100 80GB"


def chains(cases: dict[str, list[list[object]]]) -> list[list[tuple[str, float]]]:
    """The records of the one benchmark that cases are of."""
    (results,) = made_of(cases).benchmarks
    return [[(record.result.round, minutes_of(record)) for record in chain] for chain in results.record_chains()]


def test_a_record_is_what_no_comparable_result_before_was_faster_than() -> None:
    def one(minutes: float, *division: str) -> list[object]:
        return ["bert", "ACME", H100, 8, minutes, *division]

    found = chains(
        {"1.0": [one(5.0), one(4.0)], "1.1": [one(4.5)], "2.0": [one(4.0)], "2.1": [one(3.0), one(1.0, "open")]}
    )
    assert found == [[("1.0", 4.0), ("2.1", 3.0)]]


@pytest.mark.parametrize(
    ("folder", "rounds", "expected"),
    [
        ("bert", ["0.7", "1.0", "5.0"], [["0.7"], ["1.0", "5.0"]]),
        ("minigo", ["0.6", "0.7", "2.1"], [["0.6"], ["0.7", "2.1"]]),
        ("unknown", ["4.0", "4.1"], [["4.0"], ["4.1"]]),
    ],
)
def test_a_line_joins_rounds_that_may_be_compared(folder: str, rounds: list[str], expected: list[list[str]]) -> None:
    minutes = 10.0
    cases = {name: [[folder, "ACME", H100, 8, minutes - place]] for place, name in enumerate(rounds)}
    assert [[name for name, _ in chain] for chain in chains(cases)] == expected


def test_an_ssd_is_no_retinanet_but_a_gnn_is_an_rgat() -> None:
    rows = {"1.1": "ssd", "2.0": "ssd", "4.0": "gnn", "5.0": "rgat"}
    found = made_of({name: [[folder, "ACME", H100, 8, 9.0]] for name, folder in rows.items()}).benchmarks
    told = [(some[0].result.benchmark_title, tuple(some.rounds), some[0].benchmark_href) for some in found]
    assert told == [
        ("R-GAT", ("v4.0", "v5.0"), "benchmarks/rgat.html"),
        ("RetinaNet", ("v2.0",), "benchmarks/retinanet.html"),
        ("SSD", ("v1.1",), "benchmarks/ssd.html"),
    ]


def test_benchmarks_of_the_newest_round_come_first_and_hpc_after_training() -> None:
    cases = {
        "hpc 3.0": [["deepcam", "ACME", H100, 8, 9.0]],
        "4.0": [["resnet", "ACME", H100, 8, 9.0]],
        "5.0": [["bert", "ACME", H100, 8, 9.0], ["rgat", "ACME", H100, 8, 9.0], ["rgat", "ZETA", H100, 8, 9.0]],
    }
    titles = [some[0].result.benchmark_title for some in made_of(cases).benchmarks]
    assert titles == ["R-GAT", "BERT", "ResNet-50", "DeepCAM"]


def test_the_newest_round_is_the_one_that_came_out_last() -> None:
    rounds = rounds_of({name: [["bert", "ACME", H100, 8, 9.0]] for name in ("4.0", "hpc 3.0", "3.1")})
    assert Site(rounds).rounds[-1].rules.title == "MLPerf Training v4.0"
    assert Site(rounds[1:]).rounds[-1].rules.title == "MLPerf HPC v3.0", "published a few days after v3.1"
    later = rounds_of({name: [["bert", "ACME", H100, 8, 9.0]] for name in ("6.0", "6.1")})
    assert Site(later).rounds[-1].rules.name == "6.1", "a day that is not known is after those that are"


@pytest.mark.parametrize("minutes", [None, 0.0, -3.0])
def test_a_time_that_nobody_published_is_no_record(minutes: float | None) -> None:
    (results,) = made_of({"5.0": [["bert", "ACME", H100, 8, minutes]]}).benchmarks
    assert (results.timed, results.record_chains()) == ((), [])


def test_weak_scaling_has_no_time_to_train() -> None:
    one = result("hpc 3.0", ["deepcam", "ACME", H100, 8, 9.0])
    assert one.train_minutes == 9.0
    assert changed(one, scaling_type="weak").train_minutes is None


def test_a_record_stands_whatever_its_verdict() -> None:
    (one,) = rounds_of({"5.0": [["bert", "ACME", H100, 8, 2.0], ["bert", "ACME", H100, 8, 1.0]]})
    (results,) = Site([replace(one, results=(one.results[0], rejected(one.results[1])))]).benchmarks
    assert [minutes_of(record) for record in results.record_chains()[0]] == [1.0]


def test_chip_minutes_are_the_least_of_each_family_and_round() -> None:
    cases = {
        "0.7": [["bert", "ACME", "V100", 8, 100.0]],
        "1.0": [["bert", "ACME", "A100", 8, 30.0], ["bert", "ACME", "A100", 64, 5.0]],
        "1.1": [["bert", "ACME", "A30", 8, 20.0], ["bert", "ACME", "GC200", 16, 30.0], ["bert", "ACME", "N/A", 0, 9.0]],
        "2.0": [["bert", "ACME", "A100", 1, 1.0, "open"]],
    }
    site = made_of(cases)
    (chart,) = rounds_chart(site, site.results)
    data = view_of(chart, "per-accelerator")
    best = [site.results[at] for at in data["at"]]
    found = [(one.result.round_key, one.result.family, one.result.chip_minutes) for one in best]
    assert found == [
        ("v0.7", "NVIDIA GPU Volta", 800.0),
        ("v1.0", "NVIDIA GPU Ampere", 240.0),
        ("v1.1", "NVIDIA GPU Ampere", 160.0),
        ("v1.1", "Graphcore IPU Mk2", 480.0),
        ("v2.0", "NVIDIA GPU Ampere", 1.0),
    ]
    joined = [[site.results[at].result.round_key for at in line["at"]] for line in data["lines"]]
    assert joined == [["v1.0", "v1.1"]], "of one family and division, in rounds that may be compared"


@given(
    st.lists(st.tuples(st.sampled_from(["1.0", "1.1", "2.0", "2.1"]), st.floats(0.01, 1e4)), min_size=1, max_size=12)
)
def test_records_fall_from_the_first_to_the_fastest(times: list[tuple[str, float]]) -> None:
    cases: dict[str, list[list[object]]] = {name: [] for name in ("1.0", "1.1", "2.0", "2.1")}
    for name, minutes in times:
        cases[name].append(["bert", "ACME", H100, 8, minutes])
    (chain,) = chains(cases)
    minutes_of_records = [minutes for _, minutes in chain]
    assert minutes_of_records == sorted(set(minutes_of_records), reverse=True)
    assert minutes_of_records[-1] == min(minutes for _, minutes in times)
    assert chain[0] == min((one for one in times if one[0] == min(times)[0]), key=lambda one: one[1])


def test_of_equals_the_first_is_the_best() -> None:
    (one,) = rounds_of({"5.0": [["bert", "ACME", H100, 8, 2.0], ["bert", "ZETA", H100, 8, 2.0]]})
    (best,) = one.results.best(lambda it: it.result.round_key)
    assert best is one.results[0]


CASES = yaml.safe_load(Path(__file__).with_name("news.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_sentences_say_what_the_results_say(case: dict[str, Any]) -> None:
    assert list(news(made_of(case["rounds"]))) == case["sentences"]


def test_without_results_there_is_no_news() -> None:
    assert news(Site([])) == news(made_of({"5.0": []})) == ()


def test_many_records_are_counted_and_the_greatest_gains_named() -> None:
    names = ["bert", "resnet", "unet3d", "maskrcnn", "rnnt"]
    before = [[name, "ACME", "NVIDIA A100", 8, 60.0] for name in names]
    after = [[name, "ACME", "NVIDIA A100", 8, 50.0 - place] for place, name in enumerate(names)]
    site = made_of({"2.0": before, "2.1": after})
    second = news(site)[1]
    assert second.startswith(
        "Records at one size fell on 5 of its 5 benchmarks with comparable results of that size in earlier rounds: "
        "RNN-T on 8 accelerators from 60 to 46 minutes, "
    )
    assert second.endswith("(ACME, 8 × A100), and 2 more.")
    beaten = records_beaten("v2.1", site.benchmarks)
    assert [new.result.benchmark_title for _, new in beaten][:2] == ["RNN-T", "Mask R-CNN"]
    assert [new.train_minutes for _, new in beaten] == [46.0, 47.0, 48.0, 49.0, 50.0]


def test_names_from_outside_are_shortened_text() -> None:
    hostile = "<script>alert(1)</script>\x00\n" + "x" * 500
    words = news(made_of({"5.0": [["bert", hostile, "N/A", 0, 3.0]]}))
    assert all(len(sentence) < 300 and "\x00" not in sentence and "\n" not in sentence for sentence in words)


# ---- Rounds of which folders have no logs


def lines_of(site: Site, chart: Chart) -> list[list[str]]:
    return [[site.results[at].result.round_key for at in line["at"]] for line in view_of(chart)["lines"]]


@pytest.fixture
def partial() -> Site:
    """BERT of three rounds; what is given of the second is slow, and says nothing of that round."""
    cases = {
        "1.0": [["bert", "ACME", "NVIDIA A100", 8, 3.0], ["bert", "ZETA", "NVIDIA A100", 8, 4.0]],
        "1.1": [["bert", "ACME", "NVIDIA A100", 8, 50.0]],
        "2.0": [["bert", "ACME", "NVIDIA A100", 8, 2.0], ["bert", "ZETA", "NVIDIA A100", 8, 1.0]],
    }
    return made_of(cases, partial=["1.1"])


def test_no_line_leads_through_a_round_of_which_folders_have_no_logs(partial: Site) -> None:
    (results,) = partial.benchmarks
    record = record_chart(partial, results)
    assert record is not None
    assert [(line["from"], line["until"]) for line in view_of(record)["lines"] if line.get("step")] == [
        ("v1.0", "v1.0"),
        ("v2.0", "v2.0"),
    ]
    assert [line for line in view_of(record)["lines"] if line.get("own")] == []
    assert record.title == "BERT on 8 accelerators: 1 minute (A100), 3 times as fast as v1.0†"
    assert record.about == "Record: ZETA, 8 × A100, v2.0; first ACME, 8 × A100, v1.0."
    (chips,) = rounds_chart(partial, results)
    assert lines_of(partial, chips) == []
    assert {place for chart in (record, chips) for place in view_of(chart)["at"]} & set(partial.places(results[2:3]))
    (missing,) = [words for words in words_of(home_page(partial, None)) if "†" in words]
    assert missing == "† 1 folder of BERT in v1.1 has no logs here."


def test_no_record_that_fell_rests_on_a_round_of_which_folders_have_no_logs(partial: Site) -> None:
    fallen = news(partial)[1]
    assert fallen == (
        "A record at one size fell on its 1 benchmark with comparable results of that size in earlier rounds: BERT on "
        "8 accelerators from 3 to 1 minute, 3 times as fast as before (ZETA, 8 × A100)."
    )


@pytest.mark.parametrize(
    ("minutes", "partial", "expected"),
    [
        ([3.0, 2.0, 1.0], ["1.0"], ["1.1", "2.0"]),
        ([3.0, 2.0, 1.0], ["1.1"], ["1.0", "1.1", "2.0"]),
        ([3.0, 9.0, 1.0], ["1.1"], ["1.0", "2.0"]),
        ([3.0, 2.0, 1.0], ["1.0", "1.1", "2.0"], ["2.0"]),
        ([3.0, 9.0, 8.0], ["1.0"], ["1.0"]),
        ([3.0, 9.0, 1.0], ["1.0"], ["2.0"]),
    ],
)
def test_no_record_is_faster_than_one_of_a_round_of_which_folders_have_no_logs(
    minutes: list[float], partial: list[str], expected: list[str]
) -> None:
    cases = {name: [["bert", "ACME", H100, 8, one]] for name, one in zip(["1.0", "1.1", "2.0"], minutes, strict=True)}
    site = made_of(cases, partial)
    (results,) = site.benchmarks
    assert [[record.result.round for record in chain] for chain in results.record_chains()] == [expected]
    both = [(old.result.round, new.result.round) for old, new in records_beaten("v2.0", site.benchmarks)]
    assert both == [(old, "2.0") for old in expected[:-1][-1:] if old not in partial]
    chart = record_chart(site, results)
    assert chart is not None
    drawn = [site.results[at] for line in view_of(chart)["lines"] if line.get("step") for at in line["at"]]
    assert [one.result.round for one in drawn if one.partial] == []
    assert chart.title.startswith(f"BERT on 8 accelerators: {min(minutes):g} minute")


def test_a_headline_is_marked_where_it_rests_on_a_round_of_which_folders_have_no_logs(partial: Site) -> None:
    a100 = next(page for page in group_pages(partial) if page.path == "accelerators/a100.html")
    charts = {chart.key.partition("-")[0]: chart for chart in charts_of(a100)}
    assert charts["record"].title == "BERT on 8 accelerators: 1 minute (A100), 3 times as fast as v1.0†"
    assert "† 1 folder of BERT in v1.1 has no logs here." in words_of(a100)
    rows = [["bert", "ACME", "NVIDIA A100", 8, 3.0]]
    stays = made_of({"1.0": rows, "1.1": rows, "2.0": rows}, ["1.1"])
    for site, mark in ((stays, "†"), (made_of({"1.0": rows, "1.1": rows}), "")):
        chart = record_chart(site, site.benchmarks[0])
        assert chart is not None
        assert chart.title == f"BERT on 8 accelerators: 3 minutes (A100) in v1.0, not beaten since{mark}"


def test_a_page_about_one_accelerator_says_which_other_has_the_record() -> None:
    rows = {"4.0": ["H100", 8, 36.0], "5.0": ["H100", 8, 40.0], "5.1": ["H200", 8, 34.0]}
    site = made_of({name: [["retinanet", "ACME", *row]] for name, row in rows.items()})
    titles = {
        page.path: chart.title for page in group_pages(site) for chart in charts_of(page) if "over" not in chart.title
    }
    said = "RetinaNet on 8 accelerators: 36 minutes (H100) in v4.0; the record is 34 minutes (H200, v5.1)"
    assert titles["accelerators/h100.html"] == said
    assert "accelerators/h200.html" not in titles, "one round"


def test_results_without_accelerators_are_compared_at_one_number_of_nodes() -> None:
    cpus, chips = ["dlrm", "Intel", "N/A", 0], ["dlrm", "Google", "TPU v4", 2048, 1.0]
    (one,) = rounds_of({"2.1": [[*cpus, 60.0], [*cpus, 38.0], [*cpus, 26.0]]})
    results = Results(changed(it, number_of_nodes=2**at) for at, it in enumerate(one.results))
    at_one, _, any_size = views_of(results)
    assert lead_words(at_one, results) == "Fastest on 1 node without accelerators: 60 minutes, Intel, 0 N/A, v2.1."
    assert lead_words(any_size, results).startswith("Fastest at any size: 26 minutes, Intel, 0 N/A, v2.1; 1.5 times")
    site = made_of({"2.0": [[*cpus, 60.0], chips], "2.1": [[*cpus, 70.0]]})
    (intel,) = [page for page in group_pages(site) if page.path == "organisations/intel.html"]
    (chart,) = charts_of(intel)
    assert chart.title == "DLRM on 1 node without accelerators: 60 minutes in v2.0, not beaten since"
    assert {site.results[at].result.vendor for line in view_of(chart)["lines"] for at in line["at"]} == {None}


def test_chip_minutes_of_sizes_far_apart_have_no_ratio() -> None:
    rows = {"2.0": [2048, 2.0], "3.0": [8, 180.0], "5.1": [8, 36.0]}
    site = made_of({name: [["retinanet", "ACME", H100, *row]] for name, row in rows.items()})
    chart = record_chart(site, site.benchmarks[0])
    assert chart is not None
    title = view_of(chart, "per-accelerator")["title"]
    assert title == "RetinaNet per accelerator: 288 chip-minutes (8 × H100), 5 times as efficient as v3.0"
    said = view_of(chart, "per-accelerator")["about"]
    assert said == "Record: ACME, 8 × H100, v5.1; first ACME, 8 × H100, v3.0.", "the one that it is compared with"
    few, many = site.results[2], site.results[0]
    for view, fair in ((View(PER_ACCELERATOR), False), (View(ANY), True)):
        assert view.is_fair(few, many) == view.is_fair(many, few) == fair
    assert lead_words(View(PER_ACCELERATOR), Results((few, many))).endswith(
        "; of another size than the next (4,096 chip-minutes, ACME, 2,048 × H100, v2.0)."
    )


def test_a_round_of_which_folders_have_no_logs_is_marked_at_one_size_too() -> None:
    few, many = (["bert", "ACME", "NVIDIA A100", count, 3.0] for count in (8, 64))
    site = made_of({"1.0": [few, few], "1.1": [many], "2.0": [few]}, ["1.1"])
    chart = record_chart(site, site.benchmarks[0])
    assert chart is not None
    assert chart.title == "BERT on 8 accelerators: 3 minutes (A100) in v1.0, not beaten since†"
    tables = best_tables(site.results, "fastest", by_round(site.results))
    rows = [[text_of(cell).strip() for cell in table.rows[0][1:]] for table in tables]
    assert rows == [["3.00", "†", "3.00"], ["24.0", "192†", "24.0"], ["3.00", "3.00†", "3.00"]]


def test_scripts_know_which_results_are_of_rounds_whose_folders_have_no_logs() -> None:
    rows = [["bert", "ACME", "NVIDIA A100", 8, 3.0]]
    site = made_of({"1.0": rows, "1.1": rows}, ["1.1"])
    row = result_rows(results_script(site.results))[1]
    assert row["without_logs"] == 1, "by which scripts draw a mark hollow"


def test_systems_are_counted_by_the_names_in_their_descriptions() -> None:
    same = ["bert", "ACME", H100, 8, 3.0]
    (one,) = rounds_of({"5.0": [same, same, ["bert", "ZETA", H100, 8, 4.0], ["bert", "ZETA", H100, 16, 2.0]]})
    table = rounds_table([one])
    assert list(heads_of(table)[1:3]) == ["organisations", "systems"]
    assert [cell.text for cell in table.rows[0]][1:3] == ["2", "2"]
    assert table.caption == "Rounds; systems are counted by the names in their descriptions"


def test_a_site_of_one_round_says_nothing_of_records() -> None:
    site = made_of({"5.0": [["bert", "NVIDIA", "NVIDIA H100", 64, 1.5], ["resnet", "Dell", "NVIDIA H100", 8, 6.0]]})
    pages = [home_page(site, None), *group_pages(site)]
    assert [page.path for page in pages if "record" in repr(page).lower()] == []
