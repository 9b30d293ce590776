"""What an entry discloses, and what of that cannot be so."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mlsub.io.data import load_yaml
from mlsub.log.lengths import StatedSetting, Trace
from mlsub.review.disclosure import StatedValue, audit_disclosures, read_disclosure
from mlsub.submission.code import SubmittedCode, select_code
from mlsub.submission.file_tree import FileTree, Item, read_file_tree
from mlsub.submission.model import Entry
from mlsub.systems.description import SystemDescription
from tests.review.folding import make_run, read_run, report_of
from tools.support.corpus import SHARED
from tools.support.runner import check

TABLES = load_yaml(Path(__file__).with_name("configuration_values.yaml"))
CODE = "benchmarks/llama31_8b/implementations/nemo"
SIZES = {"tensor_parallelism": 2, "pipeline_parallelism": 1, "context_parallelism": 2, "expert_parallelism": 1}
BATCH = {"global_batch_size": 32, "micro_batch_size": 2}
GENERATION = {"generation_backend": "vllm", "generation_tensor_parallelism": 8}


def entry(*runs: dict[str, Any], nodes: int = 2) -> Entry:
    """An entry on nodes of eight MI350X, with runs that log these values."""
    model = {"number_of_nodes": nodes, "accelerators_per_node": 8, "accelerator_model_name": "AMD Instinct MI350X"}
    logs = (report_of(make_run("llama31_8b", **values), f"result_{at}.txt") for at, values in enumerate(runs))
    return Entry(
        path="results/rack1/llama31_8b",
        organisation="ACME",
        system="rack1",
        benchmark="llama31_8b",
        folder=Path("rack1"),
        results=(),
        logs=tuple(logs),
        description=SystemDescription(name="rack1", path="systems/rack1.json", content=model, findings=()),
    )


def code_of(*names: str, folder: str = "llama31_8b") -> SubmittedCode:
    """Code of a benchmark with these files, of which the names alone are known."""
    of = CODE.replace("llama31_8b", folder)
    return SubmittedCode(Path(), FileTree(items=tuple(Item(f"{of}/{name}") for name in names)), 0)


CONFIGURATIONS = [
    *load_yaml(Path(__file__).with_name("configurations.yaml")),
    ["x" * 100_000, ["a.sh"], "config.missing"],
]


@pytest.mark.parametrize(("name", "files", "rule"), CONFIGURATIONS)
def test_a_configuration_lies_in_the_code_and_is_for_the_system(name: Any, files: list[str], rule: str | None) -> None:
    found = list(audit_disclosures([entry({"config_filename": name})], code_of(*files)))
    assert [(one.rule, one.path, one.line) for one in found] == ([(rule, "result_0.txt", 3)] if rule else [])
    assert all(len(one.actual or "") < 250 for one in found)


def test_a_missing_configuration_is_found_by_a_name_that_is_near() -> None:
    (found,) = audit_disclosures([entry({"config_filename": "config_gb32.sh"})], code_of("config_gbs32.sh", "run.sub"))
    assert found.fix == "The code has config_gbs32.sh; name the one that was used."


def test_a_configuration_is_looked_for_in_a_folder_of_nearly_the_name_of_the_benchmark() -> None:
    code = code_of("config_MI350X_1x8.sh", "config_MI350X_2x8.sh", folder="llama3_8b")
    there, missing = (entry({"config_filename": f"config_MI350X_2x8{end}.sh"}) for end in ("", "_trial"))
    assert list(audit_disclosures([there], code)) == []
    (found,) = audit_disclosures([missing], code)
    assert (found.rule, found.expected) == ("config.missing", "a file below benchmarks/llama3_8b")
    other = replace(entry(), benchmark="llama3_8b")
    assert list(audit_disclosures([missing, other], code)) == [], "that is the code of another benchmark"


def test_without_code_nobody_asks_for_a_file_in_it() -> None:
    assert list(audit_disclosures([entry({"config_filename": "config_a.sh"})], SubmittedCode(Path(), None))) == []


def test_all_runs_name_one_configuration() -> None:
    runs = [{"config_filename": name} for name in ("config_a.sh", "config_b.sh", "config_a.sh")]
    (found,) = audit_disclosures([entry(*runs)], code_of("config_a.sh"))
    assert (found.rule, found.actual) == ("config.differs", '"config_a.sh", "config_b.sh"')


@pytest.mark.parametrize(
    ("sizes", "rule", "actual"),
    [
        (SIZES, None, None),
        ({}, None, None),
        ({"tensor_parallelism": 3}, "disclosure.parallelism", "tensor 3 = 3"),
        ({**SIZES, "pipeline_parallelism": 3}, "disclosure.parallelism", "tensor 2 x pipeline 3 x context 2 = 12"),
        ({**SIZES, "tensor_parallelism": 32}, "disclosure.parallelism", "tensor 32 x pipeline 1 x context 2 = 64"),
        # Experts are spread over the replicas of the rest of the model.
        ({**SIZES, "expert_parallelism": 16}, None, None),
        ({**SIZES, "expert_parallelism": 32}, "disclosure.parallelism", "pipeline 1 x expert 32 = 32"),
        ({**SIZES, "tensor_parallelism": 0}, None, None),
        ({**SIZES, "tensor_parallelism": "many"}, None, None),
        ({**SIZES, **BATCH}, None, None),
        ({**SIZES, "global_batch_size": 36, "micro_batch_size": 2}, "disclosure.batch-size", "global_batch_size 36"),
        ({**SIZES, **BATCH, "gradient_accumulation_steps": 4}, None, None),
        ({**SIZES, **BATCH, "gradient_accumulation_steps": 2}, "disclosure.batch-size", "global_batch_size 32"),
        ({"global_batch_size": 36, "micro_batch_size": 2}, None, None),
        # Some of the accelerators generate what the others train on; how many, no log says.
        ({**SIZES, **GENERATION, "global_batch_size": 36, "micro_batch_size": 2}, None, None),
        ({**SIZES, **GENERATION, **BATCH, "gradient_accumulation_steps": 2}, None, None),
        ({**GENERATION, "tensor_parallelism": 3}, None, None),
    ],
)
def test_sizes_divide_the_accelerators(sizes: dict[str, Any], rule: str | None, actual: str | None) -> None:
    found = list(audit_disclosures([entry(sizes)], SubmittedCode(Path(), None)))
    assert [(one.rule, one.actual) for one in found] == ([(rule, actual)] if rule else [])
    of_sizes = {one.expected for one in found if one.rule == "disclosure.parallelism"}
    assert of_sizes <= {"a divisor of 16 accelerators"}, "two nodes of eight"


def printing(made: Entry, *printed: dict[str, Any]) -> Entry:
    """The entry whose logs print these settings, those of one name from line 7 on."""
    logs = []
    for log, settings in zip(made.logs, printed, strict=True):
        known = {
            name: tuple(
                StatedSetting(one, line, name) for line, one in enumerate(of if isinstance(of, list) else [of], 7)
            )
            for name, of in settings.items()
        }
        logs.append(replace(log, trace=Trace(settings=known)))
    return replace(made, logs=tuple(logs))


@pytest.mark.parametrize(("logged", "printed", "rule", "line", "actual"), TABLES["printed"])
def test_what_one_log_prints_is_that_which_records_state(
    logged: dict[str, Any], printed: dict[str, Any], rule: str | None, line: int | None, actual: str | None
) -> None:
    of = printing(entry(logged, logged), {}, printed)
    found = list(audit_disclosures([of], SubmittedCode(Path(), None)))
    assert [(one.rule, one.line, one.actual) for one in found] == ([(rule, line, actual)] if rule else [])
    where = "result_0.txt" if line == 4 else "result_1.txt"
    assert {one.path for one in found} <= {where}


@pytest.mark.parametrize(("logged", "files", "rule", "actual"), TABLES["values"])
def test_records_state_what_the_configuration_does(
    logged: dict[str, Any], files: dict[str, str], rule: str | None, actual: str | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        file = tmp_path / "benchmarks" / "llama31_8b" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found = list(audit_disclosures([entry(logged)], SubmittedCode(tmp_path, read_file_tree(tmp_path))))
    assert [(one.rule, one.actual) for one in found] == ([(rule, actual)] if rule else [])


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        (["rack1/config_MI355X_2x8.sh"], "config.accelerator"),
        (["rack1/run.py", "rack2/config_MI355X_2x8.sh"], "config.accelerator"),
        (["nemo/config_MI355X_2x8.sh", "rack2/config_MI350X_2x8.sh"], "config.accelerator"),
        (["rack1/config_MI355X_2x8.sh", "rack2/config_MI350X_2x8.sh"], "config.accelerator"),
        (["nemo/run.py", "rack2/config_MI355X_2x8.sh"], None),
        (["nemo/config_MI350X_2x8.sh", "rack2/config_MI355X_2x8.sh"], None),
    ],
)
def test_configurations_in_the_folder_of_another_system_are_for_that(files: list[str], rule: str | None) -> None:
    of, other = entry({}), replace(entry({}), system="rack2", benchmark="bert")
    found = list(audit_disclosures([of, other], code_of(*files)))
    assert [(one.rule, one.path) for one in found] == ([(rule, of.path)] if rule else [])


def test_a_batch_that_no_samples_fit_is_asked_about_once() -> None:
    of = printing(entry({"global_batch_size": 10}), {"tensor": 2, "micro_batch_size": 2, "batch_size": 8})
    odd = replace(of.logs[0], run=make_run("llama31_8b", [10, 16, 20], "samples_count", global_batch_size=10))
    assert list(audit_disclosures([replace(of, logs=(odd,))], SubmittedCode(Path(), None))) == []


def test_a_configuration_that_is_only_printed_is_asked_about() -> None:
    named = [{"config_file": ["config_common.sh", "MI355X_1x8x1"]}]
    found = list(audit_disclosures([printing(entry({"global_batch_size": 8}), *named)], code_of("run.sh")))
    assert [(one.rule, str(one.severity), one.line) for one in found] == [
        ("config.missing", "warning", 8),
        ("config.accelerator", "warning", 8),
        ("config.scale", "warning", 8),
    ]
    assert found[0].message == "The code of the benchmark has no file of the name that the log prints"
    several = [{"config_file": ["config_1x8.sh", "config_2x8.sh"]}]
    assert list(audit_disclosures([printing(entry({}), *several)], code_of("run.sh"))) == []
    there = printing(entry({}), {"config_file": "MI350X_2x8x1"})
    assert list(audit_disclosures([there], code_of("config_MI350X_2x8x1.sh"))) == []


def test_what_a_log_prints_is_disclosed_where_no_record_is() -> None:
    printed = {"micro_batch_size": [2, 1], "tensor": 4.0, "config_file": "MI350X_2x8x1xtp2pp1cp2"}
    of = printing(entry({"global_batch_size": 32, "tensor_parallelism": 2}), printed)
    stated = read_disclosure(of.path, of.logs, 16, ())
    assert stated.micro_batch_size == StatedValue(2, "result_0.txt", 7, also=("1",), printed=True)
    assert stated.tensor == StatedValue(2, "result_0.txt", 4), "by a record"
    assert stated.context == StatedValue(2, "result_0.txt", 7, printed=True), "by the name of the configuration"


@pytest.mark.skipif(not (SHARED / "reference-logs").is_dir(), reason="the reference runs are not here")
@pytest.mark.parametrize("batch", ["256", "512", "1024"])
def test_reference_runs_that_generate_and_train_on_one_machine_are_not_asked_about(batch: str) -> None:
    files = sorted((SHARED / "reference-logs" / "qwen35_397b_grpo" / batch).glob("seed_*.out"))
    logs = tuple(report_of(read_run(file), file.name) for file in files)
    assert len(logs) == 6
    assert list(audit_disclosures([replace(entry(nodes=32), logs=logs)], SubmittedCode(Path(), None))) == []


def test_what_an_entry_discloses_is_there_with_its_places() -> None:
    values = {**SIZES, "global_batch_size": 32, "lowest_numerical_precision_in_linear": "fp8"}
    runs = [{**values, "config_filename": "config_a.sh"}, {**values, "global_batch_size": 64}]
    of, code = entry(*runs), select_code("llama31_8b", (), code_of("config_a.sh", "old/config_a.sh", "run.sub").files)
    stated = read_disclosure(of.path, of.logs, 16, code)
    assert stated.batch_size == StatedValue(32, "result_0.txt", 7, also=("64",))
    assert stated.tensor == StatedValue(2, "result_0.txt", 3)
    assert stated.linear == StatedValue("fp8", "result_0.txt", 8)
    assert stated.config_file == StatedValue("config_a.sh", "result_0.txt", 9)
    assert stated.config_places == (f"{CODE}/config_a.sh", f"{CODE}/old/config_a.sh")
    assert (stated.attention, stated.micro_batch_size, stated.accelerators) == (None, None, 16)


@pytest.mark.skipif(not (SHARED / "v6.0-sample").is_dir(), reason="the published sample of v6.0 is not here")
def test_a_published_package_with_code_that_lacks_its_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "v6.0" / "AMD"
    shutil.copytree(SHARED / "v6.0-sample" / "AMD", folder)
    code = folder / "benchmarks" / "llama2_70b_lora" / "implementations" / "MI350X_EPYC_9575F_primus"
    code.mkdir(parents=True)
    (code / "config_MI350X_1x8x1.sh").write_text("export MBS=1\n")
    outcome = check("--round", "6.0", folder, "--select", "config", "--select", "disclosure")
    found = {one["rule"]: one for one in outcome.findings}
    assert found.keys() == {"config.missing", "config.accelerator"}
    assert {one["line"] for one in found.values()} == {32}
    assert found["config.missing"]["fix"] == "The code has config_MI350X_1x8x1.sh; name the one that was used."
