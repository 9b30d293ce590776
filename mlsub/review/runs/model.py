"""What the detectors look at, from where on they report, their observations, and the score with one undone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from mlsub.convergence import cut_of
from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.io.show import plural
from mlsub.log.run import Evaluation
from mlsub.review.cadence import all_numbers
from mlsub.score import olympic_mean
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: From which length (ms) on a time is shown in a unit, and how long (ms) that is.
_UNITS = ((172_800_000, 86_400_000, "days"), (36_000_000, 3_600_000, "h"), (600_000, 60_000, "min"), (0, 1000, "s"))
#: In the order in which they are asked; the later ones count in a unit of the benchmark.
COUNTS = ("samples_count", "epoch_num", "step_num")


@cache
def thresholds() -> dict[str, float]:
    """Return the numbers of thresholds.yaml by their names: milliseconds, shares of a run, factors, counts."""
    return shipped(__file__, "thresholds.yaml", dict[str, float])


def runs_started(entry: Result) -> frozenset[float]:
    """Return when the runs of an entry started (ms): what distinguishes runs, wherever their logs lie."""
    return frozenset(t.run.timeline.run_start for t in entry.logs if t.run.timeline.run_start is not None)


def evaluations_before_stop(log: LogReport) -> list[Evaluation]:
    """Return the evaluations up to run_stop; some logs go on with some that do not count."""
    stop = log.run.status_line
    return [e for e in log.run.evaluations if stop is None or e.line < stop]


def evaluation_places(log: LogReport) -> tuple[str, list[float]]:
    """Return the count that a run's evaluations carry, and the place of each; an empty name where they carry none."""
    evaluations = evaluations_before_stop(log)
    for name in COUNTS:
        places = list(map(attrgetter(name), evaluations))
        if places and all_numbers(places):
            return name, list(map(float, places))
    return "", []


def furthest_place(log: LogReport) -> tuple[str, float] | None:
    """Return the furthest place of a run's evaluations above zero, and what it counts."""
    name, places = evaluation_places(log)
    furthest = max(places, default=0.0)
    return (name, furthest) if furthest > 0 else None


class Undone(NamedTuple):
    """The score of an entry with an anomaly undone, in minutes: the olympic mean of the runs, before any scaling.

    ``minutes`` is the score as logged, ``minutes_undone`` the one without the anomaly: None where more runs count as
    not converged than may fall out. ``words`` say it all.
    """

    words: str
    minutes: float | None
    minutes_undone: float | None


class Observation(msgspec.Struct, frozen=True):
    """A finding about an entry, and its numbers, unrounded: times in ms where the name ends so, else minutes.

    ``entry`` is the entry's path.
    """

    entry: str
    finding: Finding
    numbers: dict[str, Any]


def observe(entry: Result, found: Finding, undone: Undone | None = None, **numbers: Any) -> Observation:
    """Return an observation about an entry, with its numbers; the finding goes on with the score without it."""
    if undone is not None:
        found = msgspec.structs.replace(found, actual=f"{found.actual}; {undone.words}")
        numbers |= {"minutes": undone.minutes, "minutes_undone": undone.minutes_undone}
    return Observation(entry.path, found, numbers)


def show_duration(ms: float) -> str:
    """Return a length of time for a message."""
    divisor, unit = next((divisor, unit) for least, divisor, unit in _UNITS if abs(ms) >= least or not least)
    return f"{ms / divisor:,.1f} {unit}"


def minutes_of(entry: Result) -> dict[str, float | None]:
    """Return the time to train (minutes) of each run as logged, by its path; None for one that did not converge."""
    return {log.path: log.run.minutes if log.run.converged else None for log in entry.logs}


def mean_minutes(entry: Result, minutes: Mapping[str, float | None] | None = None) -> float | None:
    """Return the olympic mean in minutes of an entry's runs, as logged or with other times.

    A run that did not converge counts as slowest; None where more of them are than may fall out.
    """
    times = minutes_of(entry) if minutes is None else minutes
    return olympic_mean(list(times.values()), cut_of(entry.benchmark))


def undo_times(entry: Result, how: str, minutes: Mapping[str, float | None], *, alone: bool = False) -> Undone:
    """Return the score with other times of some runs.

    Args:
        entry: the entry.
        how: what is undone, as in ``to the last record``.
        minutes: the times of these runs, by their paths, without what is undone.
        alone: whether the olympic mean of the other runs is of interest as well.
    """
    logged = minutes_of(entry)
    changed = {path: time for path, time in minutes.items() if logged.get(path) is not None}
    before, after = mean_minutes(entry), mean_minutes(entry, logged | changed)
    if before is None or after is None:
        words = f"no score as logged or {how}"
    elif abs(after - before) < 5e-7:
        words = f"{before:.6f} minutes as logged, the same {how}"
    else:
        words = f"{before:.6f} minutes as logged, {after:.6f} {how}"
    return Undone(words + (_describe_others(entry, changed) if alone else ""), before, after)


def undo_waits(entry: Result, how: str, by_ms: Mapping[str, float]) -> Undone:
    """Return the score where some runs, by their paths, took so many ms less."""
    less = {path: time for path, time in minutes_of(entry).items() if time is not None and path in by_ms}
    return undo_times(entry, how, {path: max(0.0, time - by_ms[path] / 60_000) for path, time in less.items()})


def undo_runs(entry: Result, runs: list[LogReport]) -> Undone:
    """Return the score where some runs count as not converged: they do not reach the target, and are the slowest."""
    logged = minutes_of(entry)
    changed: dict[str, float | None] = dict.fromkeys(log.path for log in runs)
    before, after = mean_minutes(entry), mean_minutes(entry, logged | changed)
    many, cut = len(runs), cut_of(entry.benchmark)
    how = f"with {'it' if many == 1 else 'them'} counted as not converged"
    words = f"{before:.6f} minutes as logged" if before is not None else "no score as logged"
    if after is None:
        words += f", no score {how}: {plural(many, 'such run')}, and {cut} may fall out"
        words += _describe_others(entry, changed)
    else:
        words += f", {after:.6f} {how}"
    return Undone(words, before, after)


def _describe_others(entry: Result, changed: Collection[str]) -> str:
    """Return words on the olympic mean of the runs that were not changed; nothing where they have none."""
    rest = [time for path, time in minutes_of(entry).items() if path not in changed]
    without = olympic_mean(rest, cut_of(entry.benchmark))
    return "" if without is None else f"; the other {len(rest)} have an olympic mean of {without:.6f} minutes"
