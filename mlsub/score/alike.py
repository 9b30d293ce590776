"""Compare results of one benchmark that are alike: of one size, per accelerator, and of one system family."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from mlsub.divisions import CLOSED
from mlsub.io.data import group_by_key
from mlsub.io.show import first_few, plural
from mlsub.log.changes import changed_hyperparameters
from mlsub.submission.result import Result

#: Keys that say how large a system or a batch is, and nothing else; and how many other ones are named.
_SIZES, _NAMED = frozenset(("accelerators_per_node", "global_batch_size", "number_of_nodes")), 3


class SystemSize(NamedTuple):
    """How large a system is: its accelerators, or its nodes where it has none."""

    number: int
    unit: str = "accelerator"

    def __str__(self) -> str:
        without = " without accelerators" * (self.unit == "node")
        return f"{self.number:,} {self.unit}{'s' * (self.number != 1)}{without}"


#: The size at which results are compared where there are some.
USUAL_SIZE = SystemSize(8)


def system_size(accelerators: int | None, nodes: int | None) -> SystemSize | None:
    """Return the size of a system by how many its description states; None where it states none."""
    if accelerators:
        return SystemSize(accelerators)
    return SystemSize(nodes, "node") if accelerators == 0 and nodes else None


def usual_size(results: Iterable[Result]) -> SystemSize | None:
    """Return the size at which results are compared; None where none of them states one.

    It is 8 accelerators where there is such a result, else the number that most rounds have; of several the one of
    most results, and of those the least. Where none has accelerators it is so with nodes.
    """
    rounds = group_by_key(
        (size, one.round_key)
        for one in results
        if (size := system_size(one.accelerators_count, one.number_of_nodes)) is not None
    )

    def rank(size: SystemSize) -> tuple[bool, bool, int, int, int]:
        some = rounds[size]
        return size.unit == "accelerator", size == USUAL_SIZE, len(set(some)), len(some), -size.number

    return max(rounds, key=rank, default=None)


class ScalingStep(msgspec.Struct, frozen=True):
    """A system of a family beside the smallest one.

    ``efficiency`` is the smallest one's chip-minutes divided by those of this one: 1 where twice the accelerators take
    half the minutes. ``changes`` says what else is not as in the smallest one.
    """

    result: Result
    efficiency: float
    changes: tuple[str, ...] = ()


def scaling_families(results: Iterable[Result]) -> list[tuple[ScalingStep, ...]]:
    """Return the system families of several sizes, each from its fewest accelerators to its most.

    A family is what one submitter has of one accelerator among the Closed results of a benchmark and round: Open ones
    may be of several models and targets. Of several results of a size it is the one of the fewest chip-minutes. Weak
    scaling, whose score is no time to train, has none.
    """
    families: dict[tuple[str | None, ...], dict[int, Result]] = {}
    for one in results:
        count, minutes, chip = one.accelerators_count, one.chip_minutes, one.accelerator_name
        if count and minutes and chip and one.scaling_type != "weak" and one.division_name == CLOSED.name:
            key = (one.round_key, one.benchmark_name, one.organisation_name, chip)
            sizes = families.setdefault(key, {})
            sizes[count] = min(sizes.get(count, one), one, key=_per_accelerator)
    found = []
    for sizes in families.values():
        first, *others = [sizes[count] for count in sorted(sizes)]
        steps = (ScalingStep(it, _per_accelerator(first) / _per_accelerator(it), changes(first, it)) for it in others)
        found.append((ScalingStep(first, 1.0), *steps))
    return [family for family in found if len(family) > 1]


def _per_accelerator(one: Result) -> float:
    return one.chip_minutes or 0.0


def changes(one: Result, other: Result) -> tuple[str, ...]:
    """Return what differs between two results beside the number of accelerators, in words.

    That is the batch size, how long the training takes to converge, other hyperparameters that most runs logged, and
    the software.
    """
    found = []
    if one.rcp.batch_size != other.rcp.batch_size and None not in (one.rcp.batch_size, other.rcp.batch_size):
        found.append(f"batch size {one.rcp.batch_size:,.10g} to {other.rcp.batch_size:,.10g}")
    more = other.rcp.mean / one.rcp.mean - 1 if one.rcp.mean and other.rcp.mean else 0.0
    if abs(more) >= 0.005:
        found.append(f"{abs(more):.0%} {'more' if more > 0 else 'fewer'} {one.rcp.unit} to converge")
    logged = changed_hyperparameters([log.run for log in one.logs], [log.run for log in other.logs])
    names = [change.name for change in logged if change.name not in _SIZES]
    if names:
        found.append(f"{plural(len(names), 'other hyperparameter')} ({first_few(names, _NAMED)})")
    if one.framework != other.framework:
        found.append(f"software {one.framework or '–'} to {other.framework or '–'}")
    return tuple(found)
