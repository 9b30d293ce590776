"""The length of a run that run_stop itself states, against its timestamps."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, listed, name_of, observe
from mlsub.review.runs.thresholds import thresholds


def find_told_time(entry: Entry) -> Iterator[Observation]:
    """Runs whose TTT is not run_stop minus run_start."""
    told = {}
    field = ""
    for trace in entry.traces:
        length = trace.run.duration_ms
        if trace.told_s is not None and length is not None:
            told[name_of(trace)] = trace.told_s * 1000 - length
            field = trace.told_as
    off = {name: by for name, by in told.items() if abs(by) > thresholds().told_ms}
    if not off:
        return
    shown = [f"{name} {by:+,.1f} ms" for name, by in sorted(off.items(), key=lambda pair: -abs(pair[1]))]
    yield observe(
        "inspect.told-time",
        entry,
        f"The {field} that run_stop states is not run_stop minus run_start",
        f"{len(off)} of {len(told)} runs: {listed(shown, 3)}",
        expected=f"equal within {thresholds().told_ms:g} ms",
        runs=len(off),
        off_ms=off,
    )
