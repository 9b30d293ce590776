"""Steps back of the clock in the timed region of single runs."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, observe, seconds
from mlsub.review.runs.thresholds import thresholds


def find_jumps(entry: Entry) -> Iterator[Observation]:
    """Runs whose clock steps back in the timed region, where most runs of the entry do not."""
    limits = thresholds()
    jumps = [(trace, trace.jump) for trace in entry.traces if trace.jump and trace.jump[1] >= limits.jump_ms]
    if len(jumps) > limits.jump_share * len(entry.traces):
        return  # A log put together of several files; mlsub check tells of its clock.
    for trace, (line, by) in jumps:
        length = trace.run.duration_ms or 0
        share = f", {by / length:.1%} of the run" if length > 0 else ""
        yield observe(
            "inspect.clock-jump",
            entry,
            "The clock steps back in the timed region, so the length of the run is unknown",
            f"by {seconds(by)}{share}; {len(jumps)} of {len(entry.traces)} runs have such a step",
            at=trace,
            line=line,
            jump_ms=by,
        )
