"""The score of an entry as logged, and with what a detector found undone, by the scoring rules of its round."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mlsub.convergence.statistics import cut_of
from mlsub.log.trace import Trace
from mlsub.review.runs.model import Entry, Undone, name_of
from mlsub.score.scaled import olympic_mean

#: How the words on the score begin, wherever they stand behind what was found.
_WORDS = re.compile(r"(?:^|; )((?:[\d.]+ minutes|no score) as logged.*)$", re.S)
#: What the rules say of all times but those of runs that do not count.
_MEAN = "the score is the olympic mean of the runs' times"
_SLOWEST = "a run that does not reach the target does not count, and stands for the slowest"


def parted(actual: str) -> tuple[str, str]:
    """Return what an observation says was found, and of the score without it; nothing where it says nothing of that."""
    match = _WORDS.search(actual)
    return (actual[: match.start()], match[1]) if match else (actual, "")


def minutes_of(entry: Entry) -> dict[str, float | None]:
    """Return the time to train (minutes) of each run as logged, by its path; None for one that did not converge."""
    return {trace.path: trace.run.minutes if trace.run.converged else None for trace in entry.traces}


def score_of(entry: Entry, minutes: Mapping[str, float | None] | None = None) -> float | None:
    """Return the olympic mean in minutes of an entry's runs, as logged or with other times.

    A run that did not converge counts as slowest; None where more of them are than may fall out.
    """
    times = minutes_of(entry) if minutes is None else minutes
    return olympic_mean(list(times.values()), _cut(entry))


def with_times(entry: Entry, how: str, minutes: Mapping[str, float | None], *, alone: bool = False) -> Undone:
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


def shorter(entry: Entry, how: str, by_ms: Mapping[str, float]) -> Undone:
    """Return the score where some runs, by their paths, took so many ms less."""
    less = {path: time for path, time in minutes_of(entry).items() if time is not None and path in by_ms}
    return with_times(entry, how, {path: max(0.0, time - by_ms[path] / 60_000) for path, time in less.items()})


def without_runs(entry: Entry, runs: list[Trace]) -> Undone:
    """Return the score where some runs count as not converged."""
    logged = minutes_of(entry)
    changed: dict[str, float | None] = dict.fromkeys(trace.path for trace in runs)
    before, after = score_of(entry), score_of(entry, logged | changed)
    many, cut = len(runs), _cut(entry)
    how = f"with {'it' if many == 1 else 'them'} counted as not converged"
    why = f"{_SLOWEST}; {cut} of the slowest and of the fastest fall out"
    words = f"{before:.6f} minutes as logged" if before is not None else "no score as logged"
    if after is None:
        words += f", no score {how}: {many} such run{'s' * (many > 1)}, and {cut} may fall out"
    else:
        words += f", {after:.6f} {how}"
    return _undone(entry, how, why, changed, (before, after), words, alone=after is None)


def _undone(
    entry: Entry,
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
        runs=tuple(name_of(trace) for trace in entry.traces if trace.path in changed),
        minutes=scores[0],
        minutes_undone=scores[1],
        minutes_without=without,
        words=words,
    )


def _cut(entry: Entry) -> int:
    return cut_of(entry.known_benchmark or entry.benchmark)
