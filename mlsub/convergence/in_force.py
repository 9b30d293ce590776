"""The reference points of a round as they were when its results were published, at its deadline, or as they are now."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.reference import Point, ReferenceRuns, point_of, points_of, runs_of
from mlsub.io.data import shipped
from mlsub.rounds import Round
from mlsub.rounds.publication import Day, published

#: The points merged by the day on which the round's results were published, by its deadline, or all that are installed.
Which = Literal["published", "deadline", "newest"]
WHICH: tuple[Which, ...] = get_args(Which)


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one merge changed in the points of a round; reference_changes.yaml describes the fields."""

    merged: date
    commit: str
    added: dict[str, tuple[int | float, ...]] = {}
    before: dict[str, dict[int | float, tuple[int | float, ...]]] = {}

    def sizes(self, name: str) -> tuple[int | float, ...]:
        """The batch sizes at which it changed the points of a benchmark."""
        return tuple(sorted({*self.added.get(name, ()), *self.before.get(name, {})}))


class History(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The deadline of a round, and what changed in its points since."""

    deadline: Day
    changes: tuple[Change, ...] = ()


def history_of(usage: str, round_name: str) -> History | None:
    """What is known of the points of a round; None where nothing is."""
    table = shipped(__file__, "reference_changes.yaml", dict[str, dict[str, History]])
    return table.get(usage, {}).get(round_name)


def day_of(which: Which, round_: Round) -> date | None:
    """The last day on which a merged point counts; None where all points do, as in a round not yet published."""
    if which == "published":
        found = published(round_.usage, round_.name)
    else:
        history = history_of(round_.usage, round_.name) if which == "deadline" else None
        found = history.deadline if history is not None else None
    return None if found is None else found.last


def which_of(stated: str | None) -> Which:
    """Which points a result says that it was compared with; the usual ones where it names none of the round."""
    return next((which for which in WHICH if which == stated), "published")


@lru_cache(maxsize=128)
def points_in_force(
    file: Path, name: str, round_: Round, runs: int, algorithm: Algorithm, which: Which = "published"
) -> tuple[Point, ...]:
    """The points of a benchmark that count, by batch size.

    Args:
        file: the installed data of the round.
        name: the benchmark.
        round_: whose points they are.
        runs: result files of a submission's entry.
        algorithm: that of the round.
        which: of which day.

    Raises:
        MlsubError: the installed data are broken.
    """
    if not _changes_since(day_of(which, round_), name, round_):
        return points_of(file, name, runs, algorithm)
    found = (point_of(one, name, runs, algorithm) for one in runs_in_force(file, name, round_, which))
    return tuple(sorted(found, key=lambda point: point.batch_size))


def other_points(
    points: tuple[Point, ...], file: Path, name: str, round_: Round, runs: int, algorithm: Algorithm
) -> tuple[tuple[Which, tuple[Point, ...]], ...]:
    """The points of other days than those that count, where they differ; see :func:`points_in_force`."""
    found: dict[tuple[Point, ...], Which] = {}
    for which in WHICH:
        found.setdefault(points_in_force(file, name, round_, runs, algorithm, which), which)
    return tuple((which, others) for others, which in found.items() if others != points)


def runs_in_force(file: Path, name: str, round_: Round, which: Which = "published") -> tuple[ReferenceRuns, ...]:
    """The reference's own runs that count; see :func:`points_in_force`."""
    found = runs_of(file)
    for change in reversed(_changes_since(day_of(which, round_), name, round_)):
        changed, before = change.sizes(name), change.before.get(name, {})
        stayed = (one for one in found if one.batch_size not in changed)
        found = (*stayed, *(ReferenceRuns(name, size, tuple(sorted(values))) for size, values in before.items()))
    return found


def merged_between(name: str, round_: Round, one: Which, other: Which) -> str:
    """What was merged between two days, such as ``320 on 2024-02-05 (74132ed)``; empty where nothing was."""
    first, last = sorted((day_of(which, round_) or date.max) for which in (one, other))
    return "; ".join(_in_words(change, name) for change in _changes_since(first, name, round_) if change.merged <= last)


def _in_words(change: Change, name: str) -> str:
    sizes = ", ".join(f"{size:g}" if size < 1e6 else str(size) for size in change.sizes(name))
    return f"{sizes} on {change.merged} ({change.commit})"


def _changes_since(day: date | None, name: str, round_: Round) -> tuple[Change, ...]:
    """What changed in the points of a benchmark after a day, in order."""
    history = history_of(round_.usage, round_.name)
    if day is None or history is None:
        return ()
    return tuple(change for change in history.changes if change.merged > day and change.sizes(name))


def described(which: Which, round_: Round) -> str:
    """Which points they are, in words; empty for the usual ones."""
    if which == "deadline":
        day = day_of(which, round_)
        return "all points, for the deadline is not known" if day is None else f"points merged by the deadline, {day}"
    return "newest points" if which == "newest" else ""
