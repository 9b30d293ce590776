"""Times that were multiplied in the logs after the runs, and the factor that undoes it.

Up to v1.1 a review could end in edited logs: ``run_stop`` of every run moved away by the factor to the mean of the
reference convergence points, so that it lies at a constant multiple of the time to the last event that the training
logged. (MLCommons logging issue 210 tells of time-stamps updated by hand.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import msgspec

from mlsub.log.event import Event, decode
from mlsub.log.mll import decode_mll
from mlsub.log.reader import TOKEN, TOKEN_MLL, UnreadableLogError, open_log, read_records
from mlsub.log.run import Timeline

#: A ratio up to this is the ordinary time between the last event and run_stop.
LEAST_RATIO = Fraction(10015, 10000)
#: The least silence before run_stop, in ms, and how far ratios of one factor differ.
LEAST_GAP_MS = 1000
TOLERANCE = Fraction(1, 10**6)
#: So few runs have equal ratios by chance.
LEAST_RUNS = 3


class Ending(msgspec.Struct, frozen=True):
    """How a run ended, times in ms: ``last`` is the last event before ``stop`` that is not run_stop itself."""

    start: float
    last: float
    stop: float

    @property
    def ratio(self) -> Fraction | None:
        """The timed region as a multiple of the part that events cover."""
        covered = Fraction(self.last) - Fraction(self.start)
        return (Fraction(self.stop) - Fraction(self.start)) / covered if covered > 0 else None


def edit_factor(endings: Sequence[Ending]) -> Fraction | None:
    """The factor that all runs of an entry were multiplied by, None where they were not.

    The least number of decimals, three or more, that explains all ratios within the tolerance.
    """
    ratios = [ending.ratio for ending in endings]
    silent = all(ending.stop - ending.last > LEAST_GAP_MS for ending in endings)
    if len(ratios) < LEAST_RUNS or not silent or any(ratio is None or ratio <= LEAST_RATIO for ratio in ratios):
        return None
    known = [ratio for ratio in ratios if ratio is not None]
    middle = sorted(known)[len(known) // 2]
    for digits in (3, 4, 5, 6):
        factor = round(middle, digits)
        # Times are whole ms: on a short run that alone moves the ratio.
        if all(
            abs(ratio - factor) <= TOLERANCE + factor / Fraction(ending.last - ending.start)
            for ratio, ending in zip(known, endings, strict=True)
        ):
            return factor
    return None


def may_be_edited(timeline: Timeline, last_known_ms: float | None) -> bool:
    """Whether a run may end in a silence at all, from what is known without reading its log again."""
    if timeline.run_start is None or timeline.run_stop is None or last_known_ms is None:
        return False
    return timeline.run_stop - last_known_ms > LEAST_GAP_MS


def ending_of(file: Path, timeline: Timeline, *, old_format: bool = False) -> Ending | None:
    """How a run ended, by its log; None where that cannot be told."""
    start, stop = timeline.run_start, timeline.run_stop
    if start is None or stop is None:
        return None
    last: float | None = None
    try:
        for event in _events(file, old_format):
            if event.key == "run_stop":
                break
            if event.time_ms > start:
                last = event.time_ms if last is None else max(last, event.time_ms)
    except UnreadableLogError:
        return None
    return None if last is None else Ending(start, last, stop)


def _events(file: Path, old_format: bool) -> Iterator[Event]:
    token, reader = (TOKEN_MLL, decode_mll) if old_format else (TOKEN, decode)
    with open_log(file) as stream:
        for batch in read_records(stream, None, token):
            for line, text, hidden, too_long in batch:
                event = None if hidden or too_long else reader(line, text)
                if isinstance(event, Event):
                    yield event
