"""What published logs show comes back exactly, and every answer about them is the same, cold and warm."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.commands.review.run import reading_of, sides_of
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths, check_with_logs
from mlsub.workspace.cache import Cache
from tools.support.corpus import CORPUS
from tools.support.effort import LONG
from tools.support.judging import deep

pytestmark = [
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no published results"),
    pytest.mark.usefixtures("settled"),
]
#: Packages of every reader and format there is, and all of them.
SOME = ("hpc-v3.0", "v0.7/SIAT", "v1.0/Graphcore", "v5.1/MiTAC")


def places() -> list[str]:
    return [str(CORPUS)] if LONG else [str(CORPUS / name) for name in SOME]


@pytest.mark.slow
@pytest.mark.parametrize("trace", [False, True], ids=["reports", "traces"])
def test_logs_come_back_as_they_were(folder: Path, trace: bool) -> None:
    cold = check_with_logs(places(), Settings(cache=Cache(folder), trace=trace))
    cache = Cache(folder)
    warm = check_with_logs(places(), Settings(cache=cache, trace=trace))
    assert cache.asked["logs"] == cache.reused["logs"] == sum(len(one.logs) for one in cold) > 0
    assert deep(warm) == deep(cold)


@pytest.mark.slow
def test_reports_come_back_as_they_were(folder: Path) -> None:
    def reports(cache: Cache | None, jobs: int | None = None) -> list[Report]:
        return check_paths(places(), Settings(cache=cache, jobs=jobs))

    without = reports(None)
    cold = reports(Cache(folder), jobs=2)
    cache = Cache(folder)
    warm = reports(cache, jobs=1)
    assert cache.asked["packages"] == cache.reused["packages"] > 0
    assert deep(without) == deep(cold) == deep(warm)


@pytest.mark.slow
def test_a_review_comes_back_as_it_was(folder: Path) -> None:
    without = reading_of(sides_of(places(), Settings()), Settings())
    for _ in range(2):
        cache = Cache(folder)
        again = reading_of(sides_of(places(), Settings()), Settings(cache=cache))
        assert deep(again) == deep(without)
    assert not cache.asked, "no log was asked for"
