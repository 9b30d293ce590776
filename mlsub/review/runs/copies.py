"""Logs that agree where independent runs cannot: in evaluations, times, or seed and samples. By hash, hence quick."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from mlsub.io.show import show
from mlsub.log.trace import Trace
from mlsub.review.facts import number
from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, listed, name_of, observe
from mlsub.review.runs.same_run import changes, is_same_run, is_told_by_check
from mlsub.review.runs.thresholds import thresholds


class _Log(NamedTuple):
    """A log and the entry it is of."""

    entry: Entry
    trace: Trace


Pairs = dict[tuple[int, int], list[tuple[_Log, _Log]]]


def find_copies(entries: Sequence[Entry]) -> Iterator[Observation]:
    """Logs that agree with a log of the same entry, or of an entry named before."""
    logs = [_Log(entry, trace) for entry in entries for trace in entry.traces]
    for pairs in _alike(logs, lambda log: _edges(log.trace)).values():
        yield from _same_runs([pair for pair in pairs if _one_run(pair)])
    by_evaluations = _alike(logs, lambda log: _evaluations(log.trace))
    by_times = _alike(logs, lambda log: _times(log.trace))
    for pairs in by_evaluations.values():
        yield from _same_evaluations([pair for pair in pairs if not _one_run(pair)])
    for pairs in by_times.values():
        other = [
            pair for pair in pairs if _evaluations(pair[0].trace) != _evaluations(pair[1].trace) and not _one_run(pair)
        ]
        if other:
            yield _told("inspect.same-times", "Records are spaced in time exactly as in other logs", other)
    yield from _same_samples(entries)


def _alike(logs: Sequence[_Log], mark: Callable[[_Log], Hashable | None]) -> Pairs:
    """Each log with the first of the same mark, by pairs of entries."""
    first: dict[Hashable, _Log] = {}
    found: Pairs = {}
    for log in logs:
        key = mark(log)
        if key is None:
            continue
        original = first.setdefault(key, log)
        if original is not log:
            found.setdefault((id(log.entry), id(original.entry)), []).append((log, original))
    return found


def _evaluations(trace: Trace) -> str | None:
    """A fingerprint of the sequence of evaluations; None where chance could make two alike."""
    limits = thresholds()
    values = [e.value for e in trace.run.evaluations]
    digits = sum(len(_digits(value)) for value in dict.fromkeys(map(show, values)))
    if len(values) < limits.copy_evaluations or digits < limits.copy_digits:
        return None
    return hashlib.blake2b(show(values, limit=1 << 20).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _digits(shown: str) -> str:
    """The significant digits of a number as it is shown."""
    return "".join(c for c in shown.partition("e")[0] if c.isdigit()).strip("0")


def _times(trace: Trace) -> str | None:
    return trace.times if trace.marks >= thresholds().copy_marks else None


def _edges(trace: Trace) -> tuple[float, float] | None:
    start, stop = trace.run.timeline.run_start, trace.run.timeline.run_stop
    return None if start is None or stop is None else (start, stop)


def _one_run(pair: tuple[_Log, _Log]) -> bool:
    return is_same_run(pair[0].trace, pair[1].trace)


def _same_runs(pairs: Sequence[tuple[_Log, _Log]]) -> Iterator[Observation]:
    """One run published twice; equal logs of a round are left to mlsub check."""
    told = [
        (log, original)
        for log, original in pairs
        if log.entry.round != original.entry.round or not is_told_by_check(log.trace, original.trace)
    ]
    if not told:
        return
    made = {log.trace.path: list(changes(log.trace, original.trace)) for log, original in told}
    counted = Counter(change for of in made.values() for change in of)
    words = [f"{change} in {count}" for change, count in counted.items()]
    yield _told(
        "inspect.same-run",
        "Logs record the same runs as another entry: the runs are published twice",
        told,
        f"; {listed(words)} of them" if words else "; no record added or removed",
        changes=made,
    )


def _same_evaluations(pairs: Sequence[tuple[_Log, _Log]]) -> Iterator[Observation]:
    """The same evaluations at other times; equal seeds would explain it, and are offered only where they are equal."""
    if not pairs:
        return
    equal = sum(_equal_seeds(*pair) for pair in pairs)
    some = "" if equal == len(pairs) else f" of {equal} of them"
    more = f"; the seeds{some} are equal, which explains it if the software is deterministic" if equal else ""
    message = "Runs at different times have the same evaluations to the last digit"
    yield _told("inspect.same-evaluations", message, pairs, more, equal_seeds=equal)


def _equal_seeds(log: _Log, original: _Log) -> bool:
    seeds = [{seed.value for seed in of.trace.run.seeds if not seed.error} for of in (log, original)]
    return bool(seeds[0] & seeds[1])


def _told(rule: str, message: str, pairs: Sequence[tuple[_Log, _Log]], more: str = "", **numbers: Any) -> Observation:
    entry, other = pairs[0][0].entry, pairs[0][1].entry
    names = [f"{name_of(a.trace)} = {name_of(b.trace)}" for a, b in pairs]
    where = "of the same entry" if entry is other else f"of {other.path}"
    return observe(
        rule,
        entry,
        message,
        f"{len(pairs)} of {len(entry.traces)} logs equal to logs {where}: {listed(names, 3)}{more}",
        expected="separate runs",
        other=other.path,
        logs=[[a.trace.path, b.trace.path] for a, b in pairs],
        **numbers,
    )


def _same_samples(entries: Sequence[Entry]) -> Iterator[Observation]:
    """(seed, trained samples) pairs of one entry that another has too, where the samples are measured by each run."""
    first: dict[tuple[str, int, float], tuple[Entry, Trace]] = {}
    for entry in entries:
        found: dict[int, list[tuple[Trace, Entry, Trace, tuple[str, int, float]]]] = {}
        for trace, pair in _pairs(entry):
            owner, original = first.setdefault(pair, (entry, trace))
            copied = _evaluations(trace) == _evaluations(original) or is_same_run(trace, original)
            if owner is not entry and not copied:
                found.setdefault(id(owner), []).append((trace, owner, original, pair))
        for alike in found.values():
            if len(alike) < thresholds().copy_pairs:
                continue
            shown = [f"{name_of(t)} = {name_of(o)} (seed {p[1]}, {p[2]:,.0f} samples)" for t, _, o, p in alike]
            yield observe(
                "inspect.same-samples",
                entry,
                "Runs have the same seed and number of trained samples as those of another entry",
                f"{len(alike)} of {len(entry.traces)} runs as in {alike[0][1].path}: {listed(shown, 3)}",
                expected="a different order of the data, and so a different number",
                other=alike[0][1].path,
                pairs=len(alike),
            )


def _pairs(entry: Entry) -> list[tuple[Trace, tuple[str, int, float]]]:
    samples = {trace.path: number(trace.run.hyperparameters.get("train_samples")) for trace in entry.traces}
    measured = {value for value in samples.values() if value is not None}
    if len(measured) < 3:
        return []  # The size of the data set, which all runs share.
    return [
        (trace, (entry.benchmark, trace.run.seeds[0].value, float(value)))
        for trace in entry.traces
        if (value := samples[trace.path]) is not None and trace.run.seeds and not trace.run.seeds[0].error
    ]
