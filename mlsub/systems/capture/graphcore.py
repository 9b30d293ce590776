"""Graphcore IPUs, as gc-info has them; a description of the POD as a whole is in the catalogue."""

from __future__ import annotations

import re

from mlsub.systems.capture.found import Found, unknown
from mlsub.systems.capture.tools import run_tool
from mlsub.systems.catalogue import Value

_DEVICE = re.compile(r"^-\+-.*\bId:\s*\[\s*[0-9]+\s*\].*$", re.MULTILINE)
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){1,3}")


def find() -> Found | None:
    """What gc-info tells of the IPUs that this host reaches; None without gc-info."""
    ran = run_tool(["gc-info", "-l"])
    if ran is None:
        return None
    # Groups of IPUs are listed as devices too.
    devices = [line for line in _DEVICE.findall(ran.output) if "multi" not in line.lower()]
    if not ran.well or not devices:
        reason = f"gc-info -l failed: {ran.complaint or 'it names no IPU'}"
        return {"accelerators_per_node": unknown(reason), "accelerator_model_name": unknown(reason)}
    fabric = all("fabric" in line.lower() for line in devices)
    found: Found = {
        "accelerators_per_node": Value(str(len(devices)), "gc-info -l: IPUs that this host reaches"),
        "accelerator_model_name": unknown("gc-info does not report it; mlsub system show ipu-pod16 has the name"),
    }
    if fabric:
        found["accelerator_interconnect"] = Value("IPU-Link", "gc-info -l: IPUs of a fabric")
    return found


def find_software() -> list[Value]:
    """The Poplar SDK and the V-IPU tools, if they are there."""
    found = []
    for words, name in ((["popc", "--version"], "Poplar SDK"), (["vipu", "--version"], "V-IPU")):
        ran = run_tool(words)
        match = _VERSION.search(ran.output) if ran is not None and ran.well else None
        if match is not None:
            found.append(Value(f"{name} {match[0]}", " ".join(words)))
    return found
