"""Systems that were probably renamed: of those that one side alone has, which old name goes with which new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile

from mlsub.systems.facts import SystemFacts

#: So many names of a side are compared with the other's.
_COMPARED = 200
#: Names that begin with less in common (as a part of the shorter one) have another origin.
_LEAST_PART = 0.5


def renamed(
    gone: Iterable[str],
    new: Iterable[str],
    before: Mapping[str, SystemFacts | None],
    after: Mapping[str, SystemFacts | None],
) -> dict[str, str]:
    """The new name of each old one that was probably renamed; each name is in one pair at most.

    Names go together that have the same accelerator and begin alike; the longest common beginning comes first, and of
    several as long the one with as many accelerators.

    Args:
        gone: names that the old side alone has, ``organisation/system`` among several organisations.
        new: names that the new side alone has.
        before: what the descriptions of the old systems say, by name.
        after: the same of the new ones.
    """
    found = []
    for old in sorted(gone)[:_COMPARED]:
        for name in sorted(new)[:_COMPARED]:
            one, other = _hardware(before.get(old)), _hardware(after.get(name))
            alike = _alike(old, name)
            if alike and (one is None or other is None or one[0] == other[0]):
                found.append((-alike, one != other, old, name))
    pairs: dict[str, str] = {}
    for *_, old, name in sorted(found):
        if old not in pairs and name not in pairs.values():
            pairs[old] = name
    return pairs


def _hardware(facts: SystemFacts | None) -> tuple[str, int | None, int | None] | None:
    """The accelerator's name, how many a node has, and the number of nodes; None without a description."""
    if facts is None:
        return None
    return (facts.accelerator_model_name or "").strip().lower(), facts.accelerators_per_node, facts.number_of_nodes


def _alike(old: str, new: str) -> int:
    """The length of the common beginning of two names of one organisation; 0 where it is too short to tell."""
    (organisation, _, one), (other_organisation, _, other) = (name.rpartition("/") for name in (old, new))
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.lower(), other.lower(), strict=False)))
    enough = organisation == other_organisation and common >= _LEAST_PART * min(len(one), len(other))
    return common if enough else 0
