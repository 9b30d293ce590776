"""Read the power files of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from mlsub.energy.model import Node, Record, RunPower, Switch
from mlsub.log.event import Event, decode
from mlsub.log.reader import UnreadableLogError, open_log, read_records
from mlsub.show import show

#: Bounds: two weeks of one node at one reading a second, and more nodes than any submission had.
MAX_READINGS = 1_200_000
MAX_FILES = 20_000
#: Broken lines that are kept of a file.
_MAX_BAD = 5
_NODE, _SWITCH = "node", "sw"
_KINDS: dict[str, Literal["start", "reading", "stop"]] = {
    "power_measurement_start": "start",
    "power_reading": "reading",
    "power_measurement_stop": "stop",
}


def read_run(folder: Path, path: str, result: str) -> RunPower:
    """The power files of one run; bad input never raises.

    Args:
        folder: ``power/`` of the benchmark.
        path: what findings call it.
        result: the name of the result file without its ending.
    """
    place, path = folder / result, f"{path}/{result}"
    try:
        names = sorted(child.name for child in place.iterdir())[:MAX_FILES]
    except (FileNotFoundError, NotADirectoryError):
        return RunPower(result, path, there=False)
    except OSError as error:
        return RunPower(result, path, there=True, unreadable=(("", error.strerror or str(error)),))
    nodes, switches, unreadable = [], [], []
    for name in names:
        try:
            if is_measurement(name, _NODE):
                nodes.append(_node(place / name))
            elif is_measurement(name, _SWITCH):
                switches.append(_switch(place / name))
        except (UnreadableLogError, OSError) as error:
            unreadable.append((name, str(error)[:200]))
    return RunPower(result, path, True, tuple(names), tuple(nodes), tuple(switches), tuple(unreadable))


def is_measurement(name: str, kind: str) -> bool:
    """Whether the official summarizer reads a file: ``node_*.txt`` and ``sw_*.txt``."""
    return name.startswith(f"{kind}_") and name.endswith(".txt")


def _events(file: Path, bad: list[tuple[int, str]]) -> Iterator[Event]:
    with open_log(file) as stream:
        for batch in read_records(stream):
            for line, text, hidden, too_long in batch:
                event = None if hidden or too_long else decode(line, text)
                if isinstance(event, Event) and math.isfinite(event.time_ms):
                    yield event
                elif len(bad) < _MAX_BAD:
                    bad.append((line, "no record that can be decoded"))


def _node(file: Path) -> Node:
    bad: list[tuple[int, str]] = []
    records: list[Record] = []
    efficiency = 1.0
    for event in _events(file, bad):
        kind = _KINDS.get(event.key) if isinstance(event.key, str) else None
        if kind is not None and len(records) < MAX_READINGS:
            watts = _number(event, bad) if kind == "reading" else 0.0
            if watts is not None:
                records.append(Record(event.time_ms, kind, watts))
        elif event.key == "conversion_eff":
            value = _number(event, bad)
            efficiency = efficiency if value is None else value
    records.sort(key=lambda record: record.time_ms)
    return Node(file.name, tuple(records), efficiency, tuple(bad))


def _switch(file: Path) -> Switch:
    bad: list[tuple[int, str]] = []
    efficiency = 1.0
    for event in _events(file, bad):
        if event.key == "conversion_eff":
            value = _number(event, bad)
            efficiency = efficiency if value is None else value
        elif event.key == "interconnect_power_est":
            return Switch(file.name, _number(event, bad), efficiency, tuple(bad))
    return Switch(file.name, None, efficiency, tuple(bad))


def _number(event: Event, bad: list[tuple[int, str]]) -> float | None:
    value: Any = event.value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf:
        return float(value)
    if len(bad) < _MAX_BAD:
        bad.append((event.line, f"{event.key}: {show(value)}"))
    return None
