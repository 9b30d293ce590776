"""What published logs show comes back exactly, and every answer about them is the same, cold and warm."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.commands.inspect.gather import sides_of
from mlsub.commands.inspect.run import inspection_of
from mlsub.log.trace import TraceFold
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths, check_with_logs
from mlsub.workspace.memory import Memory
from tests.corpus import CORPUS
from tests.effort import LONG
from tests.workspace.memory.test_logs import deep

pytestmark = [
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no published results"),
    pytest.mark.usefixtures("settled"),
]
#: Packages of every reader and format there is, and all of them.
SOME = ("hpc-v3.0", "v0.7/SIAT", "v1.0/Graphcore", "v5.1/MiTAC")


def places() -> list[str]:
    return [str(CORPUS)] if LONG else [str(CORPUS / name) for name in SOME]


@pytest.mark.parametrize("folds", [(), (TraceFold,)], ids=["reports", "traces"])
def test_logs_come_back_as_they_were(folder: Path, folds: tuple[type[TraceFold], ...]) -> None:
    cold = check_with_logs(places(), Settings(memory=Memory(folder), folds=folds))
    memory = Memory(folder)
    warm = check_with_logs(places(), Settings(memory=memory, folds=folds))
    assert not memory.misses["logs"]
    assert memory.hits["logs"] == sum(len(one.logs) for one in cold) > 0
    assert deep(warm) == deep(cold)


def test_reports_come_back_as_they_were(folder: Path) -> None:
    def reports(memory: Memory | None, jobs: int | None = None) -> list[Report]:
        return check_paths(places(), Settings(memory=memory, jobs=jobs))

    without = reports(None)
    cold = reports(Memory(folder), jobs=2)
    memory = Memory(folder)
    warm = reports(memory, jobs=1)
    assert memory.hits["packages"] > 0
    assert not memory.misses["packages"]
    assert deep(without) == deep(cold) == deep(warm)


def test_an_inspection_comes_back_as_it_was(folder: Path) -> None:
    without = inspection_of(sides_of(places(), Settings()), Settings())
    for _ in range(2):
        memory = Memory(folder)
        again = inspection_of(sides_of(places(), Settings()), Settings(memory=memory))
        assert deep(again) == deep(without)
    assert memory.hits["answers"] == 1
