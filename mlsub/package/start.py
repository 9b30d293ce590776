"""When a run started, read off its log as far as needed."""

from __future__ import annotations

import math
from pathlib import Path

from mlsub.log.event import Event, decode
from mlsub.log.mll import decode_mll
from mlsub.log.reader import TOKEN, TOKEN_MLL, open_log, read_records
from mlsub.rounds import Round

#: Records that are looked at; run_start comes after some tens of them.
_MAX_RECORDS = 100_000


def run_started(log: Path, round_: Round) -> float | None:
    """The time of the first ``run_start``, in ms since the Unix epoch; None for a log without one.

    Raises:
        UnreadableLogError: the log cannot be read.
    """
    old = round_.log_format == "mll"
    token, decoder = (TOKEN_MLL, decode_mll) if old else (TOKEN, decode)
    seen = 0
    with open_log(log) as stream:
        for batch in read_records(stream, None, token):
            for line, text, hidden, too_long in batch:
                if hidden or too_long or b"run_start" not in text:
                    continue
                event = decoder(line, text)
                if isinstance(event, Event) and event.key == "run_start" and math.isfinite(event.time_ms):
                    return float(event.time_ms)
            seen += len(batch)
            if seen > _MAX_RECORDS:
                return None
    return None
