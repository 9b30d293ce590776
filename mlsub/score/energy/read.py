"""Read the power files of a run: bounded in number, size and records, and never an exception."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from mlsub.io import MlsubError, reason_of
from mlsub.io.look import status_of
from mlsub.io.show import readable, show
from mlsub.log.event import Defect, Event, decode
from mlsub.log.reader import open_log, read_records
from mlsub.score.energy.score import BadLines, Node, Record, RunPower, Switch, measure
from mlsub.submission.listing import Listing

#: Bounds: one node for two weeks at a reading a second, more nodes than any submission had, a thousand for a day.
MAX_RECORDS = 1_200_000
MAX_FILE_BYTES = 1 << 28
MAX_FILES = 20_000
MAX_RUN_BYTES = 1 << 34
_NODE, _SWITCH = "node", "sw"
_KINDS: dict[str, Literal["start", "reading", "stop", "efficiency"]] = {
    "power_measurement_start": "start",
    "power_reading": "reading",
    "power_measurement_stop": "stop",
    "conversion_eff": "efficiency",
}


def read_run(folder: Path, path: str, result: str, listing: Listing | None = None) -> RunPower:
    """The power files of one run; bad input never raises.

    Args:
        folder: ``power/`` of the benchmark.
        path: what findings call it.
        result: the name of the result file without its ending.
        listing: what was looked at before.
    """
    place, path = folder / result, f"{path}/{result}"
    try:
        names = list_names(place, listing or Listing())
    except (FileNotFoundError, NotADirectoryError):
        return RunPower(result, path, there=False)
    except (MlsubError, OSError) as error:
        return RunPower(result, path, there=False, unreadable=(("", reason_of(error)[:200]),))
    nodes, switches, unreadable = [], [], []
    left = MAX_RUN_BYTES
    for name in names:
        kind = next((kind for kind in (_NODE, _SWITCH) if is_measurement(name, kind)), None)
        if kind is None:
            continue
        try:
            left -= _size_within(place / name, left)
            if kind == _NODE:
                nodes.append(read_node(place / name))
            else:
                switches.append(read_switch(place / name))
        except (MlsubError, OSError) as error:
            unreadable.append((name, reason_of(error)[:200]))
    return RunPower(result, path, True, names, tuple(nodes), tuple(switches), tuple(unreadable))


def list_names(folder: Path, listing: Listing) -> tuple[str, ...]:
    """The names in a folder, sorted.

    Raises:
        MlsubError: there are too many to list.
        OSError: it cannot be listed.
    """
    names = tuple(listing.items_in(folder))
    if len(names) > MAX_FILES:
        raise MlsubError(f"more than {MAX_FILES} files")
    return names


def is_measurement(name: str, kind: str) -> bool:
    """Whether the official summarizer reads a file: ``node_*.txt`` and ``sw_*.txt``."""
    return name.startswith(f"{kind}_") and name.endswith(".txt")


def _size_within(file: Path, left: int) -> int:
    """The size in bytes of a file that may be read; that there is none is for the reader to say.

    Raises:
        OSError: it cannot be looked at.
    """
    found = status_of(file)
    if found is None:
        return 0
    size = found.st_size
    if size > MAX_FILE_BYTES:
        raise MlsubError(f"larger than {MAX_FILE_BYTES >> 20} MiB, the most that is read of a power file")
    if size > left:
        raise MlsubError(f"the files of the run are larger than {MAX_RUN_BYTES >> 30} GiB, the most that is read")
    return size


def _events(file: Path, bad: BadLines) -> Iterator[Event]:
    with open_log(file) as stream:
        for line, text, hidden, too_long in read_records(stream):
            event = None if hidden or too_long else decode(line, text)
            if isinstance(event, Event) and math.isfinite(event.time_ms):
                yield event
                continue
            if hidden:
                why = "another one follows on the same line"
            elif too_long:
                why = "it is too long"
            else:
                why = readable(event.reason)[:80] if isinstance(event, Defect) else "its time is not finite"
            bad.add(line, f"no record that can be decoded: {why}")


def read_node(file: Path) -> Node:
    """What one ``node_<j>.txt`` shows.

    Raises:
        MlsubError: it cannot be read, or has more records than are kept.
    """
    bad = BadLines()
    records: list[Record] = []
    for event in _events(file, bad):
        kind = _KINDS.get(event.key) if isinstance(event.key, str) else None
        if kind is None:
            continue
        if len(records) >= MAX_RECORDS:
            raise MlsubError(f"more than {MAX_RECORDS} records, the most that are kept of a power file")
        value = _finite_value(event, bad) if kind in ("reading", "efficiency") else 0.0
        records.append(Record(event.time_ms, kind, value, event.line))
    return measure(file.name, records, bad)


def read_switch(file: Path) -> Switch:
    """What one ``sw_<k>.txt`` says: its first estimate, and the last efficiency before it.

    Source: the official result summarizer, _compute_power_sw.

    Raises:
        MlsubError: it cannot be read.
    """
    bad = BadLines()
    efficiency: float | None = 1.0
    estimate: Event | None = None
    watts: float | None = 0.0
    for event in _events(file, bad):
        if estimate is not None:
            continue
        if event.key == "conversion_eff":
            efficiency = _finite_value(event, bad)
        elif event.key == "interconnect_power_est":
            estimate, watts = event, _finite_value(event, bad)
    return Switch(
        name=file.name,
        there=estimate is not None,
        watts=watts,
        efficiency=efficiency,
        time_ms=estimate.time_ms if estimate else None,
        bad=bad,
    )


def _finite_value(event: Event, bad: BadLines) -> float | None:
    """The value as a number; None where it is not one. ``true`` is 1 to the official code, and a complaint here."""
    value = event.value
    number = float(value) if isinstance(value, (int, float)) and abs(value) <= sys.float_info.max else None
    if number is None or isinstance(value, bool):
        bad.add(event.line, f"{event.key}: {show(value)}")
    return number
