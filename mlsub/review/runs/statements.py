"""What logs state that cannot be: a clock that steps back, another length, a throughput too low."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from mlsub.log.reading import usable_number
from mlsub.log.trace import Trace
from mlsub.review.runs.model import Entry, Observation, listed, name_of, observe, reached, seconds, thresholds
from mlsub.review.runs.undone import shorter
from mlsub.rounds.benchmarks import benchmark_of


def find_jumps(entry: Entry) -> Iterator[Observation]:
    """Yield runs whose clock steps back in the timed region, where most runs of the entry do not."""
    limits = thresholds()
    jumps = [(trace, trace.jump) for trace in entry.traces if trace.jump and trace.jump[1] >= limits.jump_ms]
    if len(jumps) > limits.jump_share * len(entry.traces):
        return  # A log put together of several files; mlsub check reports its clock.
    for trace, (line, by) in jumps:
        length = trace.run.duration_ms or 0
        share = f", {by / length:.1%} of the run" if length > 0 else ""
        yield observe(
            "inspect.clock-jump",
            entry,
            f"by {seconds(by)}{share}; {len(jumps)} of {len(entry.traces)} runs have such a step",
            at=trace,
            line=line,
            undone=shorter(entry, "with the step added", {trace.path: -by}),
            jump_ms=by,
        )


def find_stated_time(entry: Entry) -> Iterator[Observation]:
    """Yield runs whose TTT is not run_stop minus run_start."""
    stated = {}
    field = ""
    for trace in entry.traces:
        length = trace.run.duration_ms
        if trace.stated_s is not None and length is not None:
            stated[name_of(trace)] = trace.stated_s * 1000 - length
            field = trace.stated_as
    off = {name: by for name, by in stated.items() if abs(by) > thresholds().stated_ms}
    if not off:
        return
    shown = [f"{name} {by:+,.1f} ms" for name, by in sorted(off.items(), key=lambda pair: -abs(pair[1]))]
    yield observe(
        "inspect.stated-time",
        entry,
        f"{len(off)} of {len(stated)} runs: {listed(shown, 3)}",
        message=f"The {field} that run_stop states is not run_stop minus run_start",
        expected=f"equal within {thresholds().stated_ms:g} ms",
        runs=len(off),
        off_ms=off,
    )


def find_throughput(entry: Entry) -> Iterator[Observation]:
    """Yield entries whose stated throughput does not give the samples in the time, whichever way they are counted."""
    limits = thresholds()
    ratios = [ratio for trace in entry.traces if (ratio := ratio_of(trace)) is not None]
    # The epochs of reinforcement learning have as many samples as were played, not as many as a data set has.
    if not ratios or _is_played(entry):
        return
    ratio = statistics.median(ratios)
    if limits.throughput_other_unit <= ratio < limits.throughput_least:
        yield observe(
            "inspect.throughput",
            entry,
            f"throughput times time is {ratio:.1%} of the samples, in the median of {len(ratios)} runs",
            ratio=ratio,
            ratios=ratios,
        )


def _is_played(entry: Entry) -> bool:
    found = benchmark_of(entry.round.usage, entry.round.name, entry.known_benchmark or entry.benchmark)
    return found is not None and found.task == "reinforcement learning"


def ratio_of(trace: Trace) -> float | None:
    """Stated throughput (median) times length of the run over the trained samples; the reading nearest above one.

    None where the log lacks one of them, or every reading is of another unit.
    """
    whole, far = trace.run.duration_ms, reached(trace)
    if not trace.rates or whole is None or whole <= 0 or far is None:
        return None
    made = statistics.median(rate.value for rate in trace.rates) * whole / 1000
    name, place = far
    size = usable_number(trace.run.hyperparameters.get("train_samples"))
    readings = [place]
    if name == "epoch_num" and size is not None and size > 0:
        # Epochs are counted from 0 or from 1, and some codes count samples under this name.
        readings += [place * size, (place - 1) * size]
    ratios = [made / reading for reading in readings if reading > 0]
    least = thresholds().throughput_other_unit
    plausible = [ratio for ratio in ratios if least <= ratio <= 1 / least]
    return min(plausible, key=lambda ratio: (ratio < 1, abs(ratio - 1)), default=None)
