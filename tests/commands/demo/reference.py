"""Train the reference runs of the rehearsal: ``python -m tests.commands.demo.reference FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from mlsub.commands.demo.run import RehearsalEntry, open_recorder
from mlsub.commands.demo.train import Parameters, train_run

#: The batch sizes, and the learning rate at each.
SIZES = {32: 0.02, 64: 0.03, 128: 0.05}
#: Four times the runs of an entry, and their seeds.
RUNS = 20
FIRST_SEED = 1000


def train_reference(size: int, folder: Path, runs: int = RUNS) -> list[Path]:
    """Train the reference runs at a batch size, one seed each, and return their logs."""
    parameters = Parameters(global_batch_size=size, opt_base_learning_rate=SIZES[size])
    entry = RehearsalEntry("reference", "closed", parameters)
    folder = folder / str(size)
    folder.mkdir(parents=True)
    logs = [folder / f"result_{number}.txt" for number in range(runs)]
    for number, log in enumerate(logs):
        train_run(open_recorder(log, "mlsub", "research", entry), parameters, FIRST_SEED + number)
    return logs


if __name__ == "__main__":
    for batch_size in SIZES:
        train_reference(batch_size, Path(sys.argv[1]))
