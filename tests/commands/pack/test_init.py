"""A manifest read off a submission makes that submission again."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.commands.init.run import draft_of, manifest_text
from mlsub.packing.plan import PackPlan, make_plan
from mlsub.packing.read import read_manifest
from mlsub.rounds import get_round
from mlsub.submission.find import find
from mlsub.workspace import Context
from tests.conftest import ExpectedText
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree

PUBLISHED = [path for path in sorted(CORPUS.glob("*/*")) if path.is_dir()] if CORPUS.is_dir() else []
#: Folders under results/ that are no benchmark of the round, so that nothing of them can be an entry.
STRANGE = {"v1.0/Habana": {"results/HLS-Gaudi-8-PyTorch/resnet/bert"}}


def plan_of(tree: Path, work: Path) -> tuple[PackPlan, str]:
    inferred = find(tree)
    text = manifest_text(*draft_of(tree, get_round(inferred.usage, inferred.round), work))
    (work / "submission.yaml").write_text(text)
    return make_plan(read_manifest(work / "submission.yaml", {}), context=Context(jobs=1)), text


@pytest.mark.skipif(not PUBLISHED, reason="published packages are not there")
@pytest.mark.product
@pytest.mark.parametrize("tree", PUBLISHED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_published_submission_is_made_again(tree: Path, tmp_path: Path) -> None:
    plan, _ = plan_of(tree, tmp_path)
    incomplete = ["package.runs-missing"] if tree.name == "JuniperNetworks" and tree.parent.name == "v4.0" else []
    assert [found.rule for found in plan.findings] == incomplete
    # Every file goes somewhere, each to a place of its own; results may be renamed, all else keeps its name.
    there = {path for path in tree.rglob("*") if path.is_file()}
    taken = {item.source for item in plan.pieces}
    left = {path.relative_to(tree).as_posix() for path in there - taken}
    assert {path for path in left if not path.startswith(deep(tree))} == set()
    for item in plan.pieces:
        assert item.source is not None
        inside = item.source.relative_to(tree).as_posix()
        if "/result_" in item.to and "/result_" in inside:
            assert item.to.split("/result_")[0] == inside.split("/result_")[0]
        else:
            assert item.to == inside
    for entry in plan.runs:
        names = [Path(run).name for run in entry.runs]
        if sorted(names) == sorted(usual := [f"result_{n}.txt" for n in range(len(names))]):
            assert names == usual


def deep(tree: Path) -> tuple[str, ...]:
    """Where v1.0 Habana has ten logs one folder too deep."""
    return tuple(f"{place}/" for place in STRANGE.get(f"{tree.parent.name}/{tree.name}", ())) or ("\0",)


def test_code_setup_power_and_other_files_are_taken_over(tmp_path: Path, expected_text: ExpectedText) -> None:
    tree = make_tree(tmp_path, org="ACME")
    for name in (
        "README.md",
        ".git/config",
        "results/rack1/resnet/scaling.json",
        "results/rack1/resnet/power/result_0/node_0.txt",
        "benchmarks/resnet/LICENSE",
        "benchmarks/resnet/implementations/pytorch/train.py",
        "benchmarks/resnet/rack1/setup.sh",
        "benchmarks/bert/rack9/setup.sh",
        "systems/rack2.json",
        "cost $HOME/${x}.txt",
    ):
        (tree.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (tree.folder / name).write_text("{}")
    work = tmp_path / "work"
    work.mkdir()
    _, text = plan_of(tree.folder, work)
    expected_text("init-from.yaml", text)


def test_numbers_in_names_are_numbers(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=("bert",))
    for number in range(10):
        tree.log(number, "bert").rename(tree.entry("bert") / f"result_20210501-{number + 3}.txt")
    plan, _ = plan_of(tree.folder, tmp_path)
    results = [item for item in plan.pieces if item.to.startswith("results/")]
    assert [item.source.name for item in results if item.source] == [f"result_20210501-{n + 3}.txt" for n in range(10)]
