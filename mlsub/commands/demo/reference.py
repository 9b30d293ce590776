"""Reference convergence points of the rehearsal benchmarks, made anew by running this module: [FOLDER]."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Literal

from mlsub.commands.demo.model import Parameters, RehearsalEntry
from mlsub.commands.demo.train import train_run
from mlsub.commands.rcp.build import Built, Choice, build_records
from mlsub.convergence.reference import REHEARSAL
from mlsub.io.output import write_file
from mlsub.judge.log import LogTask, judge_log
from mlsub.rounds import get_round

Benchmark = Literal["digits", "verses"]
#: Of each benchmark the batch sizes, and the learning rate at each.
SIZES: dict[Benchmark, dict[int, float]] = {
    "digits": {32: 0.02, 64: 0.03, 128: 0.05},
    "verses": {32: 0.02, 64: 0.04, 128: 0.06},
}
#: Four times the runs of an entry, and their seeds.
RUNS = 20
FIRST_SEED = 1000
_CHOICE = Choice(creator="mlsub", when="2026-11-21", platform="one core of an x86-64 processor")


def train_reference(benchmark: Benchmark, size: int, folder: Path, runs: int = RUNS) -> list[Path]:
    """Train the reference runs of a benchmark at a batch size, one seed each, and give their logs."""
    parameters = Parameters(global_batch_size=size, opt_base_learning_rate=SIZES[benchmark][size])
    entry = RehearsalEntry("reference", "closed", parameters, benchmark)
    folder = folder / str(size)
    folder.mkdir()
    logs = [folder / f"result_{number}.txt" for number in range(runs)]
    for number, log in enumerate(logs):
        train_run(log, "mlsub", "research", entry, FIRST_SEED + number)
    return logs


def build_reference(benchmark: Benchmark) -> Built:
    """Train all reference runs of a benchmark and build its records, as mlsub rcp build does."""
    with tempfile.TemporaryDirectory() as name:
        logs = []
        for size in SIZES[benchmark]:
            logs += train_reference(benchmark, size, Path(name))
            print(f"{benchmark}, batch size {size}: {RUNS} runs")
        reports = [judge_log(LogTask(str(log), f"{log.parent.name}/{log.name}", "rehearsal", "1.0")) for log in logs]
        return build_records(reports, benchmark, get_round("rehearsal", "1.0"), _CHOICE)


def main() -> int:
    """Train, build and write; exit status 1 where the runs are not a reference."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REHEARSAL
    for benchmark in SIZES:
        built = build_reference(benchmark)
        for problem in built.problems:
            print(problem, file=sys.stderr)
        if built.problems:
            return 1
        content = json.dumps(built.records, indent=2) + "\n"
        write_file(folder / f"rcps_{benchmark}.json", content.encode("ascii"), force=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
