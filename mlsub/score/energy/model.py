"""What the power files of one run say."""

from __future__ import annotations

from typing import Literal

import msgspec


class NoEnergyError(ValueError):
    """The energy cannot be computed; the text says why, in one line."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record of a node: its time in ms since the Unix epoch, and a reading's watts or the efficiency.

    ``value`` is None where it is not a number. Records are let go of as soon as their file is measured.
    """

    time_ms: float
    kind: Literal["start", "reading", "stop", "efficiency"]
    value: float | None = 0.0
    line: int = 0


class Measured(msgspec.Struct, frozen=True):
    """What the official score makes of a node: watts times ms over the ``counted`` readings, and its length in ms."""

    watt_ms: float
    length_ms: float
    counted: int
    efficiency: float

    @property
    def watts(self) -> float:
        """The mean power over the measurement, behind the power supply."""
        return self.efficiency * self.watt_ms / self.length_ms


class Pace(msgspec.Struct, frozen=True):
    """When a node was read: first and last reading (ms since the epoch), and the intervals between readings in ms.

    ``usual_ms`` is the mean of the intervals that are no gaps. With one reading all intervals are 0.
    """

    readings: int
    first_ms: float
    last_ms: float
    median_ms: float = 0.0
    usual_ms: float = 0.0
    worst_ms: float = 0.0


class Bad(msgspec.Struct, frozen=True):
    """Lines that say nothing that can be used: the first of them, what it says, and how many there are."""

    line: int
    what: str
    count: int


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One ``node_<j>.txt``.

    ``measured`` is None where the official formula gives no number, and ``lack`` says why; ``odd`` is what is not
    as it should be with start and stop; ``pace`` is None without readings; ``digest`` is the same for the same
    readings; ``least_watts`` the smallest of them.
    """

    name: str
    measured: Measured | None = None
    lack: str = ""
    odd: str = ""
    pace: Pace | None = None
    efficiency: float | None = 1.0
    least_watts: float | None = None
    digest: bytes = b""
    bad: Bad | None = None


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """One ``sw_<k>.txt``: the estimated power of the interconnect in watts, and when it was logged in ms.

    ``there`` is False where the file has no estimate, which the official score counts as 0 watts; watts and efficiency
    are None where they are not numbers.
    """

    name: str
    there: bool = True
    watts: float | None = 0.0
    efficiency: float | None = 1.0
    time_ms: float | None = None
    bad: Bad | None = None


class RunPower(msgspec.Struct, frozen=True):
    """The folder ``power/<result>/`` of one run; ``there`` is False where there is none that can be listed.

    ``names`` are all files in it; ``unreadable`` what cannot be read, with the reason (the name of the folder itself
    is empty).
    """

    result: str
    path: str
    there: bool
    names: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    switches: tuple[Switch, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
