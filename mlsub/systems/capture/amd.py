"""AMD GPUs, as rocm-smi has them."""

from __future__ import annotations

import json
import re
from typing import Any

from mlsub.systems.capture.found import Found, counted, unknown
from mlsub.systems.capture.tools import run_tool
from mlsub.systems.catalogue import Value
from mlsub.systems.names import find as known_name
from mlsub.systems.names import normalised, registry

_GIB = 1 << 30
#: Where versions of rocm-smi have the model's name, in lower case; newer ones say more in the first.
_NAMES = ("card series", "card model", "device name")


def find() -> Found | None:
    """What rocm-smi tells of the GPUs of this host; None without rocm-smi."""
    ran = run_tool(["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json"])
    if ran is None:
        return None
    cards, system = _tables(ran.output) if ran.well else ([], {})
    if not cards:
        reason = f"rocm-smi failed: {ran.complaint or 'it names no GPU'}"
        return {"accelerators_per_node": unknown(reason), "accelerator_model_name": unknown(reason)}
    found: Found = {"accelerators_per_node": Value(str(len(cards)), "rocm-smi: GPUs of this host")}
    names = [_name(card) for card in cards]
    if all(names):
        spelled = [normalised(registry().accelerators, name) for name in names]
        value = spelled[0] if len(set(spelled)) == 1 else counted(spelled)
        found["accelerator_model_name"] = Value(value, f"rocm-smi --showproductname ({names[0][:80]})")
    sizes = {card.get("vram total memory (b)", "") for card in cards}
    size = next(iter(sizes))
    if len(sizes) == 1 and re.fullmatch(r"[0-9]{6,16}", size):
        found["accelerator_memory_capacity"] = Value(f"{int(size) / _GIB:.0f} GiB", "rocm-smi --showmeminfo vram")
    driver = system.get("driver version", "")
    if driver:
        found["driver"] = Value(f"amdgpu driver {driver[:60]}", "rocm-smi --showdriverversion")
    return found


def _tables(text: str) -> tuple[list[dict[str, str]], dict[str, str]]:
    """The table of each card and that of the system, keys in lower case: their case changed between versions."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return [], {}
    if not isinstance(content, dict):
        return [], {}
    tables = {
        name: {str(key).lower(): str(value) for key, value in table.items()}
        for name, table in content.items()
        if isinstance(table, dict)
    }
    return [table for name, table in tables.items() if name.startswith("card")], tables.get("system", {})


def _name(card: dict[str, str]) -> str:
    """The model: the name the registry knows, else the first that is no number."""
    names = [card[key] for key in _NAMES if card.get(key) and not card[key].startswith("0x")]
    known = [name for name in names if known_name(registry().accelerators, name)]
    return (known or names or [""])[0]
