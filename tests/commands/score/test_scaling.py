"""mlsub score: published and expected minutes, --write-scaling, and how the list ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.support.make_tree import Tree, make_tree, snapshot
from tools.support.runner import run


def tree_with(tmp_path: Path, epochs: int) -> Tree:
    """An entry of v4.0 whose runs converge at so many epochs; 35.148 are those of the reference."""
    tree = make_tree(tmp_path, "v4.0")
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": epochs}), *range(5))
    return tree


def test_a_factor_is_written_where_the_time_is_to_be_scaled(tmp_path: Path) -> None:
    tree = tree_with(tmp_path, 35)
    outcome = run("score", tree.folder, "--write-scaling")
    file = tree.entry() / "scaling.json"
    (factor,) = json.loads(file.read_text()).values()
    assert factor == pytest.approx(1.004223, abs=1e-6)
    assert outcome.stderr == f"mlsub: written: {file}: {factor!r}\n"
    again = run("score", tree.folder, "--format", "json").report["entries"][0]["score"]
    assert (again["scaling"], again["scaling_file"]) == (factor, True)
    assert again["published"] == again["expected"] == 12.0 * factor


@pytest.mark.parametrize(
    ("epochs", "published", "option"),
    [(30, None, True), (40, None, True), (35, '{"scaling_factor": 1.5}', True), (35, None, False)],
)
def test_none_is_written_where_nothing_is_scaled_or_one_is_there_or_unasked(
    epochs: int, published: str | None, option: bool, tmp_path: Path
) -> None:
    tree = tree_with(tmp_path, epochs)
    if published is not None:
        (tree.entry() / "scaling.json").write_text(published)
    before = snapshot(tree.folder)
    outcome = run("score", tree.folder, *["--write-scaling"] * option)
    assert ("no scaling.json to write" in outcome.stderr) is option
    run("check", tree.folder)
    assert snapshot(tree.folder) == before


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tree = tree_with(tmp_path, 35)
    (tree.entry() / "scaling.json").symlink_to(tmp_path / "nowhere")
    outcome = run("score", tree.folder, "--write-scaling")
    assert outcome.status == 2
    assert "scaling.json" in outcome.stderr and "Traceback" not in outcome.stderr


def test_one_entry_rejects_the_package_and_not_the_list_of_results(tmp_path: Path) -> None:
    tree = tree_with(tmp_path, 30)
    tree.add_system("rack2")
    tree.add_entry("resnet", "rack2")
    checked, scored = run("check", tree.folder), run("score", tree.folder)
    assert (checked.status, scored.status) == (1, 1)
    assert "\nrejected: 1 of 2 entries rejected (rcp.too-fast); 10 of 10 logs compliant" in checked.stdout
    assert "\n  1 of 2 entries accepted, 10 of 10 logs compliant" in scored.stdout


def test_bert_that_another_count_judges_otherwise_is_marked(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.1", benchmarks=["bert"])
    told = "* pass if BERT is counted by train_samples"
    for name in ("check", "score"):
        usual = run(name, tree.folder).stdout
        assert "pass*" not in usual and "fail*" not in usual and told not in usual
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 1}), *range(10), benchmark="bert")
    for name in ("check", "score"):
        marked = run(name, tree.folder).stdout
        assert " fail, not comparable* " in marked
        notes = {line.strip().removeprefix("RCP:").lstrip() for line in marked.splitlines()}
        assert {told, "bert: not comparable: the logs count epochs, the reference samples"} <= notes
        turned = run(name, tree.folder, "--rcp-bert-train-samples").stdout
        assert " pass by train_samples* " in turned and "* fail if BERT is counted by epoch_num" in turned
