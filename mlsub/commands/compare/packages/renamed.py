"""Systems that were probably renamed: of those that one side alone has, which old name goes with which new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import NamedTuple

from mlsub.io.show import readable

#: So many names of a side are compared with the other's.
_COMPARED = 200
#: Names that begin with less in common (as a part of the shorter one) have another origin.
_LEAST_PART = 0.5


class Machine(NamedTuple):
    """What a description says of a system's hardware: the accelerator's name, how many a node has, and nodes."""

    accelerator: str
    per_node: str
    nodes: str


def machine_of(description: Mapping[str, object] | None) -> Machine | None:
    """The hardware of a system; None without a description."""
    if description is None:
        return None
    accelerator, per_node, nodes = (
        readable(str(description.get(field, ""))[:200]).strip().lower()
        for field in ("accelerator_model_name", "accelerators_per_node", "number_of_nodes")
    )
    return Machine(accelerator, per_node, nodes)


def renamed(
    gone: Iterable[str], new: Iterable[str], before: Mapping[str, Machine | None], after: Mapping[str, Machine | None]
) -> dict[str, str]:
    """The new name of each old one that was probably renamed; each name is in one pair at most.

    Names go together that have the same accelerator and begin alike; the longest common beginning comes first, and of
    several as long the one with as many accelerators.

    Args:
        gone: names that the old side alone has, ``organisation/system`` among several organisations.
        new: names that the new side alone has.
        before: the hardware of the old systems, by name.
        after: that of the new ones.
    """
    found = []
    for old in sorted(gone)[:_COMPARED]:
        for name in sorted(new)[:_COMPARED]:
            one, other = before.get(old), after.get(name)
            alike = _alike(old, name)
            if alike and (one is None or other is None or one.accelerator == other.accelerator):
                found.append((-alike, one != other, old, name))
    pairs: dict[str, str] = {}
    for *_, old, name in sorted(found):
        if old not in pairs and name not in pairs.values():
            pairs[old] = name
    return pairs


def _alike(old: str, new: str) -> int:
    """The length of the common beginning of two names of one organisation; 0 where it is too short to tell."""
    (organisation, _, one), (other_organisation, _, other) = (name.rpartition("/") for name in (old, new))
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.lower(), other.lower(), strict=False)))
    enough = organisation == other_organisation and common >= _LEAST_PART * min(len(one), len(other))
    return common if enough else 0
