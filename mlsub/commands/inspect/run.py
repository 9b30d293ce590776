"""All detectors over all entries, the worst entry first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from mlsub.commands.inspect.gather import Sides, read_sides
from mlsub.commands.inspect.model import Frequency, Inspected, Inspection, Rates
from mlsub.review.runs.changes import find_changes
from mlsub.review.runs.copies import find_copies, find_shared_seeds
from mlsub.review.runs.evaluations import find_small_spread
from mlsub.review.runs.model import Entry, Observation
from mlsub.review.runs.numbers import find_holes, find_order
from mlsub.review.runs.pace import find_gaps, find_long_init, find_pace, find_pauses, find_slow_intervals
from mlsub.review.runs.quality import find_met_earlier, find_stops_below
from mlsub.review.runs.statements import find_jumps, find_stated_time, find_throughput
from mlsub.review.runs.stretch import find_overlap, find_stretch
from mlsub.rules.catalogue import catalogue
from mlsub.submission.organisations import organisation
from mlsub.submission.report import Choice
from mlsub.workspace import Settings

OF_ENTRY: tuple[Callable[[Entry], Iterator[Observation]], ...] = (
    find_stretch,
    find_stops_below,
    find_stated_time,
    find_jumps,
    find_gaps,
    find_pauses,
    find_small_spread,
    find_holes,
    find_order,
    find_throughput,
    find_slow_intervals,
    find_pace,
    find_long_init,
    find_met_earlier,
)
ACROSS: tuple[Callable[[Sequence[Entry]], Iterator[Observation]], ...] = (
    find_overlap,
    find_copies,
    find_shared_seeds,
    find_changes,
)


def inspection_of(sides: Sides, settings: Settings) -> Inspection:
    """The inspection of some places, the one that is remembered where no file of them has changed.

    Raises:
        MlsubError: no log is below a path.
    """
    drawer = sides.drawer(settings.memory)
    if drawer is not None and (known := drawer.recall(Inspection)) is not None:
        return known
    found = read_sides(sides, settings)
    inspection = inspect(found.entries, found.beside)
    if drawer is not None and found.lasts:
        drawer.keep(inspection)
    return inspection


def inspect(entries: Sequence[Entry], against: Sequence[Entry] = ()) -> Inspection:
    """Inspect entries.

    Args:
        entries: those to report on.
        against: those to compare them with besides; findings on these alone are left out.
    """
    found: dict[str, list[Observation]] = {entry.path: [] for entry in entries}
    for entry in entries:
        for of_entry in OF_ENTRY:
            found[entry.path].extend(of_entry(entry))
    # What is compared with comes first, so that what agrees with it is reported of the entries in question.
    together = [*(entry for entry in against if entry.path not in found), *entries]
    for across in ACROSS:
        for observation in across(together):
            if observation.entry in found:
                found[observation.entry].append(observation)
    inspected = [_inspected(entry, found[entry.path]) for entry in entries]
    return Inspection(entries=tuple(sorted(inspected, key=lambda entry: (-entry.weight, entry.path))))


def _inspected(entry: Entry, observations: Sequence[Observation]) -> Inspected:
    order = list(catalogue())
    return Inspected(
        path=entry.path,
        round=entry.round.name,
        organisation=entry.organisation,
        organisation_name=organisation(entry.organisation),
        system=entry.system,
        benchmark=entry.benchmark,
        benchmark_name=entry.held.benchmark,
        division=entry.division,
        runs=len(entry.traces),
        with_records=sum(trace.run.timeline.events > 0 for trace in entry.traces),
        observations=tuple(sorted(observations, key=lambda o: (order.index(o.finding.rule), o.finding.path))),
        unreadable={trace.path: trace.unreadable for trace in entry.traces if trace.unreadable is not None},
    )


def select(inspection: Inspection, choice: Choice) -> Inspection:
    """The inspection with only the findings asked for."""
    entries = [
        msgspec.structs.replace(e, observations=tuple(o for o in e.observations if choice.wants(o.finding)))
        for e in inspection.entries
    ]
    entries.sort(key=lambda entry: (-entry.weight, entry.path))
    return msgspec.structs.replace(inspection, entries=tuple(entries))


def rates(inspection: Inspection) -> Rates:
    """How often each rule applies."""
    entries = inspection.entries
    found = []
    for rule, info in catalogue().items():
        if rule.startswith("inspect."):
            counts = [sum(o.finding.rule == rule for o in entry.observations) for entry in entries]
            found.append(Frequency(rule, info.title, sum(map(bool, counts)), len(counts), sum(counts)))
    return Rates(entries=len(entries), logs=sum(entry.runs for entry in entries), rates=tuple(found))
