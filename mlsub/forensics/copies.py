"""Logs that agree where independent runs cannot: evaluations, times, or seed and samples. By hash, hence quick."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from mlsub.audit.facts import number
from mlsub.forensics.model import Entry
from mlsub.forensics.observation import Observation, listed, name_of, observe
from mlsub.forensics.thresholds import thresholds
from mlsub.forensics.trace import Trace
from mlsub.show import show


class _Log(NamedTuple):
    """A log and the entry it is of."""

    entry: Entry
    trace: Trace


Pairs = dict[tuple[int, int], list[tuple[_Log, _Log]]]


def find_copies(entries: Sequence[Entry]) -> Iterator[Observation]:
    """Logs that agree with a log of the same entry, or of an entry named before."""
    logs = [_Log(entry, trace) for entry in entries for trace in entry.traces]
    by_evaluations = _alike(logs, lambda log: _evaluations(log.trace))
    by_times = _alike(logs, lambda log: _times(log.trace))
    for pairs in by_evaluations.values():
        yield from _same_evaluations(pairs)
    for pairs in by_times.values():
        other = [pair for pair in pairs if _evaluations(pair[0].trace) != _evaluations(pair[1].trace)]
        if other:
            yield _told("inspect.same-times", "Records have the same distances in time as those of other logs", other)
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


def _same_evaluations(pairs: Sequence[tuple[_Log, _Log]]) -> Iterator[Observation]:
    """The same evaluations: at the same times it is the same run, which mlsub check tells of within a round."""
    same = [pair for pair in pairs if pair[0].trace.run.timeline == pair[1].trace.run.timeline]
    other = [pair for pair in pairs if pair not in same]
    if same and same[0][0].entry.round != same[0][1].entry.round:
        yield _told("inspect.same-run", "Logs tell of the same runs as an entry of another round", same)
    if other:
        yield _told(
            "inspect.same-evaluations", "Runs at other times have the same evaluations to the last digit", other
        )


def _told(rule: str, message: str, pairs: Sequence[tuple[_Log, _Log]]) -> Observation:
    entry, other = pairs[0][0].entry, pairs[0][1].entry
    names = [f"{name_of(a.trace)} = {name_of(b.trace)}" for a, b in pairs]
    where = "of the same entry" if entry is other else f"of {other.path}"
    return observe(
        rule,
        entry,
        message,
        f"{len(pairs)} of {len(entry.traces)} logs equal to logs {where}: {listed(names, 3)}",
        expected="runs of their own",
        other=other.path,
        logs=[[a.trace.path, b.trace.path] for a, b in pairs],
    )


def _same_samples(entries: Sequence[Entry]) -> Iterator[Observation]:
    """(seed, trained samples) pairs of one entry that another has too, where the samples are measured by each run."""
    first: dict[tuple[str, int, float], tuple[Entry, Trace]] = {}
    for entry in entries:
        found: dict[int, list[tuple[Trace, Entry, Trace, tuple[str, int, float]]]] = {}
        for trace, pair in _pairs(entry):
            owner, original = first.setdefault(pair, (entry, trace))
            if owner is not entry and _evaluations(trace) != _evaluations(original):
                found.setdefault(id(owner), []).append((trace, owner, original, pair))
        for alike in found.values():
            if len(alike) < thresholds().copy_pairs:
                continue
            shown = [f"{name_of(t)} = {name_of(o)} (seed {p[1]}, {p[2]:,.0f} samples)" for t, _, o, p in alike]
            yield observe(
                "inspect.same-samples",
                entry,
                "Runs have seed and number of trained samples equal to those of another entry",
                f"{len(alike)} of {len(entry.traces)} runs as in {alike[0][1].path}: {listed(shown, 3)}",
                expected="another order of the data, hence another number",
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
