"""What came of a case, and where it was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import msgspec

from bench.cases import FLOOR, LOCAL
from bench.measure import CORES, Cost, Memory, median, ratio

REPOSITORY = Path(__file__).resolve().parents[1]
MB = 1_000_000


class Beside(msgspec.Struct, frozen=True):
    """Medians of what the case was compared with (seconds), and of the ratios, pair by pair: mlsub to the other."""

    wall_s: float
    cpu_s: float
    wall_ratio: float
    cpu_ratio: float


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """Medians of a case. ``busy`` is a share of all cores; memory is of one run."""

    case: str
    pairs: int
    logs: int
    records: int
    wall_s: float
    cpu_s: float
    busy: float
    largest_mb: float
    together_mb: float
    beside: dict[str, Beside]

    @property
    def us_a_record(self) -> float:
        """Microseconds of CPU a record."""
        return self.cpu_s / max(1, self.records) * 1e6

    @property
    def us_a_log(self) -> float:
        """Microseconds of wall time a log."""
        return self.wall_s / max(1, self.logs) * 1e6

    @property
    def floor_wall(self) -> float:
        """Time as a multiple of that of the floor script, which is one process."""
        return self.beside[FLOOR].wall_ratio

    @property
    def floor_cpu(self) -> float:
        """CPU as a multiple of that of the floor script."""
        return self.beside[FLOOR].cpu_ratio

    @property
    def of_local(self) -> float:
        """Speed as a share of that of two processes of this machine."""
        return 1 / self.beside[LOCAL].wall_ratio


def line_of(case: str, size: tuple[int, int], costs: list[Cost], others: dict[str, list[Cost]], memory: Memory) -> Line:
    """The line of a case.

    Args:
        case: its name.
        size: logs and records.
        costs: of each run.
        others: the costs of what it is compared with, in the same turns.
        memory: of one run.
    """
    walls, cpus = [cost.wall for cost in costs], [cost.cpu for cost in costs]
    beside = {}
    for name, theirs in others.items():
        wall, cpu = [cost.wall for cost in theirs], [cost.cpu for cost in theirs]
        beside[name] = Beside(*(round(x, 4) for x in (median(wall), median(cpu), ratio(walls, wall), ratio(cpus, cpu))))
    return Line(
        case=case,
        pairs=len(costs),
        logs=size[0],
        records=size[1],
        wall_s=round(median(walls), 4),
        cpu_s=round(median(cpus), 4),
        busy=round(median([cost.busy for cost in costs]), 3),
        largest_mb=round(memory.largest / MB, 1),
        together_mb=round(memory.together / MB, 1),
        beside=beside,
    )


def here() -> str:
    """This commit (with a + where files have changed) and this machine."""
    commit = _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "--porcelain", "mlsub") else "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{commit}, {_processor()}, {CORES} cores, {memory:.0f} GB, {system}"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
