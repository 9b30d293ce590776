"""NVIDIA GPUs, as nvidia-smi has them."""

from __future__ import annotations

import re

from mlsub.systems.capture.found import Found, counted, unknown
from mlsub.systems.capture.tools import run_tool
from mlsub.systems.catalogue import Value
from mlsub.systems.names import normalised, registry

_QUERY = "name,memory.total,clocks.max.sm,pcie.link.gen.max,pcie.link.width.max,driver_version"
_LINKS = re.compile(r"\bNV([0-9]{1,2})\b")


def find() -> Found | None:
    """What nvidia-smi tells of the GPUs of this host; None without nvidia-smi."""
    ran = run_tool(["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"])
    if ran is None:
        return None
    rows = [[cell.strip() for cell in line.split(",")] for line in ran.output.splitlines() if line.strip()]
    rows = [row for row in rows if len(row) == len(_QUERY.split(","))]
    if not ran.well or not rows:
        why = ran.complaint or (ran.output.strip().splitlines() or ["it names no GPU"])[-1]
        reason = f"nvidia-smi failed: {why[:160]}"
        return {"accelerators_per_node": unknown(reason), "accelerator_model_name": unknown(reason)}
    names, memories, clocks, generations, widths, drivers = (list(column) for column in zip(*rows, strict=True))
    found: Found = {
        "accelerators_per_node": Value(str(len(rows)), "nvidia-smi: GPUs of this host"),
        "accelerator_model_name": _model(names),
        "accelerator_memory_capacity": _of(memories, "{} MiB", "memory.total"),
        "accelerator_frequency": _of(clocks, "{} MHz (max)", "clocks.max.sm"),
        "accelerator_interconnect": _links(),
    }
    buses = [f"{g} x{w}" if g.isdigit() and w.isdigit() else "" for g, w in zip(generations, widths, strict=True)]
    found["accelerator_host_interconnect"] = _of(buses, "PCIe Gen{}", "pcie.link.gen.max and pcie.link.width.max")
    # No field of a description: the software looks for it here.
    found["driver"] = _of(drivers, "NVIDIA driver {}", "driver_version")
    return found


def _model(names: list[str]) -> Value:
    """The model; where a host has several, each with its number."""
    spelled = [normalised(registry().accelerators, name) for name in names]
    value = spelled[0] if len(set(spelled)) == 1 else counted(spelled)
    return Value(value, "nvidia-smi: name" + (f" ({names[0][:80]})" if names[0] != spelled[0] else ""))


def _of(values: list[str], words: str, column: str) -> Value:
    """What all GPUs have alike; unknown where one does not tell, or they differ."""
    known = [value for value in values if value and not value.startswith("[") and value.lower() != "n/a"]
    if len(known) < len(values):
        return unknown(f"nvidia-smi does not report {column}")
    if len(set(known)) > 1:
        return unknown(f"nvidia-smi: {column} differs among the GPUs ({', '.join(dict.fromkeys(known))[:100]})")
    return Value(words.format(known[0]), f"nvidia-smi: {column}")


def _links() -> Value:
    ran = run_tool(["nvidia-smi", "topo", "-m"])
    if ran is None or not ran.well:
        return unknown("nvidia-smi topo -m reports nothing")
    links = {int(number) for number in _LINKS.findall(ran.output.split("Legend")[0])}
    if not links:
        return Value("PCIe", "nvidia-smi topo -m: no NVLink among the GPUs")
    return Value(f"NVLink, {max(links)} links a GPU", f"nvidia-smi topo -m: NV{max(links)}")
