"""Accelerators: what nvidia-smi, rocm-smi or gc-info report, whichever is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from mlsub.systems.capture.tools import Found, ToolRun, children, count_names, output_of, read_text, run_tool, unknown
from mlsub.systems.catalogue import SourcedValue, facts_of_model
from mlsub.systems.draft import TO_FILL_IN
from mlsub.systems.fields import fields
from mlsub.systems.names import find_name, normalise, registry

#: PCI classes of 3D controllers and of processing accelerators.
_CLASSES = ("0x0302", "0x1200")
#: Fields, and their values made of columns of nvidia-smi. The driver is no field: the software looks for it here.
_NVIDIA = {
    "accelerator_memory_capacity": ("{} MiB", ("memory.total",)),
    "accelerator_frequency": ("{} MHz (max)", ("clocks.max.sm",)),
    "accelerator_host_interconnect": ("PCIe Gen{} x{}", ("pcie.link.gen.max", "pcie.link.width.max")),
    "driver": ("NVIDIA driver {}", ("driver_version",)),
}
_QUERY = ("name", *(column for _, columns in _NVIDIA.values() for column in columns))
_LINKS = re.compile(r"\bNV([0-9]{1,2})\b")
#: Where versions of rocm-smi have the model's name, in lower case; newer ones say more in the first.
_NAMES = ("card series", "card model", "device name")
_DEVICE = re.compile(r"^-\+-.*\bId:\s*\[\s*[0-9]+\s*\].*$", re.MULTILINE)


def find_accelerators(root: Path) -> Found:
    """Return the accelerators of this host; N/A where there are none, and to be filled in where that is not certain."""
    names = [name for name in fields().fields if name.startswith("accelerator")]
    for command, read in _TOOLS.items():
        ran = run_tool(command.split())
        if ran is None:
            continue
        tool = command.split()[0]
        found = read(ran)
        if "accelerators_per_node" not in found:
            why = ran.complaint or (ran.output.strip().splitlines() or ["it names no accelerator"])[-1]
            failed = unknown(f"{tool} failed: {why[:160]}")
            found = {"accelerators_per_node": failed, "accelerator_model_name": failed}
        found = dict.fromkeys(names, unknown(f"{tool} does not report it")) | found
        # What no tool reports is as it was published of accelerators of this model.
        facts = facts_of_model(found["accelerator_model_name"])
        return {name: facts.get(name, value) if value.value == TO_FILL_IN else value for name, value in found.items()}
    tools = ", ".join(command.split()[0] for command in _TOOLS)
    devices = children(root / "sys/bus/pci/devices")
    if any(read_text(device / "class").startswith(_CLASSES) for device in devices):
        reason = f"there is an accelerator on the PCI bus, and none of {tools} to describe it"
        return dict.fromkeys(names, unknown(reason))
    source = f"none of {tools}, and no accelerator on the PCI bus"
    return dict.fromkeys(names, SourcedValue("N/A", source)) | {"accelerators_per_node": SourcedValue("0", source)}


def _name_models(names: list[str], source: str, *, always: bool = False) -> SourcedValue:
    """Return the model, of several each with its number; the source has the name as it is, where it differs."""
    spelled = [normalise(registry().accelerators, name) for name in names]
    value = spelled[0] if len(set(spelled)) == 1 else count_names(spelled)
    return SourcedValue(value, source + (f" ({names[0][:80]})" if always or names[0] != spelled[0] else ""))


def _read_nvidia(ran: ToolRun) -> Found:
    cells = [[cell.strip() for cell in line.split(",")] for line in ran.output.splitlines()]
    rows = [dict(zip(_QUERY, row, strict=True)) for row in cells if len(row) == len(_QUERY)]
    if not ran.succeeded or not rows:
        return {}
    found: Found = {
        "accelerators_per_node": SourcedValue(str(len(rows)), "nvidia-smi: GPUs of this host"),
        "accelerator_model_name": _name_models([row["name"] for row in rows], "nvidia-smi: name"),
        "accelerator_interconnect": _find_links(len(rows)),
    }
    for field, (words, columns) in _NVIDIA.items():
        known = list(dict.fromkeys(tuple(row[column] for column in columns) for row in rows))
        column = " and ".join(columns)
        if not all(re.fullmatch(r"[0-9.]+", cell) for values in known for cell in values):
            found[field] = unknown(f"nvidia-smi does not report {column}")
        elif len(known) > 1:
            differing = ", ".join(" ".join(values) for values in known)[:100]
            found[field] = unknown(f"nvidia-smi: {column} differs among the GPUs ({differing})")
        else:
            found[field] = SourcedValue(words.format(*known[0]), f"nvidia-smi: {column}")
    return found


def _find_links(gpus: int) -> SourcedValue:
    if gpus == 1:
        return SourcedValue("N/A", "nvidia-smi: one GPU, so there is nothing to join")
    topology = output_of(["nvidia-smi", "topo", "-m"])
    if not topology:
        return unknown("nvidia-smi topo -m reports nothing")
    links = max(map(int, _LINKS.findall(topology.split("Legend")[0])), default=0)
    if not links:
        return SourcedValue("PCIe", "nvidia-smi topo -m: no NVLink among the GPUs")
    return SourcedValue(f"NVLink, {links} links a GPU", f"nvidia-smi topo -m: NV{links}")


def _read_amd(ran: ToolRun) -> Found:
    try:
        decoded = msgspec.json.decode(ran.output, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}
    # Keys in lower case: their case changed between versions.
    tables = {
        name: {str(key).lower(): str(value) for key, value in table.items()}
        for name, table in decoded.items()
        if isinstance(table, dict)
    }
    cards = [table for name, table in tables.items() if name.startswith("card")]
    if not cards:
        return {}
    found: Found = {"accelerators_per_node": SourcedValue(str(len(cards)), "rocm-smi: GPUs of this host")}
    names = [_find_model(card) for card in cards]
    if all(names):
        found["accelerator_model_name"] = _name_models(names, "rocm-smi --showproductname", always=True)
    size, *others = {card.get("vram total memory (b)", "") for card in cards}
    if not others and re.fullmatch(r"[0-9]{6,16}", size):
        capacity = f"{int(size) / 2**30:.0f} GiB"
        found["accelerator_memory_capacity"] = SourcedValue(capacity, "rocm-smi --showmeminfo vram")
    if driver := tables.get("system", {}).get("driver version"):
        found["driver"] = SourcedValue(f"amdgpu driver {driver[:60]}", "rocm-smi --showdriverversion")
    return found


def _find_model(card: dict[str, str]) -> str:
    """Return the model: the name the registry knows, else the first that is not a number."""
    names = [card[key] for key in _NAMES if card.get(key) and not card[key].startswith("0x")]
    known = [name for name in names if find_name(registry().accelerators, name)]
    return (known or names or [""])[0]


def _read_graphcore(ran: ToolRun) -> Found:
    # Groups of IPUs are listed as devices too.
    devices = [line.lower() for line in _DEVICE.findall(ran.output) if "multi" not in line.lower()]
    if not ran.succeeded or not devices:
        return {}
    found = {
        "accelerators_per_node": SourcedValue(str(len(devices)), "gc-info -l: IPUs that this host reaches"),
        "accelerator_model_name": unknown("gc-info does not report it; mlsub system show ipu-pod16 has the name"),
    }
    if all("fabric" in line for line in devices):
        found["accelerator_interconnect"] = SourcedValue("IPU-Link", "gc-info -l: IPUs of a fabric")
    return found


#: What each command writes, in the order in which they are tried.
_TOOLS: dict[str, Callable[[ToolRun], Found]] = {
    f"nvidia-smi --query-gpu={','.join(_QUERY)} --format=csv,noheader,nounits": _read_nvidia,
    "rocm-smi --showproductname --showmeminfo vram --showdriverversion --json": _read_amd,
    "gc-info -l": _read_graphcore,
}
