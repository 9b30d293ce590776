"""What a path is, and which round it belongs to; with the published Graphcore packages where they are at hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlsub
from mlsub.io.data import load_yaml
from mlsub.submission.find import PathKind, find, known_organisations, locate, named_round, organisation
from tools.support.corpus import CORPUS
from tools.support.make_tree import ORG, SYSTEM, make_tree
from tools.support.runner import check

FOLDERS = load_yaml(Path(__file__).with_name("rounds.yaml"))


@pytest.mark.parametrize(
    ("usage", "name", "folder"), [(*named, folder) for *named, folders in FOLDERS["named"] for folder in folders]
)
def test_the_round_is_read_off_the_folder_above_the_organisation(
    usage: str, name: str, folder: str, tmp_path: Path
) -> None:
    inferred = find(make_tree(tmp_path, folder).folder)
    assert (inferred.usage, inferred.round, inferred.round_from) == (usage, name, folder)


@pytest.mark.parametrize("folder", FOLDERS["unnamed"])
def test_other_names_are_no_rounds(folder: str) -> None:
    assert named_round(folder) is None


def test_without_a_round_nothing_is_checked(tmp_path: Path) -> None:
    outcome = check(make_tree(tmp_path, "training_v5.1_old").folder)
    assert outcome.status == 2
    assert "1.0, 1.1" in outcome.of("check.no-round")[0]["expected"]


@pytest.mark.parametrize(
    ("folders", "round_name"),
    [
        ("v1.0", "1.0"),
        ("v1.1/v1.0", "1.0"),
        ("v1.0/v1.1", "1.1"),
        ("v1.0/submissions/team", "1.0"),
        ("training_results_v1.1/n8_v1.0x", "1.1"),
    ],
)
def test_the_nearest_folder_counts(folders: str, round_name: str, tmp_path: Path) -> None:
    outcome = check(make_tree(tmp_path, folders).folder)
    assert (outcome.status, outcome.report["round"]) == (0, round_name)


def test_the_organisation_itself_names_no_round(tmp_path: Path) -> None:
    assert check(make_tree(tmp_path, "v1.0", org="v1.1").folder).report["round"] == "1.0"


@pytest.mark.parametrize("system", ["v5.0", "TF2.0", "hpc-v3.0"])
@pytest.mark.parametrize("below", ["", "results", "results/{}", "results/{}/resnet", "results/{}/resnet/result_0.txt"])
def test_names_inside_results_are_never_taken_for_a_round(system: str, below: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.add_system(system)
    tree.add_entry(system=system)
    outcome = check(tree.folder / below.format(system))
    assert outcome.report["round"] == "1.0"
    assert outcome.status == 0


@pytest.mark.parametrize("path", ["bert", "bert/result_0.txt"])
def test_names_inside_results_are_no_rounds_to_what_lies_too_deep(path: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    deep = tree.add_entry(system="v5.0") / "bert"
    deep.mkdir()
    tree.log(system="v5.0").rename(deep / "result_0.txt")
    inferred = find(deep.parent / path)
    assert inferred.round == "1.0"


# Paths in and around a tree of two organisations: what they are.
TARGETS = {
    "": PathKind.ORGANISATIONS,
    ORG: PathKind.ORGANISATION,
    f"{ORG}/results": PathKind.ORGANISATION,
    f"{ORG}/results/{SYSTEM}": PathKind.SYSTEM,
    f"{ORG}/results/{SYSTEM}/resnet": PathKind.BENCHMARK,
    f"{ORG}/results/{SYSTEM}/resnet/result_0.txt": PathKind.LOG,
    f"{ORG}/systems": PathKind.NOTHING,
    "..": PathKind.NOTHING,
    "nowhere": PathKind.LOG,
}


@pytest.mark.parametrize("below", TARGETS)
def test_the_layout_around_a_path_says_what_it_is(below: str, tmp_path: Path) -> None:
    make_tree(tmp_path, org="Zeta")
    above = make_tree(tmp_path).folder.parent
    place = locate(above / below)
    assert place.kind is TARGETS[below]
    inside = below.startswith(f"{ORG}/results") or below == ORG
    assert place.organisation == (above / ORG if inside else None)


@pytest.mark.parametrize("below", ["", "results", f"results/{SYSTEM}", f"results/{SYSTEM}/resnet"])
def test_parts_of_a_tree_are_reported_relative_to_the_organisation(below: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.add_system("rack2")
    document = check(tree.folder / below).report
    assert document["root"] == str(tree.folder)
    assert [entry["path"] for entry in document["entries"]] == [f"results/{SYSTEM}/resnet"]
    # Of a part only the descriptions that belong to it are judged.
    assert len(document["systems"]) == (2 if below in ("", "results") else 1)


@pytest.mark.parametrize("below", ["", f"results/{SYSTEM}", f"results/{SYSTEM}/resnet"])
def test_an_undescribed_entry_is_rejected_for_a_stated_reason_however_it_is_named(below: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    outcome = check(tree.folder / below)
    entry = outcome.report["entries"][0]
    assert (outcome.status, entry["official"], entry["division"], entry["compliant"]) == (1, "rejected", "closed", 5)
    assert outcome.errors() == {"tree.system-description-missing"}


@pytest.mark.parametrize("folders", ["results/v1.0", "v1.0/results"])
def test_organisations_may_lie_in_a_folder_called_results(folders: str, tmp_path: Path) -> None:
    above = make_tree(tmp_path, folders).folder.parent
    place = locate(above)
    assert place.kind is PathKind.ORGANISATIONS
    assert check(above).status == 0


def test_a_folder_of_rounds_is_all_of_its_rounds(tmp_path: Path) -> None:
    make_tree(tmp_path, "v1.0")
    make_tree(tmp_path, "v1.1")
    outcome = check(tmp_path)
    assert outcome.status == 0
    assert [report["round"] for report in outcome.reports] == ["1.0", "1.1"]
    (tmp_path / "v2.0").mkdir()
    assert check(tmp_path).status == 2, "an empty round is not checked, and not passed over"


def test_a_rehearsal_is_inferred_and_can_be_asked_for(tmp_path: Path) -> None:
    inferred = check(make_tree(tmp_path, "rehearsal-v1.0", benchmarks=["digits"]).folder)
    assert (inferred.status, inferred.report["usage"], inferred.report["round"]) == (0, "rehearsal", "1.0")
    elsewhere = make_tree(tmp_path, "somewhere", benchmarks=["digits"]).folder
    assert check("--usage", "rehearsal", elsewhere).status == 0
    assert check("--usage", "rehearsal", "--round", "1.0", elsewhere).status == 0


def test_a_given_round_leaves_the_usage_to_the_folders(tmp_path: Path) -> None:
    outcome = check("--round", "1.0", make_tree(tmp_path, "rehearsal-v1.0", benchmarks=["digits"]).folder)
    assert (outcome.status, outcome.report["usage"]) == (0, "rehearsal")


def test_a_rehearsal_is_no_training_result(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "somewhere", benchmarks=["digits"])
    assert check("--usage", "training", "--round", "1.0", tree.folder).status == 2
    resnet = make_tree(tmp_path, "rehearsal-v1.0")
    assert check(resnet.folder).status == 2


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the published packages are not at hand (../shared/corpus)")
@pytest.mark.parametrize("round_name", ["1.0", "1.1"])
def test_the_published_graphcore_packages_are_rejected_for_the_epochs_of_bert_alone(round_name: str) -> None:
    report = mlsub.check(CORPUS / f"v{round_name}" / "Graphcore")
    assert (report.official, report.round, report.round_from) == ("rejected", round_name, f"v{round_name}")
    assert {f.rule for f in report.findings if f.rejects and f.path.endswith("/bert")} == {"rcp.too-fast"}
    refused = {(entry.benchmark, entry.division) for entry in report.entries if entry.official == "rejected"}
    assert refused == {("bert", "closed")}


def test_an_organisation_beside_rounds_does_not_hide_them(tmp_path: Path) -> None:
    make_tree(tmp_path, "v1.0")
    make_tree(tmp_path / "made").folder.rename(tmp_path / "loose")
    shutil.rmtree(tmp_path / "made")
    outcome = check(tmp_path)
    assert [(report["round"], report["official"]) for report in outcome.reports] == [
        ("1.0", "accepted"),
        (None, "not-checked"),
    ]
    assert outcome.status == 2


@pytest.mark.parametrize(("said", "meant"), load_yaml(Path(__file__).with_name("organisations.yaml")).items())
def test_organisations(said: str, meant: str) -> None:
    assert organisation(said) == meant


def test_an_organisation_in_its_own_spelling_is_itself() -> None:
    assert [name for name in known_organisations() if organisation(name) != name] == []


@given(st.text(max_size=300))
def test_no_name_of_an_organisation_is_too_odd(text: str) -> None:
    assert isinstance(organisation(text), str)
