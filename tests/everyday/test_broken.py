"""A package that a submitter broke: what check says first, its remedy, and nothing that only follows from it."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from mlsub.findings import Finding
from mlsub.present.findings import grouped
from mlsub.workspace import Context, Request, check_paths
from tests.everyday.breaking import SYSTEM, broken, intact, named, take
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_log, make_tree
from tools.support.runner import run

pytestmark = pytest.mark.skipif(not (CORPUS / "v5.1" / "AMD").is_dir(), reason="published results are not there")

CASES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("broken.yaml").read_text())


def found(path: Path, options: list[str]) -> list[list[Finding]]:
    """The findings as check shows them: one group a defect, what rejects first."""
    settings = Context(Request(round=options[1] if options else None), jobs=1)
    return grouped(finding for report in check_paths([path], settings) for finding in report.findings)


@cache
def usual() -> frozenset[tuple[str, str, str]]:
    """What is said of the package as it was published."""
    with TemporaryDirectory() as folder:
        return frozenset((f.rule, f.path, f.message) for group in found(intact(Path(folder)), []) for f in group)


@pytest.mark.parametrize("name", CASES)
def test_a_broken_package_gets_one_finding_that_its_remedy_resolves(name: str, tmp_path: Path) -> None:
    """A command is in the remedy to the letter, and does it where the remedy says; other steps are a person's."""
    case = CASES[name]
    folder = broken(tmp_path, case["by"])
    path, options = tmp_path / case["path"] if "path" in case else folder, case.get("options", [])
    fresh = [group[0] for group in _fresh(path, options)]
    if case["first"] == "none":
        assert fresh == []
        return
    assert case["first"] in [one.rule for one in fresh]
    first = next(one for one in fresh if one.rule == case["first"])
    others = [one for one in fresh if one is not first]
    assert sorted(other.rule for other in others) == sorted(case.get("beside", []))
    for words in case["fix"]:
        assert named(words) in (first.fix or "")
    for step in case["do"]:
        if isinstance(step, str):
            assert named(step) in (first.fix or "")
            _run(named(step), first, path)
        elif "path" in step:
            path = tmp_path / step["path"]
            assert path.name in f"{first.fix}{first.expected}"
        elif "round" in step:
            options = ["--round", step["round"]]
            assert step["round"] in (first.fix or "") or "or later" in (first.fix or "")
        else:
            take(folder, [step])
    left = {group[0].rule for group in _fresh(path, options)}
    assert case["first"] not in left
    known = (*case.get("beside", ()), *case.get("leaves", ()))
    assert [rule for rule in left if not rule.startswith(known)] == []


def _fresh(path: Path, options: list[str]) -> list[list[Finding]]:
    """The groups of findings that the intact package does not have."""
    groups = [[f for f in group if (f.rule, f.path, f.message) not in usual()] for group in found(path, options)]
    return [group for group in groups if group]


def _run(command: str, of: Finding, path: Path) -> None:
    """Run a command of a remedy where that says, or where the finding is."""
    place = path / of.path
    beside = place if place.is_dir() else place.parent
    where = re.search(r"in the folder (\S+?)[.;,]?( |$)", of.fix or "")
    here = next(above for above in (path, *path.parents) if above.name == where[1]) if where else beside
    for word, meant in (("PATH", path), ("FILE", place), ("<system>", SYSTEM)):
        command = command.replace(word, str(meant))
    if command.startswith("mlsub "):
        with contextlib.chdir(here):
            assert run(*shlex.split(command)[1:]).status == 0
    else:
        subprocess.run(["sh", "-c", command], cwd=here, check=True)


@pytest.mark.parametrize(("one", "other"), [("teamA/v5.1", "teamB/v5.1"), ("v5.1/closed", "v5.1/open")])
def test_two_packages_of_one_organisation_are_never_mixed(
    one: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    intact(tmp_path, both=False)
    for place in (one, other):
        shutil.copytree("v5.1/AMD", f"here/{place}/ASUSTeK")
    shutil.rmtree("here/v5.1/open/ASUSTeK/results", ignore_errors=True)
    shutil.rmtree("v5.1")
    asked = Path("here/v5.1" if one.startswith("v5.1") else "here")
    [first] = [group[0] for group in found(asked, [])]
    assert first.rule == "check.no-logs" and " mv " not in (first.fix or "")
    words = shlex.split((first.fix or "").partition(": ")[2])
    assert (words[:2] == ["mlsub", "merge"]) == one.startswith("v5.1")
    done = run(*(words[1:] if one.startswith("v5.1") else ["check", *words]))
    assert (done.status, done.stderr) == (0, "")
    assert first.message not in done.stdout


@pytest.mark.parametrize(
    ("made", "fix"),
    [
        (["AMD/results", "closed/AMD/results"],
         "v5.1 contains another AMD: join them with mlsub merge, or rename one."),
        (["closed/AMD/results", "closed/T1/results", "T1/a"],
         "v5.1 contains another T1: join them with mlsub merge, or rename one."),
        ([f"closed/T{number}/results" for number in range(6)], "Move each organisation's folder up to v5.1."),
        (["AMD/closed/results", "MiTAC/closed/results"],
         "Move what each of these contains to v5.1/<organisation>, with the name of its organisation: "
         "AMD/closed, MiTAC/closed."),
        (["AMD/closed/results", "AMD/open/systems"],
         "Move what each of these contains to v5.1/<organisation>, with the name of its organisation: "
         "AMD/closed, AMD/open."),
    ],
)  # fmt: skip
def test_no_remedy_loses_a_name_or_mixes_two_packages(made: list[str], fix: str, tmp_path: Path) -> None:
    for folder in made:
        (tmp_path / "v5.1" / folder).mkdir(parents=True)
    asked = "closed/AMD" if "AMD/results" in made else ""
    assert fix in [group[0].fix for group in found(tmp_path / "v5.1" / asked, [])]


@pytest.mark.parametrize("names", [("hpl_1.out",), ("hpl_1.out", "result_0.txt")])
def test_no_remedy_promises_that_fix_renames_what_may_be_no_log(names: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "v5.1/ACME/results/rack1/llama2_70b_lora"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("no record\n")
    [fix] = {one[0].fix for one in found(tmp_path / "v5.1/ACME", []) if one[0].rule == "entry.run-count"}
    assert fix.endswith("mlsub fix PATH --write does it for MLPerf logs.")
    assert "rename" not in run("fix", tmp_path / "v5.1/ACME").stdout


def test_results_one_folder_too_deep_are_not_taken_for_results_of_another_name(tmp_path: Path) -> None:
    folder = broken(tmp_path, CASES["results alone too deep"]["by"])
    assert run("fix", folder, "--write").status == 1
    assert sorted(child.name for child in folder.iterdir()) == ["AMD", "systems"]


@pytest.mark.parametrize("round_name", ["v1.0", "v3.0"])
def test_a_log_of_another_benchmark_is_not_called_one_of_another_batch_size(round_name: str, tmp_path: Path) -> None:
    """Up to v2.1 the official checker accepts it."""
    tree = make_tree(tmp_path, round_name)
    tree.log(3).write_text(make_log("bert", "closed", 3).text())
    rules = {group[0].rule: group[0].fix or "" for group in found(tree.folder, [])}
    assert ("cross.benchmark" in rules) is (round_name == "v1.0")
    assert "rcp.mixed-batch-sizes" not in rules
    assert "batch size" not in " ".join(rules.values())
