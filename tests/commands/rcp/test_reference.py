"""``mlsub rcp build --reference``: the runs that the owners of a reference publish, which are no submissions."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlperf_logging
import pytest
from mlperf_logging.rcp_checker.rcp_checker import RCP_Checker

from mlsub.convergence.filecheck import check_reference_file
from mlsub.convergence.reference import EPOCHS
from tools.support.corpus import SHARED
from tools.support.runner import run

LOGS = SHARED / "reference-logs"
OFFICIAL = Path(mlperf_logging.__file__).parent / "rcp_checker"
NAMED = "gpt-oss-20b"
#: At most 3.34 is the target.
CURVE = ((12288, 3.5), (24576, 3.3), (36864, 3.2))


def write_run(
    file: Path, seed: int, curve: Sequence[tuple[int, float]] = CURVE, *, name: str = NAMED, timed: bool = False
) -> None:
    """A run that goes on behind the target, and states no times unless ``timed``."""
    records: list[tuple[str, Any, dict[str, Any]]] = [
        *(("submission_benchmark", name, {}), ("submission_division", "closed", {}), ("submission_org", "ACME", {})),
        *(("global_batch_size", 32, {}), ("opt_base_learning_rate", 8e-4, {}), ("run_start", None, {})),
        *(("eval_accuracy", value - seed / 1e4, {"samples_count": samples}) for samples, value in curve),
        ("run_stop", None, {"status": "success"}),
    ]
    lines = [
        {"event_type": "POINT_IN_TIME", "key": key, "value": value, "metadata": metadata}
        | ({"time_ms": 1000 * n + seed} if timed else {})
        for n, (key, value, metadata) in enumerate(records)
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f":::MLLOG {json.dumps(line)}\n" for line in lines))


def write_runs(folder: Path, count: int = 20) -> Path:
    """Runs of any names in folders, some with times, beside a text."""
    for seed in range(count):
        write_run(folder / "32" / f"seed_{seed:02}.out", seed, timed=seed % 2 == 0)
    (folder / "README.md").write_text("The runs behind the points.\n")
    return folder


def build(folder: Path, file: Path, *more: object, round_name: str = "6.0") -> Any:
    return run("rcp", "build", folder, "--reference", "-o", file, "--round", round_name, *more)


def test_a_run_converges_where_it_first_reaches_the_target(tmp_path: Path) -> None:
    folder, file = write_runs(tmp_path / "runs"), tmp_path / "rcps.json"
    write_run(folder / "32" / "seed_07.out", 7, [(12288, 3.5), (24576, 3.4), (36864, 3.3)])
    outcome = build(folder, file)
    assert (outcome.status, outcome.stderr) == (0, "")
    said = " ".join(outcome.stdout.split())
    assert "What makes the files no runs of a submission error: " in said and "A record lacks a required part" in said
    assert "in: 32/seed_{01,03,05,07,09,11,13,15,17,19}.out:1,2,3,4,5,6,7,8,9,10" in said
    assert "do not allow [key.submission_benchmark.value]" in said and f'found: "{NAMED}"' in said
    assert "[log.no-records] expected: at least one found: none in: README.md" in said
    [record] = json.loads(file.read_text()).values()
    assert (record["Benchmark"], record["BS"], record["Creator"]) == ("gpt_oss_20b", 32, "ACME")
    assert record[EPOCHS] == [24576] * 7 + [36864] + [24576] * 12


def test_each_point_has_the_digest_of_its_log_and_the_official_tool_reads_the_file(tmp_path: Path) -> None:
    folder, file = write_runs(tmp_path / "runs"), tmp_path / "rcps.json"
    assert build(folder, file).status == 0
    [record] = json.loads(file.read_text()).values()
    logs = [f"32/seed_{seed:02}.out" for seed in range(20)]
    assert record["Logs"] == {log: hashlib.sha256((folder / log).read_bytes()).hexdigest() for log in logs}
    assert list(record["Logs"]) == logs
    with file.open() as stream:
        official = RCP_Checker("training", "6.0.0", "gpt_oss_20b", False, stream)
    assert official.rcp_data["gpt_oss_20b_ref_32"]["RCP Mean"] == 24576
    assert [problem.severity for problem in check_reference_file(file)] == ["warning"]  # All points are the same.


def test_without_the_option_they_are_no_runs(tmp_path: Path) -> None:
    folder = write_runs(tmp_path / "runs")
    outcome = run("rcp", "build", folder / "32", "-o", tmp_path / "rcps.json", "--round", "6.0")
    assert (outcome.status, "Did you mean gpt_oss_20b?" in outcome.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "benchmark"),
    [("GPT-OSS 20B", "gpt_oss_20b"), ("llama31-8b", "llama31_8b"), ("Llama 3.1 8B", "llama31_8b")],
)
def test_benchmarks_go_by_other_names(name: str, benchmark: str, tmp_path: Path) -> None:
    for seed in range(20):
        write_run(tmp_path / "runs" / f"{seed}", seed, name=name)
    assert build(tmp_path / "runs", tmp_path / "rcps.json").status == 0
    [record] = json.loads((tmp_path / "rcps.json").read_text()).values()
    assert record["Benchmark"] == benchmark


def test_too_few_runs_are_listed_and_a_point_without_a_mean_is_left_out(tmp_path: Path) -> None:
    folder, file = write_runs(tmp_path / "runs", 3), tmp_path / "rcps.json"
    outcome = build(folder, file)
    assert outcome.status == 0
    assert "batch size 32 has 3 runs, 17 too few: a reference needs 20" in " ".join(outcome.stdout.split())
    assert len(json.loads(file.read_text())["gpt_oss_20b_ref_32"][EPOCHS]) == 3
    (folder / "32" / "seed_00.out").unlink()
    alone = build(folder, tmp_path / "none.json")
    assert (alone.status, "It has no reference points" in alone.stderr) == (1, True)


def never(folder: Path) -> None:
    write_run(folder / "32" / "seed_03.out", 3, CURVE[:1])


def copied(folder: Path) -> None:
    (folder / "32" / "seed_03.out").write_bytes((folder / "32" / "seed_05.out").read_bytes())


def two(folder: Path) -> None:
    write_run(folder / "32" / "seed_03.out", 3, name="llama31_8b")


def other(folder: Path) -> None:
    for seed in range(20):
        write_run(folder / "32" / f"seed_{seed:02}.out", seed, name="gpt_os_20b")


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        (never, 1, "32/seed_03.out does not say at what point it converged"),
        (copied, 1, "number and times of all records as in 32/seed_03.out"),
        (two, 1, "the runs are of 2 benchmarks (gpt_oss_20b, llama31_8b)"),
        (other, 2, "gpt_os_20b is not a benchmark of MLPerf Training v6.0. Did you mean gpt_oss_20b?"),
    ],
)
def test_what_makes_no_point_is_refused(change: Any, status: int, said: str, tmp_path: Path) -> None:
    folder, file = write_runs(tmp_path / "runs"), tmp_path / "rcps.json"
    change(folder)
    outcome = build(folder, file)
    assert (outcome.status, outcome.stdout, file.exists()) == (status, "", False)
    assert said in outcome.stderr


def test_a_record_with_text_behind_it_counts(tmp_path: Path) -> None:
    folder, file = write_runs(tmp_path / "runs"), tmp_path / "rcps.json"
    log = folder / "32" / "seed_04.out"
    log.write_text(log.read_text().replace('"samples_count": 24576}}', '"samples_count": 24576}} [rank0]'))
    assert build(folder, file).status == 0
    [record] = json.loads(file.read_text()).values()
    assert record[EPOCHS] == [24576] * 20


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_no_folder_without_runs(tmp_path: Path) -> None:
    folder = write_runs(tmp_path / "runs")
    (folder / "32").chmod(0)
    outcome = build(folder, tmp_path / "rcps.json")
    (folder / "32").chmod(0o755)
    assert (outcome.status, "some that cannot be listed" in outcome.stderr) == (2, True)


def test_linked_logs_count(tmp_path: Path) -> None:
    folder, links = write_runs(tmp_path / "runs"), tmp_path / "links"
    links.mkdir()
    for log in folder.glob("32/*.out"):
        (links / log.name).symlink_to(log)
    assert build(links, tmp_path / "rcps.json").status == 0
    [record] = json.loads((tmp_path / "rcps.json").read_text()).values()
    assert len(record[EPOCHS]) == 20


def test_a_long_name_of_a_benchmark_is_cut(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "one", 1, name="x" * 100_000, timed=True)
    outcome = build(tmp_path / "runs", tmp_path / "rcps.json")
    assert (outcome.status, len(outcome.stderr) < 500) == (2, True)


def test_an_empty_folder_has_no_runs(tmp_path: Path) -> None:
    outcome = build(tmp_path, tmp_path / "rcps.json")
    assert (outcome.status, "has no files" in outcome.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.is_dir(), reason="the published reference runs are not there")
@pytest.mark.parametrize(
    ("name", "round_name", "count"),
    [("qwen35_397b_grpo", "6.1", 18), ("deepseekv3_671b", "6.0", 18), ("gpt_oss_20b", "6.0", 20)],
)
def test_published_reference_runs_make_the_official_points(
    name: str, round_name: str, count: int, tmp_path: Path
) -> None:
    """Run by run; of gpt_oss_20b the official lists go on with ten runs more, and of batch size 16 one run is here."""
    file = tmp_path / "rcps.json"
    outcome = build(LOGS / name, file, round_name=round_name)
    assert (outcome.status, "What makes the files no runs" in outcome.stdout) == (0, True)
    written = {record["BS"]: record for record in json.loads(file.read_text()).values()}
    official = json.loads((OFFICIAL / f"training_{round_name}.0" / f"rcps_{name}.json").read_text())
    runs = {record["BS"]: record[EPOCHS] for record in official.values()}
    assert {size: record[EPOCHS] for size, record in written.items()} == {
        size: runs[size][: len(record[EPOCHS])] for size, record in written.items()
    }
    assert sum(len(record[EPOCHS]) for record in written.values()) == count
    assert [len(record["Logs"]) for record in written.values()] == [len(record[EPOCHS]) for record in written.values()]
    assert ("batch size 16 has too few runs" in outcome.stdout) is (name == "gpt_oss_20b")
