"""Reference convergence points: what the reference needed at each batch size, and which points count on which day."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mlsub.convergence import (
    CUTOFFS,
    Algorithm,
    Cutoff,
    least_accepted_mean,
    mean_of,
    stdev_of,
    threshold_of,
    traits_of,
    trim,
)
from mlsub.io import MlsubError
from mlsub.io.data import loads, shipped
from mlsub.io.look import failing_as, read_bounded
from mlsub.log.reading import usable_number
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import Day, published

#: Reference files are below a megabyte.
MAX_BYTES = 16 << 20
EPOCHS, SAMPLES = "Epochs to converge", "samples to converge"
#: The reference points of the rehearsal.
REHEARSAL = Path(__file__).parent / "rehearsal"


class ReferenceRuns(NamedTuple):
    """The runs of the reference at a batch size: where each converged, in order; ``name`` is that of their record."""

    name: str
    batch_size: float
    values: tuple[float, ...]


class Point(msgspec.Struct, frozen=True):
    """One reference convergence point: mean and stdev of the runs at a batch size, in the benchmark's unit.

    ``minimum`` is the least accepted mean by which points are pruned; ``runs`` counts the runs behind it, 0 where it is
    interpolated.
    """

    batch_size: float
    runs: int
    mean: float
    stdev: float
    minimum: float

    def accepted_from(self, earlier: float = 0) -> float:
        """The least mean of a submission that is accepted, where the round lets it be ``earlier`` by so much."""
        return threshold_of(self.mean, self.minimum - earlier)


def reference_file(usage: str, ruleset: str, benchmark: str) -> Path | None:
    """The reference data of a benchmark; None where there is none.

    The rehearsal has its own, made of real runs; all others are those that the installed mlperf-logging carries.
    """
    if usage == "rehearsal":
        file = REHEARSAL / f"rcps_{benchmark}.json"
        return file if file.is_file() else None
    return _installed_by_name(f"{usage}_{ruleset}").get(f"rcps_{benchmark}.json")


@cache
def _installed_by_name(name: str) -> dict[str, Path]:
    """The reference data of a round by their names, in the installed mlperf-logging, which is not imported."""
    installed = importlib.util.find_spec("mlperf_logging")
    folders = (installed.submodule_search_locations or ()) if installed else ()
    found = [file for folder in folders for file in Path(folder, "rcp_checker", name).glob("rcps_*.json")]
    return {file.name: file for file in reversed(found) if file.is_file()}


@lru_cache(maxsize=64)
def benchmark_in(file: Path) -> str | None:
    """The benchmark that a reference file says it is for; None where its records name none, or several.

    Raises:
        MlsubError: the file is none of this format.
    """
    found = [record.get("Benchmark") if isinstance(record, dict) else None for record in _read(file).values()]
    named = {name if isinstance(name, str) else None for name in found}
    return named.pop() if len(named) == 1 else None


@lru_cache(maxsize=64)
def read_points(file: Path, benchmark: str, runs: int, algorithm: Algorithm) -> tuple[Point, ...]:
    """The points of a reference file, by batch size.

    Args:
        file: JSON in the format of mlperf-logging: records by name, each with BS and a list of epochs or samples.
        benchmark: decides how many runs are trimmed.
        runs: result files of a submission's entry.
        algorithm: that of the round.

    Raises:
        MlsubError: the file is none of this format.
    """
    if not runs_of(file):
        raise MlsubError(f"{file.name}: no reference points")
    return make_points(runs_of(file), benchmark, runs, algorithm)


@lru_cache(maxsize=64)
def hyperparameters_of(file: Path, batch_size: float) -> tuple[float | None, dict[str, Any]]:
    """The reference's own hyperparameters at a batch size, or else at the next smaller one, and which; none without.

    Raises:
        MlsubError: the file is none of this format.
    """
    known = [one for one in _read(file).values() if isinstance(one, dict) and isinstance(one.get("Hyperparams"), dict)]
    sized = [(size, one) for one in known if (size := usable_number(one.get("BS"))) is not None and size <= batch_size]
    size, record = max(sized, key=lambda one: one[0], default=(None, {"Hyperparams": {}}))
    return size, record["Hyperparams"]


@lru_cache(maxsize=64)
def runs_of(file: Path) -> tuple[ReferenceRuns, ...]:
    """The reference's own runs, a record after the other.

    Raises:
        MlsubError: the file is none of this format.
    """
    found = []
    for name, record in _read(file).items():
        if not isinstance(record, dict) or usable_number(record.get("BS")) is None:
            raise MlsubError(f"{name[:60]}: no batch size (BS)")
        wanted = traits_of(str(record.get("Benchmark"))).points
        values = record.get(wanted)
        if not isinstance(values, list) or not all(usable_number(value) is not None for value in values):
            raise MlsubError(f"{name[:60]}: no list of numbers under {wanted!r}")
        found.append(ReferenceRuns(name, record["BS"], tuple(sorted(values))))
    return tuple(found)


def make_points(
    references: Iterable[ReferenceRuns], benchmark: str, runs: int, algorithm: Algorithm
) -> tuple[Point, ...]:
    """The points that runs of the reference make, by batch size; see :func:`read_points`.

    Raises:
        MlsubError: at a batch size they are too few.
    """
    points = []
    for name, batch_size, values in references:
        kept = trim(values, benchmark)
        if not kept:
            raise MlsubError(f"{name[:60]}: {len(values)} runs are too few")
        mean = mean_of(kept)
        stdev = stdev_of(kept if algorithm.stdev == "trimmed" else values)
        minimum = least_accepted_mean(mean, stdev, len(kept), runs - 2)
        points.append(Point(batch_size, len(values), mean, stdev, minimum))
    return tuple(sorted(points, key=lambda point: point.batch_size))


def _read(file: Path) -> dict[str, Any]:
    try:
        with failing_as(file.name):
            content = loads(read_bounded(file, MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise MlsubError(f"{file.name}: not JSON") from error
    if not isinstance(content, dict):
        raise MlsubError(f"{file.name}: an object of reference points is needed")
    return content


class ReferenceChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    changes: tuple[ReferenceChange, ...] = ()


def history_of(usage: str, round_name: str) -> History | None:
    """What is known of the points of a round; None where nothing is."""
    table = shipped(__file__, "reference_changes.yaml", dict[str, dict[str, History]])
    return table.get(usage, {}).get(round_name)


def cutoff_day(cutoff: Cutoff, round_: Round) -> date | None:
    """The last day on which a merged point counts; None where all points do, as in a round not yet published."""
    if cutoff == "published":
        found = published(round_.usage, round_.name)
    else:
        history = history_of(round_.usage, round_.name) if cutoff == "deadline" else None
        found = history.deadline if history is not None else None
    return None if found is None else found.last


def parse_cutoff(stated: str | None) -> Cutoff:
    """Which points a result says that it was compared with; the usual ones where it names none of the round."""
    return next((cutoff for cutoff in CUTOFFS if cutoff == stated), "published")


def runs_in_force(file: Path, name: str, round_: Round, cutoff: Cutoff = "published") -> tuple[ReferenceRuns, ...]:
    """The reference's own runs that count of the installed data of a round, by the points of a day.

    Raises:
        MlsubError: the file is none of this format.
    """
    found = runs_of(file)
    for change in reversed(_changes_since(cutoff_day(cutoff, round_), name, round_)):
        changed, before = change.sizes(name), change.before.get(name, {})
        stayed = (one for one in found if one.batch_size not in changed)
        found = (*stayed, *(ReferenceRuns(name, size, tuple(sorted(values))) for size, values in before.items()))
    return found


def merged_between(name: str, round_: Round, one: Cutoff, other: Cutoff) -> str:
    """What was merged between two days, such as ``320 on 2024-02-05 (74132ed)``; empty where nothing was."""
    first, last = sorted((cutoff_day(cutoff, round_) or date.max) for cutoff in (one, other))
    merges = []
    for change in _changes_since(first, name, round_):
        if change.merged <= last:
            sizes = ", ".join(f"{size:g}" if size < 1e6 else str(size) for size in change.sizes(name))
            merges.append(f"{sizes} on {change.merged} ({change.commit})")
    return "; ".join(merges)


def _changes_since(day: date | None, name: str, round_: Round) -> tuple[ReferenceChange, ...]:
    """What changed in the points of a benchmark after a day, in order."""
    history = history_of(round_.usage, round_.name)
    if day is None or history is None:
        return ()
    return tuple(change for change in history.changes if change.merged > day and change.sizes(name))


def describe_cutoff(cutoff: Cutoff, round_: Round) -> str:
    """Which points they are, in words; empty for the usual ones."""
    if cutoff == "deadline":
        day = cutoff_day(cutoff, round_)
        return "all points, for the deadline is not known" if day is None else f"points merged by the deadline, {day}"
    return "newest points" if cutoff == "newest" else ""
