"""Which results there are, how their pages are called, and whose findings are whose."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.commands.site.home import round_page
from mlsub.commands.site.page import Frame, Page, write_page
from mlsub.commands.site.result_page import result_page
from mlsub.commands.site.results import Results, Site, SiteRound, slug
from mlsub.commands.site.tables import bert_words, by_benchmark, rounds_table
from mlsub.commands.site.views import best_tables, by_round
from mlsub.present.document import Span, Table
from mlsub.submission.report import EnergyResult
from tests.commands.site.sites import (
    changed,
    facts_of,
    heads_of,
    one_round,
    rounds,
    sections_of,
    site_of,
    tables_of,
    two_rounds,
    words_of,
)
from tools.oracle.shared import ABSENT, folder, present
from tools.support.make_tree import RUNS, Tree, make_tree


def page_of(one: SiteRound) -> Page:
    return round_page(Site([one]), one)


def fastest_table(results: Results) -> Table:
    return next(best_tables(results, "fastest", by_round(results)))


def test_names_that_a_file_system_takes_for_one_get_pages_of_their_own(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for name in ("Rack1", "rack 1", "rack-1", "r" * 200, "..", "../up"[3:]):
        tree.add_system(name)
        tree.add_entry("resnet", name)
    slugs = [result.href for result in one_round(tree).results]
    assert len({slug.casefold() for slug in slugs}) == len(slugs) == 6
    assert max(map(len, slugs)) < 133


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_name_is_safe_whatever_it_is_made_of(parts: list[str]) -> None:
    name = slug(*parts)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert ".." not in name
    assert not name.startswith(".")


def test_findings_belong_to_their_result_its_system_included(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    tree.edit(lambda log: log.put("lars_epsilon", value=1.0))
    tree.describe(status=None)
    found = one_round(tree)
    bert, resnet = found.results
    assert {finding.path for finding in bert.result.findings} == {"systems/rack1.json"}
    assert {finding.path for finding in resnet.result.findings} == {
        "systems/rack1.json",
        "results/rack1/resnet",
        "results/rack1/resnet/result_0.txt",
    }
    everything = {id(finding) for finding in (*bert.result.findings, *resnet.result.findings)}
    assert everything == {id(finding) for finding in found.report.findings}, "none is lost"
    assert list(sections_of(page_of(found))) == ["closed"]


def test_energy_stands_beside_the_minutes_where_it_was_measured(tmp_path: Path) -> None:
    one = one_round(make_tree(tmp_path))
    measured = changed(one.results[0], energy=EnergyResult(unscaled=5e6, scaled=5.6719e6, runs=(5e6,)))
    (section,) = sections_of(page_of(replace(one, results=Results([measured])))).values()
    (table,) = tables_of(section)
    place = heads_of(table).index("energy in MJ")
    assert heads_of(table)[place - 1] == "minutes"
    assert table.rows[0][place] == Span("5.67", value=5.6719, note="5,671,900 J")
    (section,) = sections_of(page_of(one)).values()
    assert "energy in MJ" not in heads_of(tables_of(section)[0])


def loose(tree: Tree) -> Path:
    """A copy of the runs in no organisation's tree."""
    return Path(shutil.copytree(tree.entry(), tree.folder.parents[1] / "loose" / "resnet", dirs_exist_ok=True))


def test_a_folder_of_a_benchmark_alone_is_a_result(tmp_path: Path) -> None:
    (result,) = one_round(loose(make_tree(tmp_path))).results
    assert (result.result.path, len(result.result.logs)) == (".", 5)
    assert result.result.description_path is None


