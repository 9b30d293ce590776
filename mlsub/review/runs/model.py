"""What the detectors look at, from where on they report, their observations, and the score with one undone."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.convergence.statistics import cut_of
from mlsub.findings import Finding, Severity
from mlsub.io.data import shipped
from mlsub.io.show import plural
from mlsub.log.run import Evaluation
from mlsub.review.cadence import all_numbers
from mlsub.rules.catalogue import finding
from mlsub.score.scaled import olympic_mean
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: From which length (ms) on a time is shown in a unit, and how long (ms) that is.
_UNITS = ((172_800_000, 86_400_000, "days"), (36_000_000, 3_600_000, "h"), (600_000, 60_000, "min"), (0, 1000, "s"))
#: In the order in which they are asked; the later ones count in a unit of the benchmark.
COUNTS = ("samples_count", "epoch_num", "step_num")


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The numbers of thresholds.yaml: milliseconds, shares of a run, factors, counts."""

    stretch_runs: int
    stretch_factor: float
    stretch_gap_ms: float
    stretch_slack_ms: float
    overlap_ms: float
    overlap_share: float
    stated_ms: float
    jump_ms: float
    jump_share: float
    gap_runs: int
    gap_times: float
    gap_share: float
    gap_ms: float
    pause_share: float
    pause_ms: float
    copy_evaluations: int
    copy_digits: int
    copy_marks: int
    copy_pairs: int
    seeds_shared: int
    seeds_small: int
    seeds_part: float
    spread_chance: float
    spread_runs: int
    spread_values: int
    spread_batch: float
    order_runs: int
    order_share: float
    order_sorted: float
    order_place: float
    order_after: float
    order_wait_ms: float
    throughput_least: float
    throughput_other_unit: float
    interval_times: float
    interval_share: float
    interval_runs: int
    pace_times: float
    pace_deviations: float
    init_times: float
    init_ms: float


def thresholds() -> Thresholds:
    """Return the numbers that ship with mlsub."""
    return shipped(__file__, "thresholds.yaml", Thresholds)


def runs_started(entry: Result) -> frozenset[float]:
    """Return when the runs of an entry started (ms): what distinguishes runs, wherever their logs lie."""
    return frozenset(t.run.timeline.run_start for t in entry.logs if t.run.timeline.run_start is not None)


def before_stop(log: LogReport) -> list[Evaluation]:
    """Return the evaluations up to run_stop; some logs go on with some that do not count."""
    stop = log.run.status_line
    return [e for e in log.run.evaluations if stop is None or e.line < stop]


def places(log: LogReport) -> tuple[str, list[float]]:
    """Return the count that a run's evaluations carry, and the place of each; an empty name where they carry none."""
    before = before_stop(log)
    for name in COUNTS:
        found = list(map(attrgetter(name), before))
        if found and all_numbers(found):
            return name, list(map(float, found))
    return "", []


def reached(log: LogReport) -> tuple[str, float] | None:
    """Return the furthest place of a run's evaluations above zero, and what it counts."""
    name, found = places(log)
    furthest = max(found, default=0.0)
    return (name, furthest) if furthest > 0 else None


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """The score of an entry with an anomaly undone, in minutes: the olympic mean of the runs, before any scaling.

    ``how`` says what was undone, ``why`` which rule of scoring asks for just that; ``runs`` are the files that it
    changes. ``minutes`` is the score as logged, ``minutes_undone`` the one without the anomaly: None where more runs
    count as not converged than may fall out. ``minutes_without`` is the olympic mean of the other runs alone, where
    that is of interest; ``words`` say it all.
    """

    how: str
    why: str
    runs: tuple[str, ...]
    minutes: float | None
    minutes_undone: float | None
    minutes_without: float | None = None
    words: str = ""


class Observation(msgspec.Struct, frozen=True):
    """A finding about an entry, and its numbers, unrounded: times in ms where the name ends so, else minutes.

    ``entry`` is the entry's path; ``undone`` the score without what was found, where a rule says how to undo it.
    """

    entry: str
    finding: Finding
    numbers: dict[str, Any]
    undone: Undone | None = None


