"""One run that is published twice: logs whose records have the same times, and what was added or removed in one."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.io.show import readable
from mlsub.log.trace import KeyMark, Trace

#: Keys that have to agree in the times of all their records, besides start and stop of the run.
_LEAST_KEYS = 3
_NONE = KeyMark(0, "", "")


def is_same_run(one: Trace, other: Trace) -> bool:
    """Whether two logs are of one run: equal start and stop, and equal times of the records of most keys."""
    ours, theirs = one.run.timeline, other.run.timeline
    if ours.run_start is None or ours.run_stop is None:
        return False
    if (ours.run_start, ours.run_stop) != (theirs.run_start, theirs.run_stop):
        return False
    common = one.keys.keys() & other.keys.keys() - {"run_start", "run_stop"}
    equal = sum(one.keys[key].times == other.keys[key].times for key in common)
    return equal >= _LEAST_KEYS and 2 * equal > len(common)


def changes(log: Trace, original: Trace) -> Iterator[str]:
    """What is not the same in two logs of one run, in words, by keys."""
    for key in sorted(log.keys.keys() | original.keys.keys()):
        ours, theirs = log.keys.get(key, _NONE), original.keys.get(key, _NONE)
        more = ours.count - theirs.count
        name = readable(key)
        if more:
            records = f"{abs(more)} {name} record{'s' * (abs(more) > 1)}"
            yield f"{records} {'added' if more > 0 else 'removed'}"
        elif ours.values != theirs.values:
            yield f"other values of {name}"
        elif ours.times != theirs.times:
            yield f"other times of {name}"


def is_told_by_check(log: Trace, original: Trace) -> bool:
    """Whether mlsub check tells of two logs of a round as the same log: it looks at number and times of the records."""
    evaluations = [[(e.time_ms, e.value) for e in trace.run.evaluations] for trace in (log, original)]
    return log.run.timeline == original.run.timeline and repr(evaluations[0]) == repr(evaluations[1])
