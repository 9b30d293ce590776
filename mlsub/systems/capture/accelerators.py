"""Accelerators: what nvidia-smi, rocm-smi or gc-info tell, whichever is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mlsub.systems.capture import amd, graphcore, nvidia
from mlsub.systems.capture.found import Found, read_text, unknown
from mlsub.systems.catalogue import Value

FIELDS = (
    "accelerators_per_node",
    "accelerator_model_name",
    "accelerator_host_interconnect",
    "accelerator_frequency",
    "accelerator_on-chip_memories",
    "accelerator_memory_configuration",
    "accelerator_memory_capacity",
    "accelerator_interconnect",
    "accelerator_interconnect_topology",
)
_TOOLS: tuple[tuple[str, Callable[[], Found | None]], ...] = (
    ("nvidia-smi", nvidia.find),
    ("rocm-smi", amd.find),
    ("gc-info", graphcore.find),
)
#: PCI classes of 3D controllers and of processing accelerators.
_CLASSES = ("0x0302", "0x1200")


def find_accelerators(root: Path) -> Found:
    """The accelerators of this host; N/A where there are none, and to be filled in where that is not certain."""
    for tool, find in _TOOLS:
        found = find()
        if found is not None:
            missing = unknown(f"{tool} does not report it")
            return {**{name: found.get(name, missing) for name in FIELDS}, **found}
    names = ", ".join(tool for tool, _ in _TOOLS)
    if _on_the_bus(root):
        reason = unknown(f"there is an accelerator on the PCI bus, and none of {names} to describe it")
        return dict.fromkeys(FIELDS, reason)
    source = f"none of {names}, and no accelerator on the PCI bus"
    return {**dict.fromkeys(FIELDS, Value("N/A", source)), "accelerators_per_node": Value("0", source)}


def _on_the_bus(root: Path) -> bool:
    try:
        devices = sorted((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return False
    return any((read_text(device / "class") or "").startswith(_CLASSES) for device in devices[:4096])
