"""Whether what a description says means something: findings that never touch the verdict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mlsub.findings import Finding, Kind
from mlsub.rounds import get_round
from mlsub.systems.description import SystemDescription, read_description
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_description

Shown = list[tuple[str, str | None, str | None]]


def judge(folder: Path, round_: str | None = None, division: str = "closed", **changes: Any) -> SystemDescription:
    file = folder / "x.json"
    file.write_text(json.dumps(make_description(division, **changes), indent=1))
    return read_description(file, "x.json", None if round_ is None else get_round("training", round_))


def shown(findings: tuple[Finding, ...]) -> Shown:
    return [(f.rule, f.actual, f.expected) for f in findings]


COUNT = "a whole number of at least 1"
CLOCK, BYTES = "a clock with its unit, such as", "a number with a unit of bytes, such as"
DIVISION = "closed or open"
# Changes of a sound description, and what there is to tell.
MEANING: dict[str, tuple[dict[str, Any], Shown]] = {
    "sound": ({}, []),
    "TODO": ({"host_networking_topology": "TODO"}, [("system.placeholder", "host_networking_topology", None)]),
    "tbd in two fields": (
        {"cooling": "tbd", "sw_notes": " FIXME "}, [("system.placeholder", "cooling, sw_notes", None)]
    ),
    "the name of the field": (
        {"host_processor_core_count": "core_count"}, [("system.placeholder", "host_processor_core_count", None)]
    ),
    "an empty value": ({"cooling": ""}, [("system.empty-value", "cooling", None)]),
    "two empty values": ({"cooling": "", "status": ""}, [("system.empty-value", "status, cooling", None)]),
    "empty notes": ({"hw_notes": "", "sw_notes": ""}, []),
    "close": ({"division": "close"}, [("system.division", '"close"', DIVISION)]),
    "Closed": ({"division": "Closed"}, [("system.division", '"Closed"', DIVISION)]),
    "a division that is a list": ({"division": ["closed"]}, [("system.division", '["closed"]', DIVISION)]),
    "an empty division": (
        {"division": ""}, [("system.division", '""', DIVISION), ("system.empty-value", "division", None)]
    ),
    "a word for a count": ({"number_of_nodes": "N/A"}, [("system.not-a-count", '"N/A"', COUNT)]),
    "no node": ({"number_of_nodes": "0"}, [("system.not-a-count", '"0"', COUNT)]),
    "half a node": ({"number_of_nodes": 1.5}, [("system.not-a-count", "1.5", COUNT)]),
    "true": ({"number_of_nodes": True}, [("system.not-a-count", "true", COUNT)]),
    "other digits": ({"host_processor_core_count": "٦٤"}, [("system.not-a-count", '"٦٤"', COUNT)]),
    "a number as one": ({"number_of_nodes": 4, "host_processors_per_node": 2.0}, []),
    "cores nobody knows": ({"host_processor_core_count": "not published", "host_processor_vcpu_count": "n/a"}, []),
    "no unit": ({"accelerator_memory_capacity": "80"}, [("system.no-unit", '"80"', f"{BYTES} 80 GB")]),
    "a unit without number": (
        {"host_memory_capacity": "many GB"}, [("system.no-unit", '"many GB"', f"{BYTES} 768 GB")]
    ),
    "no bytes": ({"host_memory_capacity": "16 modules"}, [("system.no-unit", '"16 modules"', f"{BYTES} 768 GB")]),
    "bits": ({"host_memory_capacity": "16 Gbit"}, [("system.no-unit", '"16 Gbit"', f"{BYTES} 768 GB")]),
    "a clock in flops": (
        {"accelerator_frequency": "275 TFLOPS"}, [("system.no-unit", '"275 TFLOPS"', f"{CLOCK} 1410 MHz")]
    ),
    "units as people write them": (
        {"host_memory_capacity": "1.5TiB", "host_storage_capacity": "2.9 T + 97gb", "host_processor_frequency": "2Ghz"},
        [],
    ),
    "units in words": (
        {"host_memory_capacity": "2 terabytes", "accelerator_memory_capacity": "80 GBytes", "cooling": "80"}
        | {"accelerator_on-chip_memories": "L1: 108x192KB, L2: 40MB per chip"},
        [],
    ),
    "an accelerator that is not there": (
        {"accelerators_per_node": "0"},
        [("system.accelerators", '0 per node, model "some accelerator model name"', "N/A as model")],
    ),
    "accelerators without a name": (
        {"accelerator_model_name": "none"},
        [("system.accelerators", '8 per node, model "none"', "the model of the accelerators")],
    ),
    "no accelerators": ({"accelerators_per_node": "0", "accelerator_model_name": "N/A"}, []),
    "four hosts for one": (
        {"number_of_nodes": "1", "host_processors_per_node": "8", "host_processor_model_name": "AMD EPYC 7742"},
        [("system.host-count", "1 node with 8 each", "4 hosts with 2 each")],
    ),
    "sixteen hosts for four": (
        {"number_of_nodes": "4", "host_processors_per_node": 8, "host_processor_model_name": "EPYC 7742"},
        [
            ("system.host-count", "4 nodes with 8 each", "16 hosts with 2 each"),
            ("system.spelling", "EPYC 7742", "AMD EPYC 7742"),
        ],
    ),
    "four processors of another kind": (
        {"host_processors_per_node": "4", "host_processor_model_name": "Intel(R) Xeon(R) Platinum 8280"}
        | {"host_processor_core_count": "28"},
        [],
    ),
    "slips": (
        {"accelerator_host_interconnect": "Broadcom 57414 Dual Pot", "host_networking": "iDRAC9, ExpressX5 Compute"},
        [
            ("system.slip", "ExpressX5", "iDRAC9 Express or ConnectX-5, whichever is meant"),
            ("system.slip", "Dual Pot", "Dual Port"),
        ],
    ),
    "no slip": ({"cooling": "Dual Pothole"}, []),
    "MxNet": ({"framework": "MxNet NVIDIA Release 22.04"}, [("system.name-form", "MxNet", "MXNet")]),
    "names of packages": ({"framework": "tensorflow-1.15.0 of https://github.com/tensorflow/x.git"}, []),
    "trademarks": (
        {"host_processor_model_name": "Intel(R) Xeon(R) Gold 6240R", "host_processor_core_count": "24"}, []
    ),
    "a processor as lscpu has it": (
        {"host_processor_model_name": "AMD EPYC 7742 64-Core Processor"},
        [("system.name-form", "AMD EPYC 7742 64-Core Processor", "AMD EPYC 7742")],
    ),
    "a processor of another number": (
        {"host_processor_model_name": "AMD EPYC 7724"}, [("system.name-unknown", "AMD EPYC 7724", None)]
    ),
    "cores of two processors": (
        {"host_processor_model_name": "Neoverse-V2", "host_processor_core_count": "144"},
        [("system.core-count", "144", "72, the cores of one Neoverse-V2")],
    ),
    "memory of another accelerator": (
        {"accelerator_model_name": "NVIDIA H200-SXM5-141GB", "accelerator_memory_capacity": "96000 MiB"},
        [("system.memory", "accelerator_model_name: 141GB, accelerator_memory_capacity: 96000 MiB", None)],
    ),
    "memory that three fields state otherwise": (
        {"system_name": "8x B300-288GB", "accelerator_model_name": "NVIDIA Blackwell Ultra GPU (B300-SXM-270GB)"}
        | {"accelerator_memory_capacity": "294912 MiB"},
        [
            ("system.memory", "system_name: 288GB, accelerator_model_name: 270GB, "
             "accelerator_memory_capacity: 294912 MiB", None),
        ],
    ),
    "memory of a known accelerator": (
        {"accelerator_model_name": "NVIDIA L40S", "accelerator_memory_capacity": "80 GB"},
        [("system.memory", "accelerator_memory_capacity: 80 GB, one L40S: 48 GB", None)],
    ),
    "memory as the driver has it, and of all": (
        {"accelerator_model_name": "NVIDIA H100-SXM5-80GB", "accelerator_memory_capacity": "640 GB"}, []
    ),
    "memory in MiB": (
        {"accelerator_model_name": "NVIDIA H100-SXM5-80GB", "accelerator_memory_capacity": "81559 MiB"}, []
    ),
    "a slip in a maker's name": (
        {"accelerator_model_name": "NVIDA A100-SXM4-80GB"},
        [("system.spelling", "NVIDA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB")],
    ),
    "a clock with a digit too much": (
        {"accelerator_model_name": "Graphcore Bow IPU", "accelerator_frequency": "1.385 GHz"}
        | {"accelerator_on-chip_memories": "900MB"},
        [("system.figure", '"1.385 GHz"', "1.85 GHz")],
    ),
    "a status of no table": ({"status": "availible cloud"}, [("system.unknown-status", '"availible cloud"', None)]),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANING)
def test_what_there_is_to_tell_of_a_description(name: str, tmp_path: Path) -> None:
    changes, told = MEANING[name]
    description = judge(tmp_path, **changes)
    assert shown(description.findings) == told
    assert description.accepted
    assert all(f.kind is Kind.REVIEW and f.line is not None for f in description.findings)


def test_an_open_entry_whose_notes_are_still_to_come(tmp_path: Path) -> None:
    assert shown(judge(tmp_path, division="open", notes="TBD").findings) == [("system.open-notes", '"TBD"', None)]
    assert shown(judge(tmp_path, notes="TBD").findings) == [("system.placeholder", "notes", None)]
    assert judge(tmp_path, division="open", notes="Another optimizer").findings == ()


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"submitter": "<your organisation>"}, "submitter"),
        ({"submitter": "< >", "cooling": "TBD: ask", "hw_notes": "xxx"}, "submitter, cooling, hw_notes"),
        ({"system_name": "SYSTEM_NAME_PLACEHOLDER"}, "system_name"),
        ({"submitter": "TBD.", "cooling": "[TODO]", "hw_notes": "(TBD)", "sw_notes": " tba"},
         "submitter, cooling, hw_notes, sw_notes"),
        ({"other_software_stack": {"cuda": "12.9", "nccl": "TODO", "more": [{"a": "<version>"}]}},
         "other_software_stack.nccl, other_software_stack.more.0.a"),
        ({"other_software_stack": {str(i): "TODO" for i in range(100)}},
         ", ".join(f"other_software_stack.{i}" for i in range(40)) + ", …"),
    ],
)  # fmt: skip
def test_what_is_a_placeholder(changes: dict[str, Any], places: str, tmp_path: Path) -> None:
    [found] = judge(tmp_path, **changes).findings
    assert (found.rule, found.actual, found.kind) == ("system.placeholder", places, Kind.REVIEW)
    assert found.line is not None


NO_PLACEHOLDERS = [
    "a <b>", "<a> <b>", "<path-1>", "<env>", "placeholders", "TODOs", "no TODO", "<" * 500, f"<{'a' * 500}>",
    "<a@b.org>", "<none>", "< N/A >", "< 5 ms >", "(TBD) is what we call it", "TODO. Done",
]  # fmt: skip


@pytest.mark.parametrize("value", NO_PLACEHOLDERS)
def test_what_is_no_placeholder(value: str, tmp_path: Path) -> None:
    assert judge(tmp_path, hw_notes=value, other_software_stack={"a": [value]}).findings == ()


def test_a_status_is_one_finding_official_or_audit(tmp_path: Path) -> None:
    assert [f.rule for f in judge(tmp_path, "3.1", status="on prem").findings] == ["system.unknown-status"]
    assert [f.rule for f in judge(tmp_path, "4.1", status="on prem").findings] == ["system.status"]
    assert judge(tmp_path, "3.1", status="Available in cloud").findings == ()


@pytest.mark.parametrize("value", ["", 0, -1, 1e400, float("nan"), 10**400, [], {}, None, "9" * 5000, "\x00", "\ud800"])
def test_no_value_raises(value: Any, tmp_path: Path) -> None:
    for name in make_description():
        judge(tmp_path, **{name: value})


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_the_published_descriptions() -> None:
    """Every finding on them was looked at; a further one is a false alarm until somebody has."""
    counts: Counter[str] = Counter()
    for file in sorted(CORPUS.glob("*/*/systems/*.json")):
        usage, _, name = file.relative_to(CORPUS).parts[0].rpartition("v")
        description = read_description(file, file.name, get_round("hpc" if usage else "training", name))
        assert description.accepted
        counts.update(f.rule.removeprefix("system.") for f in description.findings)
    assert counts == {
        "division": 3, "duplicate-key": 13, "empty-value": 157, "figure": 1, "host-count": 7,
        "no-unit": 9, "open-notes": 4, "placeholder": 33, "slip": 48, "spelling": 3,
        "core-count": 29, "name-form": 120, "name-unknown": 1,
    }  # fmt: skip
