"""The example submissions make the published packages again, and every tool says of them what it says of those."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from mlsub import check
from mlsub.findings import Verdict
from mlsub.submission.report import Report
from tools.support.corpus import CORPUS, SHARED
from tools.support.make_tree import snapshot

REPOSITORY = Path(__file__).parents[2]
ROUNDS = ("1.0", "1.1")
#: The entries whose waiver is used.
WAIVED = {
    "1.0": ["ipu-pod64-POPART-closed/bert"],
    "1.1": ["ipu-pod16-POPART-closed/bert", "ipu-pod64-POPART-closed/bert"],
}
#: Fields that the published descriptions state, and that were wrong or unclear there: what the corrected ones change.
CORRECTED = {
    "accelerator_host_interconnect", "accelerators_per_node", "accelerator_interconnect",
    "accelerator_memory_capacity", "host_memory_capacity", "host_networking", "host_processors_per_node",
    "host_storage_capacity", "notes", "number_of_nodes", "status",
}  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there"),
]
each_round = pytest.mark.parametrize("name", ROUNDS)


def published(name: str) -> Path:
    return CORPUS / f"v{name}" / "Graphcore"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both examples as a user packs them, with the logs named by a variable."""
    folder = tmp_path_factory.mktemp("packed")
    for name in ROUNDS:
        done = pack(name, folder, "--write")
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"Written to {out(name, folder)}" in done.stdout
    return folder


def out(name: str, folder: Path) -> Path:
    return folder / f"v{name}" / "Graphcore"


def pack(name: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    example = REPOSITORY / "submissions" / f"graphcore-v{name}" / "submission.yaml"
    command = [sys.executable, "-m", "mlsub", "pack", str(example), "-o", str(out(name, folder)), *options]
    environment = {"PATH": "/usr/bin:/bin", "CORPUS": str(CORPUS)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@lru_cache(maxsize=4)
def report(tree: Path) -> Report:
    return check(tree)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@each_round
def test_results_are_the_published_ones_byte_for_byte(name: str, packed: Path) -> None:
    ours, theirs = (contents(tree / "results") for tree in (out(name, packed), published(name)))
    assert len(theirs) == {"1.0": 50, "1.1": 80}[name]
    assert ours == theirs


@each_round
def test_a_second_pack_changes_nothing(name: str, packed: Path) -> None:
    before = snapshot(packed)
    done = pack(name, packed, "--write")
    assert done.stdout.endswith(f"{out(name, packed)} is as planned: nothing to write.\n")
    assert snapshot(packed) == before


@each_round
def test_descriptions_are_corrected_and_nothing_else_is(
    name: str, packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = set()
    for theirs in sorted((published(name) / "systems").glob("*.json")):
        ours = out(name, packed) / "systems" / theirs.name
        old, new = (json.loads(file.read_text()) for file in (theirs, ours))
        print(f"v{name} {theirs.name}")
        for field in dict.fromkeys([*old, *new]):
            if old.get(field) != new.get(field):
                print(f"  {field}: {old.get(field)!r} -> {new.get(field)!r}")
                if old.get(field) not in ("", "TODO", None):
                    changed.add(field)
        assert int(new["number_of_nodes"]) * int(new["accelerators_per_node"]) == int(
            re.findall(r"pod(\d+)", ours.name)[0]
        )
        text = ours.read_text()
        assert not re.search(r"TODO|TBD|Dual Pot|ExpressX5", text)
        assert len(re.findall(r'^  "', text, re.MULTILINE)) == len(new), "a field stands there twice"
    assert changed == CORRECTED


@each_round
def test_a_pod64_has_one_server_for_bert_and_four_for_resnet(name: str, packed: Path) -> None:
    hosts = {}
    for file in (out(name, packed) / "systems").glob("ipu-pod64-*.json"):
        content = json.loads(file.read_text())
        assert content["host_processor_model_name"] == "AMD EPYC 7742"
        assert content["host_processors_per_node"] == "2"
        hosts[file.stem.removeprefix("ipu-pod64-")] = content["number_of_nodes"]
    assert hosts == {"TF1": "4", "POPART-closed": "1", "POPART-open": "1"}


@each_round
def test_verdicts_are_the_recorded_ones(name: str, packed: Path) -> None:
    logs = json.loads((SHARED / "oracle" / f"logs-v{name}.json").read_text())
    entries = json.loads((SHARED / "oracle" / f"entries-v{name}.json").read_text())
    checked = report(out(name, packed))
    assert checked.official is Verdict.REJECTED
    assert {f"Graphcore/{log.path}": log.official == "compliant" for log in checked.logs} == {
        path: answer["compliant"] for path, answer in logs.items() if path.startswith("Graphcore/")
    }
    recorded = {path: answer for path, answer in entries.items() if path.startswith("Graphcore/")}
    assert {f"Graphcore/{entry.path}" for entry in checked.entries} == set(recorded)
    for entry in checked.entries:
        then = recorded[f"Graphcore/{entry.path}"]
        passed = then["rcp"]["epochs"]["passed"] if then["division"] == "closed" else True
        assert (entry.official is Verdict.ACCEPTED) is passed, entry.path
        assert entry.score.unscaled == pytest.approx(then["score"]["unscaled"], rel=1e-9)
    rejected = [entry.path.removeprefix("results/") for entry in checked.entries if entry.official is Verdict.REJECTED]
    assert rejected == WAIVED[name]


@each_round
def test_code_that_is_not_here_is_an_audit_finding(name: str, packed: Path) -> None:
    assert "package.code-missing" in pack(name, packed).stdout
    assert "layout.benchmarks-missing" in {found.rule for found in report(out(name, packed)).findings}


@pytest.mark.parametrize("name", ["1.0", pytest.param("1.1", marks=pytest.mark.long)])
def test_the_installed_package_checker_says_of_both_the_same(name: str, packed: Path, tmp_path: Path) -> None:
    answers = {}
    for title, tree in (("ours", out(name, packed)), ("theirs", published(name))):
        # The official tool writes into the tree it checks.
        copy = tmp_path / title / "Graphcore"
        shutil.copytree(tree, copy, copy_function=shutil.copyfile)
        answers[title] = official(copy, name, tmp_path / title)
    assert answers["ours"] == answers["theirs"]
    assert len(answers["ours"]) > 1


def official(tree: Path, name: str, work: Path) -> list[str]:
    """What the installed package checker says of a tree and its entries, without paths, times and numbers of lines."""
    command = [sys.executable, "-m", "mlperf_logging.package_checker", str(tree), "training", f"{name}.0"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).replace(str(tree), "TREE").splitlines()
    told = [line for line in lines if line.startswith(("ERROR", "WARNING")) or "PACKAGE CHECKER FOUND" in line]
    assert any("PACKAGE CHECKER FOUND" in line for line in told), done.stderr
    return sorted(told)
