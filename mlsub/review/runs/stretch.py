"""Run lengths that are a constant multiple of the time to the last record of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from mlsub.convergence.statistics import cut_of
from mlsub.log.trace import Trace
from mlsub.review.runs.model import Entry, Observation, observe, seconds, thresholds
from mlsub.score.olympic import olympic_mean


class Stretch(msgspec.Struct, frozen=True):
    """The factor of an entry, how many parts of it the runs differ by at most, and the gaps (ms) it leaves."""

    factor: float
    spread: float
    gaps_ms: tuple[float, ...]


def stretch_of(entry: Entry) -> Stretch | None:
    """The constant multiple that all runs of an entry were stretched by; None where there is none."""
    told = [pair for trace in entry.traces if (pair := _lengths(trace)) is not None]
    return stretch_of_lengths(told) if len(told) == len(entry.traces) else None


def stretch_of_lengths(told: Sequence[tuple[float, float]]) -> Stretch | None:
    """The same of runs whose time (ms) from run_start to run_stop, and to the last record before it, are known."""
    limits = thresholds()
    if len(told) < limits.stretch_runs or any(part <= 0 for _, part in told):
        return None
    # Timestamps are rounded: the longest run tells the factor best.
    factor = max((part, whole / part) for whole, part in told)[1]
    gaps = tuple(whole - part for whole, part in told)
    if factor < limits.stretch_factor or min(gaps) < limits.stretch_gap_ms:
        return None
    if not _fits(factor, told):
        return None
    # A few lengths that happen to be alike would make any constant wait a constant factor.
    parts = [part for _, part in told]
    if (factor - 1) * (max(parts) - min(parts)) <= 2 * limits.stretch_slack_ms:
        return None
    # Somebody wrote the factor down: the shortest number that the timestamps allow.
    factor = next((short for digits in range(2, 7) if _fits(short := round(factor, digits), told)), factor)
    return Stretch(factor, max(abs(whole / part - factor) for whole, part in told), gaps)


def _fits(factor: float, told: Sequence[tuple[float, float]]) -> bool:
    """Whether all lengths (ms) are this multiple of the time to the last record, but for rounding."""
    return all(abs(whole - factor * part) <= thresholds().stretch_slack_ms for whole, part in told)


def _lengths(trace: Trace) -> tuple[float, float] | None:
    """Time (ms) from run_start to run_stop, and to the last record before it."""
    start, last, whole = trace.run.timeline.run_start, trace.last_ms, trace.run.duration_ms
    if start is None or last is None or whole is None or last <= start:
        return None
    return whole, last - start


def score_of(entry: Entry, *, to_last_record: bool = False) -> float | None:
    """The olympic mean in minutes of an entry's runs, as logged or up to the last record before run_stop.

    A run that did not converge counts as slowest; None where more of them are than may fall out.
    """
    minutes: list[float | None] = []
    for trace in entry.traces:
        lengths = _lengths(trace)
        told = trace.run.minutes if not to_last_record else lengths[1] / 60_000 if lengths else None
        minutes.append(told if trace.run.converged else None)
    return olympic_mean(minutes, cut_of(entry.known_benchmark or entry.benchmark))


def find_stretch(entry: Entry) -> Iterator[Observation]:
    """An entry whose runs all stop at a constant multiple of the time to their last record."""
    stretch = stretch_of(entry)
    if stretch is None:
        return
    logged, without = score_of(entry), score_of(entry, to_last_record=True)
    actual = (
        f"factor {stretch.factor:.6f} in all {len(entry.traces)} runs (they differ by {stretch.spread:.1e} at most), "
        f"{seconds(min(stretch.gaps_ms))} to {seconds(max(stretch.gaps_ms))} without a record before run_stop"
    )
    if logged is not None and without is not None:
        actual += f"; {logged:.6f} minutes as logged, {without:.6f} to the last record"
    yield observe(
        "inspect.stretched",
        entry,
        actual,
        factor=stretch.factor,
        spread=stretch.spread,
        gaps_ms=stretch.gaps_ms,
        minutes=logged,
        minutes_undone=without,
    )
