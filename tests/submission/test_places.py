"""Trees that are whole and lie in the wrong place, or are judged by the wrong round."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.io.data import load_yaml
from mlsub.rounds import every_benchmark, history_of
from mlsub.submission.find import too_deep
from tools.support.corpus import CORPUS
from tools.support.make_tree import SYSTEM, Tree, make_tree, spoil
from tools.support.runner import check, run

UNKNOWN = load_yaml(Path(__file__).with_name("unknown.yaml"))


@pytest.mark.parametrize(("folder", "round_name", "fix"), UNKNOWN)
def test_a_benchmark_of_another_round_is_not_to_be_renamed(
    folder: str, round_name: str, fix: str, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path)
    tree.entry().rename(tree.entry(folder))
    [finding] = check(tree.folder, "--round", round_name).of("tree.unknown-benchmark")
    assert finding["path"] == f"results/{SYSTEM}/{folder}"
    assert finding["fix"].startswith(fix)
    assert ("wrong" in fix) is not ("ename the folder" in finding["fix"] or "Give the folder" in finding["fix"])
    assert ("wrong" in fix) is ("does not belong in the package: remove it" in finding["fix"])


def test_a_log_of_a_benchmark_of_another_round_is_not_to_name_another_one(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("submission_benchmark", value="llama2_70b_lora"))
    finding = check(tree.log(), "--round", "1.0").of("key.submission_benchmark.value")[0]
    assert finding["fix"].startswith(
        "llama2_70b_lora is a benchmark of MLPerf Training v4.0 to v6.1: check that the round"
    )
    for name in ("resnett", "ResNet-50"):
        tree.edit(lambda log, name=name: log.put("submission_benchmark", value=name))
        assert check(tree.log()).of("key.submission_benchmark.value")[0]["fix"] == "Did you mean resnet?"


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("resnat", "Did you mean resnet?"),
        ("Res-Net", "Did you mean resnet?"),
        ("rnnt", "rnnt was last in v3.1: wrong round? Check with --round 3.1 or earlier."),
        ("yolo", "Name one of bert, dlrm_dcnv2, gnn, gpt3, llama2_70b_lora, resnet, ssd, stable_diffusion, unet3d."),
    ],
)
def test_a_misspelt_benchmark_is_advised_to_be_one_of_the_round(name: str, fix: str, tmp_path: Path) -> None:
    """Not to install mlperf-logging: the round has no reference for a benchmark that it does not have."""
    tree = make_tree(tmp_path, "v4.0")
    tree.edit(lambda log: log.put("submission_benchmark", value=name), *range(5))
    assert [finding["fix"] for finding in check(tree.folder).of("rcp.no-reference")] == [fix]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
@pytest.mark.parametrize("round_name", ["4.0", "4.1", "5.0", "3.0"])
def test_published_entries_checked_by_another_round_are_never_to_be_renamed(round_name: str) -> None:
    for organisation in ("AMD", "Krai"):
        outcome = check(CORPUS / "v5.1" / organisation, "--round", round_name)
        for finding in outcome.of("tree.unknown-benchmark"):
            assert "Rename" not in finding["fix"] and "wrong round? Check with --round" in finding["fix"]


def test_rounds_are_named_as_they_stand_in_the_table() -> None:
    assert history_of("nothing") == ""
    assert history_of("llama31_405b") == "MLPerf Training v5.0 to v6.0"
    assert history_of("openfold") == "MLPerf HPC v3.0"
    assert {"gnmt", "llama31_405b"} <= set(every_benchmark("training"))


def deep(tmp_path: Path, inner: str = "ACME") -> Tree:
    """``v1.0/ACME/<inner>/results``."""
    return make_tree(tmp_path, "v1.0/ACME", org=inner)


@pytest.mark.parametrize("inner", ["ACME", "acme"])
@pytest.mark.parametrize("asked", ["v1.0/ACME", "v1.0"])
def test_a_tree_one_folder_too_deep_is_rejected(asked: str, inner: str, tmp_path: Path) -> None:
    """The official package checker looks for results/ in the folder it gets, and ends with a traceback."""
    deep(tmp_path, inner)
    if asked == "v1.0":
        make_tree(tmp_path, org="Zeta")
    outcome = check(tmp_path / asked)
    assert (outcome.status, outcome.official, outcome.errors()) == (1, "rejected", {"tree.too-deep"})
    [finding] = outcome.of("tree.too-deep")
    assert finding["message"] == f"The files of {inner} are one folder too deep"
    assert (finding["expected"], finding["actual"]) == ("ACME/results", f"ACME/{inner}/results")
    # What it holds is judged all the same, but the official checker finds none of it.
    assert {entry["official"] for entry in outcome.report["entries"] if entry["organisation"] == inner} == {"rejected"}
    assert {entry["rcp"]["verdict"] for entry in outcome.report["entries"]} == {"pass"}
    assert "one folder too deep" in run("check", tmp_path / asked).stdout


def test_beside_other_organisations_of_a_round_the_name_does_not_matter(tmp_path: Path) -> None:
    deep(tmp_path, "second-try")
    make_tree(tmp_path, org="Zeta")
    for asked in ("v1.0", "v1.0/ACME"):
        outcome = check(tmp_path / asked)
        assert (outcome.status, outcome.errors()) == (1, {"tree.too-deep"})


def test_faults_inside_are_still_found(tmp_path: Path) -> None:
    spoil(deep(tmp_path), 0, 1)
    assert check(tmp_path / "v1.0" / "ACME").errors() >= {"tree.too-deep", "entry.noncompliant-runs"}


@pytest.mark.parametrize("folders", ["v1.0/submissions/team", "v1.0/team", "results/v1.0", "v1.1/v1.0", "rounds/v1.0"])
def test_folders_of_organisations_are_not_too_deep(folders: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, folders)
    assert too_deep(tree.folder.parent) == []
    outcome = check(tree.folder.parent, "--round", "1.0")
    assert (outcome.status, outcome.errors()) == (0, set())


def test_the_organisation_itself_can_be_checked_where_it_lies(tmp_path: Path) -> None:
    assert check(deep(tmp_path).folder).status == 0


@pytest.mark.parametrize("division", ["closed", "open"])
@pytest.mark.parametrize("fast", [False, True])
def test_a_benchmarks_folder_has_its_division_and_convergence_whatever_lies_above(
    division: str, fast: bool, tmp_path: Path
) -> None:
    answers = []
    for above in ("results", "runs"):
        tree = make_tree(tmp_path / above, division=division)
        if fast:
            tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 5}), *range(5))
        folder = tmp_path / above / above / "rack1" / "resnet"
        folder.parent.mkdir(parents=True)
        tree.entry().rename(folder)
        outcome = check(folder, "--round", "1.1")
        [entry] = outcome.report["entries"]
        answers.append((entry["division"], entry["rcp"], entry["score"]))
    assert answers[0] == answers[1]
    assert answers[0][0] == division
    assert answers[0][1]["verdict"] == ("not-required" if division == "open" else "fail" if fast else "pass")
