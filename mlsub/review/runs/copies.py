"""Logs that agree where independent runs cannot, and seeds that are used again. All comparisons are by hash."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mlsub.findings import Severity
from mlsub.io.data import blake2b, group_by_key
from mlsub.io.show import first_few, join_words, plural, readable, show
from mlsub.log.lengths import KeyMark
from mlsub.log.reading import usable_number
from mlsub.review.cross import collect_seeds
from mlsub.review.fingerprints import digest_log, digest_times, encode_json
from mlsub.review.runs.model import Observation, observe, runs_started, show_duration, thresholds
from mlsub.rules.catalogue import finding
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Keys that have to agree in the times of all their records, besides start and stop of the run.
_LEAST_KEYS = 3
_NO_RECORDS = KeyMark(0, "", "")
#: Entries kept for one seed: hostile input may give every entry the same ones.
MAX_USERS = 100
#: Numbers above the small ones that people choose all over the world.
_CONSTANTS = {1234, 4321, 12345, 123456, 1234567, 12345678, 123456789, 1337, 31337, 2718, 3141, 31415, 314159, 271828}


def is_same_run(one: LogReport, other: LogReport) -> bool:
    """Return whether two logs are of one run.

    They have equal start and stop, and equal times of the records of most keys; or all their evaluations at the same
    times, whatever was done to the other records; or the same evaluations at the same times from run_start on.
    """
    marks = (_evaluation_times, _times_and_evaluations)
    if any((found := mark(one)) is not None and found == mark(other) for mark in marks):
        return True
    ours, theirs = one.run.timeline, other.run.timeline
    if ours.run_start is None or ours.run_stop is None:
        return False
    if (ours.run_start, ours.run_stop) != (theirs.run_start, theirs.run_stop):
        return False
    common = one.trace.keys.keys() & other.trace.keys.keys() - {"run_start", "run_stop"}
    equal = sum(one.trace.keys[key].times == other.trace.keys[key].times for key in common)
    return equal >= _LEAST_KEYS and 2 * equal > len(common)


def describe_changes(log: LogReport, original: LogReport) -> Iterator[str]:
    """Yield what is not the same in two logs of one run, in words, by keys."""
    moved = _moved_by(log, original)
    if moved:
        yield f"all times moved by {show_duration(moved)}"
    for key in sorted(log.trace.keys.keys() | original.trace.keys.keys()):
        ours, theirs = log.trace.keys.get(key, _NO_RECORDS), original.trace.keys.get(key, _NO_RECORDS)
        more = ours.count - theirs.count
        name = readable(key)
        if more:
            records = plural(abs(more), f"{name} record")
            yield f"{records} {'added' if more > 0 else 'removed'}"
        elif ours.values != theirs.values:
            yield f"other values of {name}"
        elif ours.times != theirs.times and not moved:
            yield f"other times of {name}"


def _moved_by(log: LogReport, original: LogReport) -> float:
    """Return by how much (ms) all times of a run are later than those of another; 0 where they are not so."""
    ours, theirs = log.run.timeline.run_start, original.run.timeline.run_start
    if ours is None or theirs is None or log.trace.times != original.trace.times:
        return 0.0
    return ours - theirs


class _EntryLog(NamedTuple):
    """A log and the entry it is of."""

    entry: Result
    report: LogReport


#: A log and one that it agrees with.
_Pair = tuple[_EntryLog, _EntryLog]


def find_copies(entries: Sequence[Result]) -> Iterator[Observation]:
    """Yield logs that agree with a log of the same entry, or of an entry named before."""
    logs = [_EntryLog(entry, log) for entry in entries for log in entry.logs]
    # Each log with the first that is of the same run, by whichever mark it was found first.
    same_run: dict[int, _Pair] = {}
    for mark in (lambda log: digest_times(log.run), _evaluation_times, _times_and_evaluations):
        for pair in (pair for pairs in _find_pairs(logs, mark) for pair in pairs if _are_same_run(*pair)):
            same_run.setdefault(id(pair[0].report), pair)
    for pairs in _group_by_entries(same_run.values()):
        yield from _observe_same_runs(pairs)
    for pairs in _find_pairs(logs, _evaluations_digest):
        if others := [pair for pair in pairs if not _are_same_run(*pair)]:
            yield _observe_same_evaluations(others)
    least = thresholds()["copy_marks"]
    for pairs in _find_pairs(logs, lambda log: log.trace.times if log.trace.marks >= least else None):
        # Those with the same evaluations were told above.
        if others := [pair for pair in pairs if not (_are_evaluated_alike(*pair) or _are_same_run(*pair))]:
            yield _observe_copies("inspect.same-times", others)
    yield from _observe_same_tails(logs)
    yield from _observe_same_samples(entries)


def _find_pairs(logs: Sequence[_EntryLog], mark: Callable[[LogReport], Hashable | None]) -> Collection[list[_Pair]]:
    """Return each log with the first of the same mark, by pairs of entries."""
    first: dict[Hashable, _EntryLog] = {}
    marked = ((log, key) for log in logs if (key := mark(log.report)) is not None)
    pairs = [(log, original) for log, key in marked if (original := first.setdefault(key, log)) is not log]
    return _group_by_entries(pairs)


def _group_by_entries(pairs: Iterable[_Pair]) -> Collection[list[_Pair]]:
    return group_by_key(((id(log.entry), id(original.entry)), (log, original)) for log, original in pairs).values()


def _are_same_run(log: _EntryLog, original: _EntryLog) -> bool:
    return is_same_run(log.report, original.report)


def _are_evaluated_alike(log: _EntryLog, original: _EntryLog) -> bool:
    """Return whether two runs have the same evaluations, where chance could not make them alike."""
    evaluations = {_evaluations_digest(log.report), _evaluations_digest(original.report)}
    return len(evaluations) == 1 and None not in evaluations


def _evaluation_times(log: LogReport) -> tuple[float, ...] | None:
    """Return when a run was evaluated (ms); None where chance could make two alike."""
    times = tuple(evaluation.time_ms for evaluation in log.run.evaluations)
    return times if len(set(times)) >= thresholds()["copy_evaluations"] else None


def _times_and_evaluations(log: LogReport) -> tuple[str, bytes] | None:
    """Return the times of a run from its start on, and its evaluations; None where chance could make two alike."""
    logged = _evaluations_digest(log)
    return (log.trace.times, logged) if logged is not None and log.trace.marks >= thresholds()["copy_marks"] else None


def _evaluations_digest(log: LogReport) -> bytes | None:
    """Return a digest of the sequence of evaluations; None where chance could make two alike."""
    limits = thresholds()
    values = [e.value for e in log.run.evaluations]
    if len(values) < limits["copy_evaluations"] or not _have_digits(values, limits["copy_digits"]):
        return None
    return blake2b(encode_json(values, 1 << 20), digest_size=16).digest()


def _have_digits(values: Sequence[Any], least: float) -> bool:
    """Return whether different values have so many significant digits together."""
    seen: set[str] = set()
    digits = 0
    for shown in map(show, values):
        if shown not in seen:
            seen.add(shown)
            digits += len("".join(c for c in shown.partition("e")[0] if c.isdigit()).strip("0"))
            if digits >= least:
                return True
    return False


def _observe_same_runs(pairs: Sequence[_Pair]) -> Iterator[Observation]:
    """Yield runs published twice; equal logs of a round are left to mlsub check."""
    others = [
        (log, original)
        for log, original in pairs
        if log.entry.round_key != original.entry.round_key or digest_log(log.report) != digest_log(original.report)
    ]
    if not others:
        return
    changes = {log.report.path: list(describe_changes(log.report, original.report)) for log, original in others}
    counted = Counter(change for changed in changes.values() for change in changed)
    words = [f"{change} in {count}" for change, count in counted.items()]
    more = f"; {first_few(words, 6)} of them" if words else "; no record added or removed"
    same_entry = others[0][0].entry is others[0][1].entry
    where = "in the entry twice" if same_entry else "published again"
    message = _summarise_changes(list(changes.values()), where)
    # A result may be submitted again, with its times; the runs of one entry are made one by one.
    moved = any(_moved_by(log.report, original.report) for log, original in others)
    severity = Severity.ERROR if same_entry or moved else None
    yield _observe_copies("inspect.same-run", others, more, message=message, severity=severity, changes=changes)


def _summarise_changes(changes: Sequence[Sequence[str]], where: str) -> str:
    """Return a message: that logs are of one run, where it is again, and what was done to them."""
    runs = f"The same run is {where}" if len(changes) == 1 else f"The same runs are {where}"
    common = [change for change in changes[0] if all(change in changed for changed in changes)]
    if not any(changes):
        return runs
    if not common or any(set(changed) != set(common) for changed in changes):
        return f"{runs}, with changes that differ from log to log"
    words = [change for change in common if not change.startswith("other ")]
    for kind in ("other values of ", "other times of "):
        keys = [change.removeprefix(kind) for change in common if change.startswith(kind)]
        words += [kind + join_words(keys)] if keys else []
    return f"{runs}, with {join_words(words)}"


def _observe_same_evaluations(pairs: Sequence[_Pair]) -> Observation:
    """Return the same evaluations at other times; equal seeds, which would explain it, are named where there are."""
    seeds = [[{seed.value for seed in log.report.run.seeds if not seed.error} for log in pair] for pair in pairs]
    equal = sum(bool(ours & theirs) for ours, theirs in seeds)
    some = "" if equal == len(pairs) else f" of {equal} of them"
    more = f"; the seeds{some} are equal, which explains it if the software is deterministic" if equal else ""
    return _observe_copies("inspect.same-evaluations", pairs, more, equal_seeds=equal)


def _observe_copies(
    rule: str,
    pairs: Sequence[_Pair],
    more: str = "",
    *,
    message: str | None = None,
    severity: Severity | None = None,
    **numbers: Any,
) -> Observation:
    entry, other = pairs[0][0].entry, pairs[0][1].entry
    names = [f"{log.report.name} = {original.report.name}" for log, original in pairs]
    alike = "with the times of logs" if rule == "inspect.same-run" else "equal to logs"
    where = "of the same entry" if entry is other else f"of {other.path}"
    actual = f"{len(pairs)} of {len(entry.logs)} logs {alike} {where}: {first_few(names, 3)}{more}"
    logs = [[log.report.path, original.report.path] for log, original in pairs]
    found = finding(rule, entry.path, message, actual=actual, severity=severity)
    return observe(entry, found, other=other.path, logs=logs, **numbers)


def _observe_same_tails(logs: Sequence[_EntryLog]) -> Iterator[Observation]:
    """Yield logs that end as another does, and are not of one run: of two, the one that took as long as no other."""
    for pairs in _find_pairs(logs, lambda log: log.trace.tail and log.trace.tail[0]):
        for pair in pairs:
            same_times = pair[0].report.trace.times == pair[1].report.trace.times
            if same_times or _are_same_run(*pair) or _are_evaluated_alike(*pair):
                continue
            joined, other = sorted(pair, key=lambda one: -_distance(one))
            line = joined.report.trace.tail[1] if joined.report.trace.tail else None
            actual = f"from line {line} on as {other.report.path}, at the same steps in time and with the same values"
            found = finding("inspect.same-tail", joined.report.path, line=line, actual=actual)
            yield observe(joined.entry, found, other=other.report.path)


def _distance(one: _EntryLog) -> float:
    """Return by how much (ms) the time from the first run_start to the last run_stop is not as in the other runs."""
    lengths = [
        edges["run_stop"][1] - edges["run_start"][0]
        for edges in (log.run.edges for log in (one.report, *one.entry.logs))
        if len(edges) > 1
    ]
    return abs(lengths[0] - statistics.median(lengths)) if lengths else 0.0


def _observe_same_samples(entries: Sequence[Result]) -> Iterator[Observation]:
    """Yield entries with (seed, trained samples) of another one, where the samples are measured by each run."""
    first: dict[tuple[str, int, float], tuple[Result, LogReport]] = {}
    for entry in entries:
        found: dict[int, list[tuple[LogReport, Result, LogReport, tuple[str, int, float]]]] = {}
        for log, pair in _find_measured_samples(entry):
            owner, original = first.setdefault(pair, (entry, log))
            copied = _evaluations_digest(log) == _evaluations_digest(original) or is_same_run(log, original)
            if owner is not entry and not copied:
                found.setdefault(id(owner), []).append((log, owner, original, pair))
        for alike in found.values():
            if len(alike) < thresholds()["copy_pairs"]:
                continue
            shown = [f"{t.name} = {o.name} (seed {p[1]}, {p[2]:,.0f} samples)" for t, _, o, p in alike]
            other = alike[0][1].path
            actual = f"{len(alike)} of {len(entry.logs)} runs as in {other}: {first_few(shown, 3)}"
            found_here = finding("inspect.same-samples", entry.path, actual=actual)
            yield observe(entry, found_here, other=other, pairs=len(alike))


def _find_measured_samples(entry: Result) -> list[tuple[LogReport, tuple[str, int, float]]]:
    """Return the runs with benchmark, seed and trained samples, where each measures how many it trained."""
    samples = {log.path: usable_number(log.run.hyperparameters.get("train_samples")) for log in entry.logs}
    measured = {value for value in samples.values() if value is not None}
    if len(measured) < 3:
        return []  # The size of the data set, which all runs share.
    drawn = seeds_of(entry)
    return [
        (log, (entry.benchmark, log.run.seeds[0].value, float(value)))
        for log in entry.logs
        if (value := samples[log.path]) is not None
        and log.run.seeds
        and not log.run.seeds[0].error
        and log.run.seeds[0].value in drawn
    ]


# Seeds


def find_shared_seeds(entries: Sequence[Result]) -> Iterator[Observation]:
    """Yield entries most of whose seeds an earlier round or another organisation uses; check reports others."""
    limits = thresholds()
    seeds = [seeds_of(entry) for entry in entries]
    users: dict[int, list[int]] = {}
    for n, values in enumerate(seeds):
        for value in values:
            used_by = users.setdefault(value, [])
            if len(used_by) < MAX_USERS:
                used_by.append(n)
    for n, entry in enumerate(entries):
        shared = Counter(m for value in seeds[n] for m in users[value] if m != n)
        alike = {
            m: count
            for m, count in shared.items()
            if _is_earlier(entries[m], entry)
            and count >= limits["seeds_shared"]
            and count >= limits["seeds_part"] * min(len(seeds[n]), len(seeds[m]))
        }
        if alike:
            best = max(alike, key=lambda m: (alike[m], -m))
            other, common, count = entries[best].path, alike[best], len(seeds[n])
            shown = first_few([str(value)[:24] for value in sorted(seeds[n] & seeds[best])], 5)
            actual = f"{common} of {count} seeds ({shown}) as in {other}; {len(alike)} such entries"
            found = finding("inspect.seeds-shared", entry.path, actual=actual)
            yield observe(entry, found, other=other, common=common, seeds=count, entries=len(alike))


def _is_earlier(other: Result, entry: Result) -> bool:
    """Return whether an entry is of an earlier round, or of another organisation of the same; and of other runs."""
    if other.usage != entry.usage or runs_started(other) & runs_started(entry):
        return False  # The same runs once more have a finding of their own.
    if other.round == entry.round:
        return other.organisation < entry.organisation
    return other.age < entry.age


def seeds_of(entry: Result) -> set[int]:
    """Return the seeds of an entry that another one has not by chance alone."""
    found = collect_seeds(entry.logs)
    # Anybody may choose a small number, one of a row of numbers, or one of the usual constants.
    usual = {seed for seed in found if abs(seed) < thresholds()["seeds_small"] or {seed - 1, seed + 1} & found}
    return found - usual - _CONSTANTS
