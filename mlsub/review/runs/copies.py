"""Logs that agree where independent runs cannot, and seeds that are used again. All comparisons are by hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from mlsub.findings import Severity
from mlsub.io.data import blake2b
from mlsub.io.show import first_few, plural, readable, show
from mlsub.log.reading import usable_number
from mlsub.log.trace import KeyMark
from mlsub.review.cross import SEEDS_OF_A_LOG, text_of
from mlsub.review.runs.model import Observation, observe, runs_started, seconds, thresholds
from mlsub.submission.find import organisation
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Keys that have to agree in the times of all their records, besides start and stop of the run.
_LEAST_KEYS = 3
_NONE = KeyMark(0, "", "")
#: Entries kept for one seed: hostile input may give every entry the same ones.
MAX_USERS = 100
#: Numbers above the small ones that people choose all over the world.
_CONSTANTS = {1234, 4321, 12345, 123456, 1234567, 12345678, 123456789, 1337, 31337, 2718, 3141, 31415, 314159, 271828}


def is_same_run(one: LogReport, other: LogReport) -> bool:
    """Return whether two logs are of one run.

    They have equal start and stop, and equal times of the records of most keys; or all their evaluations at the same
    times, whatever was done to the other records; or the same evaluations at the same times from run_start on.
    """
    marks = (_moments, _course)
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


def changes(log: LogReport, original: LogReport) -> Iterator[str]:
    """Yield what is not the same in two logs of one run, in words, by keys."""
    starts = log.run.timeline.run_start, original.run.timeline.run_start
    by = starts[0] - starts[1] if starts[0] is not None and starts[1] is not None else 0
    moved = by != 0 and log.trace.times == original.trace.times
    if moved:
        yield f"all times moved by {seconds(by)}"
    for key in sorted(log.trace.keys.keys() | original.trace.keys.keys()):
        ours, theirs = log.trace.keys.get(key, _NONE), original.trace.keys.get(key, _NONE)
        more = ours.count - theirs.count
        name = readable(key)
        if more:
            records = plural(abs(more), f"{name} record")
            yield f"{records} {'added' if more > 0 else 'removed'}"
        elif ours.values != theirs.values:
            yield f"other values of {name}"
        elif ours.times != theirs.times and not moved:
            yield f"other times of {name}"


def is_found_by_check(log: LogReport, original: LogReport) -> bool:
    """Return whether mlsub check reports two logs of a round as the same, by number and times of the records."""
    evaluations = [[(e.time_ms, e.value) for e in one.run.evaluations] for one in (log, original)]
    return log.run.timeline == original.run.timeline and repr(evaluations[0]) == repr(evaluations[1])


class _Log(NamedTuple):
    """A log and the entry it is of."""

    entry: Result
    report: LogReport


#: How the logs are like others, where they are not equal to them.
_LIKE = {"inspect.same-run": "with the times of logs"}
Pairs = list[tuple[_Log, _Log]]


def find_copies(entries: Sequence[Result]) -> Iterator[Observation]:
    """Yield logs that agree with a log of the same entry, or of an entry named before."""
    logs = [_Log(entry, log) for entry in entries for log in entry.logs]
    for pairs in _together(*(_alike(logs, mark) for mark in (_edges, _moments, _course))):
        yield from _same_runs(pairs)
    for pairs in _alike(logs, _evaluations):
        yield from _same_evaluations([pair for pair in pairs if not _one_run(*pair)])
    for pairs in _alike(logs, lambda log: log.trace.times if log.trace.marks >= thresholds().copy_marks else None):
        others = [(a, b) for a, b in pairs if _evaluations(a.report) != _evaluations(b.report) and not _one_run(a, b)]
        if others:
            yield _copied("inspect.same-times", others)
    yield from _same_samples(entries)


def _alike(logs: Sequence[_Log], mark: Callable[[LogReport], Hashable | None]) -> Collection[Pairs]:
    """Each log with the first of the same mark, by pairs of entries."""
    first: dict[Hashable, _Log] = {}
    found: dict[tuple[int, int], Pairs] = {}
    for log in logs:
        key = mark(log.report)
        original = first.setdefault(key, log) if key is not None else log
        if original is not log:
            found.setdefault((id(log.entry), id(original.entry)), []).append((log, original))
    return found.values()


def _together(*found: Collection[Pairs]) -> Collection[Pairs]:
    """Each log with the first that is of the same run, by whichever mark it was found first, by pairs of entries."""
    first: dict[int, tuple[_Log, _Log]] = {}
    for pairs in found:
        for pair in (pair for of in pairs for pair in of if _one_run(*pair)):
            first.setdefault(id(pair[0].report), pair)
    together: dict[tuple[int, int], Pairs] = {}
    for log, original in first.values():
        together.setdefault((id(log.entry), id(original.entry)), []).append((log, original))
    return together.values()


def _moments(log: LogReport) -> tuple[float, ...] | None:
    """When a run was evaluated (ms); None where chance could make two alike."""
    times = tuple(evaluation.time_ms for evaluation in log.run.evaluations)
    return times if len(set(times)) >= thresholds().copy_evaluations else None


def _course(log: LogReport) -> tuple[str, bytes] | None:
    """The times of a run from its start on, and its evaluations; None where chance could make two alike."""
    logged = _evaluations(log)
    return (log.trace.times, logged) if logged is not None and log.trace.marks >= thresholds().copy_marks else None


def _evaluations(log: LogReport) -> bytes | None:
    """A fingerprint of the sequence of evaluations; None where chance could make two alike."""
    limits = thresholds()
    values = [e.value for e in log.run.evaluations]
    if len(values) < limits.copy_evaluations or not _has_digits(values, limits.copy_digits):
        return None
    return blake2b(text_of(values, 1 << 20), digest_size=16).digest()


def _has_digits(values: Sequence[Any], least: int) -> bool:
    """Whether different values have so many significant digits together."""
    seen: set[str] = set()
    digits = 0
    for shown in map(show, values):
        if shown not in seen:
            seen.add(shown)
            digits += len(_digits(shown))
            if digits >= least:
                return True
    return False


def _digits(shown: str) -> str:
    """The significant digits of a number as it is shown."""
    return "".join(c for c in shown.partition("e")[0] if c.isdigit()).strip("0")


def _edges(log: LogReport) -> tuple[float, float] | None:
    start, stop = log.run.timeline.run_start, log.run.timeline.run_stop
    return None if start is None or stop is None else (start, stop)


def _one_run(log: _Log, original: _Log) -> bool:
    return is_same_run(log.report, original.report)


def _same_runs(pairs: Pairs) -> Iterator[Observation]:
    """One run published twice; equal logs of a round are left to mlsub check."""
    others = [
        (log, original)
        for log, original in pairs
        if log.entry.round_key != original.entry.round_key or not is_found_by_check(log.report, original.report)
    ]
    if not others:
        return
    made = {log.report.path: list(changes(log.report, original.report)) for log, original in others}
    counted = Counter(change for of in made.values() for change in of)
    words = [f"{change} in {count}" for change, count in counted.items()]
    more = f"; {first_few(words, 6)} of them" if words else "; no record added or removed"
    entry, other = others[0][0].entry, others[0][1].entry
    again = entry.round_key != other.round_key and organisation(entry.organisation) == organisation(other.organisation)
    severity = None if again else Severity.WARNING  # A result may be submitted to a later round by whoever made it.
    message = _message(list(made.values()))
    yield _copied("inspect.same-run", others, more, message=message, severity=severity, changes=made)


def _message(changed: Sequence[Sequence[str]]) -> str:
    """That logs are of one run, and what was done to them."""
    runs = "The same run is" if len(changed) == 1 else "The same runs are"
    common = [change for change in changed[0] if all(change in of for of in changed)]
    if not any(changed):
        return f"{runs} published again"
    if not common or any(set(of) != set(common) for of in changed):
        return f"{runs} published again, with changes that differ from log to log"
    words = [change for change in common if not change.startswith("other ")]
    for kind in ("other values of ", "other times of "):
        keys = [change.removeprefix(kind) for change in common if change.startswith(kind)]
        words += [kind + _joined(keys)] if keys else []
    return f"{runs} published again, with {_joined(words)}"


def _same_evaluations(pairs: Pairs) -> Iterator[Observation]:
    """The same evaluations at other times; equal seeds would explain it, and are offered only where they are equal."""
    if not pairs:
        return
    equal = sum(_equal_seeds(*pair) for pair in pairs)
    some = "" if equal == len(pairs) else f" of {equal} of them"
    more = f"; the seeds{some} are equal, which explains it if the software is deterministic" if equal else ""
    yield _copied("inspect.same-evaluations", pairs, more, equal_seeds=equal)


def _equal_seeds(log: _Log, original: _Log) -> bool:
    seeds = [{seed.value for seed in of.report.run.seeds if not seed.error} for of in (log, original)]
    return bool(seeds[0] & seeds[1])


def _joined(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _copied(rule: str, pairs: Pairs, more: str = "", **numbers: Any) -> Observation:
    entry, other = pairs[0][0].entry, pairs[0][1].entry
    names = [f"{a.report.name} = {b.report.name}" for a, b in pairs]
    like = _LIKE.get(rule, "equal to logs")
    where = "of the same entry" if entry is other else f"of {other.path}"
    return observe(
        rule,
        entry,
        f"{len(pairs)} of {len(entry.logs)} logs {like} {where}: {first_few(names, 3)}{more}",
        other=other.path,
        logs=[[a.report.path, b.report.path] for a, b in pairs],
        **numbers,
    )


def _same_samples(entries: Sequence[Result]) -> Iterator[Observation]:
    """(seed, trained samples) pairs of one entry that another has too, where the samples are measured by each run."""
    first: dict[tuple[str, int, float], tuple[Result, LogReport]] = {}
    for entry in entries:
        found: dict[int, list[tuple[LogReport, Result, LogReport, tuple[str, int, float]]]] = {}
        for log, pair in _measured_pairs(entry):
            owner, original = first.setdefault(pair, (entry, log))
            copied = _evaluations(log) == _evaluations(original) or is_same_run(log, original)
            if owner is not entry and not copied:
                found.setdefault(id(owner), []).append((log, owner, original, pair))
        for alike in found.values():
            if len(alike) < thresholds().copy_pairs:
                continue
            shown = [f"{t.name} = {o.name} (seed {p[1]}, {p[2]:,.0f} samples)" for t, _, o, p in alike]
            yield observe(
                "inspect.same-samples",
                entry,
                f"{len(alike)} of {len(entry.logs)} runs as in {alike[0][1].path}: {first_few(shown, 3)}",
                other=alike[0][1].path,
                pairs=len(alike),
            )


def _measured_pairs(entry: Result) -> list[tuple[LogReport, tuple[str, int, float]]]:
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
            of = users.setdefault(value, [])
            if len(of) < MAX_USERS:
                of.append(n)
    for n, entry in enumerate(entries):
        shared = Counter(m for value in seeds[n] for m in users[value] if m != n)
        common = {m: count for m, count in shared.items() if _before(entries[m], entry)}
        alike = {
            m: count
            for m, count in common.items()
            if count >= limits.seeds_shared and count >= limits.seeds_part * min(len(seeds[n]), len(seeds[m]))
        }
        if alike:
            best = max(alike, key=lambda m: (alike[m], -m))
            shown = [str(value)[:24] for value in sorted(seeds[n] & seeds[best])]
            yield observe(
                "inspect.seeds-shared",
                entry,
                f"{alike[best]} of {len(seeds[n])} seeds ({first_few(shown, 5)}) as in {entries[best].path}; "
                f"{len(alike)} such entries",
                other=entries[best].path,
                common=alike[best],
                seeds=len(seeds[n]),
                entries=len(alike),
            )


def _before(other: Result, entry: Result) -> bool:
    """Whether an entry is of an earlier round, or of another organisation of the same; and of other runs."""
    if other.usage != entry.usage or runs_started(other) & runs_started(entry):
        return False  # The same runs once more have a finding of their own.
    if other.round == entry.round:
        return other.organisation < entry.organisation
    return other.age < entry.age


def seeds_of(entry: Result) -> set[int]:
    """Return the seeds of an entry that another one has not by chance alone."""
    found = {s.value for log in entry.logs for s in log.run.seeds[:SEEDS_OF_A_LOG] if not s.error}
    return {seed for seed in found if not _is_usual(seed, found)}


def _is_usual(seed: int, found: set[int]) -> bool:
    """Whether anybody may choose a seed: a small number, one of a row of numbers, or one of the usual constants."""
    return abs(seed) < thresholds().seeds_small or seed in _CONSTANTS or bool({seed - 1, seed + 1} & found)
