"""The published score and the columns of a system are what the official summarizer makes of the tree as it stands.

Availability is not compared: the official table of aliases is no part of the installed package.
"""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import mlsub
from mlsub.submission.report import ScoreResult
from mlsub.systems.fields import facts_of
from tests.score.reports import make_entry, make_report, make_row, make_system
from tools.oracle import shared
from tools.support.corpus import SHARED
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import run

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.result_summarizer import result_summarizer

#: Entries of which the fastest reference point came after publication.
DELL = SHARED / "cases" / "v3.1" / "Dell"


def nvidia(tmp_path: Path) -> Tree:
    """ResNet of v3.0 on 64 H100: 2.664 minutes, batch size 3,264, 35 epochs where the reference needs 35.154."""
    tree = make_tree(tmp_path, "v3.0", "NVIDIA")
    for number, minutes in enumerate((2.5, 2.662, 2.664, 2.666, 3.0)):
        tree.edit(lambda log: log.put("global_batch_size", value=3264), number)
        tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35.0}), number)
        tree.edit(lambda log, minutes=minutes: log.last(minutes), number)  # type: ignore[misc]
    return tree


def official(tree: Tree) -> float:
    """The score that the official summarizer prints."""
    found = result_summarizer._compute_strong_score_standalone(
        "resnet", "rack1", False, str(tree.entry()), "training", "3.0.0"
    )
    return float(found[0])


def score(tree: Tree) -> ScoreResult:
    (entry,) = mlsub.check(tree.folder, jobs=1).entries
    assert entry.minutes == entry.score.published
    return entry.score


def test_an_entry_that_was_published_without_a_factor_has_none(tmp_path: Path) -> None:
    """The results table of v3.0 has 2.664 minutes for the entry with ID 3.0-2071; its test gives 2.676."""
    tree = nvidia(tmp_path)
    found = score(tree)
    assert found.published == found.unscaled == pytest.approx(2.664, abs=1e-9)
    assert found.published == pytest.approx(official(tree), abs=1e-9)
    assert found.expected_scaling == pytest.approx(35.15384615384615 / 35, rel=1e-12)
    assert found.expected == pytest.approx(2.675709890, abs=1e-9)
    table = run("score", tree.folder).stdout
    assert "  2.664     2.676  accepted" in table
    (line,) = (line for line in run("check", tree.folder).stdout.splitlines() if line.startswith("rack1"))
    assert "  2.664     2.676  pass  accepted" in line


@pytest.mark.parametrize("factor", [1.0, 1.0043956043956044, 1.05])
def test_a_factor_in_the_package_counts_whatever_the_test_gives(factor: float, tmp_path: Path) -> None:
    tree = nvidia(tmp_path)
    (tree.entry() / "scaling.json").write_text(f'{{"scaling_factor": {factor!r}}}')
    found = score(tree)
    assert found.published == pytest.approx(2.664 * factor, abs=1e-9)
    assert found.published == pytest.approx(official(tree), abs=1e-9)
    assert (found.scaling, found.scaling_file) == (factor, True)
    assert found.expected == pytest.approx(2.675709890, abs=1e-9)


def test_every_command_has_the_same_minutes(tmp_path: Path) -> None:
    tree = nvidia(tmp_path)
    checked, scored = (run(name, tree.folder, "--format", "json").report["entries"][0] for name in ("check", "score"))
    assert checked == scored
    assert checked["minutes"] == pytest.approx(2.664, abs=1e-9)
    margin = run("rcp", "margin", tree.folder, "--format", "json").document["reports"][0]["entries"][0]
    compared = run("compare", "--trainings", tree.folder, tree.folder, "--format", "json").document["pairs"][0]["old"]
    difference = run("compare", "--packages", tree.folder, tree.folder, "--format", "json").document["entries"][0][
        "values"
    ]
    published, expected = checked["score"]["published"], checked["score"]["expected"]
    assert (margin["published"], margin["expected"]) == (published, expected)
    assert (compared["minutes"], compared["expected"]) == (published, expected)
    values = {value["name"]: value["new"] for value in difference}
    assert (values["published"], values["expected"]) == (published, expected)


