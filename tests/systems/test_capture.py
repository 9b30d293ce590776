"""The capture, on machines made of files and tools, on the one that runs the tests, and on one with an H200."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from mlsub.io import MlsubError
from mlsub.systems.capture import Capture, capture_here, merge_captures, read_capture, to_json
from mlsub.systems.capture.accelerators import find_accelerators
from mlsub.systems.capture.tools import run_tool
from mlsub.systems.catalogue import SourcedValue
from mlsub.systems.fields import fields
from tests.conftest import ExpectedText
from tests.systems.machine import GPU, ROCM, TOOLS, Machine, printed
from tools.support.effort import HUNG
from tools.support.runner import check


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path / "machine", monkeypatch)


def values(machine: Machine) -> dict[str, str]:
    return {name: told.value for name, told in capture_here(machine.root).values.items()}


def written(found: Mapping[str, str]) -> str:
    return json.dumps(found, indent=1) + "\n"


def test_a_usual_host(machine: Machine, expected_text: ExpectedText) -> None:
    machine.usual()
    found = values(machine)
    host = {name: found[name] for name in found if not name.startswith(("accelerator", "framework", "other"))}
    expected_text("host.json", written(host))
    assert found["accelerators_per_node"] == "0" and found["accelerator_model_name"] == "N/A"


def test_every_field_but_the_submitters_is_told_or_said_to_be_unknown(machine: Machine) -> None:
    told = capture_here(machine.root).values
    theirs = {"submitter", "division", "status", "number_of_nodes", "hw_notes", "sw_notes"}
    assert set(told) == set(fields().required) - theirs
    assert all(one.source for one in told.values())
    assert {told[name].value for name in told if name.startswith("host_")} == {"TODO"}


def test_nothing_names_the_host_or_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    text = to_json(capture_here())
    for name in (platform.node(), os.environ.get("USER", "")):
        assert len(name) < 4 or name not in text


def test_adapters_have_their_names_from_lspci(machine: Machine) -> None:
    machine.usual()
    machine.tool(
        "lspci",
        '0000:63:00.0 "Ethernet controller" "Mellanox Technologies" "MT28908 Family [ConnectX-6]" "Mellanox" "x"\n'
        '0000:01:00.0 "VGA compatible controller" "Matrox" "G200" "Dell" "y"',
    )
    expected = "1x Mellanox MT28908 Family [ConnectX-6] Ethernet 100 Gb/s, 1x i40e Ethernet"
    assert values(machine)["host_networking"] == expected


def test_infiniband_has_its_rate(machine: Machine) -> None:
    for n in range(8):
        machine.file(f"sys/class/infiniband/mlx5_{n}/ports/1/link_layer", "InfiniBand\n")
        machine.file(f"sys/class/infiniband/mlx5_{n}/ports/1/rate", "200 Gb/sec (4X HDR)\n")
    machine.file("sys/class/infiniband/mlx5_9/ports/1/link_layer", "Ethernet\n")
    assert values(machine)["host_networking"] == "8x InfiniBand 200 Gb/s"


def test_gpus_of_nvidia(machine: Machine, expected_text: ExpectedText) -> None:
    machine.gpus("\n".join([GPU] * 8), TOOLS["topology"])
    # No tool reports the kind of memory; the catalogue has it.
    found = {name: value.value for name, value in find_accelerators(machine.root).items()}
    expected_text("nvidia.json", written(found))
    machine.usual()
    assert values(machine)["other_software_stack"].endswith("NVIDIA driver 470.57.02")


def test_gpus_that_differ_or_do_not_tell(machine: Machine) -> None:
    machine.tool("nvidia-smi", f"{GPU}\nNVIDIA A40, [N/A], 1740, 4, 16, 470.57.02")
    found = find_accelerators(machine.root)
    assert found["accelerator_model_name"].value == "1x NVIDIA A100-SXM4-80GB, 1x NVIDIA A40"
    assert found["accelerator_memory_capacity"].source == "nvidia-smi does not report memory.total"
    assert found["accelerator_frequency"].source == "nvidia-smi: clocks.max.sm differs among the GPUs (1410, 1740)"


def test_a_driver_that_is_not_loaded(machine: Machine) -> None:
    words = "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."
    machine.tool("nvidia-smi", words, status=9)
    found = find_accelerators(machine.root)
    assert {value.value for value in found.values()} == {"TODO"}
    assert found["accelerators_per_node"].source == f"nvidia-smi failed: {words}"


def test_an_accelerator_without_its_tool_is_not_taken_for_none(machine: Machine) -> None:
    machine.file("sys/bus/pci/devices/0000:07:00.0/class", "0x030200\n")
    assert {value.value for value in find_accelerators(machine.root).values()} == {"TODO"}


@pytest.mark.parametrize("change", [str, str.upper, str.lower])
def test_gpus_of_amd(machine: Machine, change: type[str]) -> None:
    tables = {card: {change(key): value for key, value in table.items()} for card, table in ROCM.items()}
    machine.tool("rocm-smi", json.dumps(tables))
    found = find_accelerators(machine.root)
    names = ("accelerators_per_node", "accelerator_model_name", "accelerator_memory_capacity", "driver")
    expected = ["8", "AMD Instinct MI300X 192GB HBM3", "192 GiB", "amdgpu driver 6.8.5"]
    assert [found[name].value for name in names] == expected


def test_what_no_tool_reports_is_from_the_catalogue_and_says_so(machine: Machine, expected_text: ExpectedText) -> None:
    machine.tool("rocm-smi", json.dumps(ROCM))
    found = find_accelerators(machine.root)
    known = {name: one.value for name, one in found.items() if one.source.startswith("mlsub system show mi300x")}
    expected_text("mi300x.json", written(known))
    assert found["accelerator_memory_capacity"].value == "192 GiB"  # What the tool reports stays.
    assert found["accelerator_frequency"].value == "TODO"  # Nor has the catalogue it.
    machine.tool("rocm-smi", json.dumps({name: table | {"Card Series": "Unknown"} for name, table in ROCM.items()}))
    assert find_accelerators(machine.root)["accelerator_memory_configuration"].value == "TODO"


def test_ipus_and_their_sdk(machine: Machine) -> None:
    machine.usual()
    machine.tool("gc-info", TOOLS["ipus"])
    machine.tool("popc", "POPLAR version 2.3.0 (d9e4130346)\nclang version 13.0.0")
    machine.tool("vipu", "1.15.0")
    found = values(machine)
    assert (found["accelerators_per_node"], found["accelerator_interconnect"]) == ("2", "IPU-Link")
    assert found["accelerator_model_name"] == "TODO"
    assert found["other_software_stack"].endswith("Poplar SDK 2.3.0, V-IPU 1.15.0")


def test_a_host_with_one_socket_and_a_clock_in_its_name(machine: Machine) -> None:
    machine.tool("lscpu", "Vendor ID: x\nSocket(s): 1\nModel name: Some CPU @ 2.60GHz")
    found = values(machine)
    assert found["host_processors_per_node"] == "1"
    assert found["host_processor_frequency"] == "2.60GHz (base)"
    assert found["host_processor_interconnect"] == "N/A"
    assert found["host_processor_core_count"] == "TODO"


HOSTILE = [
    *("", "null", "[" * 60_000, '{"card0": 3}', '{"card0": {"card series": []}}', "\x00"),
    *(':\nNAME="sda" TYPE="disk" RM="0"', ", , , , , \n-+- Id:  [0"),
]


@pytest.mark.parametrize("output", HOSTILE)
@pytest.mark.parametrize("tool", ["nvidia-smi", "rocm-smi", "gc-info"])
def test_tools_that_write_nonsense(machine: Machine, output: str, tool: str) -> None:
    for name in ("lscpu", "lsblk", tool, "lspci", "popc", "vipu", "nvcc"):
        (machine.bin / f"{name}.txt").write_text(output)
        machine.tool(name, before=f"/bin/cat '{machine.bin / name}.txt'; exit 0")
    found = values(machine)
    assert found["accelerator_frequency"] == found["host_storage_type"] == found["host_processor_model_name"] == "TODO"


def test_a_tool_is_stopped_when_it_takes_too_long(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.systems.capture.tools.TIMEOUT_S", 0.2)
    machine.tool("slow", before="exec /bin/sleep 1200")
    started = time.monotonic()
    ran = run_tool(["slow"])
    assert ran is not None and (ran.status, ran.complaint) == (None, "it took too long")
    assert time.monotonic() - started < HUNG


def test_a_tool_runs_with_the_locale_c_and_no_input(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    machine.tool("show", before='echo "$LC_ALL"; /bin/cat; exit 0')
    ran = run_tool(["show"])
    assert ran is not None and (ran.succeeded, ran.output) == (True, "C\n")
    assert run_tool(["no-such-tool"]) is None
    (machine.bin / "broken").write_text("\x7fELF")
    (machine.bin / "broken").chmod(0o755)
    ran = run_tool(["broken"])
    assert ran is not None and not ran.succeeded


# A host with one NVIDIA H200 as its tools describe it, and trainings that the recorder logged there.

RECORDED = Path(__file__).parent / "recorded"


def test_description_of_one_h200(machine: Machine) -> None:
    told = printed("recorded/h200.txt")
    machine.gpus(told["gpus"].strip(), told["topology"])
    machine.tool("lscpu", told["lscpu"])
    machine.tool("lsblk", told["lsblk"])
    machine.file("proc/meminfo", told["meminfo"])
    machine.file("etc/os-release", told["os-release"])
    machine.adapter("eth0", "0000:00:03.0", "virtio_net", "-1")
    found, described = values(machine), json.loads((RECORDED / "h200.json").read_text("utf-8"))
    # The software of the Python environment is that of this one.
    names = [name for name in found if name.startswith(("host_", "accelerator", "operating_system"))]
    assert len(names) > 20 and {name: found[name] for name in names} == {name: described[name] for name in names}
    assert found["other_software_stack"].endswith("NVIDIA driver 580.159.04")


@pytest.mark.parametrize("training", ["lightning", "transformers", "two-processes"])
def test_trainings_recorded_there_are_compliant(training: str) -> None:
    outcome = check(RECORDED / f"h200-{training}.txt", "--usage", "rehearsal", "--round", "1.0")
    assert (outcome.status, outcome.official, outcome.findings) == (0, "accepted", [])


# Joining.


def _capture(host: str, **changes: str) -> Capture:
    told = {"host_memory_capacity": "1008 GiB", "framework": "PyTorch 2.4.0", **changes}
    return Capture(mlsub="0", host=host, values={name: SourcedValue(value, "a test") for name, value in told.items()})


def test_equal_hosts_are_counted_and_two_processes_of_one_host_are_one() -> None:
    found, findings = merge_captures([("0", _capture("a")), ("1", _capture("a")), ("2", _capture("b"))])
    assert findings == ()
    assert (found["number_of_nodes"].value, found["number_of_nodes"].source) == ("2", "2 hosts captured")
    assert found["framework"].source == "a test (2 of 2 hosts)"


def test_a_host_that_differs_is_told() -> None:
    odd = _capture("c", host_memory_capacity="504 GiB")
    found, (finding,) = merge_captures([("0", _capture("a")), ("1", _capture("b")), ("2", odd)])
    assert found["host_memory_capacity"].value == "1008 GiB"
    assert (finding.rule, finding.path, finding.expected, finding.actual) == (
        "system.hosts-differ", "2", '"1008 GiB"', '"504 GiB"',
    )  # fmt: skip


def test_a_capture_survives_its_document(machine: Machine, tmp_path: Path) -> None:
    machine.usual()
    capture = capture_here(machine.root)
    (tmp_path / "c.json").write_text(to_json(capture))
    assert read_capture(tmp_path / "c.json") == capture
    assert capture_here(machine.root).host == capture.host
    machine.file("proc/sys/kernel/random/boot_id", "0b1d\n")
    assert capture_here(machine.root).host != capture.host


NO_CAPTURES = [
    *(b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b" " * (1 << 21)),
    b'{"mlsub": "1", "host": "a", "values": {"x": {"value": "1", "source": ""}}}',
    b'{"mlsub": "1", "host": "a", "values": {"cooling": {"value": 1, "source": ""}}}',
]


@pytest.mark.parametrize("raw", NO_CAPTURES)
def test_what_is_no_capture_is_refused_in_one_line(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(raw)
    with pytest.raises(MlsubError, match=r"c\.json(:1:)? (is not a capture|cannot be read|larger)"):
        read_capture(tmp_path / "c.json")


def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "gone", "a\x00b", "."):
        with pytest.raises(MlsubError):
            read_capture(tmp_path / name)
