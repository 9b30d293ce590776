"""``mlsub rcp build``: a reference file the official tool can read, from real logs; and ``--rcp FILE``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ExpectedText
from tools.support.make_tree import Tree, make_tree, reference_runs
from tools.support.runner import run


def build(tree: Tree, file: Path, *more: object, round_name: str = "1.0") -> Any:
    folders = [tree.entry(system=system) for system in ("small", "large")]
    return run("rcp", "build", *folders, "-o", file, "--round", round_name, *more)


def test_records_are_built_and_told(tmp_path: Path, expected_text: ExpectedText) -> None:
    tree, file = reference_runs(tmp_path), tmp_path / "rcps_resnet.json"
    tree.edit(lambda log: log.put("lars_opt_learning_rate_warmup_epochs", value=3), 3, system="large")
    outcome = build(tree, file)
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text("build.txt", outcome.stdout.replace(str(file), "FILE"))
    small, large = json.loads(file.read_text()).values()
    assert list(small) == ["Benchmark", "Creator", "When", "Platform", "BS", "Hyperparams", "Epochs to converge"]
    stated = [small[key] for key in ("Benchmark", "Creator", "When", "BS")]
    assert stated == ["resnet", "Reference", "2021-06-16", 3200]
    assert small["Epochs to converge"] == list(range(37, 47))
    assert small["Hyperparams"]["lars_opt_base_learning_rate"] == 10.5
    assert small["Hyperparams"]["opt_name"] == "lars"
    assert "lars_opt_learning_rate_warmup_epochs" in small["Hyperparams"]
    assert "lars_opt_learning_rate_warmup_epochs" not in large["Hyperparams"]


def spoiled(tree: Tree, how: str) -> None:
    changes = {
        "noncompliant": lambda log: log.put("eval_accuracy", value=0.1),
        "aborted": lambda log: log.put("run_stop", metadata={"status": "aborted"}),
        "no batch size": lambda log: log.put("global_batch_size", value="3200"),
        "another benchmark": lambda log: log.put("submission_benchmark", value="ssd"),
    }
    if how == "a copy":
        tree.log(9, system="small").write_text(tree.log(8, system="small").read_text())
    else:
        tree.edit(changes[how], 4, system="small")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("noncompliant", "small/resnet/result_4.txt is noncompliant: No eval_accuracy reaches the quality target"),
        ("aborted", 'small/resnet/result_4.txt did not converge: its status is "aborted"'),
        ("no batch size", "small/resnet/result_4.txt"),
        ("another benchmark", "the runs are of 2 benchmarks (resnet, ssd); name those of one"),
        ("a copy", "small/resnet/result_9.txt"),
    ],
)
def test_runs_that_are_no_reference_are_refused(how: str, said: str, tmp_path: Path) -> None:
    tree, file = reference_runs(tmp_path), tmp_path / "rcps_resnet.json"
    spoiled(tree, how)
    outcome = build(tree, file)
    assert (outcome.status, outcome.stdout, file.exists()) == (1, "", False)
    assert said in outcome.stderr


def test_a_file_is_added_to_and_never_twice(tmp_path: Path) -> None:
    tree, first, second = reference_runs(tmp_path), tmp_path / "first.json", tmp_path / "second.json"
    small, large = (tree.entry(system=system) for system in ("small", "large"))
    assert run("rcp", "build", small, "-o", first, "--round", "1.0").status == 0
    assert run("rcp", "build", large, "-o", second, "--round", "1.0", "--append", first).status == 0
    assert list(json.loads(second.read_text())) == ["resnet_ref_3200", "resnet_ref_4096"]
    again = run("rcp", "build", large, "-o", tmp_path / "third.json", "--round", "1.0", "--append", second)
    assert (again.status, again.stderr.splitlines()[0]) == (1, "mlsub: resnet_ref_4096 is in the file already")
    first.write_text("{}")
    broken = run("rcp", "build", large, "-o", tmp_path / "third.json", "--round", "1.0", "--append", first)
    assert (broken.status, "It has no reference points" in broken.stderr) == (2, True)


def test_a_record_of_the_same_batch_size_is_not_added(tmp_path: Path) -> None:
    tree, first = reference_runs(tmp_path), tmp_path / "first.json"
    small = tree.entry(system="small")
    assert run("rcp", "build", small, "-o", first, "--round", "1.0").status == 0
    more = ("--round", "1.0", "--append", first, "--name", "mine")
    outcome = run("rcp", "build", small, "-o", tmp_path / "x.json", *more)
    told = "mlsub: mine_3200: Batch size 3200 has a record already: resnet_ref_3200\nmlsub: no file was written\n"
    assert (outcome.status, outcome.stderr) == (1, told)


def test_what_is_added_to_is_kept_as_it_is(tmp_path: Path) -> None:
    """Whatever else a file holds: other keys of a record, numbers of any form, and the order."""
    tree, first, second = reference_runs(tmp_path), tmp_path / "first.json", tmp_path / "second.json"
    other = {"Benchmark": "resnet", "BS": 512, "Precision": "fp32 é", "Epochs to converge": [35.125, 36, 37]}
    first.write_text(json.dumps({"z": {**other, "Hyperparams": {"x": [1e-07, 12345678901234567890]}}}))
    small = tree.entry(system="small")
    assert run("rcp", "build", small, "-o", second, "--round", "1.0", "--append", first).status == 0
    written = json.loads(second.read_text())
    assert list(written) == ["z", "resnet_ref_3200"]
    assert written["z"] == json.loads(first.read_text())["z"]


@pytest.mark.parametrize("depth", [30, 980, 5000])
def test_a_deeply_nested_file_is_not_added_to(depth: int, tmp_path: Path) -> None:
    tree, first, second = reference_runs(tmp_path), tmp_path / "first.json", tmp_path / "second.json"
    content = '{"a": {"Benchmark": "resnet", "BS": 9, "Hyperparams": {"x": DEEP}, "Epochs to converge": [1, 2, 3]}}'
    first.write_text(content.replace("DEEP", "[" * depth + "]" * depth))
    small = tree.entry(system="small")
    outcome = run("rcp", "build", small, "-o", second, "--round", "1.0", "--append", first)
    assert outcome.status == 2
    assert "Only a whole reference file can be added to." in outcome.stderr
    assert not second.exists()


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "x" * 2000, nested(19), nested(490)])
def test_a_value_that_no_json_holds_is_left_out(value: object, tmp_path: Path) -> None:
    tree, file = reference_runs(tmp_path), tmp_path / "rcps_resnet.json"
    tree.edit(lambda log: log.put("lars_opt_base_learning_rate", value=value), *range(10), system="small")
    outcome = build(tree, file)
    assert outcome.status == 0, outcome.stderr
    said = "batch size 3200: lars_opt_base_learning_rate is infinite, not a number, too long or nested too deeply"
    assert f"{said}, which is left out" in " ".join(outcome.stdout.split())
    small, large = json.loads(file.read_text(), parse_constant=pytest.fail).values()
    assert "lars_opt_base_learning_rate" not in small["Hyperparams"]
    assert large["Hyperparams"]["lars_opt_base_learning_rate"] == 10.5


def test_names_and_hyperparameters_can_be_chosen(tmp_path: Path) -> None:
    tree, file = reference_runs(tmp_path), tmp_path / "rcps_resnet.json"
    assert build(tree, file, "--name", "rn50", "--hyperparameter", "train_samples").status == 0
    written = json.loads(file.read_text())
    assert list(written) == ["rn50_3200", "rn50_4096"]
    assert all(record["Hyperparams"]["train_samples"] == 1281167 for record in written.values())
    wrong = build(tree, tmp_path / "x.json", "--hyperparameter", "train_sample")
    assert (wrong.status, wrong.stderr) == (
        1,
        'mlsub: no log has the hyperparameter "train_sample"; did you mean train_samples?\n'
        "mlsub: no file was written\n",
    )


def test_an_entry_is_held_against_a_file_of_ones_own(tmp_path: Path) -> None:
    """41.5 epochs are those of the reference of the file at 3200; the installed one accepts 40."""
    tree, file = reference_runs(tmp_path / "reference"), tmp_path / "rcps_resnet.json"
    assert build(tree, file).status == 0
    mine = make_tree(tmp_path)
    assert run("check", mine.folder, "--format", "json").report["entries"][0]["rcp"]["reference_mean"] < 40
    own = run("check", mine.folder, "--rcp", file, "--format", "json").report["entries"][0]["rcp"]
    assert (own["verdict"], own["mean"], own["reference_mean"], own["reference_runs"]) == ("pass", 40, 41.5, 10)
    mine.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 38}), *range(5))
    failed = run("check", mine.folder, "--rcp", file, "--format", "json")
    assert (failed.status, failed.errors()) == (1, {"rcp.too-fast"})


BIG = '{"a": {"Benchmark": "resnet", "BS": 4096, "Hyperparams": {}, "Epochs to converge": [1e200, 2e200, 3e200]}}'


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"a": 1}', "\0", BIG, BIG.replace("1e200", "1" + "0" * 400)])
@pytest.mark.parametrize("command", ["check", "score"])
def test_a_broken_file_of_ones_own_ends_with_status_2(command: str, content: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(content)
    outcome = run(command, make_tree(tmp_path).folder, "--rcp", file, "--format", "json")
    assert (outcome.status, outcome.official) == (2, "not-checked")
    assert outcome.rules() == {"check.broken-reference"}
