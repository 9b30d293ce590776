"""``mlsub compare``: pairs of entries, what is told of them, and the facts of published rounds."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import pytest

from mlsub.commands.compare.model import Comparison, PackageDiff
from mlsub.commands.compare.run import run as compare
from mlsub.rules.overlay import check_overlay
from mlsub.workspace import Context, Request
from tests.commands.compare.asked import trainings
from tests.conftest import ExpectedText
from tests.judge.test_package_rounds import ROUNDS, make_round
from tests.rules.test_overlay import NEXT, tree_of_the_round_to_come
from tools.support.corpus import CORPUS
from tools.support.effort import effort
from tools.support.make_tree import Log, Tree, make_tree, snapshot, spoil
from tools.support.runner import run

published = pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")


def longer_epochs(log: Log) -> None:
    """A minute of training more, a pause of ten seconds before the evaluation, and two minutes less at the end."""
    after = {"epoch_stop": 60_000, "block_stop": 60_000, "eval_start": 70_000, "eval_accuracy": 70_000}
    for line in log.records():
        line["time_ms"] += {"eval_stop": 130_000, "run_stop": -120_000, **after}.get(line["key"], 0)


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> tuple[Tree, Tree]:
    """An entry, and one that trains longer in less time, with another batch size, on another system."""
    old = make_tree(tmp_path / "a")
    new = Tree(tmp_path / "b" / "v1.0" / "ACME")
    shutil.copytree(old.folder, new.folder)
    spoil(new, 4)
    new.edit(longer_epochs, *range(5))
    new.edit(lambda log: log.put("global_batch_size", value=6400), *range(4))
    new.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 44}), *range(4))
    new.describe(framework="other \x1b[31mframework", cooling=None, accelerators_per_node="16")
    return old, new


@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_what_people_read(
    format_: str,
    two: tuple[Tree, Tree],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected_text: ExpectedText,
) -> None:
    before = snapshot(two[0].folder), snapshot(two[1].folder)
    monkeypatch.chdir(tmp_path)
    outcome = run("compare", "--trainings", *(tree.folder.relative_to(tmp_path) for tree in two), "--format", format_)
    assert (outcome.status, outcome.stderr) == (0, "")
    text = outcome.stdout
    expected_text("compare.txt" if format_ == "text" else "compare.md", text)
    if format_ == "text":
        assert all(len(line) <= 120 for line in text.splitlines())
    assert before == (snapshot(two[0].folder), snapshot(two[1].folder))


def test_the_document(two: tuple[Tree, Tree]) -> None:
    found = trainings(two[0].folder, two[1].folder)
    assert (found["command"], found["schema"], found["purpose"], found["passed"]) == ("compare", 9, "compare", True)
    (pair,) = found["pairs"]
    assert sum(part["minutes"] for part in pair["parts"]) == pytest.approx(
        pair["new"]["minutes"] - pair["old"]["minutes"]
    )
    assert pair["reduction"] == pytest.approx(1 - 1 / pair["ratio"])
    assert [part["name"] for part in pair["parts"]] == [
        *("start", "work", "pace", "accelerators", "before_evaluation", "evaluation", "pauses", "end"),
    ]
    assert (pair["old"]["accelerators"], pair["new"]["accelerators"]) == (8, 16)
    assert pair["new"]["accelerator_minutes"] == pytest.approx(16 * pair["new"]["minutes"])
    assert (pair["old"]["convergence"]["mean"], pair["new"]["convergence"]["maximum"]) == (40, 44)
    assert (pair["old"]["counted"], pair["new"]["convergence"]["runs"]) == (3, 5)
    assert pair["hyperparameters"] == [
        {"name": "global_batch_size", "old": "3200", "new": "6400", "note": "new: 4 of 5 runs"}
    ]


def test_the_same_entry_takes_as_long_as_itself(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (pair,) = trainings(tree.folder, tree.folder)["pairs"]
    assert pair["answer"].startswith("B takes as long as A (12.0 -> 12.0 min).")
    assert (pair["ratio"], pair["reduction"], pair["fields"], pair["hyperparameters"]) == (1, 0, [], [])
    assert "What makes the difference" not in run("compare", "--trainings", tree.folder, tree.folder).stdout


def test_without_a_score_the_mean_of_the_runs_stands_in(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    spoil(other, 0, 1)
    (pair,) = trainings(one.folder, other.folder)["pairs"]
    assert (pair["old"]["minutes_of"], pair["new"]["minutes_of"], pair["new"]["counted"]) == ("score", "mean", 5)
    assert (
        "B has no score; its time is the mean of 5 runs."
        in run("compare", "--trainings", one.folder, other.folder).stdout
    )
    for run_ in range(5):
        other.edit(lambda log: log.drop("run_start"), run_)
    (pair,) = trainings(one.folder, other.folder)["pairs"]
    assert pair["answer"] == "B has no time to compare."
    assert (pair["parts"], pair["ratio"]) == ([], None)
    assert "no run has a time that counts" in pair["undivided"]


def test_intervals_that_are_not_logged_are_told(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    other.edit(lambda log: log.drop("eval_start", "eval_stop"), *range(5))
    text = run("compare", "--trainings", one.folder, other.folder).stdout
    assert "B logs no intervals of evaluation; they are within training or pauses." in text
    assert re.search(r"evaluation +0.011 +not logged\n", text)
    other.edit(lambda log: log.drop("block_start", "block_stop", "epoch_start", "epoch_stop"), *range(5))
    (pair,) = trainings(one.folder, other.folder)["pairs"]
    assert [(part["name"], part["of"]) for part in pair["parts"]] == [("work", None), ("pace", "run")]


def entries(tree: Tree, *systems: str, division: str = "closed", accelerators: int = 8) -> Tree:
    for system in systems:
        tree.add_system(system, division, accelerators_per_node=str(accelerators))
        tree.add_entry("resnet", system, division)
    return tree


def pairs(*arguments: object) -> list[tuple[str, str]]:
    return [(pair["old"]["system"], pair["new"]["system"]) for pair in trainings(*arguments)["pairs"]]


def test_entries_belong_together_by_name_division_and_number_of_accelerators(tmp_path: Path) -> None:
    old = entries(Tree(tmp_path / "v1.0" / "ACME"), "pod16-TF1", "other")
    new = entries(Tree(tmp_path / "v1.1" / "ACME"), "pod16-TF1-closed", "third")
    entries(new, "pod64-TF1", accelerators=32)
    entries(new, "pod16-TF1-open", division="open")
    new.describe("third", accelerator_model_name="GPU 2")
    assert pairs(old.folder, new.folder) == [("pod16-TF1", "pod16-TF1-closed")]
    found = trainings(old.folder, new.folder)
    assert (found["only_old"], found["only_new"]) == (
        ["ACME/other/resnet"],
        ["ACME/pod16-TF1-open/resnet", "ACME/pod64-TF1/resnet", "ACME/third/resnet"],
    )
    forced = ["--pair", "other=third/resnet", "--pair", "pod16-TF1/resnet=ACME/pod64-TF1/resnet"]
    assert pairs(old.folder, new.folder, *forced) == [("other", "third"), ("pod16-TF1", "pod64-TF1")]
    # Where each side has one entry, the two are compared whatever they are.
    assert pairs(old.entry(system="other"), new.entry(system="pod64-TF1")) == [("other", "pod64-TF1")]


def test_in_a_whole_round_the_organisation_comes_first(tmp_path: Path) -> None:
    for org in ("ACME", "Zeta"):
        entries(Tree(tmp_path / "v1.0" / org), "a100_ngc21.05", "spare_system")
        entries(Tree(tmp_path / "v1.1" / org), "a100_ngc21.09", "and_another")
    # Each organisation changed to the accelerator that the other one had.
    for folder, models in (("v1.0", ("GPU 1", "GPU 2")), ("v1.1", ("GPU 2", "GPU 1"))):
        for org, model_name in zip(("ACME", "Zeta"), models, strict=True):
            for description in (tmp_path / folder / org / "systems").iterdir():
                Tree(tmp_path / folder / org).describe(description.stem, accelerator_model_name=model_name)
    found = trainings(tmp_path / "v1.0", tmp_path / "v1.1")
    assert [(pair["old"]["organisation"], pair["new"]["organisation"]) for pair in found["pairs"]] == [
        ("ACME", "ACME"),
        ("Zeta", "Zeta"),
    ]


def test_several_pairs_have_an_overview(
    two: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    monkeypatch.chdir(tmp_path)
    for tree in two:
        tree.add_entry("bert")
    text = run("compare", "--trainings", *(tree.folder.relative_to(tmp_path) for tree in two)).stdout
    overview = text[: text.index("\n\nrack1 bert")].splitlines()[5:]
    expected_text("overview.txt", "\n".join(overview) + "\n")
    text = run("compare", "--trainings", two[0].folder, two[1].folder, "--format", "markdown").stdout
    assert "| rack1 resnet | 12.000000 | 10.000000 | -16.67 % | end of the run" in text


def test_no_counterpart(tmp_path: Path) -> None:
    old = make_tree(tmp_path / "a")
    new = entries(Tree(tmp_path / "b" / "v1.0" / "ACME"), "x", "y", division="open")
    outcome = run("compare", "--trainings", old.folder, new.folder)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr == (
        f"mlsub compare: No entry of {old.folder} has a counterpart in {new.folder}. --pair pairs what belongs "
        "together: the first has ACME/rack1/resnet, the second ACME/x/resnet, ACME/y/resnet.\n"
    )
    entries(old, "y", division="open")
    text = run("compare", "--trainings", old.folder, new.folder).stdout
    assert text.endswith(
        "- Only in A: ACME/rack1/resnet. Pair what belongs together with --pair.\n"
        "- Only in B: ACME/x/resnet. Pair what belongs together with --pair.\n"
    )


def test_two_benchmarks_are_not_divided(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    (pair,) = trainings(tree.entry("resnet"), tree.entry("bert"))["pairs"]
    assert (pair["parts"], pair["undivided"]) == ([], "they train different benchmarks")


def times(log: Log, factor: float) -> None:
    for line in log.records():
        line["time_ms"] *= factor


@pytest.mark.parametrize("factor", [1e290, -1e6, 0])
def test_clocks_that_make_no_sense(factor: float, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    other.edit(lambda log: times(log, factor), *range(5))
    for order in ((one, other), (other, one), (other, other)):
        (pair,) = trainings(*(tree.folder for tree in order))["pairs"]
        assert pair["answer"]
        assert run("compare", "--trainings", *(tree.folder for tree in order)).status == 0


@published
def test_why_graphcores_resnet_became_faster() -> None:
    """The figures are those of ../shared/claims, X-02 and section 4."""
    found = trainings(CORPUS / "v1.0/Graphcore", CORPUS / "v1.1/Graphcore")
    pair = next(p for p in found["pairs"] if p["old"]["system"] == "ipu-pod16-TF1")
    assert pair["answer"] == (
        "B is 23.7 % shorter (1.31x, 37.1 -> 28.3 min): fewer epochs 44 -> 38 (-4.57 min), "
        "training 7.5 % faster per epoch: 27,049 -> 29,068 samples/s (-2.25 min), "
        "pause before evaluation 100.3 s -> 5.5 s (-1.58 min), evaluation 36.8 s -> 18.6 s (-0.30 min), "
        "all else -0.08 min. A run has 12 -> 10 evaluations, 148.9 -> 101.2 seconds of initialisation (not timed). "
        'Also different: global_batch_size 1920 -> 3200, opt_name "sgd" -> "lars", 17 more logged values.'
    )


@pytest.mark.slow
@published
def test_the_phases_of_all_published_pairs_add_up_to_their_scores() -> None:
    rounds = sorted(path for path in CORPUS.glob("v*") if path.is_dir())
    compared = 0
    for old, new in [*itertools.pairwise(rounds)][:: effort(3, 1)]:
        outcome = run("compare", "--trainings", old, new, "--format", "json")
        for pair in outcome.document["pairs"] if outcome.status == 0 else ():
            compared += 1
            difference = pair["new"]["minutes"] - pair["old"]["minutes"]
            assert sum(part["minutes"] for part in pair["parts"]) == pytest.approx(difference, rel=1e-9, abs=1e-9)
    assert compared >= effort(7, 25)


def test_published_minutes_are_compared_and_expected_ones_stand_beside(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a", "v4.0"), make_tree(tmp_path / "b", "v4.0")
    assert "expected minutes" not in run("compare", "--trainings", one.folder, other.folder).stdout
    for tree in (one, other):
        tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    (other.entry() / "scaling.json").write_text('{"scaling_factor": 1.5}')
    (pair,) = trainings(one.folder, other.folder)["pairs"]
    assert (pair["old"]["minutes"], pair["new"]["minutes"], pair["ratio"]) == (12.0, 18.0, pytest.approx(12 / 18))
    assert pair["old"]["expected"] == pair["new"]["expected"] == pytest.approx(12.050679)
    assert pair["answer"].startswith("B is 50.0 % longer (0.67x, 12.0 -> 18.0 min): scaling 1 -> 1.5 (+6.00 min)")
    lines = run("compare", "--trainings", one.folder, other.folder).stdout.splitlines()
    rows = [line.split() for line in lines if "minutes  " in line]
    assert ["unscaled", "minutes", "12.000000", "12.000000"] in rows
    assert ["minutes", "12.000000", "18.000000"] in rows
    assert ["expected", "minutes", "12.050679", "12.050679"] in rows


@pytest.mark.parametrize(
    ("round_id", "benchmark"), [*ROUNDS, ("hpc-1.0", "oc20"), ("hpc-2.0", "deepcam"), ("hpc-3.0", "openfold")]
)
def test_every_round(round_id: str, benchmark: str, tmp_path: Path) -> None:
    below = "strong" if round_id.startswith("hpc") else ""
    tree = make_round(tmp_path, round_id, benchmark, below=below, number_of_nodes="2", accelerators_per_node="8")
    found = trainings(tree, tree)["pairs"][0]
    assert found["answer"].startswith("B takes as long as A (")
    assert found["undivided"] is None
    assert found["old"]["accelerator_minutes"] == pytest.approx(16 * found["old"]["minutes"])
    assert all(part["minutes"] == 0 for part in found["parts"])
    assert found["same"] > 3
    # Training is told apart into how far and how fast wherever a log says how far.
    assert {"work", "pace"} <= {part["name"] for part in found["parts"]}


def test_models_of_weak_scaling_are_compared_and_not_divided(tmp_path: Path) -> None:
    tree = make_round(tmp_path, "hpc-3.0", "cosmoflow", below="weak", runs=25)
    found = trainings(tree, tree)["pairs"][0]
    assert (found["parts"], found["undivided"]) == ([], "models of weak scaling train side by side")
    assert (found["old"]["counted"], found["ratio"]) == (25, 1)


def test_an_entry_of_strong_and_one_of_weak_scaling_are_two(tmp_path: Path) -> None:
    tree = make_round(tmp_path, "hpc-3.0", "cosmoflow", below="weak", runs=25)
    other = make_round(tmp_path / "other", "hpc-3.0", "cosmoflow", below="strong")
    (other / "results" / "rack1" / "strong").rename(tree / "results" / "rack1" / "strong")
    text = run("compare", "--trainings", tree, tree).stdout
    assert text.count("B takes as long as A") == 2
    forced = "rack1/strong/cosmoflow=rack1/weak/cosmoflow"
    found = trainings(tree, tree, "--pair", forced)
    assert len(found["pairs"]) == 1
    assert (found["only_old"], found["only_new"]) == (["ACME/rack1/weak/cosmoflow"], ["ACME/rack1/strong/cosmoflow"])


def test_rules_of_the_user_know_rounds_and_benchmarks_of_their_own(tmp_path: Path) -> None:
    tree = str(tree_of_the_round_to_come(tmp_path))
    context = Context(Request(round="99.0", overlay=check_overlay(NEXT)), jobs=1)
    packages = compare(tree, tree, context, packages=True)
    assert isinstance(packages, PackageDiff) and not packages.different
    found = compare(tree, tree, context, packages=False)
    assert isinstance(found, Comparison)
    (pair,) = found.pairs
    # The fastest and the slowest of three runs are left out.
    assert (pair.old.benchmark, pair.old.runs, pair.old.counted) == ("newthing", 3, 1)
    borrowed = compare(tree, tree, context, borrow=True, source=tree)
    assert isinstance(borrowed, Comparison)
    assert [found.rule for found in borrowed.findings] == ["borrow.submitter", "borrow.nothing"]
