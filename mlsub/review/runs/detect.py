"""Put every detector on the runs of all entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlsub.review.runs.changes import find_changes
from mlsub.review.runs.clock import find_moved_clock
from mlsub.review.runs.copies import find_copies, find_shared_seeds
from mlsub.review.runs.model import Observation
from mlsub.review.runs.numbers import find_holes, find_jumps, find_order
from mlsub.review.runs.pace import find_gaps, find_long_init, find_pace, find_pauses, find_slow_intervals
from mlsub.review.runs.quality import find_ends, find_small_spread
from mlsub.review.runs.revisions import find_revisions
from mlsub.review.runs.stretch import find_overlap, find_stretch
from mlsub.rules.catalogue import catalogue
from mlsub.submission.result import Result

_WITHIN_ENTRY: tuple[Callable[[Result], Iterator[Observation]], ...] = (
    find_stretch,
    find_ends,
    find_moved_clock,
    find_jumps,
    find_gaps,
    find_pauses,
    find_small_spread,
    find_holes,
    find_order,
    find_slow_intervals,
    find_pace,
    find_long_init,
    find_revisions,
)
_ACROSS_ENTRIES: tuple[Callable[[Sequence[Result]], Iterator[Observation]], ...] = (
    find_overlap,
    find_copies,
    find_shared_seeds,
    find_changes,
)


def observe_runs(entries: Sequence[Result], against: Sequence[Result] = ()) -> dict[str, list[Observation]]:
    """Return what the detectors find of each entry, by its path, in the order of the catalogue.

    Args:
        entries: those to report on, each with its logs.
        against: those to compare them with besides; findings on these alone are left out.
    """
    found: dict[str, list[Observation]] = {entry.path: [] for entry in entries}
    for entry in entries:
        for find_within in _WITHIN_ENTRY:
            found[entry.path].extend(find_within(entry))
    # What is compared with comes first, so that what agrees with it is reported of the entries in question.
    all_entries = [*(entry for entry in against if entry.path not in found), *entries]
    for find_across in _ACROSS_ENTRIES:
        for observation in find_across(all_entries):
            if observation.entry in found:
                found[observation.entry].append(observation)
    order = list(catalogue())
    for observations in found.values():
        observations.sort(key=lambda one: (order.index(one.finding.rule), one.finding.path))
    return found
