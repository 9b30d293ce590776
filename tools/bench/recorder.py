"""Write records with the recorder, or with the official logger.

python tools/bench/recorder.py event|block|eval|official RECORDS FILE
"""

from __future__ import annotations

import logging
import sys
from functools import partial
from pathlib import Path


def official(records: int, file: str) -> None:
    """Events of the official logger."""
    from mlperf_logging.mllog.mllog import MLLogger

    logger = logging.Logger("official", level=logging.INFO)
    logger.addHandler(logging.FileHandler(file, mode="w"))
    mllogger = MLLogger(logger)
    for number in range(records):
        mllogger.event("throughput", 1.5, metadata={"step": number})


def recorded(kind: str, records: int, file: str) -> None:
    """Events that no rule asks for, blocks, which rules ask for, or evaluations, which are compared with a target."""
    from mlsub.emit import Recorder

    what = partial(Recorder, round="5.1", benchmark="llama31_8b", division="open", status="onprem")
    with what(Path(file), organisation="bench", platform="bench", overwrite=True) as recorder:
        if kind == "event":
            for number in range(records):
                recorder.log("throughput", 1.5, step=number)
        elif kind == "block":
            recorder.log("run_start")
            for number in range(records // 2):
                with recorder.block(first_epoch=number, samples_so_far=number):
                    pass
        else:
            for number in range(records // 3):  # start, value, end
                recorder.evaluate(5.0, epoch=number, samples=number)


if __name__ == "__main__":
    asked, count, output = sys.argv[1:]
    official(int(count), output) if asked == "official" else recorded(asked, int(count), output)
