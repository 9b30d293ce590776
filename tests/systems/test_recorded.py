"""A host with one NVIDIA H200 as its tools describe it, and trainings that the recorder logged there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mlsub.systems.capture import capture_here
from tests.systems.machine import Machine
from tools.support.runner import check

RECORDED = Path(__file__).parent / "recorded"


def test_description_of_one_h200(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = re.split(r"^== (\S+)\n", (RECORDED / "h200.txt").read_text("utf-8"), flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    machine = Machine(tmp_path / "machine", monkeypatch)
    topology = f'case "$1" in topo) /bin/cat <<"TABLE"\n{told["topology"]}TABLE\nexit 0;; esac'
    machine.tool("nvidia-smi", told["gpus"].strip(), before=topology)
    machine.tool("lscpu", told["lscpu"])
    machine.tool("lsblk", told["lsblk"])
    machine.file("proc/meminfo", told["meminfo"])
    machine.file("etc/os-release", told["os-release"])
    machine.adapter("eth0", "0000:00:03.0", "virtio_net", "-1")
    found = {name: one.value for name, one in capture_here(machine.root).values.items()}
    described = json.loads((RECORDED / "h200.json").read_text("utf-8"))
    # The software of the Python environment is that of this one.
    hardware = [name for name in found if name.startswith(("host_", "accelerator"))]
    assert {name: found[name] for name in [*hardware, "operating_system"]} == {
        name: described[name] for name in [*hardware, "operating_system"]
    }
    assert found["other_software_stack"].endswith("NVIDIA driver 580.159.04")


@pytest.mark.parametrize("training", ["lightning", "transformers", "two-processes"])
def test_trainings_recorded_there_are_compliant(training: str) -> None:
    log = RECORDED / f"h200-{training}.txt"
    outcome = check(log, "--usage", "rehearsal", "--round", "1.0")
    assert (outcome.status, outcome.official, outcome.findings) == (0, "accepted", [])
