"""What no two runs share: to find a log that stands twice, and a run that an earlier round has published.

``published_runs.json`` has for each round, by the path of each entry below it, a digest of its system description and
one of each run. It is made by ``python -m tools.published_runs``.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.io.data import blake2b
from mlsub.io.show import first_few, plural, several, show
from mlsub.log.run import Run
from mlsub.rounds import Round, round_age
from mlsub.rules.catalogue import finding
from mlsub.submission.find import organisation
from mlsub.submission.model import Entry, LogReport
from mlsub.systems.description import SystemDescription

#: So many bytes of the text of its evaluations distinguish a log.
_DISTINCT_BYTES = 1000
#: The digests of what was published.
FILE = Path(__file__).with_name("published_runs.json")
#: Bytes of a digest.
SIZE = 16
#: The first round in which a description has to be the same, and the committee to be told.
_EXACT_FROM = ("training", (5, 1))
#: No longer description is compared.
_LONGEST = 1 << 22


class Fingerprint(NamedTuple):
    """The path of a log and a digest of its times; ``known`` if a finding of its entry calls it a copy."""

    path: str
    digest: bytes
    known: bool = False


def audit_same_runs(fingerprints: Sequence[Fingerprint]) -> Iterator[Finding]:
    """Yield logs whose records agree in number and times: copies, with or without another seed written in.

    There is one finding for each pair of entries.
    """
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


class PublishedEntry(NamedTuple):
    """Where a published run lies, and a digest of the description of its system."""

    usage: str
    round: str
    path: str
    system: bytes


@cache
def published_runs() -> dict[bytes, list[PublishedEntry]]:
    """Return the published entries by the digests of their runs, those of earlier rounds first."""
    rounds = msgspec.json.decode(FILE.read_bytes(), type=dict[str, dict[str, bytes]])
    found: dict[bytes, list[PublishedEntry]] = {}
    for name, entries in rounds.items():
        usage, _, round_ = name.partition(" ")
        for path, digests in entries.items():
            entry = PublishedEntry(usage, round_, path, digests[:SIZE])
            for start in range(SIZE, len(digests), SIZE):
                found.setdefault(digests[start : start + SIZE], []).append(entry)
    return found


def digest_description(described: SystemDescription | None) -> bytes:
    """Return a digest of what the description of a system says; zeros where there is none."""
    if described is None or described.content is None:
        return bytes(SIZE)
    return blake2b(encode_json(sorted(described.content.items()), _LONGEST), digest_size=SIZE).digest()


def must_be_exact(usage: str | None, name: str | None) -> bool:
    """Return whether the rules of a round on results that are submitted again are those of June 2025."""
    return usage == _EXACT_FROM[0] and round_age(name or "") >= _EXACT_FROM[1]


def audit_resubmission(entry: Entry, round_: Round) -> Iterator[Finding]:
    """Yield an entry with runs that were published in an earlier round; the log where it is a single one."""
    before, known = round_age(round_.name), published_runs()
    earlier: dict[PublishedEntry, list[LogReport]] = {}
    for log in entry.logs:
        digest = digest_times(log.run)
        for one in known.get(digest, ()) if digest else ():
            if one.usage == round_.usage and round_age(one.round) < before:
                earlier.setdefault(one, []).append(log)
    if not earlier:
        return
    own = organisation(entry.organisation).lower()
    others = [one for one in earlier if organisation(one.path.partition("/")[0]).lower() != own]
    exact, system = must_be_exact(round_.usage, round_.name), digest_description(entry.description)
    same = all(one.system == system for one in earlier)
    message = None
    if others:
        message = "Runs that another organisation published are submitted"
    elif exact and not same:
        message = "Runs of an earlier round are submitted again, with another system description"
    again = {log.path for logs in earlier.values() for log in logs}
    places = several([_describe_again(earlier[one], entry, one) for one in others or earlier], 3)
    yield finding(
        "entry.resubmitted",
        again.pop() if len(again) == 1 else entry.path,
        message,
        expected="the system description of the earlier round, and an issue for the committee" if exact else None,
        actual=f"{places}; the description is {'' if same else 'not '}the same",
        severity=Severity.ERROR if message else None,
    )


def _describe_again(logs: Sequence[LogReport], entry: Entry, published: PublishedEntry) -> str:
    """How many of an entry's runs were published so, and which they are where it is not all."""
    which = f" ({first_few([log.name for log in logs], 3)})" if len(logs) < len(entry.logs) else ""
    runs = f"{len(logs)} of {plural(len(entry.logs), 'run')}{which}"
    return f"{runs} {'is' if len(logs) == 1 else 'are'} of v{published.round}, {published.path}"
