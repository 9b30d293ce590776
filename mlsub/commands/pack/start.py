"""When a run started, read off its log as far as needed."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path

from mlsub.log.events import read_events
from mlsub.rounds import Round

#: Records that are looked at; run_start comes after some tens of them.
_MAX_RECORDS = 100_000


def run_started(log: Path, round_: Round) -> float | None:
    """The time of the first ``run_start``, in ms since the Unix epoch; None for a log without one.

    Raises:
        MlsubError: the log cannot be read.
    """
    events = read_events(log, round_.log_format)
    for event in islice(events, _MAX_RECORDS):
        if event.key == "run_start" and math.isfinite(event.time_ms):
            return float(event.time_ms)
    return None
