"""Read the runs of all entries, and put every detector on them; the worst entry comes first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.io.errors import MlsubError
from mlsub.judge.package import list_package, logs_of
from mlsub.log.run import RunFold
from mlsub.log.trace import Trace, Traced, trace_of
from mlsub.present.envelope import Answer
from mlsub.review.runs.changes import find_changes
from mlsub.review.runs.copies import find_copies, find_shared_seeds
from mlsub.review.runs.model import Entry, Observation
from mlsub.review.runs.numbers import find_holes, find_jumps, find_order, find_stated_time, find_throughput
from mlsub.review.runs.pace import find_gaps, find_long_init, find_pace, find_pauses, find_slow_intervals
from mlsub.review.runs.quality import find_met_earlier, find_small_spread, find_stops_below
from mlsub.review.runs.stretch import find_overlap, find_stretch
from mlsub.rounds import Round, get_round
from mlsub.rules.catalogue import catalogue
from mlsub.submission.find import Place, Target, organisation, packages
from mlsub.submission.model import LogReport, Package
from mlsub.submission.report import Choice
from mlsub.systems.description import read_description
from mlsub.systems.fields import facts_of
from mlsub.workspace import Settings, find_places, in_one_line
from mlsub.workspace.cache import content_digest, digest_of, exactly, file_fingerprint, record_name, scan_tree
from mlsub.workspace.logs import logs_job
from mlsub.workspace.schedule import read_logs


class Gathered(NamedTuple):
    """Entries to report on, those to compare them with, and the folder that their paths are relative to.

    ``lasts`` says whether all of it could be looked at, so that it would be the same another time.
    """

    entries: list[Entry]
    beside: list[Entry]
    root: Path
    lasts: bool


class _Part(NamedTuple):
    """An organisation's files, and the round they are of."""

    package: Package
    round: Round


class Sides(NamedTuple):
    """Places to report on, those to compare them with, the folder that all have in common, and how both were named."""

    found: tuple[Place, ...]
    beside: tuple[Place, ...]
    overlay: str | None
    root: Path
    names: tuple[Sequence[str], Sequence[str]]

    def fingerprint(self) -> bytes | None:
        """The digest of all that an inspection of these places rests on; None where it cannot be known."""
        both = (*self.found, *self.beside)
        try:
            words = [(one.usage, one.round, content_digest(self.overlay)) for one in both]
        except OSError:
            return None
        trees = [
            file_fingerprint(place.path)
            if place.target is Target.LOG
            else scan_tree(place.organisation or place.path).fingerprint
            for place in both
        ]
        return None if None in trees else digest_of(words, trees)


def sides_of(
    paths: Sequence[str],
    settings: Settings,
    beside: Sequence[str] = (),
    skip: Callable[[str], None] | None = None,
) -> Sides:
    """What lies at some paths, and at some others.

    Args:
        paths: what :mod:`mlsub.workspace.places` takes for a path.
        settings: what the caller knows better than the folders; its round is that of ``paths``.
        beside: the others.
        skip: takes what is wrong with each place that cannot be looked at, where others can; without it, that is an
            error.

    Raises:
        MlsubError: a path does not exist, or has no known round.
    """
    found = _found(paths, settings, skip)
    others = _found(beside, msgspec.structs.replace(settings, round=None), skip)
    root = Path(os.path.commonpath([place.root for place in (*found, *others)]))
    return Sides(tuple(found), tuple(others), settings.overlay, root, (paths, beside))


def read_sides(sides: Sides, settings: Settings) -> Gathered:
    """The entries of some places, their logs read; paths are relative to the folder that all have in common.

    Raises:
        MlsubError: no log is below a path.
    """
    parts, beside = _parts(sides.found, sides), _parts(sides.beside, sides)
    for names, of in zip(sides.names, (parts, beside), strict=True):
        if names and not any(logs_of(part.package) for part in of):
            raise MlsubError(f"There is no result log below {', '.join(names[:3])}. Name an organisation's tree.")
    traced, jobs, known = msgspec.structs.replace(settings, trace=True), [], set[str]()
    for part in (*parts, *beside):
        logs = [log for log in dict.fromkeys(logs_of(part.package)) if log not in known]
        known.update(logs)
        jobs.append(logs_job(logs, sides.root, part.round, traced))
    reports = zip(jobs, read_logs(jobs, traced), strict=True)
    traces = {log: _trace(one) for job, read in reports for log, one in zip(job.logs, read, strict=True)}
    transient = any(finding.transient for part in (*parts, *beside) for finding in part.package.findings)
    return Gathered(
        [entry for part in parts for entry in _entries(part, traces)],
        [entry for part in beside for entry in _entries(part, traces)],
        sides.root,
        not transient and all(trace.unreadable is None for trace in traces.values()),
    )


def _found(paths: Sequence[str], settings: Settings, skip: Callable[[str], None] | None) -> list[Place]:
    found, failed = find_places(paths, settings)
    lines = dict.fromkeys(in_one_line(place.problem) for place in failed if place.problem)
    if not lines:
        return found
    if skip is None or not found:
        raise MlsubError(*lines)
    for line in lines:
        skip(line)
    return found


