"""Round v0.6, which had no package checker: its verdicts, its scores, and its own form of system descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mlsub
from mlsub.findings import Kind, Verdict
from mlsub.io.data import load_yaml
from mlsub.rounds import all_rounds, get_round, usages
from mlsub.submission.report import EntryResult, Report
from mlsub.systems.description import read_description
from mlsub.systems.fields import SystemFacts, facts_of
from tests.judge.test_package_rounds import make_round
from tools.support.corpus import SHARED
from tools.support.runner import run

CASES = SHARED / "cases" / "v0.6"
PUBLISHED = load_yaml(Path(__file__).with_name("first_round.yaml"))
ENTRY = {
    "hardware": "DGX-1 with V100",
    "framework": "PyTorch NVIDIA Release 19.05",
    "os": "Ubuntu 18.04.2 LTS",
    "libraries": str({"cuda_version": "10.1.163"}),
    "nodes": str(
        {
            "num_nodes": "3",
            "cpu": "2x Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz",
            "accelerator": "Tesla V100-SXM2-16GB",
            "num_accelerators": "8",
            "sys_mem_size": "503 GB",
            "notes": "",
        }
    ),
}


@pytest.fixture(scope="module")
def published() -> Report:
    if not CASES.is_dir():
        pytest.skip("the published logs of v0.6 are not beside the repository")
    return mlsub.check(CASES)


def _records(**values: str) -> str:
    return "".join(f"{key}: {json.dumps({'value': value, 'metadata': {}})}\n" for key, value in values.items())


def _facts(tmp_path: Path, text: str, round_: str = "0.6") -> SystemFacts | None:
    file = tmp_path / "rack1.json"
    file.write_text(text, "utf-8")
    return facts_of(read_description(file, file.name, get_round("training", round_)).content)


def _entries(report: Report) -> dict[tuple[str, str], EntryResult]:
    return {(entry.system, entry.benchmark): entry for entry in report.entries}


@pytest.mark.slow
def test_every_published_entry_has_its_published_score(published: Report) -> None:
    found = {at: round(entry.minutes or 0, 2) for at, entry in _entries(published).items()}
    scores = PUBLISHED["scores"].items()
    assert found == {(system, name): score for system, some in scores for name, score in some.items()}


def test_the_verdict_is_that_of_the_logs(published: Report) -> None:
    assert published.judged_by == "log-checker"
    for entry in published.entries:
        forgiven = 1 if entry.benchmark != "unet3d" else 4
        assert (entry.official is Verdict.ACCEPTED) == (entry.runs - entry.compliant <= forgiven)
    assert {entry.organisation for entry in published.entries if entry.official is Verdict.ACCEPTED} == {"NVIDIA"}
    assert all(system.official is Verdict.ACCEPTED for system in published.systems)


def test_a_run_that_did_not_converge_counts_as_slowest_and_is_forgiven(published: Report) -> None:
    entry = _entries(published)["tpu-v3-1024", "resnet"]
    assert (entry.runs, entry.converged) == (5, 4)
    assert entry.minutes == pytest.approx((2.278 + 2.275 + 2.359) / 3, abs=1e-3)


def test_the_hardware_of_every_published_description_is_read(published: Report) -> None:
    names = ("accelerator_model_name", "number_of_nodes", "accelerators_per_node", "host_processors_per_node")
    found = {
        Path(system.path).stem: [getattr(system.facts, name) for name in names]
        for system in published.systems
        if system.facts and system.organisation == "NVIDIA"
    }
    assert found == PUBLISHED["hardware"]


def test_records_of_a_description_are_read(tmp_path: Path) -> None:
    text = _records(org="ACME", division="closed", status="onprem", platform="3xDGX-1", entry=str(ENTRY))
    facts = _facts(tmp_path, text)
    assert facts == SystemFacts(
        submitter="ACME",
        status="onprem",
        system_name="3xDGX-1",
        number_of_nodes=3,
        host_processor_model_name="Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz",
        host_processors_per_node=2,
        accelerator_model_name="Tesla V100-SXM2-16GB",
        accelerators_per_node=8,
        framework="PyTorch NVIDIA Release 19.05",
    )


def test_an_object_with_a_list_of_nodes_is_read(tmp_path: Path) -> None:
    """As the descriptions of Fujitsu are."""
    node = {"num_nodes": 512, "cpu": "2x Xeon", "accelerator": "Tesla V100-SXM2-16GB", "num_accelerators": 4}
    facts = _facts(tmp_path, json.dumps({"division": "open", "hardware": "CX2570", "nodes": [node]}))
    assert facts is not None
    assert (facts.system_name, facts.number_of_nodes, facts.accelerators_per_node) == ("CX2570", 512, 4)
    assert (facts.accelerator_model_name, facts.host_processors_per_node) == ("Tesla V100-SXM2-16GB", 2)


def test_fields_of_later_rounds_are_never_replaced(tmp_path: Path) -> None:
    """As those of Intel are, which have both."""
    facts = _facts(tmp_path, json.dumps({"number_of_nodes": "32", "nodes": [{"num_nodes": 1, "cpu": "4x Xeon"}]}))
    assert facts is not None
    assert (facts.number_of_nodes, facts.host_processors_per_node) == (32, 4)


@pytest.mark.parametrize(
    "text",
    [
        _records(org="ACME", entry="{" * 100_000),
        _records(org="ACME", entry="'nodes': \"{'num_nodes': '" + "9" * 5000),
        "org: 1\nentry: []\nplatform: null\n",
        json.dumps({"nodes": [[[]]], "cpu": 7}),
        json.dumps({"nodes": [], "entry": {"nodes": 3}}),
        "a:" * 50_000,
    ],
)
def test_hostile_descriptions_are_read_as_far_as_they_go(tmp_path: Path, text: str) -> None:
    facts = _facts(tmp_path, text)
    assert facts is None or facts.number_of_nodes is None


def test_other_rounds_know_no_records(tmp_path: Path) -> None:
    assert _facts(tmp_path, _records(org="ACME", entry=str(ENTRY)), "0.7") is None


def test_which_rounds_had_a_package_checker() -> None:
    every = [round_ for usage in usages() for round_ in all_rounds(usage)]
    assert [(one.usage, one.name) for one in every if not one.package_checker] == [("training", "0.6")]


def test_what_no_log_checker_sees_rejects_nothing(tmp_path: Path) -> None:
    folder = make_round(tmp_path, "0.6", "gnmt")
    description = next((folder / "systems").glob("*.json"))
    description.unlink()
    report = mlsub.check(folder, round="0.6")
    assert (report.official, report.judged_by) == (Verdict.ACCEPTED, "log-checker")
    missing = [found for found in report.findings if found.rule == "tree.system-description-missing"]
    assert [found.kind for found in missing] == [Kind.REVIEW]


def test_other_rounds_are_judged_by_their_package_checker(tmp_path: Path) -> None:
    folder = make_round(tmp_path, "1.0", "ssd")
    next((folder / "systems").glob("*.json")).unlink()
    report = mlsub.check(folder, round="1.0")
    assert (report.official, report.judged_by) == (Verdict.REJECTED, "package-checker")


@pytest.mark.slow
def test_text_json_and_pages_say_whose_verdicts_they_show(tmp_path: Path) -> None:
    said = "the round had no package checker: the verdict on an entry is that of its logs"
    make_round(tmp_path / "rounds", "0.6", "gnmt")
    for command in ("check", "score"):
        assert said in " ".join(run(command, tmp_path / "rounds").stdout.split())
        [report] = json.loads(run(command, tmp_path / "rounds", "--format", "json").stdout)["reports"]
        assert report["judged_by"] == "log-checker"
    assert "a run that did not converge counts as slowest" in " ".join(run("score", tmp_path / "rounds").stdout.split())
    assert run("site", tmp_path / "rounds", "-o", tmp_path / "site").status == 0
    [page] = (tmp_path / "site" / "results").glob("*.html")
    for file in (page, tmp_path / "site" / "rounds" / "training_0.6.html"):
        assert said in file.read_text("utf-8")
    assert "1 of 1 meet the official checker of logs" in (tmp_path / "site" / "index.html").read_text("utf-8")