@pytest.mark.skipif(not DELL.is_dir(), reason="published results are not there")
@pytest.mark.parametrize(("words", "factor"), [((), None), (("--rcp-points", "newest"), 37 / 36)])
def test_no_factor_is_written_by_a_point_merged_after_publication(
    words: tuple[str, ...], factor: float | None, tmp_path: Path
) -> None:
    """23 entries of v3.1 were published without a factor; a point of February 2024 would scale them."""
    tree = shutil.copytree(DELL, tmp_path / "v3.1" / "Dell")
    run("score", str(tree), "--write-scaling", *words)
    written = {
        file.parent.name: json.loads(file.read_text())["scaling_factor"]
        for file in tree.glob("results/*/*/scaling.json")
    }
    assert written == ({} if factor is None else {"ssd": pytest.approx(factor)})


COLUMNS = (
    *("submitter", "system", "number_of_nodes", "host_processor_model_name", "host_processors_count"),
    *("accelerator_model_name", "accelerators_count", "framework", "notes"),
)
LINKS = ("details_url", "code_url")


def published() -> list[Path]:
    """The organisations of all rounds but v0.7, where descriptions without a division end the summarizer."""
    return sorted(folder.parent for folder in shared.CORPUS.glob("*/*/systems") if "v0.7" not in folder.parts)


def official_rows(organisation: Path, usage: str, name: str) -> list[dict[str, Any]]:
    """The official table, without scores: those need hours, and are compared elsewhere."""
    no_scores = (dict.fromkeys(result_summarizer.get_allowed_benchmarks(usage, f"{name}.0")), {})
    with (
        patch.object(result_summarizer, "_compute_strong_scaling_scores", lambda *args, **kwargs: no_scores),
        patch.object(result_summarizer, "_compute_weak_scaling_scores", lambda *args, **kwargs: ({}, {})),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        table = result_summarizer.summarize_results(str(organisation), usage, f"{name}.0")[0]
    rows: list[dict[str, Any]] = table.to_dict("records")
    return rows


def our_row(organisation: Path, system: str, usage: str, name: str) -> dict[str, Any]:
    content = json.loads((organisation / "systems" / f"{system}.json").read_bytes())
    description = make_system(system, facts_of(content), organisation.name)
    entry = make_entry(path=f"results/{system}/bert", system=system, organisation=organisation.name)
    row = make_row(make_report(entry, systems=(description,), usage=usage, round=name))
    return {column: row["system_name" if column == "system" else column] for column in (*COLUMNS, *LINKS)}


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
@pytest.mark.parametrize("organisation", published(), ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_the_columns_of_each_system_are_the_official_ones(organisation: Path) -> None:
    usage, dash, name = organisation.parent.name.rpartition("-v")
    usage, name = (usage, name) if dash else ("training", organisation.parent.name[1:])
    systems = [folder.name for folder in sorted((organisation / "results").iterdir()) if folder.is_dir()]
    ours = [our_row(organisation, system, usage, name) for system in systems]
    contents = [json.loads((organisation / "systems" / f"{system}.json").read_bytes()) for system in systems]
    theirs = official_rows(organisation, usage, name)
    assert len(theirs) == len(ours) > 0

    def sorted_by_all(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
        return sorted(tuple(_same(row[column]) for column in COLUMNS) for row in rows)

    assert sorted_by_all(ours) == sorted_by_all(theirs)
    if all(content["submitter"] == organisation.name for content in contents):
        assert sorted(row["details_url"] for row in ours) == sorted(row["details_url"] for row in theirs)


def _same(value: Any) -> str:
    """A value as text: the official table takes numbers of nodes as they are written."""
    return str(value).removesuffix(".0")