def _parts(places: Sequence[Place], sides: Sides) -> list[_Part]:
    parts: list[_Part] = []
    for place in places:
        round_ = get_round(place.usage, place.round, sides.overlay)
        try:
            parts += [_Part(list_package(one, sides.root, round_), round_) for one in packages(place)]
        except OSError as error:
            reason = error.strerror or error
            raise MlsubError(f"{place.path} cannot be read: {reason}. Check your permissions.") from error
    whole = {log for part in parts if part.package.in_tree for log in logs_of(part.package)}
    return [part for part in parts if part.package.in_tree or not whole.issuperset(logs_of(part.package))]


def _trace(log: LogReport) -> Trace:
    """What forensics reads of a log; of one that cannot be read, why."""
    for found in log.findings:
        if found.rule in ("log.unreadable", "rule.crashed"):
            why = found.actual or found.message.removeprefix("The log cannot be read: ")
            return Trace(path=log.path, run=RunFold().finish(), unreadable=why)
    return trace_of(log.path, log.run, log.trace or Traced())


def _entries(part: _Part, traces: dict[str, Trace]) -> list[Entry]:
    package, round_ = part.package, part.round
    facts = {
        file.name.removesuffix(".json"): facts_of(read_description(file, package.path_of(file), round_).content)
        for file in package.descriptions
    }
    return [
        Entry(
            path=part.package.path_of(files.folder),
            round=part.round,
            organisation=files.organisation,
            system=files.system,
            benchmark=files.benchmark,
            scaling_type=files.scaling_type,
            traces=tuple(traces[str(file)] for file in files.results),
            facts=facts.get(files.system),
        )
        for files in part.package.entries
        if files.results
    ]


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


_POINTS = {Severity.ERROR: 100, Severity.WARNING: 10, Severity.NOTE: 1}


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """One entry and what was found of it.

    ``path`` is relative to the folder that all that was inspected has in common; ``division`` is what all logs that
    state one agree on; ``organisation_name`` and ``benchmark_name`` are the same in every round. ``with_records``
    counts logs that hold a record; ``unreadable`` has those that do not open, with the reason.
    """

    path: str
    round: str
    organisation: str
    organisation_name: str
    system: str
    benchmark: str
    benchmark_name: str
    division: str | None
    runs: int
    with_records: int
    observations: tuple[Observation, ...]
    unreadable: dict[str, str]

    @property
    def rank(self) -> tuple[int, str]:
        """Where it comes: the worst entry first. A warning counts more than all notes that there are rules for."""
        rules = {o.finding.rule: o.finding.severity for o in self.observations if o.finding.suppressed is None}
        return -sum(_POINTS[severity] for severity in rules.values()), self.path


class Inspection(Answer, frozen=True, kw_only=True):
    """Everything one inspection found: the entry with most to ask about first, entries without findings last."""

    SCHEMA: ClassVar[int] = 6

    entries: tuple[Inspected, ...]

    @property
    def found(self) -> bool:
        """Whether there is a finding that counts."""
        return any(one.finding.suppressed is None for entry in self.entries for one in entry.observations)

    @property
    def read(self) -> int:
        """How many logs hold a record."""
        return sum(entry.with_records for entry in self.entries)


class Frequency(msgspec.Struct, frozen=True):
    """How often a rule applies: entries with a finding, of all entries, and findings."""

    rule: str
    title: str
    entries: int
    of: int
    findings: int


class Rates(Answer, frozen=True, kw_only=True):
    """How often each rule applies to entries that hold so many logs."""

    SCHEMA: ClassVar[int] = 2

    entries: int
    logs: int
    rates: tuple[Frequency, ...]


def inspection_of(sides: Sides, settings: Settings) -> Inspection:
    """Return the inspection of some places, the one in the cache where no file of them has changed.

    Raises:
        MlsubError: no log is below a path.
    """
    cache, places = settings.cache, (sides.found, sides.beside)
    name, state = record_name("inspect", *places), sides.fingerprint() if cache is not None else None
    if cache is not None and state is not None and (known := cache.read("answers", name, state, Inspection)):
        return known
    found = read_sides(sides, settings)
    inspection = inspect(found.entries, found.beside)
    if cache is not None and state is not None and found.lasts and exactly(inspection) is not None:
        cache.write("answers", name, state, inspection)
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
    return Inspection(entries=tuple(sorted(inspected, key=attrgetter("rank"))))


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


def select(
    inspection: Inspection, choice: Choice, apply: Callable[[Sequence[Finding]], tuple[Finding, ...]]
) -> Inspection:
    """Return the inspection with only the findings asked for.

    Args:
        inspection: everything that was found.
        choice: what is asked for.
        apply: returns findings as waivers and a baseline leave them.
    """
    replace = msgspec.structs.replace
    entries = []
    for entry in inspection.entries:
        found = (replace(one, finding=kept) for one in entry.observations for kept in apply((one.finding,)))
        entries.append(replace(entry, observations=tuple(one for one in found if choice.wants(one.finding))))
    return replace(inspection, entries=tuple(sorted(entries, key=attrgetter("rank"))))


def rates(inspection: Inspection) -> Rates:
    """Return how often each rule applies."""
    entries = inspection.entries
    found = []
    for rule, info in catalogue().items():
        if rule.startswith("inspect."):
            counts = [sum(o.finding.rule == rule for o in entry.observations) for entry in entries]
            found.append(Frequency(rule, info.title, sum(map(bool, counts)), len(counts), sum(counts)))
    return Rates(entries=len(entries), logs=sum(entry.runs for entry in entries), rates=tuple(found))
