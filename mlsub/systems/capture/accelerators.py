"""Accelerators: what nvidia-smi, rocm-smi or gc-info report, whichever is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlsub.systems.capture.tools import Found, children, counted, decoded, output_of, read_text, run_tool, unknown
from mlsub.systems.catalogue import Value, facts_of_model
from mlsub.systems.draft import TO_FILL_IN
from mlsub.systems.fields import fields
from mlsub.systems.names import find as known_name
from mlsub.systems.names import normalised, registry

#: PCI classes of 3D controllers and of processing accelerators.
_CLASSES = ("0x0302", "0x1200")
_QUERY = "name,memory.total,clocks.max.sm,pcie.link.gen.max,pcie.link.width.max,driver_version"
_LINKS = re.compile(r"\bNV([0-9]{1,2})\b")
_GIB = 1 << 30
#: Where versions of rocm-smi have the model's name, in lower case; newer ones say more in the first.
_NAMES = ("card series", "card model", "device name")
_DEVICE = re.compile(r"^-\+-.*\bId:\s*\[\s*[0-9]+\s*\].*$", re.MULTILINE)
_VERSION = re.compile(r"(?<![0-9])[0-9]++(?:\.[0-9]++){1,3}")


def find_accelerators(root: Path) -> Found:
    """Return the accelerators of this host; N/A where there are none, and to be filled in where that is not certain."""
    names = [name for name in fields().fields if name.startswith("accelerator")]
    for tool, find in _TOOLS:
        found = find()
        if found is not None:
            missing = unknown(f"{tool} does not report it")
            return _with_facts(dict.fromkeys(names, missing) | found)
    tools = ", ".join(tool for tool, _ in _TOOLS)
    if _on_the_bus(root):
        return dict.fromkeys(
            names, unknown(f"there is an accelerator on the PCI bus, and none of {tools} to describe it")
        )
    source = f"none of {tools}, and no accelerator on the PCI bus"
    return dict.fromkeys(names, Value("N/A", source)) | {"accelerators_per_node": Value("0", source)}


def _with_facts(found: Found) -> Found:
    """Return what no tool reports, as it was published of accelerators of this model."""
    facts = facts_of_model(found["accelerator_model_name"])
    return {name: facts.get(name, value) if value.value == TO_FILL_IN else value for name, value in found.items()}


def _on_the_bus(root: Path) -> bool:
    devices = children(root / "sys/bus/pci/devices", 4096)
    return any((read_text(device / "class") or "").startswith(_CLASSES) for device in devices)


def _failed(reason: str) -> Found:
    return {"accelerators_per_node": unknown(reason), "accelerator_model_name": unknown(reason)}


def _same_model(names: list[str], source: str, *, always: bool = False) -> Value:
    """Return the model, of several each with its number; the source has the name as it is, where it differs."""
    spelled = [normalised(registry().accelerators, name) for name in names]
    value = spelled[0] if len(set(spelled)) == 1 else counted(spelled)
    return Value(value, source + (f" ({names[0][:80]})" if always or names[0] != spelled[0] else ""))


def find_nvidia() -> Found | None:
    """Return what nvidia-smi reports of the GPUs of this host; None without nvidia-smi."""
    ran = run_tool(["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"])
    if ran is None:
        return None
    rows = [[cell.strip() for cell in line.split(",")] for line in ran.output.splitlines() if line.strip()]
    rows = [row for row in rows if len(row) == len(_QUERY.split(","))]
    if not ran.well or not rows:
        why = ran.complaint or (ran.output.strip().splitlines() or ["it names no GPU"])[-1]
        return _failed(f"nvidia-smi failed: {why[:160]}")
    names, memories, clocks, generations, widths, drivers = (list(column) for column in zip(*rows, strict=True))
    found: Found = {
        "accelerators_per_node": Value(str(len(rows)), "nvidia-smi: GPUs of this host"),
        "accelerator_model_name": _same_model(names, "nvidia-smi: name"),
        "accelerator_memory_capacity": _of(memories, "{} MiB", "memory.total"),
        "accelerator_frequency": _of(clocks, "{} MHz (max)", "clocks.max.sm"),
        "accelerator_interconnect": _links(),
    }
    buses = [f"{g} x{w}" if g.isdigit() and w.isdigit() else "" for g, w in zip(generations, widths, strict=True)]
    found["accelerator_host_interconnect"] = _of(buses, "PCIe Gen{}", "pcie.link.gen.max and pcie.link.width.max")
    # No field of a description: the software looks for it here.
    found["driver"] = _of(drivers, "NVIDIA driver {}", "driver_version")
    return found


def _of(values: list[str], words: str, column: str) -> Value:
    """Return what all GPUs have alike; unknown where one has none, or they differ."""
    known = [value for value in values if value and not value.startswith("[") and value.lower() != "n/a"]
    if len(known) < len(values):
        return unknown(f"nvidia-smi does not report {column}")
    if len(set(known)) > 1:
        return unknown(f"nvidia-smi: {column} differs among the GPUs ({', '.join(dict.fromkeys(known))[:100]})")
    return Value(words.format(known[0]), f"nvidia-smi: {column}")


def _links() -> Value:
    topology = output_of(["nvidia-smi", "topo", "-m"])
    if not topology:
        return unknown("nvidia-smi topo -m reports nothing")
    links = {int(number) for number in _LINKS.findall(topology.split("Legend")[0])}
    if not links:
        return Value("PCIe", "nvidia-smi topo -m: no NVLink among the GPUs")
    return Value(f"NVLink, {max(links)} links a GPU", f"nvidia-smi topo -m: NV{max(links)}")


def find_amd() -> Found | None:
    """Return what rocm-smi reports of the GPUs of this host; None without rocm-smi."""
    ran = run_tool(["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json"])
    if ran is None:
        return None
    # Keys in lower case: their case changed between versions.
    tables = {
        name: {str(key).lower(): str(value) for key, value in table.items()}
        for name, table in (decoded(ran, dict[str, Any]) or {}).items()
        if isinstance(table, dict)
    }
    cards = [table for name, table in tables.items() if name.startswith("card")]
    if not cards:
        return _failed(f"rocm-smi failed: {ran.complaint or 'it names no GPU'}")
    found: Found = {"accelerators_per_node": Value(str(len(cards)), "rocm-smi: GPUs of this host")}
    names = [_name(card) for card in cards]
    if all(names):
        found["accelerator_model_name"] = _same_model(names, "rocm-smi --showproductname", always=True)
    sizes = {card.get("vram total memory (b)", "") for card in cards}
    size = next(iter(sizes))
    if len(sizes) == 1 and re.fullmatch(r"[0-9]{6,16}", size):
        found["accelerator_memory_capacity"] = Value(f"{int(size) / _GIB:.0f} GiB", "rocm-smi --showmeminfo vram")
    driver = tables.get("system", {}).get("driver version", "")
    if driver:
        found["driver"] = Value(f"amdgpu driver {driver[:60]}", "rocm-smi --showdriverversion")
    return found


def _name(card: dict[str, str]) -> str:
    """Return the model: the name the registry knows, else the first that is not a number."""
    names = [card[key] for key in _NAMES if card.get(key) and not card[key].startswith("0x")]
    known = [name for name in names if known_name(registry().accelerators, name)]
    return (known or names or [""])[0]


def find_graphcore() -> Found | None:
    """Return what gc-info reports of the IPUs that this host reaches; None without gc-info."""
    ran = run_tool(["gc-info", "-l"])
    if ran is None:
        return None
    # Groups of IPUs are listed as devices too.
    devices = [line for line in _DEVICE.findall(ran.output) if "multi" not in line.lower()]
    if not ran.well or not devices:
        return _failed(f"gc-info -l failed: {ran.complaint or 'it names no IPU'}")
    fabric = all("fabric" in line.lower() for line in devices)
    found: Found = {
        "accelerators_per_node": Value(str(len(devices)), "gc-info -l: IPUs that this host reaches"),
        "accelerator_model_name": unknown("gc-info does not report it; mlsub system show ipu-pod16 has the name"),
    }
    if fabric:
        found["accelerator_interconnect"] = Value("IPU-Link", "gc-info -l: IPUs of a fabric")
    return found


def find_poplar() -> list[Value]:
    """Return the Poplar SDK and the V-IPU tools, if they are there."""
    found = []
    for words, name in ((["popc", "--version"], "Poplar SDK"), (["vipu", "--version"], "V-IPU")):
        if match := _VERSION.search(output_of(words)):
            found.append(Value(f"{name} {match[0]}", " ".join(words)))
    return found


_TOOLS: tuple[tuple[str, Callable[[], Found | None]], ...] = (
    ("nvidia-smi", find_nvidia),
    ("rocm-smi", find_amd),
    ("gc-info", find_graphcore),
)
