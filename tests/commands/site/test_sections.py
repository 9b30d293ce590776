"""The parts of a result's page in their exact figures, and how to cite it, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.commands.site.curves import curves_section
from mlsub.commands.site.page import number_text
from mlsub.commands.site.result_page import (
    bibtex,
    citation_section,
    findings_section,
    hyperparameters_section,
    result_page,
    result_title,
    system_section,
)
from mlsub.commands.site.results import SiteResult
from mlsub.commands.site.runs import convergence_section, runs_section
from mlsub.present.document import Chart, Section, Series, Span, Table
from mlsub.present.findings import grouped
from mlsub.present.footnote import footnote
from tests.commands.site.sites import (
    changed,
    charts_of,
    facts_of,
    heads_of,
    one_round,
    quotes_of,
    rounds,
    tables_of,
    words_of,
)
from tests.conftest import ExpectedText
from tools.oracle.shared import ABSENT, folder, present
from tools.support.make_tree import Log, Tree, make_tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def result(tree: Tree) -> SiteResult:
    (found,) = one_round(tree).results
    return found


def cells(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def curves(tree: Tree) -> Section:
    return curves_section(result(tree))


def series(chart: Chart) -> dict[str, Series]:
    return {one.name: one for one in chart.series}


def listed(section: Section, run: int, column: int) -> list[str]:
    """What the chart draws of a run: the lists in the table behind it."""
    return tables_of(section)[0].rows[run][column].text.split(" ")


def test_a_curve_has_each_evaluation_of_each_run_and_the_target(tree: Tree) -> None:
    section = curves(tree)
    assert words_of(section)[0] == "Target: at least 0.759 and below 1.0."
    over_epochs, over_minutes = charts_of(section)
    assert over_epochs.data["x"]["title"] == "Progress (epochs)"
    assert over_epochs.data["goal"] == {"level": 0.759, "up": True}
    (table,) = tables_of(section)
    assert heads_of(table) == ("run", "minutes since run_start", "epochs", "quality")
    assert [row[0].text for row in table.rows] == [f"result_{place}" for place in range(5)]
    assert listed(section, 1, 3) == [*["0.01"] * 9, "0.75951"]
    run, minutes, epochs, quality = cells(table)[0]
    assert (run, epochs) == ("result_0", "4 8 12 16 20 24 28 32 36 40")
    assert (minutes.split(" ")[9], quality) == ("0.8336", "0.01 " * 9 + "0.7595")
    assert [over_minutes.data["table"]["x"], *(over_epochs.data["table"][axis] for axis in "xy")] == [1, 2, 3]
    assert cells(table)[1][2] == "″", "the epochs of the run above"


def test_curves_of_several_measures_have_a_chart_each(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.folder.joinpath("results/rack1/resnet").rename(tree.folder / "results/rack1/maskrcnn")
    for run in range(5):

        def measure(log: object) -> None:
            log.put("submission_benchmark", value="maskrcnn")
            log.put("eval_accuracy", value={"BBOX": 0.4, "SEGM": 0.35})

        tree.edit(measure, run, benchmark="maskrcnn")
    section = curves(tree)
    titles = [f"{name} over {unit}" for name in ("BBOX", "SEGM") for unit in ("epochs", "minutes")]
    assert [chart.title for chart in charts_of(section)] == titles
    assert [chart.data["goal"]["level"] for chart in charts_of(section)[::2]] == [0.377, 0.339]


def test_runs_that_are_evaluated_at_their_end_have_no_chart_over_minutes(tree: Tree) -> None:
    def late(log: Log) -> None:
        (stop,) = log.records("run_stop")
        for record in log.records("eval_accuracy"):
            record["time_ms"] = stop["time_ms"] - 1

    tree.edit(late, *range(5))
    section = curves(tree)
    assert [chart.title for chart in charts_of(section)] == ["Quality over epochs"]
    assert words_of(section)[-1].startswith("Most runs were evaluated when their training was over")


@pytest.mark.parametrize("value", ["high", None, True, [1], float("nan"), 10**400])
def test_evaluations_that_are_no_numbers_are_not_drawn(tree: Tree, value: object) -> None:
    tree.edit(lambda log: log.put("eval_accuracy", value=value), 0)
    assert len(listed(curves(tree), 0, 2)) == 9


def test_an_entry_of_more_evaluations_than_anyone_reads_is_cut_and_says_so(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlsub.commands.site.curves.MAX_ALL", 20)
    section = curves(tree)
    assert words_of(section)[1] == "One of 3 evaluations is shown, counted from the last of each run."
    assert cells(tables_of(section)[0])[0][2] == "4 16 28 40"


def test_runs_without_any_evaluation_say_so(tree: Tree) -> None:
    tree.edit(lambda log: log.drop("eval_accuracy"), *range(5))
    section = curves(tree)
    assert words_of(section)[-1] == "No run has an evaluation to draw."
    assert (charts_of(section), tables_of(section)) == ((), ())


def test_the_timeline_has_initialisation_timed_part_and_evaluations(tree: Tree) -> None:
    section = runs_section(result(tree).result)
    (chart,) = charts_of(section)
    (table,) = tables_of(section)
    spans = chart.data["spans"]
    heads = [heads_of(table)[spans[name]] for name in ("before", "after")]
    assert heads == ["initialisation, minutes", "time to train, minutes"]
    assert cells(table)[1] == ["result_1", "2021-05-06 14:36:23", "1.000333", "11.000000", "10"]
    assert words_of(section) == ("All 5 runs ended with success and are compliant.",)
    tree.edit(lambda log: log.put("lars_epsilon", value=1.0), 0)
    (table,) = tables_of(runs_section(result(tree).result))
    first, second = cells(table)[:2]
    assert first[:3] == ["result_0", "success", "not compliant"] and second[2] == "compliant"


@pytest.mark.parametrize("time", [1e300, -1e18, 8.64e15])
def test_times_of_no_calendar_are_told_and_not_drawn_wrong(tree: Tree, time: float) -> None:
    tree.edit(lambda log: log.put("run_start", time_ms=time), 0)
    (table,) = tables_of(runs_section(result(tree).result))
    assert cells(table)[0][-4] in ("–", f"{time:g} ms")


def test_the_convergence_of_a_result_stands_beside_the_reference(tree: Tree) -> None:
    found = result(tree)
    section = convergence_section(found)
    assert words_of(section)[0] == "The runs pass the convergence test."
    assert words_of(section)[1].startswith("Olympic mean 40 epochs at batch size 3,200; accepted from ")
    (chart,) = charts_of(section)
    named = series(chart)
    assert named["runs"].points == ((3200.0, 40.0),) * 5
    assert named["olympic mean"].points == ((3200.0, 40.0),)
    limits = ["lower hull of the written rules", "mean between points", "limit between points"]
    assert list(named) == ["stdev", *limits, "reference mean", "limit", "runs", "olympic mean"]
    assert len(named["reference mean"].points) == 9 and len(named["limit"].points) == 10, "and that of its own size"
    assert chart.about == (
        "Reference of resnet in MLPerf Training v1.0: accepted is a mean at the limit or above. The runs and their "
        "mean stand a little to the right of their batch size."
    )
    (table,) = tables_of(section)
    *points, ours, runs = cells(table)
    assert len(points) == 9, "the table has what the chart has"
    assert ["reference", "2,048"] in [point[:2] for point in points]
    assert (ours[:4], runs) == (["this result", "3,200", "5", "40"], ["runs", "3,200", "5", "40", "–", "–"])


def test_below_all_reference_points_the_limit_is_that_of_the_smallest(tree: Tree) -> None:
    tree.edit(lambda log: log.put("global_batch_size", value=1024), *range(5))
    section = convergence_section(result(tree))
    points = series(charts_of(section)[0])["limit between points"].points
    assert points[:2] == ((1024.0, points[1][1]), (1632.0, points[1][1]))
    smallest = cells(tables_of(section)[0])[0]
    assert (smallest[:2], smallest[5]) == (["reference", "1,632"], number_text(points[0][1]))


def test_an_open_result_says_why_it_has_no_convergence_test(tmp_path: Path) -> None:
    section = convergence_section(result(make_tree(tmp_path, division="open")))
    assert words_of(section) == ("The Open division has no convergence test.",)


def test_hyperparameters_that_differ_are_told_with_their_runs(tree: Tree) -> None:
    tree.edit(lambda log: log.put("lars_opt_momentum", value=0.95), 2)
    tree.edit(lambda log: log.drop("lars_epsilon"), 4)
    section = hyperparameters_section(result(tree).result.logs)
    (table,) = tables_of(section)
    told = dict(cells(table))
    assert told["global_batch_size"] == "3200"
    assert told["lars_opt_momentum"] == "0.9 (result_0, result_1, result_3, result_4); 0.95 (result_2)"
    assert told["lars_epsilon"] == "0.0 (result_0, result_1, result_2, result_3); not logged (result_4)"
    assert words_of(section) == (f"2 of {len(told)} keys differ between the runs.",)


def test_the_system_is_shown_as_described_and_unknown_fields_come_last(tree: Tree) -> None:
    tree.describe(added={"deep": [1]}, system_name="\x1b[31mred", sw_notes=" ", other="")
    (table,) = tables_of(system_section([result(tree)]))
    assert table.caption == "Fields of v1.0 rack1.json"
    assert cells(table)[0] == ["Submitter", "ACME"]
    assert ["System name", "\\x1b[31mred"] in cells(table)
    assert cells(table)[-2] == ["added", '{"deep": [1]}']
    assert cells(table)[-1][0] == "Empty" and cells(table)[-1][1].endswith(", other")
    tree.description().write_text("[")
    assert words_of(system_section([result(tree)])) == ("There is no system description that can be read.",)


def test_descriptions_of_one_system_stand_together_where_they_say_the_same(tmp_path: Path) -> None:
    """Two folders of an organisation may spell it differently and have files of one name."""
    described = [make_tree(tmp_path / name, "v1.0", name) for name in ("ACME", "acme")]
    described[1].describe(framework="other 2.0")
    told = dict(cells(tables_of(system_section([result(tree) for tree in described]))[0]))
    assert told["Number of nodes"] == "1"
    assert told["Framework"].endswith("; other 2.0 (v1.0 rack1.json)")
    assert told["Framework"].count("(v1.0 rack1.json)") == 2


def test_the_same_defect_in_many_runs_is_one_row_with_its_places(tree: Tree) -> None:
    tree.edit(lambda log: log.put("lars_epsilon", value=1.0), 0, 1)
    found = result(tree)
    section = findings_section(found.result.findings, forgiven=False)
    (table,) = tables_of(section)
    assert words_of(section)[0].startswith(f"{len(grouped(found.result.findings))} findings: 2 errors")
    (row,) = [row for row in table.rows if row[1].text == "key.lars_epsilon.value"]
    assert row[0].text == "error"
    assert table.caption == "2 errors in 3 places"
    assert "expected: exactly 0.0" in row[2].text
    assert [place.rpartition(":")[0] for place in row[3].text.splitlines()] == ["results/rack1/resnet/result_{0,1}.txt"]


def test_long_tables_are_cut_and_say_so(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.edit(lambda log: log.put("lars_epsilon", value=1.0), 0, 1)
    monkeypatch.setattr("mlsub.commands.site.result_page.MAX_ROWS", 1)
    found = result(tree)
    sections = (hyperparameters_section(found.result.logs), system_section([found]))
    for section, last in zip(sections, ("13 keys", "33 fields"), strict=True):
        assert len(tables_of(section)[0].rows) == 1
        assert words_of(section)[-1] == f"The first 1 of {last} are shown."
    findings = findings_section(found.result.findings, forgiven=False)
    (table,) = tables_of(findings)
    assert (table.caption, len(table.rows)) == ("2 errors in 3 places, of which the first 1 are shown", 1)


@pytest.mark.slow
@pytest.mark.skipif(not present(), reason=ABSENT)
def test_the_figures_of_a_published_result() -> None:
    (found,) = rounds(folder("1.1"))
    (bert,) = [one for one in found.results if one.result.path.endswith("ipu-pod16-POPART-closed/bert")]
    section = convergence_section(bert)
    assert words_of(section) == (
        "The runs fail the convergence test: they converge faster than the reference allows.",
        "Olympic mean 2,515,625 samples at batch size 3,072; accepted from 2,663,811; mean of the reference 2,764,499.",
        "BERT counted by train_samples in place of epoch_num: fail, olympic mean 2,517,254 samples.",
    )
    chart, _ = charts_of(curves_section(bert))
    assert (chart.data["x"]["unit"], chart.data["goal"]) == ("samples", {"level": 0.72, "up": True})


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_a_target_of_two_bounds_is_the_one_that_evaluations_lie_beyond() -> None:
    """FID falls to 90 and must not be below 0; CLIP rises to 0.15 and must not be above 1."""
    (found,) = rounds(folder("4.1") / "Google")
    (one,) = [one for one in found.results if one.result.path.endswith("v5p-128-maxdiffusion/stable_diffusion")]
    section = curves_section(one)
    goals = {chart.data["y"]["title"]: chart.data["goal"] for chart in charts_of(section)}
    assert goals == {"FID": {"level": 90.0, "up": False}, "CLIP": {"level": 0.15, "up": True}}
    assert [chart.title for chart in charts_of(section)] == ["CLIP over samples", "FID over samples"]


LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association in the United States "
    "and other countries. All rights reserved. Unauthorized use strictly prohibited. See www.mlcommons.org for more "
    "information."
)
WHERE = "https://github.com/mlcommons/training_results_v1.0"
CHIP = "NVIDIA A100-SXM-80GB"
TITLE = "Image classification, ResNet-50 v1.5 on ImageNet"


def described(tmp_path: Path, **description: object) -> SiteResult:
    tree = make_tree(tmp_path)
    tree.describe(accelerator_model_name=CHIP, **description)
    (found,) = one_round(tree).results
    return found


def test_the_footnote_is_that_of_the_guidelines(tmp_path: Path) -> None:
    found = described(tmp_path, system_name="Rack One")
    assert footnote(found.result) == (
        f"MLPerf® Training v1.0 Closed, {TITLE}: ACME Rack One, entry [ID 1.0-...]. "
        f"Retrieved: from {WHERE} on [date]. {LEGEND}"
    )


def test_what_was_not_published_is_called_unverified(tmp_path: Path) -> None:
    section = citation_section(changed(described(tmp_path), publication_date=None))
    assert words_of(section) == (
        "MLCommons has not published this round, so the result may be quoted only as unverified.",
    )
    sentence, note = quotes_of(section)
    assert sentence == (
        "Unverified: in MLPerf Training v1.0 Closed, ACME rack1 with 8 A100 trained ResNet-50 in 12.0 minutes [1]."
    )
    assert note == (
        f"[1] Unverified MLPerf® Training v1.0 Closed, {TITLE}: ACME rack1. "
        f"Result not verified by MLCommons Association. {LEGEND}"
    )


def test_bibtex_has_no_sign_that_tex_takes_for_its_own(tmp_path: Path, expected_text: ExpectedText) -> None:
    expected_text("bibtex.txt", bibtex(described(tmp_path, system_name=r"A_1 & {50 %} \end")) + "\n")


def test_a_result_without_accelerators_says_so(tmp_path: Path) -> None:
    page = result_page(described(tmp_path, accelerators_per_node=0, number_of_nodes=4))
    assert facts_of(page)["Accelerators"] == Span("CPU only", note="4 nodes")


def test_a_title_says_who_what_on_what_and_when(tmp_path: Path) -> None:
    assert (
        result_title(described(tmp_path, accelerators_per_node=0)) == "ACME, ResNet-50, rack1 (CPU only), Closed, v1.0"
    )
    assert result_title(described(tmp_path)) == "ACME, ResNet-50, rack1 (8 × A100), Closed, v1.0"
    assert result_title(described(tmp_path, system_name="8xA100 box")) == "ACME, ResNet-50, 8xA100 box, Closed, v1.0"


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_a_published_result_is_cited_with_its_repository() -> None:
    (found,) = rounds(folder("1.0") / "Graphcore")
    (bert,) = [one for one in found.results if one.result.path.endswith("ipu-pod16-POPART-closed/bert")]
    assert result_title(bert) == "Graphcore, BERT, IPU-POD16 (16 × GC200), Closed, v1.0"
    sentence, note, _ = quotes_of(citation_section(bert))
    minutes = number_text(bert.result.published_minutes, 3)
    assert sentence == (
        f"In MLPerf Training v1.0 Closed, Graphcore IPU-POD16 with 16 GC200 trained BERT in {minutes} minutes [1]."
    )
    assert f"Graphcore IPU-POD16, entry [ID 1.0-...]. Retrieved: from {WHERE} on [date]." in note
