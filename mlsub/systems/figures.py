"""What the figures of a system description say of each other, and of the processor or accelerator that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.rules.catalogue import finding
from mlsub.systems.fields import count, is_empty, is_placeholder, is_unsaid
from mlsub.systems.names import chip_of, find, registry

#: How many bytes a unit has at least and at most: people write GB for 10^9 and for 2^30.
_UNITS = {unit: (1000.0**power, 1024.0**power) for power, unit in ((2, "m"), (3, "g"), (4, "t"))}
_SIZE = re.compile(
    r"(?<![\w.])(?:\d{1,3} ?x ?)?(\d{1,7}(?:\.\d{1,12})?) ?([mgt])(i?)(b?)(?![a-z0-9])", re.IGNORECASE | re.ASCII
)
#: Drivers keep a part for themselves.
_RESERVED = 0.03
_CAPACITY = "accelerator_memory_capacity"


def audit_figures(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield figures that contradict each other, or what is known of what they are about."""
    yield from _hosts(content)
    yield from _cores(content)
    yield from _known(content)
    yield from _memory(content)


def _hosts(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding on more processors in a node than a host can have: the node is several hosts."""
    number, model = count(content.get("host_processors_per_node")), content.get("host_processor_model_name")
    if number is None or not isinstance(model, str):
        return
    known = find(registry().processors, model) or model
    most = next((most for start, most in registry().sockets.items() if known.startswith(start)), None)
    if most is None or number <= most:
        return
    nodes = count(content.get("number_of_nodes"))
    truth = f"{nodes * number // most} hosts with {most} each" if nodes and number % most == 0 else f"at most {most}"
    found = f"{nodes or '?'} {'node' if nodes == 1 else 'nodes'} with {number} each"
    message = f"A node has more processors than go into one host ({known}: {most}), so it is several hosts"
    yield finding("system.host-count", "host_processors_per_node", message, expected=truth, actual=found)


def _cores(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield another number of cores than one processor of the model has."""
    number, model = count(content.get("host_processor_core_count")), content.get("host_processor_model_name")
    name = find(registry().processors, model) if isinstance(model, str) else None
    cores = registry().processors.names[name].cores if name is not None else None
    if number and cores is not None and number != cores:
        expected = f"{cores}, the cores of one {name}"
        yield finding("system.core-count", "host_processor_core_count", expected=expected, actual=str(number))


def _memory(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield sizes of the memory of one accelerator that no number of bytes can be."""
    number = count(content.get("accelerators_per_node")) or 1
    model = content.get("accelerator_model_name")
    said: dict[str, tuple[str, float, float]] = {}
    for field in ("system_name", "accelerator_model_name", _CAPACITY):
        text = content.get(field)
        sizes = list(_SIZE.finditer(text[:200])) if isinstance(text, str) else []
        # A name also has speeds of a network, such as 400G.
        sizes = [size for size in sizes if field == _CAPACITY or (size[2] in "gG" and size[4])]
        if len(sizes) == 1:
            said[field] = (sizes[0][0], *_bytes(sizes[0]))
    chip = chip_of(model) if isinstance(model, str) and said.keys() == {_CAPACITY} else None
    if chip is not None and (known := chip.memory_of(model or "")) is not None:
        said[f"one {chip.name}"] = (f"{known} GB", known * 1e9, known * 2.0**30)
    if len(said) < 2 or _CAPACITY not in said or _agree([size for _, *size in said.values()], number):
        return
    actual = ", ".join(f"{field}: {text}" for field, (text, _, _) in said.items())
    yield finding("system.memory", _CAPACITY, actual=actual)


def _bytes(size: re.Match[str]) -> tuple[float, float]:
    least, most = _UNITS[size[2].lower()]
    # What is written to the MB is what a tool printed, and tools count in MiB.
    least = most if size[3] or size[2] in "mM" else least
    return float(size[1]) * least, float(size[1]) * most


def _agree(sizes: list[list[float]], number: int) -> bool:
    """Return whether one number of bytes fits all sizes, each being that of one accelerator or of all of a node."""
    return any(
        max(least / shared for (least, _), shared in zip(sizes, of, strict=True)) * (1 - _RESERVED)
        <= min(most / shared for (_, most), shared in zip(sizes, of, strict=True))
        for of in product((1, number), repeat=len(sizes))
    )


def _known(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield a figure other than that of every other published description of the same accelerator."""
    model = content.get("accelerator_model_name")
    name = find(registry().accelerators, model) if isinstance(model, str) else None
    if name is None:
        return
    for field, known in registry().accelerators.names[name].facts.items():
        value = content.get(field)
        if not isinstance(value, str) or is_empty(value) or is_placeholder(value) or is_unsaid(value):
            continue
        if _squeezed(value) != _squeezed(known):
            message = f"The field {field} differs from what is known about {name}"
            yield finding("system.figure", field, message, expected=known, actual=show(value))


def _squeezed(text: str) -> str:
    return "".join(text[:200].lower().split())
