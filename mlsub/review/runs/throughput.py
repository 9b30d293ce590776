"""Stated throughput times time, against the samples a run says it trained on."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from mlsub.log.trace import Trace
from mlsub.review.facts import number
from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, observe
from mlsub.review.runs.progress import reached
from mlsub.review.runs.thresholds import thresholds


def find_throughput(entry: Entry) -> Iterator[Observation]:
    """Entries whose stated throughput does not give the samples in the time, whichever way they are counted."""
    limits = thresholds()
    ratios = [ratio for trace in entry.traces if (ratio := ratio_of(trace)) is not None]
    if not ratios:
        return
    ratio = statistics.median(ratios)
    if limits.throughput_other_unit <= ratio < limits.throughput_least:
        yield observe(
            "inspect.throughput",
            entry,
            "The stated throughput is too low for the samples trained in the time of the run",
            f"throughput times time is {ratio:.1%} of the samples, in the median of {len(ratios)} runs",
            expected="100 % or more, for evaluations and pauses take time as well",
            ratio=ratio,
            ratios=ratios,
        )


def ratio_of(trace: Trace) -> float | None:
    """Stated throughput (median) times length of the run over the trained samples; the reading nearest above one.

    None where the log lacks one of them, or every reading is of another unit.
    """
    whole, far = trace.run.duration_ms, reached(trace)
    if not trace.rates or whole is None or whole <= 0 or far is None:
        return None
    made = statistics.median(rate.value for rate in trace.rates) * whole / 1000
    name, place = far
    size = number(trace.run.hyperparameters.get("train_samples"))
    readings = [place]
    if name == "epoch_num" and size is not None and size > 0:
        # Epochs are counted from 0 or from 1, and some codes count samples under this name.
        readings += [place * size, (place - 1) * size]
    ratios = [made / reading for reading in readings if reading > 0]
    least = thresholds().throughput_other_unit
    plausible = [ratio for ratio in ratios if least <= ratio <= 1 / least]
    return min(plausible, key=lambda ratio: (ratio < 1, abs(ratio - 1)), default=None)
