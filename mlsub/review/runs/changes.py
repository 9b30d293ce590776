"""What changed between two rounds of a submitter besides the software."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from mlsub.io.show import first_few, plural
from mlsub.log.changes import changed_hyperparameters
from mlsub.log.reading import usable_number
from mlsub.review.cadence import show_count
from mlsub.review.runs.model import Observation, furthest_place, mean_minutes, observe, runs_started, show_duration
from mlsub.review.runs.pace import measure_pauses
from mlsub.rules.catalogue import finding
from mlsub.submission.pairing import paired
from mlsub.submission.result import Result

#: Keys by which a training is tuned; what else they log (names of hosts, sizes of a cache) is not part of it.
_TUNED = re.compile(
    r"(?s)(?:opt|sgd|adam|adamw|lars|lamb|adagrad|shampoo|sparse|dense)_.*|global_batch_size|gradient_accumulation_steps|"
    r".*(?:warmup|decay|learning_rate|weight_decay|dropout|epochs?|precision).*"
)
#: A pause that comes or goes is reported from this share of the run on.
_PAUSE_SHARE = 0.01
#: Training pace that differs by less is the noise of runs.
_PACE = 0.01
#: Medians further apart than this factor count different things.
_SAME_UNIT = 4
#: Counts further apart than this factor count different things, such as epochs and steps.
_OTHER_UNIT = 1000
#: So many standard errors apart, two means are not equal by chance.
_STANDARD_ERRORS = 3


class _Change(msgspec.Struct, frozen=True):
    """One thing that is not as it was, in words; without where only one of the two logs it."""

    name: str
    old: Any
    new: Any
    words: str


def find_changes(entries: Sequence[Result]) -> Iterator[Observation]:
    """Yield what changed since the entries of the round before."""
    for before, entry in paired(entries):
        changes = [*_find_tuning(before, entry), *_find_progress(before, entry), *_find_pauses(before, entry)]
        if not any(change.words for change in changes) or runs_started(before) & runs_started(entry):
            continue
        changes += _find_pace(before, entry)
        old, new = mean_minutes(before), mean_minutes(entry)
        shown = [change.words for change in changes if change.words]
        if one_sided := len(changes) - len(shown):
            shown.append(f"{plural(one_sided, 'key')} that only one of them logs")
        if old is not None and new is not None and old > 0:
            shown.insert(0, f"{old:.6f} to {new:.6f} minutes ({(new - old) / old:+.2%})")
        yield observe(
            entry,
            finding("inspect.changed", entry.path, actual=f"since {before.path}: {first_few(shown, 12)}"),
            other=before.path,
            minutes_before=old,
            minutes=new,
            changes=[{"name": change.name, "old": change.old, "new": change.new} for change in changes],
        )


def _find_tuning(before: Result, entry: Result) -> Iterator[_Change]:
    """Yield optimizer, schedule and batch size, as most runs of either side logged them."""
    for change in changed_hyperparameters([t.run for t in before.logs], [t.run for t in entry.logs]):
        if _TUNED.fullmatch(change.name) and not _is_alike(change.old, change.new):
            both = change.old is not None and change.new is not None
            words = f"{change.name} {change.old} to {change.new}" if both else ""
            yield _Change(change.name, change.old, change.new, words)


def _is_alike(old: Any, new: Any) -> bool:
    """Return whether two logged values are the same number written otherwise, or counts in units that lie far apart."""
    try:
        values = [msgspec.json.decode(str(value)) for value in (old, new)]
    except msgspec.DecodeError:
        return False
    small, large = sorted(abs(usable_number(value) or 0) for value in values)
    return bool(values[0] == values[1]) or (small >= 1 and large > _OTHER_UNIT * small)


def _find_progress(before: Result, entry: Result) -> Iterator[_Change]:
    """Yield how far the runs trained, in the median, where the means differ by more than the runs explain."""
    both = _count_same_progress(before, entry)
    if both is None:
        return
    sides = [[place for _, place in _furthest_places(one)] for one in (before, entry)]
    means = [statistics.fmean(places) for places in sides]
    errors = [statistics.pvariance(places) / len(places) for places in sides]
    if abs(means[0] - means[1]) > _STANDARD_ERRORS * math.sqrt(sum(errors)):
        name, old, new = both
        what = {"epoch_num": "last epoch_num", "samples_count": "samples", "step_num": "steps"}[name]
        yield _Change(f"trained {what}", old, new, f"{what} {show_count(old)} to {show_count(new)}")


def _count_same_progress(before: Result, entry: Result) -> tuple[str, float, float] | None:
    """Return what the runs of both entries count, and how far they trained in the median; None for different counts.

    epoch_num may be epochs in one round and samples in the next.
    """
    sides = [_furthest_places(one) for one in (before, entry)]
    names = [{name for name, _ in places} for places in sides]
    if names[0] != names[1] or len(names[0]) != 1:
        return None
    old, new = (statistics.median_low(place for _, place in places) for places in sides)
    return (names[0].pop(), old, new) if max(old, new) < _SAME_UNIT * min(old, new) else None


def _furthest_places(entry: Result) -> list[tuple[str, float]]:
    return [place for log in entry.logs if log.run.converged and (place := furthest_place(log)) is not None]


def _find_pauses(before: Result, entry: Result) -> Iterator[_Change]:
    old, new = measure_pauses(before), measure_pauses(entry)
    for around in sorted(old.keys() | new.keys()):
        (a_share, a), (b_share, b) = old.get(around, (0.0, 0.0)), new.get(around, (0.0, 0.0))
        if abs(a_share - b_share) >= _PAUSE_SHARE:
            name = f"pause from {around[0]} to {around[1]}"
            yield _Change(name, a / 1000, b / 1000, f"{name} {show_duration(a)} to {show_duration(b)}")


def _find_pace(before: Result, entry: Result) -> Iterator[_Change]:
    """Yield how much faster training itself got, by epochs or blocks: what software and hardware gave."""
    old, new = _training_pace(before), _training_pace(entry)
    if old is None or new is None or abs(new / old - 1) < _PACE or _count_same_progress(before, entry) is None:
        return
    yield _Change("pace of training", 1.0, new / old, f"training itself {new / old:.3f} times as fast")


def _training_pace(entry: Result) -> float | None:
    """Return the progress a second of training, median of the runs; None where epochs or blocks do not show it."""
    paces = []
    for log in entry.logs:
        trained = sum(log.trace.blocks.lengths) or sum(log.trace.epochs.lengths)
        furthest = furthest_place(log)
        if trained > 1000 and furthest is not None and furthest[0] != "step_num":
            paces.append(furthest[1] / trained * 1000)
    return statistics.median(paces) if len(paces) > len(entry.logs) / 2 else None
