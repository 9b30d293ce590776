"""The wrong log in the right folder: another benchmark, runs of two systems, another number of nodes."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mlsub.review.entry import same_platform
from tools.support.corpus import CORPUS
from tools.support.make_tree import Log, Tree, make_log, make_tree
from tools.support.runner import Outcome, check, run

NEBIUS = CORPUS.parent / "cases" / "v5.1" / "Nebius"
AMD = CORPUS / "v5.1" / "AMD"
DIFFER, SETTINGS, SCALE = "cross.runs-differ", "entry.hyperparameters-differ", "cross.scale"


def published(source: Path, above: Path) -> Path:
    """A copy of a published package that may be changed, in the folder of its round."""
    if not source.is_dir():
        pytest.skip("published results are not there")
    return Path(shutil.copytree(source, above / source.parent.name / source.name))


def renamed(above: Path) -> Path:
    """A published package with the runs of one benchmark in the folder of another, and nothing else."""
    package = published(AMD, above)
    for system in (package / "results").iterdir():
        shutil.rmtree(system / "llama2_70b_lora")
        if system.name != "MI350X_EPYC_9575F_pytorch":
            shutil.rmtree(system)
    (package / "results/MI350X_EPYC_9575F_pytorch/llama31_8b").rename(
        package / "results/MI350X_EPYC_9575F_pytorch/llama2_70b_lora"
    )
    return package


def test_the_runs_of_a_benchmark_in_the_folder_of_another_are_an_error(tmp_path: Path) -> None:
    package = renamed(tmp_path)
    outcome = check(package)
    assert (outcome.official, outcome.status) == ("accepted", 0)
    found = outcome.of("cross.benchmark")
    assert [(one["severity"], one["actual"]) for one in found] == [("error", '"llama31_8b"')] * 10
    [entry] = outcome.report["entries"]
    assert (entry["rcp"]["verdict"], entry["rcp"]["logs_benchmark"]) == ("pass", "llama31_8b")
    note = (
        "llama2_70b_lora, other logs: they name llama31_8b, so that their RCP verdict says nothing of llama2_70b_lora"
    )
    for command in ("check", "score"):
        text = " ".join(run(command, package).stdout.split())
        assert "pass, other logs" in text
        assert note in text
    text = run("check", package).stdout
    assert text.index("[cross.benchmark]") < text.index("accepted, with 1 error that a reviewer will raise")
    assert "error: submission_benchmark is not the folder's benchmark" in run("review", package).stdout


def test_a_package_with_runs_of_another_benchmark_is_not_sealed(tmp_path: Path) -> None:
    done = run("seal", "--no-encryption", renamed(tmp_path), "-o", tmp_path / "sealed.tar.gz")
    assert (done.status, (tmp_path / "sealed.tar.gz").exists()) == (1, False)
    assert "cross.benchmark" in done.stdout


def test_runs_of_another_benchmark_are_not_packed(tmp_path: Path) -> None:
    package = published(AMD, tmp_path)
    runs = package / "results/MI350X_EPYC_9575F_pytorch/llama31_8b"
    (tmp_path / "submission.yaml").write_text(
        f"""round: "5.1"
organisation: AMD
systems:
  MI350X: {package}/systems/MI350X_EPYC_9575F_pytorch.json
