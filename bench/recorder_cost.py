"""Time an event of the recorder against the same event of the official logger, in turn, in a tight loop."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlperf_logging.mllog.mllog import MLLogger

from mlsub.emit import Recorder

EVENTS = 4000
Timed = Callable[[Path], float]


def _each(work: Callable[[int], Any], events: int = EVENTS) -> float:
    """Microseconds a call."""
    start = time.perf_counter()
    for number in range(events):
        work(number)
    return (time.perf_counter() - start) / events * 1e6


def official(folder: Path) -> float:
    """One event of the official logger into a file, in microseconds."""
    logger = logging.Logger("official", level=logging.INFO)
    handler = logging.FileHandler(folder / "official.txt", mode="w")
    logger.addHandler(handler)
    mllogger = MLLogger(logger)
    try:
        return _each(lambda number: mllogger.event("throughput", 1.5, metadata={"step": number}))
    finally:
        handler.close()


def _recorder(folder: Path) -> Recorder:
    return Recorder(
        folder / "result_0.txt",
        round="5.1",
        benchmark="llama31_8b",
        division="open",
        organisation="bench",
        platform="bench",
        overwrite=True,
    )


def event(folder: Path) -> float:
    """One event that no rule asks for."""
    with _recorder(folder) as recorder:
        return _each(lambda number: recorder.log("throughput", 1.5, step=number))


def block(folder: Path) -> float:
    """Start or end of a block, which the rules look at."""
    with _recorder(folder) as recorder:

        def both(number: int) -> None:
            with recorder.block(first_epoch=number, samples_so_far=number):
                pass

        recorder.log("run_start")
        return _each(both, EVENTS // 2) / 2


def evaluation(folder: Path) -> float:
    """One of the three records of an evaluation, which is held against the target."""
    with _recorder(folder) as recorder:
        return _each(lambda number: recorder.evaluate(5.0, epoch=number, samples=number), EVENTS // 4) / 3


def report(folder: Path, rounds: int) -> None:
    """Print what an event costs beyond the official logger's own, each beside a timing of that logger."""
    for title, timed in (("event", event), ("block", block), ("evaluation", evaluation)):
        beyond = sorted(timed(folder) - official(folder) for _ in range(rounds))
        middle = statistics.median(beyond)
        spread = f"{beyond[0]:.1f} to {beyond[-1]:.1f}"
        print(f"recorder, {title}: {middle:.1f} us a record beyond the official logger ({spread}, {rounds} pairs)")
