"""Which entries lie below some paths, and what is said where there are none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import mlsub.workspace.reading
from mlsub.io import MlsubError
from mlsub.workspace import Context
from tests.gathering import gather
from tests.review.runs.build import write_tree


def paths_of(*paths: Path, beside: tuple[Path, ...] = ()) -> tuple[list[str], list[str]]:
    entries, others, *_ = gather([str(path) for path in paths], Context(jobs=1), beside=[str(path) for path in beside])
    return [entry.path for entry in entries], [entry.path for entry in others]


def test_a_folder_of_rounds_is_all_of_them(tmp_path: Path) -> None:
    write_tree(tmp_path, runs=2)
    write_tree(tmp_path, runs=2, round_="training_results_v2.0")
    assert paths_of(tmp_path)[0] == ["training_results_v2.0/ACME/results/rack1/bert", "v1.1/ACME/results/rack1/bert"]


def test_parts_of_a_tree(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, runs=2)
    shutil.copytree(tree / "results" / "rack1", tree / "results" / "rack2")
    both = ["results/rack1/bert", "results/rack2/bert"]
    assert paths_of(tree)[0] == paths_of(tree / "results")[0] == both
    assert paths_of(tree / "results" / "rack2")[0] == both[1:]
    assert paths_of(tree / "results" / "rack2" / "bert", tree / "results" / "rack1")[0] == both[::-1]


def test_what_is_named_twice_is_there_once(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, runs=2)
    assert paths_of(tree, tree / "results" / "rack1", tree)[0] == ["results/rack1/bert"]


def test_what_lies_beside_is_kept_apart(tmp_path: Path) -> None:
    new, old = write_tree(tmp_path, runs=2, round_="v2.0"), write_tree(tmp_path, runs=2)
    assert paths_of(new, beside=(old,)) == (["v2.0/ACME/results/rack1/bert"], ["v1.1/ACME/results/rack1/bert"])


def test_a_name_that_is_none() -> None:
    with pytest.raises(MlsubError, match=r"^There is no .*/a.b\. Name"):
        gather(["a\0b"], Context())


def test_a_defect_of_ours_costs_one_log_and_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mlsub.workspace.reading.judge_log

    def broken(file: str, *words: Any, **asked: Any) -> object:
        if file.endswith("result_1.txt"):
            raise ZeroDivisionError("inside a fold")
        return real(file, *words, **asked)

    monkeypatch.setattr(mlsub.workspace.reading, "judge_log", broken)
    [entry], *_ = gather([str(write_tree(tmp_path, runs=3))], Context(jobs=1))
    assert [[f.actual for f in log.findings if f.rule == "rule.crashed"] for log in entry.logs] == [
        [],
        ["ZeroDivisionError: inside a fold"],
        [],
    ]


def test_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    tree = str(write_tree(tmp_path, runs=8))
    assert gather([tree], Context(jobs=2)) == gather([tree], Context(jobs=1))