def observe(
    rule: str,
    entry: Result,
    actual: str,
    *,
    message: str | None = None,
    expected: str | None = None,
    at: LogReport | None = None,
    line: int | None = None,
    undone: Undone | None = None,
    severity: Severity | None = None,
    **numbers: Any,
) -> Observation:
    """Return an observation about an entry, or about one of its logs (``at``, ``line``)."""
    path = entry.path if at is None else at.path
    if undone is not None:
        actual = f"{actual}; {undone.words}"
        numbers |= {"minutes": undone.minutes, "minutes_undone": undone.minutes_undone}
    found = finding(rule, path, message, line=line, expected=expected, actual=actual, severity=severity)
    return Observation(entry.path, found, numbers, undone)


def seconds(ms: float) -> str:
    """Return a length of time for a message."""
    divisor, unit = next((divisor, unit) for least, divisor, unit in _UNITS if abs(ms) >= least or not least)
    return f"{ms / divisor:,.1f} {unit}"


#: What the rules say of all times but those of runs that do not count.
_MEAN = "the score is the olympic mean of the runs' times"
_SLOWEST = "a run that does not reach the target does not count, and stands for the slowest"


def minutes_of(entry: Result) -> dict[str, float | None]:
    """Return the time to train (minutes) of each run as logged, by its path; None for one that did not converge."""
    return {log.path: log.run.minutes if log.run.converged else None for log in entry.logs}


def score_of(entry: Result, minutes: Mapping[str, float | None] | None = None) -> float | None:
    """Return the olympic mean in minutes of an entry's runs, as logged or with other times.

    A run that did not converge counts as slowest; None where more of them are than may fall out.
    """
    times = minutes_of(entry) if minutes is None else minutes
    return olympic_mean(list(times.values()), _cut(entry))


def with_times(entry: Result, how: str, minutes: Mapping[str, float | None], *, alone: bool = False) -> Undone:
    """Return the score with other times of some runs.

    Args:
        entry: the entry.
        how: what is undone, as in ``to the last record``.
        minutes: the times of these runs, by their paths, without what is undone.
        alone: whether the olympic mean of the other runs is of interest as well.
    """
    logged = minutes_of(entry)
    changed = {path: time for path, time in minutes.items() if logged.get(path) is not None}
    before, after = score_of(entry), score_of(entry, logged | changed)
    if before is None or after is None:
        words = f"no score as logged or {how}"
    elif abs(after - before) < 5e-7:
        words = f"{before:.6f} minutes as logged and {how}"
    else:
        words = f"{before:.6f} minutes as logged, {after:.6f} {how}"
    return _undone(entry, how, _MEAN, changed, (before, after), words, alone=alone)


def shorter(entry: Result, how: str, by_ms: Mapping[str, float]) -> Undone:
    """Return the score where some runs, by their paths, took so many ms less."""
    less = {path: time for path, time in minutes_of(entry).items() if time is not None and path in by_ms}
    return with_times(entry, how, {path: max(0.0, time - by_ms[path] / 60_000) for path, time in less.items()})


def without_runs(entry: Result, runs: list[LogReport]) -> Undone:
    """Return the score where some runs count as not converged."""
    logged = minutes_of(entry)
    changed: dict[str, float | None] = dict.fromkeys(log.path for log in runs)
    before, after = score_of(entry), score_of(entry, logged | changed)
    many, cut = len(runs), _cut(entry)
    how = f"with {'it' if many == 1 else 'them'} counted as not converged"
    why = f"{_SLOWEST}; {cut} of the slowest and of the fastest fall out"
    words = f"{before:.6f} minutes as logged" if before is not None else "no score as logged"
    if after is None:
        words += f", no score {how}: {plural(many, 'such run')}, and {cut} may fall out"
    else:
        words += f", {after:.6f} {how}"
    return _undone(entry, how, why, changed, (before, after), words, alone=after is None)


def _undone(
    entry: Result,
    how: str,
    why: str,
    changed: Mapping[str, float | None],
    scores: tuple[float | None, float | None],
    words: str,
    *,
    alone: bool,
) -> Undone:
    rest = [time for path, time in minutes_of(entry).items() if path not in changed]
    without = olympic_mean(rest, _cut(entry)) if alone else None
    if without is not None:
        words += f"; the other {len(rest)} have an olympic mean of {without:.6f} minutes"
    return Undone(
        how=how,
        why=why,
        runs=tuple(log.name for log in entry.logs if log.path in changed),
        minutes=scores[0],
        minutes_undone=scores[1],
        minutes_without=without,
        words=words,
    )


def _cut(entry: Result) -> int:
    return cut_of(entry.benchmark)