def test_a_package_without_descriptions_is_put_where_all_its_logs_say(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    (result,) = one_round(tree).results
    assert (result.result.division, result.division_name) == ("closed", "closed")
    tree.edit(lambda log: log.put("submission_division", value="open"))
    (result,) = one_round(tree).results
    assert result.division_name == "other"


@pytest.mark.parametrize("written", ["close", "Closed", "closed division"])
def test_a_division_in_another_spelling_is_the_same_one(written: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(division=written)
    (result,) = one_round(tree).results
    assert (result.result.division, result.division_name) == (written, "closed")


def test_runs_are_in_the_order_people_count_them(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=())
    tree.add_entry("bert", runs=12)
    tree.log(3, "bert").rename(tree.log(3, "bert").with_name("result_x.txt"))
    (result,) = one_round(tree).results
    names = [log.path.rpartition("_")[2] for log in result.result.logs]
    assert names == [*(f"{run}.txt" for run in (0, 1, 2, *range(4, 12))), "x.txt"]


def test_results_are_read_by_benchmark_the_newest_round_first_and_the_fastest_first(tmp_path: Path) -> None:
    first, second = rounds(*two_rounds(tmp_path))
    ordered = by_benchmark(Results((*second.results, *first.results)))
    assert [(one.benchmark, one.round, one.score.published) for one in (found.result for found in ordered)] == [
        ("bert", "1.0", 14.5),
        ("resnet", "1.1", None),
        ("resnet", "1.0", 12.0),
        ("resnet", "1.0", 12.0),
    ]


def test_the_fastest_are_closed_and_have_a_score(tmp_path: Path) -> None:
    table = fastest_table(site_of(*two_rounds(tmp_path)).results)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["BERT on 8 accelerators", "14.5", ""],
        ["ResNet-50 on 8 accelerators", "12.0", ""],
    ]


def published(above: Path, round_folder: str, benchmark: str, progress: float) -> Path:
    """A round with a result that is too fast for the convergence test, a slower accepted one, and a fast Open one."""
    for org, division, minutes in (("NVIDIA", "closed", 0.25), ("Graphcore", "closed", 6.75), ("Zeta", "open", 0.125)):
        tree = make_tree(above, round_folder, org, (benchmark,), division)
        for run in range(RUNS[benchmark]):
            tree.edit(lambda log, minutes=minutes: log.last(minutes), run, benchmark=benchmark)  # type: ignore[misc]
            if org == "NVIDIA":
                fast = {"epoch_num": progress}
                tree.edit(lambda log, fast=fast: log.put("eval_accuracy", metadata=fast), run, benchmark=benchmark)  # type: ignore[misc]
    return above / round_folder


def test_a_time_that_no_clock_can_show_is_not_the_fastest(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.add_system("rack2")
    tree.add_entry("resnet", "rack2")
    tree.edit(lambda log: log.put("run_stop", time_ms=0), *range(5))
    (one,) = rounds(tree.folder.parent)
    assert [found.result.published_minutes is not None for found in one.results] == [True, True]
    (row,) = fastest_table(one.results).rows
    assert row[1].link == "results/training_1.0_acme_rack2_resnet.html"


_EPOCHS = "not comparable: the logs count epochs, the reference samples"


@pytest.mark.parametrize(
    ("round_folder", "benchmark", "progress", "rcp", "note"),
    [
        ("v1.1", "bert", 1.0, "fail, not comparable*", f"pass if counted by train_samples; {_EPOCHS}"),
        ("v1.1", "bert", 2e6, "fail*", "pass if counted by train_samples"),
        ("v3.1", "resnet", 30, "fail", ""),
    ],
)
def test_the_fastest_is_the_fastest_that_was_published_with_its_verdict_beside(
    round_folder: str, benchmark: str, progress: float, rcp: str, note: str, tmp_path: Path
) -> None:
    """So are the fastest BERT of v1.1 (NVIDIA's 0.226 minutes) and the fastest SSD of v3.1 (0.919)."""
    (one,) = rounds(published(tmp_path, round_folder, benchmark, progress))
    (row,) = fastest_table(one.results).rows
    title = {"bert": "BERT", "resnet": "ResNet-50"}[benchmark]
    assert [cell.text for cell in row] == [f"{title} on 8 accelerators", "0.250"]
    assert row[1].note == "NVIDIA, rack1, rejected"
    (table,) = tables_of(sections_of(page_of(one))["closed"])
    assert [[cell.text for cell in row[:4]] for row in table.rows] == [
        [title, "0.250", "rejected", "NVIDIA"],
        [title, "6.75", "accepted", "Graphcore"],
    ]
    cell = table.rows[0][heads_of(table).index("RCP")]
    assert (cell.text, cell.note) == (rcp, note)
    assert bert_words(one.results) == bert_words(one.results[:2]) != () if note else bert_words(one.results) == ()


def test_expected_minutes_stand_beside_where_they_differ(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v4.0")
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    tree.add_system("rack2")
    tree.add_entry("resnet", "rack2")
    (table,) = tables_of(sections_of(page_of(one_round(tree)))["closed"])
    titles = heads_of(table)
    minutes, expected = titles.index("minutes"), titles.index("expected")
    assert [(row[minutes].text, row[expected].text) for row in table.rows] == [("12.0", "12.1"), ("12.0", "12.0")]


def test_a_round_is_no_verdict_but_a_count(tmp_path: Path) -> None:
    """One rejected result of a list rejects neither its round nor its organisation."""
    found = rounds(published(tmp_path, "v1.1", "bert", 1.0))
    table = rounds_table(found)
    assert list(heads_of(table)) == ["round", "organisations", "systems", "closed", "open", "runs", "official checker"]
    (row,) = table.rows
    assert row[-1] == Span("2 of 3 meet the official checker", value=2.0)
    page = page_of(found[0])
    lead = words_of(page)
    assert lead[0] == "2 of 3 results meet the official checker of the round. Published on 1 December 2021."
    assert not any("rejected" in words for words in lead)
    (bert,) = [one for one in found[0].results if not one.result.accepted]
    of_bert = result_page(bert)
    facts = facts_of(of_bert)
    assert facts["Convergence by epoch_num"].text == "fail, not comparable"
    assert facts["Convergence by train_samples"].text == "pass"
    assert facts["Official checker"].text == "rejected"
    assert words_of(of_bert) == ("0.250 minutes 0.250000 minutes to train: the olympic mean of 10 runs",)


@pytest.mark.slow
@pytest.mark.skipif(not present(), reason=ABSENT)
def test_the_page_of_a_large_round_is_not_large(tmp_path: Path) -> None:
    (one,) = rounds(folder("1.1"))
    many = replace(one, results=Results((one.results * 14)[:400]))
    (tmp_path / "rounds").mkdir()
    write_page(tmp_path, Frame(()), page_of(many))
    text = (tmp_path / many.href).read_text()
    assert (text.count("<tr"), len(text.encode()) < 300_000) == (402, True), len(text)
    assert all(f">{it.result.benchmark_title}</a>" in text for it in one.results), "benchmarks by their titles"
