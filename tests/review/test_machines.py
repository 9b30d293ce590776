"""What ``:::SYSJSON`` of a log names, beside the description of the system and the other runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from mlsub.systems.names import same_accelerator, same_framework, same_processor
from tools.support.corpus import SHARED
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import check

SAME = {"accelerator": same_accelerator, "processor": same_processor, "framework": same_framework}
ROWS = load_yaml(Path(__file__).with_name("machines.yaml"))
DESCRIBED = {
    "accelerator_model_name": "NVIDIA H200-SXM5-141GB",
    "host_processor_model_name": "Intel(R) Xeon(R) Platinum 8480C",
    "framework": "PyTorch NVIDIA Release 24.09",
}
RULES = ("cross.accelerator", "cross.processor", "cross.framework", "cross.runs-differ")


@pytest.mark.parametrize(("kind", "row"), [(kind, row) for kind, rows in ROWS.items() for row in rows])
def test_two_names_of_one_thing(kind: str, row: tuple[str, str, bool]) -> None:
    one, other, same = row
    assert SAME[kind](one, other) is SAME[kind](other, one) is same


def logged(above: Path, *runs: int, described: dict[str, Any] | None = None, **names: Any) -> Tree:
    """A package whose runs log a machine: these names, or those of its description."""
    tree = make_tree(above)
    tree.describe(**(DESCRIBED | (described or {})))
    for run in range(5):
        fields = DESCRIBED | (names if run in runs else {})
        tree.edit(lambda log, fields=fields: log.lines.insert(1, f":::SYSJSON {json.dumps(fields)}"), run)
    return tree


ALL = tuple(range(5))


@pytest.mark.parametrize(
    ("runs", "described", "names", "found"),
    [
        (ALL, {}, {}, {}),
        (ALL, {}, {"accelerator_model_name": "NVIDIA H200"}, {}),
        (ALL, {}, {"accelerator_model_name": "NVIDIA B200"}, {"cross.accelerator": ["error"] * 5}),
        ((3,), {}, {"accelerator_model_name": "NVIDIA B200"}, {"cross.accelerator": ["error"]}),
        (ALL, {}, {"host_processor_model_name": "Neoverse-V2"}, {"cross.processor": ["warning"] * 5}),
        (ALL, {"host_processor_model_name": "N/A"}, {"host_processor_model_name": "Neoverse-V2"}, {}),
        (ALL, {}, {"framework": "PyTorch NVIDIA Release 25.09"}, {"cross.framework": ["warning"]}),
        (ALL, {"framework": ""}, {"framework": "PyTorch NVIDIA Release 25.09"}, {}),
        (ALL, {}, {"framework": "FRAMEWORK_PLACEHOLDER"}, {}),
        # Where the description names none, the runs are compared with each other.
        (
            (3,),
            {"accelerator_model_name": "N/A"},
            {"accelerator_model_name": "NVIDIA B200"},
            {"cross.runs-differ": ["error"]},
        ),
        (
            (3,),
            {"host_processor_model_name": "N/A"},
            {"host_processor_model_name": "AMD EPYC 9654"},
            {"cross.runs-differ": ["warning"]},
        ),
    ],
)
def test_what_logs_name_is_compared(
    runs: tuple[int, ...], described: dict[str, Any], names: dict[str, Any], found: dict[str, list[str]], tmp_path: Path
) -> None:
    outcome = check(logged(tmp_path, *runs, described=described, **names).folder)
    severities = {rule: [one["severity"] for one in outcome.of(rule)] for rule in RULES}
    assert {rule: of for rule, of in severities.items() if of} == found
    assert outcome.official == "accepted"


def test_a_finding_says_where_and_what(tmp_path: Path) -> None:
    outcome = check(logged(tmp_path, 2, accelerator_model_name="NVIDIA B200", framework="JAX 0.5").folder)
    [accelerator], [framework] = outcome.of("cross.accelerator"), outcome.of("cross.framework")
    assert (accelerator["path"].rpartition("/")[2], accelerator["line"]) == ("result_2.txt", 2)
    assert (accelerator["actual"], accelerator["expected"]) == ('"NVIDIA B200"', "NVIDIA H200-SXM5-141GB")
    assert framework["actual"] == (
        '"JAX 0.5" in rack1/resnet, where the description has "PyTorch NVIDIA Release 24.09"'
    )


def test_frameworks_are_one_finding_for_all_entries(tmp_path: Path) -> None:
    tree = logged(tmp_path, *ALL, framework="MXNet NVIDIA Release 24.09")
    tree.add_system("rack2", **DESCRIBED)
    tree.add_entry(system="rack2")
    text = tree.log(0).read_text().splitlines()[1]
    tree.edit(lambda log: log.lines.insert(1, text), 0, system="rack2")
    [found] = check(tree.folder).of("cross.framework")
    assert found["actual"].startswith('"MXNet NVIDIA Release 24.09" in rack1/resnet, rack2/resnet, where')


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("cases/v5.0/Oracle", {"cross.processor": 10, "cross.framework": 1}),
        ("corpus/v4.0/smc-ac-power", {"cross.framework": 1}),
        ("corpus/v5.1/HPE", {}),
        ("corpus/v5.1/Krai", {}),
    ],
)
def test_published_machines(folder: str, found: dict[str, int]) -> None:
    if not (SHARED / folder).is_dir():
        pytest.skip("published results are not there")
    outcome = check(SHARED / folder)
    assert {rule: count for rule in RULES if (count := len(outcome.of(rule)))} == found
