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
from mlsub.review.cadence import grouped
from mlsub.review.runs.model import Observation, observe, reached, runs_started, score_of, seconds
from mlsub.review.runs.pace import pauses_of
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
        yield from _observed(before, entry)


def _observed(before: Result, entry: Result) -> Iterator[Observation]:
    changes = [*_tuned(before, entry), *_trained(before, entry), *_pauses(before, entry)]
    if not any(change.words for change in changes) or runs_started(before) & runs_started(entry):
        return
    changes += _pace(before, entry)
    old, new = score_of(before), score_of(entry)
    shown = [change.words for change in changes if change.words]
    silent = len(changes) - len(shown)
    if silent:
        shown.append(f"{plural(silent, 'key')} that only one of them logs")
    if old is not None and new is not None and old > 0:
        shown.insert(0, f"{old:.6f} to {new:.6f} minutes ({(new - old) / old:+.2%})")
    yield observe(
        "inspect.changed",
        entry,
        f"since {before.path}: {first_few(shown, 12)}",
        other=before.path,
        minutes_before=old,
        minutes=new,
        changes=[{"name": c.name, "old": c.old, "new": c.new} for c in changes],
    )


def _tuned(before: Result, entry: Result) -> Iterator[_Change]:
    """Optimizer, schedule and batch size, as most runs of either side logged them."""
    for change in changed_hyperparameters([t.run for t in before.logs], [t.run for t in entry.logs]):
        if _TUNED.fullmatch(change.name) and not _is_alike(change.old, change.new):
            both = change.old is not None and change.new is not None
            words = f"{change.name} {change.old} to {change.new}" if both else ""
            yield _Change(change.name, change.old, change.new, words)


def _is_alike(old: Any, new: Any) -> bool:
    """Whether two logged values are the same number written otherwise, or counts in units that lie far apart."""
    try:
        values = [msgspec.json.decode(str(value)) for value in (old, new)]
    except msgspec.DecodeError:
        return False
    small, large = sorted(abs(usable_number(value) or 0) for value in values)
    return bool(values[0] == values[1]) or (small >= 1 and large > _OTHER_UNIT * small)


def _trained(before: Result, entry: Result) -> Iterator[_Change]:
    """How far the runs trained, in the median."""
    old, new = _median_place(before), _median_place(entry)
    if old is None or new is None or not _comparable(old, new) or not _beyond_chance(before, entry):
        return
    what = {"epoch_num": "last epoch_num", "samples_count": "samples", "step_num": "steps"}[old[0]]
    yield _Change(f"trained {what}", old[1], new[1], f"{what} {grouped(old[1])} to {grouped(new[1])}")


def _beyond_chance(before: Result, entry: Result) -> bool:
    """Whether two entries trained for lengths whose means differ by more than their runs explain."""
    means, errors = [], []
    for one in (before, entry):
        found = [far[1] for log in one.logs if log.run.converged and (far := reached(log)) is not None]
        means.append(statistics.fmean(found))
        errors.append(statistics.pvariance(found) / len(found))
    return abs(means[0] - means[1]) > _STANDARD_ERRORS * math.sqrt(sum(errors))


def _comparable(old: tuple[str, float], new: tuple[str, float]) -> bool:
    """Whether both count the same: epoch_num may be epochs in one round and samples in the next."""
    return old[0] == new[0] and max(old[1], new[1]) < _SAME_UNIT * min(old[1], new[1])


def _median_place(entry: Result) -> tuple[str, float] | None:
    found = [far for log in entry.logs if log.run.converged and (far := reached(log)) is not None]
    names = {name for name, _ in found}
    return (names.pop(), statistics.median_low(place for _, place in found)) if len(names) == 1 else None


def _pauses(before: Result, entry: Result) -> Iterator[_Change]:
    old, new = pauses_of(before), pauses_of(entry)
    for kind in sorted(old.keys() | new.keys()):
        (a_share, a), (b_share, b) = old.get(kind, (0.0, 0.0)), new.get(kind, (0.0, 0.0))
        if abs(a_share - b_share) >= _PAUSE_SHARE:
            name = f"pause from {kind[0]} to {kind[1]}"
            yield _Change(name, a / 1000, b / 1000, f"{name} {seconds(a)} to {seconds(b)}")


def _pace(before: Result, entry: Result) -> Iterator[_Change]:
    """How much faster the training itself got, by the lengths of epochs or blocks: what software and hardware gave."""
    places = _median_place(before), _median_place(entry)
    old, new = _training_pace(before), _training_pace(entry)
    if old is None or new is None or abs(new / old - 1) < _PACE:
        return
    if places[0] is None or places[1] is None or not _comparable(places[0], places[1]):
        return
    yield _Change("pace of training", 1.0, new / old, f"training itself {new / old:.3f} times as fast")


def _training_pace(entry: Result) -> float | None:
    """Progress a second of training, in the median of the runs; None where epochs or blocks do not show it."""
    paces = []
    for log in entry.logs:
        trained = sum(log.trace.blocks.lengths) or sum(log.trace.epochs.lengths)
        far = reached(log)
        if trained > 1000 and far is not None and far[0] != "step_num":
            paces.append(far[1] / trained * 1000)
    return statistics.median(paces) if len(paces) > len(entry.logs) / 2 else None
