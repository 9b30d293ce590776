"""Which results there are, how their pages are called, and whose findings are whose."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mlsub.site.results import age_of, slug_of
from mlsub.site.tables import division_of, fastest_table, in_order, results_table
from tests.make_tree import Tree, make_tree
from tests.site.sites import one_round, rounds, two_rounds


def test_results_have_pages_by_name(tmp_path: Path) -> None:
    first, second = rounds(*two_rounds(tmp_path))
    assert [(one.round.title, one.href) for one in (first, second)] == [
        ("MLPerf Training v1.0", "rounds/training_1.0.html"),
        ("MLPerf Training v1.1", "rounds/training_1.1.html"),
    ]
    assert [(result.href, division_of(result), result.accepted) for result in first.results] == [
        ("results/training_1.0_acme_rack1_bert.html", "closed", True),
        ("results/training_1.0_acme_rack1_resnet.html", "closed", True),
        ("results/training_1.0_acme_rack2_resnet.html", "open", True),
    ]
    assert [result.accepted for result in second.results] == [False]


def test_names_that_a_file_system_takes_for_one_get_pages_of_their_own(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for name in ("Rack1", "rack 1", "rack-1", "r" * 200, "..", "../up"[3:]):
        tree.add_system(name)
        tree.add_entry("resnet", name)
    slugs = [result.slug for result in one_round(tree).results]
    assert len({slug.casefold() for slug in slugs}) == len(slugs) == 6
    assert max(map(len, slugs)) < 120


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_name_is_safe_whatever_it_is_made_of(parts: list[str]) -> None:
    slug = slug_of(*parts)
    assert slug
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert ".." not in slug
    assert not slug.startswith(".")


def test_rounds_are_in_the_order_of_their_age() -> None:
    assert sorted(["10.0", "4.1", "0.7", "4.0"], key=age_of) == ["0.7", "4.0", "4.1", "10.0"]


def test_findings_belong_to_their_result_its_system_included_and_the_rest_to_the_round(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    tree.edit(lambda log: log.put("lars_epsilon", value=1.0))
    tree.describe(status=None)
    tree.add_system("idle").write_text("[")
    found = one_round(tree)
    bert, resnet = found.results
    assert {finding.path for finding in bert.findings} == {"systems/rack1.json"}
    assert {finding.path for finding in resnet.findings} == {
        "systems/rack1.json",
        "results/rack1/resnet",
        "results/rack1/resnet/result_0.txt",
    }
    assert "systems/idle.json" in {finding.path for finding in found.rest}
    everything = {id(finding) for finding in (*bert.findings, *resnet.findings, *found.rest)}
    assert everything == {id(finding) for finding in found.report.findings}, "none is lost"


def loose(tree: Tree) -> Path:
    """A copy of the runs in no organisation's tree."""
    return Path(shutil.copytree(tree.entry(), tree.folder.parents[1] / "loose" / "resnet", dirs_exist_ok=True))


def test_a_folder_of_a_benchmark_alone_is_a_result(tmp_path: Path) -> None:
    (result,) = one_round(loose(make_tree(tmp_path))).results
    assert (result.entry.path, len(result.logs)) == (".", 5)
    assert result.description is None


def test_a_package_without_descriptions_is_put_where_all_its_logs_say(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    (result,) = one_round(tree).results
    assert (result.entry.division, division_of(result)) == (None, "closed")
    tree.edit(lambda log: log.put("submission_division", value="open"))
    (result,) = one_round(tree).results
    assert division_of(result) == "other"


def test_runs_are_in_the_order_people_count_them(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=())
    tree.add_entry("bert", runs=12)
    tree.log(3, "bert").rename(tree.log(3, "bert").with_name("result_x.txt"))
    (result,) = one_round(tree).results
    names = [log.path.rpartition("_")[2] for log in result.logs]
    assert names == [*(f"{run}.txt" for run in (0, 1, 2, *range(4, 12))), "x.txt"]


def test_a_table_has_a_row_a_result_the_fastest_first(tmp_path: Path) -> None:
    first, second = rounds(*two_rounds(tmp_path))
    table = results_table([*second.results, *first.results], "all")
    assert [head.title for head in table.heads] == [
        *("benchmark", "minutes", "verdict", "organisation", "system", "accelerators"),
        *("round", "runs", "scaling", "RCP", "findings"),
    ]
    assert [[cell.text for cell in row.cells[:4]] for row in table.rows] == [
        ["bert", "14.500000", "accepted", "ACME"],
        ["resnet", "12.000000", "accepted", "ACME"],
        ["resnet", "12.000000", "accepted", "ACME"],
        ["resnet", "–", "rejected", "ZETA"],
    ]
    assert table.rows[0].about == {
        "round": "v1.0",
        "benchmark": "bert",
        "organisation": "ACME",
        "verdict": "accepted",
    }
    assert [result.round.name for result in in_order([*second.results, *first.results])] == ["1.0", "1.0", "1.0", "1.1"]


def test_the_fastest_are_closed_and_accepted(tmp_path: Path) -> None:
    table = fastest_table(rounds(*two_rounds(tmp_path)))
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["bert", "14.500", ""],
        ["resnet", "12.000", ""],
    ]
