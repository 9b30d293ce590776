"""A machine made of files and tools: what a capture would find on one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def printed(file: str) -> dict[str, str]:
    """What tools print, by name: the parts of a file beside this one, each behind a line ``== NAME``."""
    parts = re.split(r"^== (\S+)\n", Path(__file__).parent.joinpath(file).read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


TOOLS = printed("tools.txt")
GPU = "NVIDIA A100-SXM4-80GB, 81920, 1410, 4, 16, 470.57.02"
ROCM = {
    f"card{n}": {
        "Card Series": "AMD Instinct MI300X", "Card Model": "0x74a1", "Card Vendor": "Advanced Micro Devices, Inc.",
        "VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "297574400",
    }
    for n in range(8)
} | {"system": {"Driver version": "6.8.5"}}  # fmt: skip


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

    def gpus(self, output: str, topology: str) -> None:
        """``nvidia-smi`` with the links between its GPUs."""
        self.tool("nvidia-smi", output, before=f'case "$1" in topo) /bin/cat <<"TABLE"\n{topology}TABLE\nexit 0;; esac')

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
        self.tool("lscpu", TOOLS["lscpu"])
        self.tool("lsblk", TOOLS["lsblk"])
        self.file("proc/meminfo", "MemTotal:       1056458996 kB\nMemFree: 1 kB\n")
        self.file("proc/sys/kernel/random/boot_id", "0b1c\n")
        self.file("etc/os-release", 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 20.04.2 LTS"\n')
        self.file("sys/class/net/lo/type", "772\n")
        self.file("sys/class/net/docker0/type", "1\n")
        self.adapter("eth0", "0000:63:00.0", "mlx5_core", "100000")
        self.adapter("eth1", "0000:63:00.1", "i40e", "-1")
