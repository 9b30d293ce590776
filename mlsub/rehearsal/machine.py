"""Describe the machine a rehearsal ran on, as far as the operating system tells."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

_NOT_THERE = "N/A"
_ACCELERATOR_FIELDS = (
    "accelerator_model_name",
    "accelerator_host_interconnect",
    "accelerator_frequency",
    "accelerator_on-chip_memories",
    "accelerator_memory_configuration",
    "accelerator_memory_capacity",
    "accelerator_interconnect",
    "accelerator_interconnect_topology",
)
_UNKNOWN_FIELDS = (
    "host_processor_caches",
    "host_processor_interconnect",
    "host_storage_type",
    "host_storage_capacity",
    "host_networking",
    "host_networking_topology",
    "host_memory_configuration",
    "cooling",
)


def describe_machine(organisation: str, system: str, division: str, status: str) -> dict[str, str]:
    """A system description of this machine with every required field; what nobody can tell is ``N/A``."""
    cpu = _cpu()
    description = {
        "submitter": organisation,
        "division": division,
        "status": status,
        "system_name": system,
        "number_of_nodes": "1",
        "host_processors_per_node": cpu["sockets"],
        "host_processor_model_name": cpu["model"],
        "host_processor_core_count": cpu["cores"],
        "host_processor_vcpu_count": str(os.cpu_count() or 1),
        "host_processor_frequency": cpu["frequency"],
        "host_memory_capacity": _memory(),
        "accelerators_per_node": "0",
        "framework": _framework(),
        "other_software_stack": f"Python {platform.python_version()}",
        "operating_system": f"{platform.system()} {platform.release()}",
        "hw_notes": "Rehearsal with mlsub on whatever machine was at hand",
        "sw_notes": "Real training, but not an MLPerf result",
    }
    for field in (*_ACCELERATOR_FIELDS, *_UNKNOWN_FIELDS):
        description.setdefault(field, _NOT_THERE)
    return description


def _cpu() -> dict[str, str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    frequency = re.search(r"^cpu MHz\s*:\s*([\d.]+)$", text, re.MULTILINE)
    cores = re.search(r"^cpu cores\s*:\s*(\d+)$", text, re.MULTILINE)
    sockets = {match[1] for match in re.finditer(r"^physical id\s*:\s*(\d+)$", text, re.MULTILINE)}
    return {
        "model": model[1].strip() if model else platform.processor() or platform.machine() or _NOT_THERE,
        "frequency": f"{float(frequency[1]):.0f} MHz" if frequency else _NOT_THERE,
        "cores": cores[1] if cores else str(os.cpu_count() or 1),
        "sockets": str(len(sockets) or 1),
    }


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return _NOT_THERE
    return f"{size / 2**30:.1f} GiB"


def _framework() -> str:
    from importlib.metadata import version

    return f"scikit-learn {version('scikit-learn')}"
