"""``mlsub.results``: an entry of each report by itself, the same as in the report."""

from __future__ import annotations

from pathlib import Path

import pytest

import mlsub
from mlsub.io import MlsubError
from tools.support.make_tree import make_tree, spoil


def test_each_entry_of_the_report_has_a_result(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    spoil(tree, *range(5), benchmark="bert")
    report, results = mlsub.check(tree.folder), list(mlsub.results(tree.folder))
    assert len(results) == len(report.entries) == 2
    for entry, result in zip(report.entries, results, strict=True):
        assert {name: getattr(result, name) for name in entry.__struct_fields__} == {
            name: getattr(entry, name) for name in entry.__struct_fields__
        }
    assert {result.verdict for result in results} == {"accepted", "rejected"}
    assert (results[0].round, results[0].usage, results[0].root) == ("1.0", "training", str(tree.folder))


def test_several_paths_have_their_results_in_order(tmp_path: Path) -> None:
    one, two = make_tree(tmp_path / "v1.0"), make_tree(tmp_path / "v1.0", org="Zeta")
    paths = [str(two.folder), one.folder]
    assert [result.organisation for result in mlsub.results(paths, jobs=1)] == ["Zeta", "ACME"]


def test_what_a_path_lacks_is_raised_when_its_turn_comes(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    found = mlsub.results([tree.folder, tmp_path / "nowhere"])
    assert next(found).organisation == "ACME"
    with pytest.raises(MlsubError, match=r"There is no .*nowhere"):
        next(found)


def test_a_log_outside_of_an_entry_has_no_result(tmp_path: Path) -> None:
    log = make_tree(tmp_path).log(0)
    loose = tmp_path / "result_0.txt"
    loose.write_bytes(log.read_bytes())
    assert list(mlsub.results(loose, "1.0")) == []
