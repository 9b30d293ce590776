"""What the power files of one run say."""

from __future__ import annotations

from typing import Literal

import msgspec


class Record(msgspec.Struct, frozen=True, gc=False):
    """A ``start``, ``reading`` or ``stop`` of a measurement: its time in ms since the Unix epoch, a reading's watts."""

    time_ms: float
    kind: Literal["start", "reading", "stop"]
    watts: float = 0.0


class Node(msgspec.Struct, frozen=True):
    """One ``node_<j>.txt``: its records in the order of time.

    ``bad`` are lines that say nothing that can be used, with what they say.
    """

    name: str
    records: tuple[Record, ...]
    efficiency: float
    bad: tuple[tuple[int, str], ...] = ()

    @property
    def readings(self) -> tuple[Record, ...]:
        """The readings alone."""
        return tuple(record for record in self.records if record.kind == "reading")


class Switch(msgspec.Struct, frozen=True):
    """One ``sw_<k>.txt``: the estimated power of the interconnect in watts; None where it is not logged."""

    name: str
    watts: float | None
    efficiency: float
    bad: tuple[tuple[int, str], ...] = ()


class RunPower(msgspec.Struct, frozen=True):
    """The folder ``power/<result>/`` of one run; ``there`` is False where there is none.

    ``names`` are all files in it; ``unreadable`` those that cannot be read, with the reason.
    """

    result: str
    path: str
    there: bool
    names: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    switches: tuple[Switch, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
