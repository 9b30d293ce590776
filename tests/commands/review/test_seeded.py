"""Defects put into a copy of a published package with its code: each is one more question, at the right place."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.support.corpus import CORPUS, SHARED
from tools.support.runner import run

CODE = SHARED / "code" / "v5.1"
NAME, SYSTEM = "MiTAC", "8xMI325X_2xEPYC_9755"
DESCRIPTION = f"systems/{SYSTEM}.json"
ENTRY = f"results/{SYSTEM}/llama2_70b_lora"
LOG = f"{ENTRY}/result_0.txt"
IMPLEMENTATION = "benchmarks/llama2_70b_lora/nemo"
#: The rule and the place of a question: a path within the organisation's folder, or one beside it.
Asked = set[tuple[str, str]]

pytestmark = pytest.mark.skipif(not CODE.is_dir(), reason="published code is not there")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(package(tmp_path_factory.mktemp("before")))


def package(place: Path) -> Path:
    """A copy of a package of v5.1 with its code."""
    folder = place / "v5.1" / NAME
    shutil.copytree(CORPUS / "v5.1" / NAME, folder)
    shutil.copytree(CODE / NAME / "benchmarks", folder / "benchmarks")
    return folder


def asked(folder: Path, *options: Any) -> Asked:
    """The questions on a package, each with its places."""
    outcome = run("review", folder, *options, "--format", "json")
    found = outcome.document["organisations"]
    return {
        (ask["rule"], " ".join(place["path"].removeprefix(f"{NAME}/") for place in ask["findings"]))
        for one in found
        for ask in one["asks"] + one["notes"]
        if one["name"] == NAME
    }


def describe(field: str, value: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / DESCRIPTION
        file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}, indent=2))

    return change


def log(*logs: int, **values: Any) -> Callable[[Path], None]:
    """Records with these values in some logs, behind that of the batch size."""

    def change(folder: Path) -> None:
        for at in logs:
            file = folder / ENTRY / f"result_{at}.txt"
            lines = file.read_text().splitlines(keepends=True)
            line = next(number for number, text in enumerate(lines) if '"global_batch_size"' in text)
            mark, _, record = lines[line].partition("{")
            new = (json.loads("{" + record) | {"key": key, "value": value} for key, value in values.items())
            lines[line + 1 : line + 1] = [f"{mark}{json.dumps(one)}\n" for one in new]
            file.write_text("".join(lines))

    return change


def add_file(path: str, content: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / path).write_bytes(content)

    return change


def edit(pattern: str, old: str, new: str) -> Callable[[Path], None]:
    """Another text in the place of one, in each file of a pattern."""

    def change(folder: Path) -> None:
        for file in folder.glob(pattern):
            text = file.read_text()
            assert old in text
            file.write_text(text.replace(old, new))

    return change


EVERY, _ELF = range(10), b"\x7fELF\2\1\1" + bytes(60)
SEEDED: dict[str, tuple[Callable[[Path], None], str, str]] = {
    **{
        f"{field} {value}": (describe(field, value), "system.spelling", DESCRIPTION)
        for field, value in (
            ("host_processor_model_name", "AMD EPYC Rome 7742"),
            ("host_processor_model_name", "EPYC 7742"),
            ("host_processor_model_name", "NVIDIA Grace CPU"),
            ("accelerator_model_name", "NVIDIA A100 - PCIe - 80 GB"),
            ("accelerator_model_name", "NVIDIA H100-SXM-80GB"),
            ("accelerator_model_name", "NVIDIA B200 Blackwell GPU"),
        )
    },
    "an absent configuration": (log(*EVERY, config_filename="config_absent.sh"), "config.missing", LOG),
    "a configuration of another accelerator": (
        log(*EVERY, config_filename="config_MI355X_1x8x1.sh"), "config.accelerator", LOG,
    ),
    "a program": (
        add_file(f"{IMPLEMENTATION}/solver", _ELF), "layout.not-code", f"{IMPLEMENTATION}/solver",
    ),
    "sizes that do not divide the accelerators": (log(*EVERY, tensor_parallelism=3), "disclosure.parallelism", LOG),
    "a rate that is not that of the code": (
        edit(f"{IMPLEMENTATION}/config_MI325X_1x8x1.sh", "LR=0.0004", "LR=0.0003"), "config.values", LOG,
    ),
    "a batch that is not that of the code": (
        edit(f"{ENTRY}/*.txt", '"key": "global_batch_size", "value": 8', '"key": "global_batch_size", "value": 16'),
        "config.values", LOG,
    ),
    "a batch that is not that of the samples": (
        edit(LOG, '"samples_count": 1920', '"samples_count": 1921'), "run.progress-batch", LOG,
    ),
    "sizes that are printed": (
        edit(LOG, "STARTING", "--tensor-model-parallel-size 3\nSTARTING"), "disclosure.parallelism", LOG,
    ),
    "code without the configuration of the accelerator": (
        lambda folder: (folder / IMPLEMENTATION / "config_MI325X_1x8x1.sh").unlink(), "config.accelerator", ENTRY,
    ),
    "a contact": (log(0, submission_poc_email="jane@acme.example"), "run.contact", LOG),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_defect_is_one_question(name: str, before: Asked, tmp_path: Path) -> None:
    change, rule, path = SEEDED[name]
    folder = package(tmp_path)
    change(folder)
    after = asked(folder)
    assert {one for one in after - before if one[0] == rule} == {(rule, path)}
    outcome = run("review", folder, "-v")
    assert "jane@acme" not in outcome.stdout


def test_a_log_of_another_organisation(before: Asked, tmp_path: Path) -> None:
    folder = package(tmp_path)
    shutil.copytree(CORPUS / "v5.1" / "AMD", folder.parent / "AMD")
    [other, *_] = sorted((folder.parent / "AMD" / "results").glob("*/llama2_70b_lora/result_0.txt"))
    (folder / LOG).write_bytes(other.read_bytes())
    found = asked(folder.parent) - before
    assert [path for rule, path in found if rule == "entry.same-log-twice"] == [LOG]


@pytest.mark.parametrize(("row", "rule"), [("gone", "table.row-missing"), ("changed", "table.id")])
def test_a_row_and_an_id(row: str, rule: str, before: Asked, tmp_path: Path) -> None:
    folder = package(tmp_path)
    (folder / "results" / SYSTEM / "privateid.json").write_text('{"private_id": "7c1f"}')
    rows = list(csv.DictReader(io.StringIO(run("score", folder, "--format", "csv").stdout)))
    apart = {"organisation": "Other", "submitter": "Other", "system": "rack", "system_name": "rack"}
    other = {**rows[0], **apart, "details_url": "", "published_minutes": "1"}
    kept = [other] if row == "gone" else [other, {**rows[0], "private_id": "7c1e"}]
    table = tmp_path / "table.csv"
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0], "private_id"])
        writer.writeheader()
        writer.writerows(kept)
    new = {one for one in asked(folder, "--table", table) - before if one[0].startswith("table.")}
    [(found, path)] = new
    assert (found, path.endswith("table.csv") or path == ENTRY) == (rule, True)


@pytest.mark.skipif(not (SHARED / "v6.0-sample").is_dir(), reason="the published sample of v6.0 is not there")
def test_a_misspelt_key_of_what_is_disclosed(tmp_path: Path) -> None:
    folder = tmp_path / "AMD"
    shutil.copytree(SHARED / "v6.0-sample" / "AMD", folder)
    path = "results/8xMI325X_EPYC_9575F_pytorch/flux1/result_0.txt"
    text = (folder / path).read_text()
    (folder / path).write_text(
        text.replace("lowest_numerical_precision_in_linear", "lowest_numerical_precision_linear")
    )
    outcome = run("review", folder, "--round", "6.0", "--format", "json")
    [one] = outcome.document["organisations"]
    found = [place for ask in one["asks"] if ask["rule"] == "run.misspelt-key" for place in ask["findings"]]
    assert [place["expected"] for place in found if place["path"] == path] == ["lowest_numerical_precision_in_linear"]