entries:
- {{system: MI350X, benchmark: llama2_70b_lora, runs: "{runs}/result_*.txt"}}
"""
    )
    done = run("pack", tmp_path / "submission.yaml", "-o", tmp_path / "out" / "AMD", "--write")
    assert (done.status, (tmp_path / "out" / "AMD").exists()) == (1, False)
    assert "[cross.benchmark]" in done.stdout


def test_logs_of_one_benchmark_mark_nothing(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    assert check(tree.folder).report["entries"][0]["rcp"]["logs_benchmark"] is None
    tree.log(2).write_text(make_log("bert", run=2).text())
    outcome = check(tree.folder)
    assert outcome.report["entries"][0]["rcp"]["logs_benchmark"] == "bert"
    assert (outcome.status, outcome.rules(), outcome.of("cross.benchmark")[0]["severity"]) == (
        *(0, {"cross.benchmark"}),
        "error",
    )


def test_runs_of_a_smaller_system_among_those_of_a_larger_one_are_told(tmp_path: Path) -> None:
    results = published(NEBIUS, tmp_path) / "results"
    for number in (3, 5, 7):
        name = f"llama2_70b_lora/result_{number}.txt"
        shutil.copy(results / "nebius_b200_n1" / name, results / "nebius_b200_n4" / name)
    shutil.rmtree(results / "nebius_b200_n1")
    outcome = check(results.parent)
    [found] = outcome.of(DIFFER)
    odd = "result_3.txt, result_5.txt, result_7.txt"
    assert (outcome.official, found["severity"]) == ("accepted", "error")
    assert found["message"] == "The runs of an entry name different platforms"
    assert found["actual"] == (
        f'"1xSUBMISSION_PLATFORM_PLACEHOLDER" in {odd}; "4xSUBMISSION_PLATFORM_PLACEHOLDER" in 7 runs'
    )
    [settings] = outcome.of(SETTINGS)
    assert (settings["severity"], settings["actual"]) == (
        "error",
        f"opt_base_learning_rate: 0.0006 in {odd}; 0.0004 in 7 runs",
    )
    assert outcome.of(SCALE) == []
    fine = run("review", results.parent).stdout.partition("Looked at and fine")[2]
    assert "say of the organisation" not in " ".join(fine.split())
    assert "records and values" not in " ".join(fine.split())


@pytest.mark.parametrize(
    ("key", "values", "things"),
    [
        ("submission_platform", ["1xrack1"] * 2 + ["4xrack1"] * 3, "platforms"),
        ("submission_platform", ["rack1"] * 4 + ["Rack 1"], None),
        ("submission_platform", ["rack1"] * 4 + ["1xrack1"], None),
        ("submission_platform", ["8xrack1_PLACEHOLDER"] * 2 + ["rack1"] * 3, None),
        # These disagree with the entry, which each log is told already.
        ("submission_org", ["ACME"] * 4 + ["Globex"], None),
        ("submission_benchmark", ["resnet"] * 4 + ["ssd"], None),
        ("submission_division", ["closed"] * 4 + ["open"], None),
    ],
)
def test_what_all_runs_name_is_compared(key: str, values: list[str], things: str | None, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)

    def put(log: Log, value: str) -> None:
        log.put(key, value=value)

    for number, value in enumerate(values):
        tree.edit(partial(put, value=value), number)
    found = check(tree.folder).of(DIFFER)
    assert [one["message"] for one in found] == ([f"The runs of an entry name different {things}"] if things else [])


def test_runs_outside_of_a_tree_are_compared_with_each_other(tmp_path: Path) -> None:
    for number in range(5):
        org = "Globex" if number == 4 else "ACME"
        (tmp_path / f"result_{number}.txt").write_text(make_log(run=number, org=org).text())
    [found] = check("--round", "1.0", tmp_path).of(DIFFER)
    assert found["actual"] == '"Globex" in result_4.txt; "ACME" in 4 runs'


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1xDGX H100", "4xDGX H100", False),
        ("H100", "A100", False),
        ("GB200", "B200", False),
        ("tinybox_green", "tinybox_red", False),
        ("8xNVIDIA DGX A100", "8xNVIDIA DGX H100", False),
        ("tpu-v3-8192", "TPUv3-8192", True),
        ("Ascend 910", "Ascens 910", True),
        ("1xMI300X", "MI300X", True),
        ("2xMI300X", "MI300X", False),
        ("1 x NVIDIA A100 GPU", "1xNVIDIA A100 GPU", True),
    ],
)
def test_platforms_are_the_same_but_for_their_spelling(one: str, other: str, same: bool) -> None:
    assert (same_platform(one, other), same_platform(other, one)) == (same, same)


@pytest.mark.parametrize(
    ("division", "key", "values", "severity"),
    [
        ("closed", "lars_opt_base_learning_rate", [9.0, 9.0, 9.0, 9.0, 9.1], "error"),
        ("open", "lars_opt_base_learning_rate", [9.0, 9.0, 9.0, 9.0, 9.1], "warning"),
        ("closed", "lars_opt_base_learning_rate", [9.0, 9, "9.0", "9", 9.0], None),
        ("closed", "train_samples", [1, 2, 3, 4, 5], None),
        ("closed", "acme_ticket", [1, 2, 3, 4, 5], None),
    ],
)
def test_hyperparameters_are_the_same_in_all_runs(
    division: str, key: str, values: list[Any], severity: str | None, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path, division=division)

    def change(log: Log, value: Any) -> None:
        log.drop(key)
        at = log.at("submission_division")
        log.lines.insert(at, {**log.records("submission_division")[0], "key": key, "value": value})

    for number, value in enumerate(values):
        tree.edit(partial(change, value=value), number)
    found = check(tree.folder).of(SETTINGS)
    assert [(one["severity"], one["actual"]) for one in found] == (
        [(severity, f"{key}: 9.1 in result_4.txt; 9 in 4 runs")] if severity else []
    )


def test_a_value_that_the_rules_refuse_is_one_finding(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("gradient_accumulation_steps", value=0), 2)
    assert check(tree.folder).rules() == {"key.gradient_accumulation_steps.value", "entry.forgiven-runs"}


def test_several_batch_sizes_are_one_finding(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("global_batch_size", value=4096), 2)
    about = {"rcp.batch-size", "rcp.mixed-batch-sizes", SETTINGS}
    for round_name in ("1.0", "3.0"):
        assert len(check("--round", round_name, tree.folder).rules() & about) == 1, round_name


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
@pytest.mark.parametrize(
    ("folder", "actual"),
    [
        (
            "cases/v5.1/University-of-Florida",
            ["opt_base_learning_rate: 0.005 in result_7.txt, result_8.txt, result_9.txt; 0.003 in 7 runs"],
        ),
        ("corpus/v1.1/Intel-HabanaLabs", ["lars_opt_base_learning_rate: 9.1 in result_3.txt; 9 in 4 runs"]),
        ("cases/v1.1/Dell", []),
        ("cases/v5.1/MangoBoost", []),
    ],
)
def test_published_runs_with_different_hyperparameters(folder: str, actual: list[str]) -> None:
    assert [one["actual"] for one in check(CORPUS.parent / folder).of(SETTINGS)] == actual


SYSJSON = ':::SYSJSON {{"number_of_nodes":"{}","accelerators_per_node":"{}","framework":"x"}}'


def scaled(above: Path, nodes: int, each: int, platform: str, *lines: str, ranks: int = 0) -> Outcome:
    """A package of a system of this size, each of whose runs logs a platform, lines before it, and processes."""
    tree: Tree = make_tree(above)
    tree.describe(number_of_nodes=str(nodes), accelerators_per_node=str(each))
    for number in range(5):
        log = Log.read(tree.log(number))
        log.put("submission_platform", value=platform)
        first = make_log(run=number).text().splitlines()[0]
        log.lines[:0] = [*lines, *(f"{rank:>2}: {first}" for rank in range(ranks))]
        text = "".join(
            f"{' 0: ' if ranks and not line[:3].strip().rstrip(':').isdigit() else ''}{line}\n"
            for line in log.text().splitlines()
        )
        tree.log(number).write_text(text)
    return check(tree.folder)


@pytest.mark.parametrize(
    ("nodes", "each", "platform", "lines", "ranks", "severity"),
    [
        (1, 8, "4xrack1", [], 0, "error"),
        (4, 8, "4xrack1", [], 0, None),
        (1, 8, "8xrack1_MI300X", [], 0, None),
        (2, 8, "64xrack1", [], 0, "error"),
        (8, 8, "8x8xrack1", [], 0, None),
        (1, 8, "8xSUBMISSION_PLATFORM_PLACEHOLDER", [], 0, "error"),
        (1, 8, "rack1", [SYSJSON.format(4, 8)], 0, "error"),
        (4, 8, "rack1", [SYSJSON.format(4, 8)], 0, None),
        (2, 16, "rack1", [SYSJSON.format(4, 8)], 0, None),
        (4, 8, "rack1", [SYSJSON.format(4, 4)], 0, "error"),
        (4, 8, "rack1", [SYSJSON.format(4, "")], 0, None),
        # A shell that shows its commands has the description in quotes first, and may have cut it off.
        (1, 8, "rack1", [f"+ echo '{SYSJSON.format(4, 8)}'"], 0, "error"),
        (1, 8, "rack1", [":::SYSJSON {", SYSJSON.format(4, 8)], 0, "error"),
        # One node is what is stated where nobody says more; two that say so are asked about.
        (8, 8, "8xrack1", [SYSJSON.format(1, 8)], 0, None),
        (4, 8, "1xrack1", [], 0, None),
        (4, 8, "1xrack1", [SYSJSON.format(1, 8)], 0, "warning"),
        (1, 8, "rack1", [], 32, "error"),
        (4, 8, "rack1", [], 32, None),
        (8, 8, "rack1", [], 10, None),
    ],
)
def test_the_size_that_logs_state_is_that_of_the_system(
    nodes: int, each: int, platform: str, lines: list[str], ranks: int, severity: str | None, tmp_path: Path
) -> None:
    found = scaled(tmp_path, nodes, each, platform, *lines, ranks=ranks).of(SCALE)
    assert [one["severity"] for one in found] == ([severity] * 5 if severity else [])


def test_a_description_of_fewer_nodes_than_the_logs_state_is_an_error(tmp_path: Path) -> None:
    package = published(NEBIUS, tmp_path)
    file = package / "systems" / "nebius_b200_n4.json"
    text = file.read_text()
    file.write_text(text.replace('"number_of_nodes": "4"', '"number_of_nodes": "1"'))
    assert file.read_text() != text
    found = check(package).of(SCALE)
    assert len(found) == 10
    assert (found[0]["severity"], found[0]["expected"]) == (
        "error",
        "1 node of 8 accelerators, as the system description says",
    )
    assert found[0]["actual"] == (
        'submission_platform "4xSUBMISSION_PLATFORM_PLACEHOLDER", :::SYSJSON 4 nodes of 8 accelerators'
    )
