"""A machine made of files and tools: what a capture would find on one."""

from __future__ import annotations

from pathlib import Path

import pytest

LSCPU = """\
CPU(s):              256
Model name:          AMD EPYC 7742 64-Core Processor
Thread(s) per core:  2
Core(s) per socket:  64
Socket(s):           2
CPU max MHz:         2250.0000
L1d cache:           4 MiB (128 instances)
L1i cache:           4 MiB (128 instances)
L2 cache:            64 MiB (128 instances)
L3 cache:            512 MiB (32 instances)
"""
LSBLK = """\
NAME="nvme0n1" TYPE="disk" SIZE="1920383410176" ROTA="0" TRAN="nvme" RM="0"
NAME="nvme1n1" TYPE="disk" SIZE="1920383410176" ROTA="0" TRAN="nvme" RM="0"
NAME="sda" TYPE="disk" SIZE="8001563222016" ROTA="1" TRAN="sata" RM="0"
NAME="sdb" TYPE="disk" SIZE="16008609792" ROTA="1" TRAN="usb" RM="1"
NAME="loop0" TYPE="loop" SIZE="4096" ROTA="0" TRAN="" RM="0"
NAME="zram0" TYPE="disk" SIZE="8589934592" ROTA="0" TRAN="" RM="0"
"""
GPU = "NVIDIA A100-SXM4-80GB, 81920, 1410, 4, 16, 470.57.02"
TOPOLOGY = """\
\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV12\tPXB\t0-63\t0
GPU1\tNV12\t X \tSYS\t64-127\t1

Legend:

  NV#  = Connection traversing a bonded set of # NVLinks
"""
ROCM = {
    f"card{n}": {
        "Card Series": "AMD Instinct MI300X", "Card Model": "0x74a1", "Card Vendor": "Advanced Micro Devices, Inc.",
        "VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "297574400",
    }
    for n in range(8)
} | {"system": {"Driver version": "6.8.5"}}  # fmt: skip
IPUS = """\
-+- Id:  [0], target:    [Fabric], PCIe Domain: [3]
-+- Id:  [1], target:    [Fabric], PCIe Domain: [2]
-+- Id:  [2], target: [Multi IPU]
 |--- PCIe Id:  [0], DNC Id: [0]
 |--- PCIe Id:  [1], DNC Id: [1]
"""


class Machine:
    """Files below ``root``, and tools below ``bin``, which are the only ones on PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.bin = folder / "root", folder / "bin"
        self.root.mkdir(parents=True)
        self.bin.mkdir()
        monkeypatch.setenv("PATH", str(self.bin))

    def tool(self, name: str, output: str = "", status: int = 0, complaint: str = "", before: str = "") -> None:
        """A tool that writes what it is to and ends."""
        text = f"#!/bin/sh\n{before}\n/bin/cat <<'END'\n{output}\nEND\necho '{complaint}' >&2\nexit {status}\n"
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def file(self, path: str, text: str) -> None:
        """A file of the system."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def adapter(self, name: str, place: str, driver: str, speed: str, kind: str = "1") -> None:
        """A network adapter with hardware behind it."""
        device = self.root / "sys/devices" / place
        device.mkdir(parents=True, exist_ok=True)
        (self.root / "sys/drivers" / driver).mkdir(parents=True, exist_ok=True)
        (device / "driver").symlink_to(self.root / "sys/drivers" / driver)
        self.file(f"sys/class/net/{name}/speed", f"{speed}\n")
        self.file(f"sys/class/net/{name}/type", f"{kind}\n")
        (self.root / "sys/class/net" / name / "device").symlink_to(device)

    def usual(self) -> None:
        """A host with two processors, disks and adapters."""
        self.tool("lscpu", LSCPU)
        self.tool("lsblk", LSBLK)
        self.file("proc/meminfo", "MemTotal:       1056458996 kB\nMemFree: 1 kB\n")
        self.file("proc/sys/kernel/random/boot_id", "0b1c\n")
        self.file("etc/os-release", 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 20.04.2 LTS"\n')
        self.file("sys/class/net/lo/type", "772\n")
        self.file("sys/class/net/docker0/type", "1\n")
        self.adapter("eth0", "0000:63:00.0", "mlx5_core", "100000")
        self.adapter("eth1", "0000:63:00.1", "i40e", "-1")
