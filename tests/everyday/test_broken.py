"""A package that a submitter broke: what check says first, its remedy, and nothing that only follows from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from mlsub.findings import Finding
from mlsub.present.findings import grouped
from mlsub.rules.catalogue import FIX
from mlsub.workspace import Settings, check_paths
from tests.commands.runner import run
from tests.corpus import CORPUS
from tests.everyday.breaking import broken, intact, named
from tests.make_tree import make_log, make_tree

pytestmark = pytest.mark.skipif(not (CORPUS / "v5.1" / "AMD").is_dir(), reason="published results are not there")

CASES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("broken.yaml").read_text())


def found(path: Path, options: list[str]) -> list[list[Finding]]:
    """The findings as check shows them: one group a defect, what rejects first."""
    settings = Settings(round=options[1] if options else None, jobs=1)
    return grouped(finding for report in check_paths([path], settings) for finding in report.findings)


@cache
def usual() -> frozenset[tuple[str, str, str]]:
    """What is said of the package as it was published."""
    with TemporaryDirectory() as folder:
        return frozenset((f.rule, f.path, f.message) for group in found(intact(Path(folder)), []) for f in group)


@pytest.mark.parametrize("name", CASES)
def test_a_broken_package_gets_one_finding_whose_remedy_is_right(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    folder = broken(tmp_path, case["by"])
    groups = found(tmp_path / case["path"] if "path" in case else folder, case.get("options", []))
    fresh = [[f for f in group if (f.rule, f.path, f.message) not in usual()] for group in groups]
    rules = [group[0].rule for group in fresh if group]
    if case["first"] == "none":
        assert rules == []
        return
    assert rules[0] == case["first"]
    assert sorted(rules[1:]) == sorted(case.get("beside", []))
    [first, *_] = [group[0] for group in fresh if group]
    for words in case["fix"]:
        assert named(words) in (first.fix or "")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if FIX in case.get("fix", [])])
def test_where_a_remedy_names_mlsub_fix_that_repairs_it(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    folder = broken(tmp_path, case["by"])
    assert run("fix", folder, "--write").status == 0
    left = [f for group in found(folder, []) for f in group if (f.rule, f.path, f.message) not in usual()]
    assert case["first"] not in {f.rule for f in left}


def test_results_one_folder_too_deep_are_not_taken_for_results_of_another_name(tmp_path: Path) -> None:
    folder = broken(tmp_path, CASES["results alone too deep"]["by"])
    assert run("fix", folder, "--write").status == 1
    assert sorted(child.name for child in folder.iterdir()) == ["AMD", "systems"]


def test_there_are_enough_ways_to_break_it() -> None:
    assert len(CASES) >= 31


@pytest.mark.parametrize("round_name", ["v1.0", "v3.0"])
def test_a_log_of_another_benchmark_is_not_called_one_of_another_batch_size(round_name: str, tmp_path: Path) -> None:
    """Up to v2.1 the official checker accepts it."""
    tree = make_tree(tmp_path, round_name)
    tree.log(3).write_text(make_log("bert", "closed", 3).text())
    rules = {group[0].rule: group[0].fix or "" for group in found(tree.folder, [])}
    assert ("cross.benchmark" in rules) is (round_name == "v1.0")
    assert "rcp.mixed-batch-sizes" not in rules
    assert "batch size" not in " ".join(rules.values())
