"""What came of a case, and where it was measured."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from tools.bench.cases import FLOOR, LOCAL
from tools.bench.measure import CORES, Cost, Memory

REPOSITORY = Path(__file__).resolve().parents[2]
MB = 1_000_000


class Line(NamedTuple):
    """The costs of the runs of a case, those of what it is compared with in the same turns, and the memory of one run.

    Figures are medians; a ratio is the median of the ratios, pair by pair. ``out_mb`` is the size of the folder that it
    has written, in MB.
    """

    case: str
    logs: int
    records: int
    costs: list[Cost]
    others: dict[str, list[Cost]]
    memory: Memory
    out_mb: float = 0.0

    @property
    def wall_s(self) -> float:
        """Seconds of a run."""
        return median(cost.wall for cost in self.costs)

    @property
    def busy(self) -> float:
        """The share of all cores that it kept busy."""
        return median(cost.busy for cost in self.costs)

    @property
    def together_mb(self) -> float:
        """Megabytes of all processes together."""
        return self.memory.together / MB

    @property
    def us_a_record(self) -> float:
        """Microseconds of CPU a record."""
        return median(cost.cpu for cost in self.costs) / max(1, self.records) * 1e6

    @property
    def us_a_log(self) -> float:
        """Microseconds of wall time a log."""
        return self.wall_s / max(1, self.logs) * 1e6

    def ratio(self, figure: Literal["wall", "cpu"], other: str) -> float:
        """Time or CPU as a multiple of that of something else."""
        get: Callable[[Cost], float] = attrgetter(figure)
        return median(get(ours) / get(theirs) for ours, theirs in zip(self.costs, self.others[other], strict=True))

    @property
    def floor_wall(self) -> float:
        """Time as a multiple of that of the floor script, which is one process."""
        return self.ratio("wall", FLOOR)

    @property
    def floor_cpu(self) -> float:
        """CPU as a multiple of that of the floor script."""
        return self.ratio("cpu", FLOOR)

    @property
    def of_local(self) -> float:
        """Speed as a share of that of two processes of this machine."""
        return 1 / self.ratio("wall", LOCAL)

    def shown(self) -> str:
        """The line that people read."""
        cpu_s = median(cost.cpu for cost in self.costs)
        a_record = f", {self.us_a_record:.2f} us a record" if self.records else ""
        memory = f"{self.memory.largest / MB:.0f} MB, together {self.together_mb:.0f} MB"
        beside = "; ".join(
            f"{name} {median(cost.wall for cost in theirs):.3f} s, ratio {self.ratio('cpu', name):.2f} CPU, "
            f"{self.ratio('wall', name):.3f} wall"
            for name, theirs in self.others.items()
        )
        costs = f"{self.wall_s:.3f} s, CPU {cpu_s:.3f} s{a_record}, {self.busy:.0%} of all cores"
        return f"{self.case}: {costs}, {memory}; {beside}"


def here() -> str:
    """This commit (with a + where files have changed) and this machine."""
    commit = _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "--porcelain", "mlsub") else "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.is_file() else []
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{commit}, {[*models, platform.machine()][0]}, {CORES} cores, {memory:.0f} GB, {system}"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip()
