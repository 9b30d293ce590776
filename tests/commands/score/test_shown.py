"""Which results ``mlsub score`` shows, in which order, and the official wide table of them."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import pytest

from tools.support.make_tree import Log, Tree
from tools.support.runner import run

#: Systems: accelerators, and the minutes of the entry, where it is resnet.
SIZES = {"small": (8, 60.0), "large": (64, 10.0), "middle": (16, 35.0)}


@pytest.fixture(name="tree", scope="module")
def _tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("shown") / "v1.0" / "ACME")
    for name, (count, minutes) in SIZES.items():
        tree.add_system(name, number_of_nodes=str(count // 8), accelerator_model_name="NVIDIA H100-SXM5-80GB")
        tree.add_entry(system=name)
        tree.edit(partial(Log.last, minutes=minutes), *range(5), system=name)
    tree.add_entry("unet3d", "small")
    (tree.folder / "results" / "small" / "privateid.json").write_text('{"private_id": "five-secret-words"}')
    return tree


def rows(tree: Tree, *options: str) -> list[dict[str, str]]:
    outcome = run("score", tree.folder, *options)
    assert (outcome.status, outcome.stderr) == (0, "")
    return list(csv.DictReader(outcome.stdout.splitlines()))


@pytest.mark.parametrize(
    ("order", "systems"),
    [
        ("minutes", ["large", "middle", "small"]),
        ("accelerators", ["small", "middle", "large"]),
        ("chip-minutes", ["small", "middle", "large"]),
    ],
)
def test_results_are_sorted(order: str, systems: list[str], tree: Tree) -> None:
    found = rows(tree, "--benchmark", "resnet", "--sort", order, "--format", "csv")
    assert [row["system"] for row in found] == systems
    expected = [SIZES[name][0] * SIZES[name][1] for name in systems]
    assert [float(row["chip_minutes"]) for row in found] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["unet3d", "3D U-Net"])
def test_a_benchmark_goes_by_its_folder_its_name_and_its_title(name: str, tree: Tree) -> None:
    assert [row["benchmark"] for row in rows(tree, "--benchmark", name, "--format", "csv")] == ["unet3d"]


def test_what_is_not_there_or_not_meant_is_told(tree: Tree) -> None:
    outcome = run("score", tree.folder, "--benchmark", "resnett")
    assert (outcome.status, outcome.stderr) == (
        2,
        "mlsub score: There is no result of 'resnett'. Did you mean resnet?\n",
    )
    outcome = run("score", tree.folder, "--sort", "minutes", "--format", "json")
    assert (outcome.status, "json is the document of mlsub check" in outcome.stderr) == (2, True)


def test_the_text_has_size_and_accelerator_and_no_name_is_broken_inside_a_word(tree: Tree, tmp_path: Path) -> None:
    other = Tree(tmp_path / "v1.0" / "Quanta_Cloud_Technology")
    other.add_system("HPE-Cray-XD670-H200-SXM5-141GB_n8_25.09")
    other.add_entry(system="HPE-Cray-XD670-H200-SXM5-141GB_n8_25.09")
    narrow = run("score", other.folder, COLUMNS="80").stdout
    parts = [line[: len("    SXM5-141GB_n8_25.09")].strip() for line in narrow.splitlines()[7:9]]
    assert parts == ["HPE-Cray-XD670-H200-", "SXM5-141GB_n8_25.09"]
    assert "No room for: division, converged, batch, convergence" in narrow
    assert "  minutes: " in narrow and "  convergence: " not in narrow
    table = run("score", tree.folder, "--sort", "accelerators").stdout
    head = next(line for line in table.splitlines() if "accelerators" in line)
    assert head.split()[:4] == ["system", "accelerators", "accelerator", "benchmark"]
    assert "\n  large             64  H100         resnet" in table
    assert "resnet, 64 |" in table


def test_the_wide_table_has_a_row_a_system_and_a_column_a_benchmark(tree: Tree) -> None:
    found = rows(tree, "--format", "wide")
    assert list(found[0])[:12] == [
        *("division", "availability", "submitter", "system", "number_of_nodes", "host_processor_model_name"),
        *("host_processors_count", "accelerator_model_name", "accelerators_count", "framework", "notes", "private_id"),
    ]
    assert list(found[0])[12:] == [
        *("bert", "dlrm", "maskrcnn", "minigo", "resnet", "ssd", "rnnt", "unet3d", "details_url", "code_url"),
    ]
    by_size = {row["accelerators_count"]: row for row in found}
    assert {size: float(row["resnet"]) for size, row in by_size.items()} == {"8": 60.0, "64": 10.0, "16": 35.0}
    assert [(row["unet3d"] != "", row["private_id"]) for row in map(by_size.get, ("8", "16"))] == [  # type: ignore[index]
        (True, "five-secret-words"),
        (False, ""),
    ]


def test_the_benchmarks_that_are_there_come_in_order(tree: Tree) -> None:
    outcome = run("score", tree.folder, "--benchmark", "nosuch")
    assert outcome.stderr == "mlsub score: There is no result of 'nosuch'; there are resnet, unet3d\n"


def test_a_row_of_the_chart_is_of_one_division_and_one_size(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "v1.0" / "ACME")
    absent: dict[str, str] = {"accelerator_model_name": "N/A", "accelerators_per_node": "0"}
    for name, changes in {
        "own": {}, "free": {"division": "open"}, "two": absent | {"number_of_nodes": "2"},
        "sixteen": absent | {"number_of_nodes": "16"}, "failed": {},
    }.items():  # fmt: skip
        tree.add_system(name, **changes)
        tree.add_entry(system=name, division=changes.get("division", "closed"))
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 20}), *range(5), system="failed")
    chart = run("score", tree.folder).stdout.partition("Minutes to train")[2]
    names = [line.partition("|")[0].strip() for line in chart.splitlines() if "|" in line]
    assert names == ["resnet, 8", "resnet, 2 nodes", "resnet, 16 nodes", "resnet open, 8"]
    assert chart.startswith(" by benchmark and size, training v1.0 of ACME: ")
    assert ".=rejected" in chart


def test_the_picture_is_alone_in_its_file(tree: Tree, tmp_path: Path) -> None:
    file = tmp_path / "scores.svg"
    outcome = run("score", tree.folder, "-o", file)
    assert (outcome.status, outcome.stdout) == (0, "")
    picture = ET.parse(file).getroot()  # noqa: S314
    words = {one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"resnet, 8", "resnet, 16", "resnet, 64", "unet3d, 8", "H100", "minutes"} <= words
