"""What no two runs share: to find a log that stands twice."""

from __future__ import annotations

import math
from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.io.data import blake2b
from mlsub.io.show import first_few, show
from mlsub.log.run import Run
from mlsub.rules.catalogue import finding
from mlsub.submission.find import organisation
from mlsub.submission.model import LogReport

#: So many bytes of the text of its evaluations distinguish a log.
_DISTINCT_BYTES = 1000


class Fingerprint(NamedTuple):
    """The path of a log and a digest of its times; ``known`` if a finding of its entry calls it a copy."""

    path: str
    digest: bytes
    known: bool = False


def audit_same_runs(logs: Iterable[LogReport]) -> Iterator[Finding]:
    """Yield logs whose records agree in number and times: copies, with or without another seed written in."""
    return audit_same_fingerprints(fingerprint_logs(logs))


def audit_same_fingerprints(fingerprints: Sequence[Fingerprint]) -> Iterator[Finding]:
    """Yield the same by the fingerprints of the logs: one finding for each pair of entries."""
    first: dict[bytes, str] = {}
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    known = {one.path for one in fingerprints if one.known}
    for path, digest, _ in fingerprints:
        original = first.setdefault(digest, path)
        if original != path and path not in known:
            entries = path.rpartition("/")[0], original.rpartition("/")[0]
            # Copies within an entry are a finding each, which says what to remove.
            key = entries if entries[0] != entries[1] else (path, original)
            pairs.setdefault(key, []).append((path, original))
    for (entry, other), logs in pairs.items():
        # The folder of the organisation of each; empty where the path does not name it.
        names = [f"/{path}".rpartition("/results/")[0].rpartition("/")[2] for path in (entry, other)]
        renamed = names[0] != names[1] and organisation(names[0]) == organisation(names[1])
        path, original = logs[0] if len(logs) == 1 else (entry, other)
        many = more = ""
        if len(logs) > 1:
            files = [[one.rpartition("/")[2] for one in pair] for pair in logs]
            many = f" of {len(logs)} logs"
            more = f": {first_few([' = '.join(dict.fromkeys(pair)) for pair in files], 3)}"
        yield finding(
            "entry.same-log-twice",
            path,
            "The runs are published under two names of one organisation" if renamed else None,
            actual=f"number and times of all records{many} as in {original}{more}",
            expected="the runs under one name" if renamed else None,
            severity=Severity.NOTE if renamed else None,
        )


def fingerprint_logs(logs: Iterable[LogReport], copies: Container[str] = ()) -> tuple[Fingerprint, ...]:
    """Return the fingerprint of each log that has records; ``copies`` are the paths of those that are known copies."""
    return tuple(Fingerprint(log.path, digest_log(log), log.path in copies) for log in logs if log.run.timeline.events)


def digest_log(log: LogReport) -> bytes:
    """Return a digest of what no two runs share: number and times of their records, and their evaluations."""
    run = log.run
    # A time is the same whether it was written with a fraction of 0 or without.
    numbers = array("d", [math.nan if at is None else at for at in msgspec.structs.astuple(run.timeline)])
    numbers.extend([evaluation.time_ms for evaluation in run.evaluations])
    logged = encode_json([evaluation.value for evaluation in run.evaluations], _DISTINCT_BYTES)
    return blake2b(numbers.tobytes() + logged, digest_size=16).digest()


def digest_times(run: Run) -> bytes | None:
    """Return a digest of when a run started and stopped, which no two have in common; None where it did not.

    It stays the same whatever is added to a log, or left out.
    """
    start, stop = run.timeline.run_start, run.timeline.run_stop
    if start is None or stop is None or not run.duration_ms:
        return None
    return blake2b(array("d", (start, stop)).tobytes(), digest_size=16).digest()


def encode_json(value: Any, limit: int) -> bytes:
    """Return the first bytes of the JSON text of a value, to compare it: much faster than :func:`show`."""
    try:
        return msgspec.json.encode(value)[:limit]
    except (ValueError, RecursionError):
        return show(value, limit).encode(errors="surrogatepass")
