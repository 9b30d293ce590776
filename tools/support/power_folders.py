"""Power folders of an entry, made to measure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlsub import score
from mlsub.rounds import get_round
from mlsub.score.energy.score import Power
from mlsub.systems.description import SystemDescription
from tools.support.judging import entry_of, report_on

START_MS = 1_700_000_000_000
SECONDS = 60


def record(time_ms: float, key: str, value: Any) -> str:
    line = {"namespace": "", "time_ms": time_ms, "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return f":::MLLOG {json.dumps({**line, 'metadata': {}})}\n"


def result_log(seconds: float = SECONDS) -> str:
    """A result log whose run takes so long."""
    stop = {"namespace": "", "time_ms": START_MS + 1000 * seconds, "event_type": "INTERVAL_END", "key": "run_stop"}
    stop |= {"value": None, "metadata": {"status": "success"}}
    return record(START_MS, "run_start", None) + f":::MLLOG {json.dumps(stop)}\n"


def node_log(
    watts: Sequence[Any],
    *,
    start: float | None = 0,
    stop: float | None = SECONDS,
    step: float = 1,
    first: float = 0,
    **more: Any,
) -> str:
    """A node's readings, one each ``step`` seconds from ``first`` on; start and stop in seconds after run_start."""
    text = "" if start is None else record(START_MS + 1000 * start, "power_measurement_start", None)
    for key, value in more.items():
        text += record(START_MS, key, value)
    for number, value in enumerate(watts):
        text += record(START_MS + 1000 * (first + number * step), "power_reading", value)
    return text if stop is None else text + record(START_MS + 1000 * stop, "power_measurement_stop", None)


def switch_log(watts: Any, efficiency: float | None = None) -> str:
    text = "" if efficiency is None else record(START_MS, "conversion_eff", efficiency)
    return text + record(START_MS, "interconnect_power_est", watts)


def make_entry(folder: Path, runs: Sequence[dict[str, str] | None], seconds: Sequence[float] | None = None) -> None:
    """Result logs with the files of each run's power folder; None for a run without one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "power").mkdir()
    for number, files in enumerate(runs):
        (folder / f"result_{number}.txt").write_text(result_log(seconds[number] if seconds else SECONDS))
        if files is not None:
            place = folder / "power" / f"result_{number}"
            place.mkdir()
            for name, text in files.items():
                (place / name).write_text(text)


def judged(folder: Path, round_name: str = "5.1", nodes: Any = None, described: bool = True) -> Power:
    """What is said of the power measurements of a benchmark's folder, with or without a system description."""
    power = power_of(folder, round_name, nodes, described)
    assert power is not None
    return power


def power_of(folder: Path, round_name: str = "5.1", nodes: Any = None, described: bool = True) -> Power | None:
    """What is said of the power measurements of a benchmark's folder, None where nothing was measured."""
    results = sorted(folder.glob("result_*.txt"))
    strays = tuple(sorted(child.name for child in folder.iterdir() if child not in results))
    content = {"number_of_nodes": nodes}
    description = SystemDescription(name="x", path="x", content=content, findings=()) if described else None
    logs = (report_on(file, "training", round_name) for file in results)
    entry = entry_of(folder, results, logs, strays=strays, description=description)
    power, failed = score.power_of(entry, get_round("training", round_name))
    assert not failed
    return power


def rules(power: Power) -> list[str]:
    """The rules that have something to say."""
    return [finding.rule for finding in power.findings]
