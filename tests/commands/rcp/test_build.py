"""``mlsub rcp build``: a reference file from real logs, which the official tool reads; and ``--rcp FILE``.

The official tool comes to the same means, standard deviations and limits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.rcp_checker.rcp_checker import RCP_Checker

from mlsub.commands.rcp.build import BuiltRecords, against_schema, build_records
from mlsub.convergence import newest_algorithm
from mlsub.convergence.curves import prune
from mlsub.convergence.filecheck import check_records
from mlsub.convergence.reference import EPOCHS, SAMPLES, read_points
from mlsub.io.show import plural
from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements
from mlsub.submission.model import LogReport
from tests.conftest import ExpectedText
from tools.support.entry_logs import log_of
from tools.support.judging import report_on
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
    assert stated == ["resnet", "Reference", "2024-10-03", 3200]
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


# Benchmark: round, unit of the logs, key of the points, runs of a reference, distance of the points of two runs.
KINDS: dict[str, tuple[str, str, str, int, float]] = {
    "resnet": ("4.0", "epoch_num", EPOCHS, 10, 1),
    "bert": ("5.0", "epoch_num", EPOCHS, 20, 150_000),
    "unet3d": ("4.0", "epoch_num", EPOCHS, 80, 20),
    "dlrm_dcnv2": ("5.1", "epoch_num", EPOCHS, 20, 0.05),
    "stable_diffusion": ("5.0", "samples_count", EPOCHS, 20, 512_000),
    "llama2_70b_lora": ("5.1", "samples_count", SAMPLES, 20, 384),
    "llama31_405b": ("5.1", "samples_count", EPOCHS, 6, 46_080),
    "flux1": ("5.1", "samples_count", SAMPLES, 20, 262_144),
}


def reports(
    folder: Path, name: str, batch_sizes: Sequence[Any], points: Sequence[Any], *values: dict[str, Any]
) -> list[LogReport]:
    """Judged logs, one for each batch size with its point; the first ones log these values besides."""
    round_name, unit, *_ = KINDS[name]
    found = []
    for number, (size, point) in enumerate(zip(batch_sizes, points, strict=True)):
        file = folder / f"result_{number}.txt"
        text = log_of(name, size, point, unit=unit, **(values[number] if number < len(values) else {}))
        # Runs differ in their times, or they would be copies of one another.
        file.write_text(text.replace('"time_ms": ', f'"time_ms": {number + 1}'))
        found.append(report_on(file, "training", round_name))
    return found


def built(logs: Sequence[LogReport], name: str) -> BuiltRecords:
    return build_records(logs, name, get_round("training", KINDS[name][0]))


def held_against_the_official_tool(records: dict[str, Any], file: Path, name: str, round_name: str) -> None:
    runs = entry_requirements("training", round_name, name).runs
    file.write_text(json.dumps(records))
    with file.open() as stream:
        official = RCP_Checker("training", "5.1.0", name, False, stream)
    official._prune_rcps()
    # The live tool has the algorithm of the newest rounds.
    algorithm = newest_algorithm()
    ours = read_points(file, name, runs, algorithm)
    assert [p.batch_size for p in ours] == [theirs["BS"] for theirs in official.rcp_data.values()]
    for point, theirs in zip(ours, official.rcp_data.values(), strict=True):
        assert point.mean == pytest.approx(theirs["RCP Mean"], rel=1e-12)
        assert point.stdev == pytest.approx(theirs["RCP Stdev"], rel=1e-12)
        assert point.minimum == pytest.approx(theirs["Min Epochs"], abs=1e-4)
    kept = {theirs["BS"] for theirs in official.pruned_rcp_data.values()}
    assert {point.batch_size for point in prune(ours, algorithm, runs)} == kept


@pytest.mark.parametrize("name", KINDS)
def test_the_official_tool_reads_the_records_of_every_kind(name: str, tmp_path: Path) -> None:
    """Three batch sizes, the middle one slower than the line between its neighbours, so that it is pruned."""
    round_name, _, key, count, step = KINDS[name]
    starts = {64: 20, 128: 60, 256: 70}
    sizes = [size for size in starts for _ in range(count)]
    points = [(starts[size] + number % 7) * step for size in starts for number in range(count)]
    logs = reports(tmp_path, name, sizes, points)
    records = built(logs, name).records
    assert list(records) == [f"{name}_ref_{size}" for size in starts]
    for size, record in zip(starts, records.values(), strict=True):
        assert (record["Benchmark"], record["BS"]) == (name, size)
        assert record[key] == pytest.approx([p for p, of in zip(points, sizes, strict=True) if of == size])
    assert against_schema(records) == []
    assert list(check_records(records)) == []
    held_against_the_official_tool(records, tmp_path / f"rcps_{name}.json", name, round_name)


@pytest.mark.parametrize("missing", [1, 3, 9])
def test_missing_runs_are_counted(missing: int, tmp_path: Path) -> None:
    logs = reports(tmp_path, "resnet", [4096] * (10 - missing), range(40, 50 - missing))
    runs = plural(10 - missing, "run")
    said = f"batch size 4096 has {runs}, {missing} too few: a reference needs 10, twice those of an entry"
    assert said in built(logs, "resnet").problems


def test_a_run_that_did_not_converge_is_named_and_has_no_point(tmp_path: Path) -> None:
    logs = reports(tmp_path, "resnet", [4096] * 2, [40, None])
    result = built(logs, "resnet")
    assert any(problem.startswith("result_1.txt is noncompliant: ") for problem in result.problems)
    assert result.records["resnet_ref_4096"][EPOCHS] == [40]


def test_a_batch_size_is_one_however_it_is_written(tmp_path: Path) -> None:
    (record,) = built(reports(tmp_path, "resnet", [4096.0, 4096], [40, 41]), "resnet").records.values()
    assert record["BS"] == 4096
    assert isinstance(record["BS"], int)


@pytest.mark.parametrize("size", [None, "4096", True, 0, -1, 1e300, 10**400, float("inf"), [4096]])
def test_a_batch_size_that_is_no_number_makes_no_record(size: Any, tmp_path: Path) -> None:
    result = built(reports(tmp_path, "resnet", [size], [40]), "resnet")
    assert result.records == {}
    assert result.problems


def test_only_what_all_runs_have_alike_is_written(tmp_path: Path) -> None:
    one = {"opt_name": "sgd", "sgd_opt_momentum": 0.9, "lars_opt_momentum": 1}
    other = {"opt_name": "sgd", "sgd_opt_base_learning_rate": 2, "lars_opt_momentum": 1.0}
    result = built(reports(tmp_path, "resnet", [4096] * 2, [40, 41], one, other), "resnet")
    (record,) = result.records.values()
    assert record["Hyperparams"] == {"opt_name": "sgd", "lars_opt_momentum": 1}
    left_out = sorted(note for note in result.notes if "1 of 2 runs have" in note)
    assert left_out == [
        "batch size 4096: 1 of 2 runs have sgd_opt_base_learning_rate, which is left out",
        "batch size 4096: 1 of 2 runs have sgd_opt_momentum, which is left out",
    ]


def test_true_is_not_one(tmp_path: Path) -> None:
    logs = reports(tmp_path, "resnet", [4096] * 2, [40, 41], {"lars_opt_momentum": 1}, {"lars_opt_momentum": True})
    assert "batch size 4096: the runs differ in lars_opt_momentum, which is left out" in built(logs, "resnet").notes


def test_what_the_installed_reference_names_is_written_where_it_is_logged(tmp_path: Path) -> None:
    """opt_epsilon of BERT is in the installed reference of v5.0, and asked for by no rule of that round."""
    logs = reports(tmp_path, "bert", [448], [3_000_000], {"opt_epsilon": 1e-6})
    (record,) = built(logs, "bert").records.values()
    assert record["Hyperparams"] == {"opt_epsilon": 1e-6}


def test_provenance_is_read_off_the_logs(tmp_path: Path) -> None:
    logs = reports(tmp_path, "resnet", [4096], [40], {"submission_org": "ACME", "submission_platform": "rack1"})
    (record,) = built(logs, "resnet").records.values()
    assert (record["Creator"], record["Platform"]) == ("ACME", "rack1")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[LogReport]:
    sizes, points = [4096, 8192] * 3, [40, 50, 41, 51, 42, 52]
    return reports(tmp_path_factory.mktemp("logs"), "resnet", sizes, points, *[{"opt_name": "lars"}] * 6)


@given(order=st.permutations(range(6)))
def test_the_order_of_the_logs_changes_nothing_but_the_order_of_the_points(
    logs: list[LogReport], order: list[int]
) -> None:
    first, second = built(logs, "resnet"), built([logs[n] for n in order], "resnet")
    assert list(first.records) == list(second.records)
    for one, other in zip(first.records.values(), second.records.values(), strict=True):
        assert sorted(one.pop(EPOCHS)) == sorted(other.pop(EPOCHS))
        assert one == other
