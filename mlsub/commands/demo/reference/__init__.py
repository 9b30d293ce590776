"""Reference convergence points of the rehearsal benchmarks, and how they are made."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlsub.commands.demo.manifest import PARAMETERS, RehearsalEntry
from mlsub.commands.demo.train import train_run
from mlsub.commands.rcp.build import Built, Choice, build_records
from mlsub.judge.log import LogTask, judge_log
from mlsub.rounds import get_round

#: Of each benchmark the batch sizes, and the learning rate at each.
SIZES: dict[str, dict[int, float]] = {
    "digits": {32: 0.02, 64: 0.03, 128: 0.05},
    "verses": {32: 0.02, 64: 0.04, 128: 0.06},
}
#: Four times the runs of an entry, and their seeds.
RUNS = 20
FIRST_SEED = 1000
_CHOICE = Choice(creator="mlsub", when="2026-11-21", platform="one core of an x86-64 processor")

Told = Callable[[str, int, int], None]


def train_reference(benchmark: str, size: int, folder: Path, runs: int = RUNS) -> list[Path]:
    """Train the reference runs of a benchmark at a batch size, one seed each, and give their logs."""
    parameters: Any = PARAMETERS[benchmark](global_batch_size=size, opt_base_learning_rate=SIZES[benchmark][size])
    entry = RehearsalEntry("reference", "closed", parameters, benchmark)
    folder = folder / str(size)
    folder.mkdir()
    logs = [folder / f"result_{number}.txt" for number in range(runs)]
    for number, log in enumerate(logs):
        train_run(log, "mlsub", "research", entry, FIRST_SEED + number)
    return logs


def build_reference(benchmark: str, told: Told | None = None) -> Built:
    """Train all reference runs of a benchmark and build its records, as mlsub rcp build does."""
    with tempfile.TemporaryDirectory() as name:
        logs = []
        for size in SIZES[benchmark]:
            logs += train_reference(benchmark, size, Path(name))
            if told is not None:
                told(benchmark, size, RUNS)
        reports = [judge_log(LogTask(str(log), f"{log.parent.name}/{log.name}", "rehearsal", "1.0")) for log in logs]
        return build_records(reports, benchmark, get_round("rehearsal", "1.0"), _CHOICE)
