"""Audit of runs that were published in an earlier round: known by digests, and whether they may be submitted again.

``published_runs.json`` has for each round, by the path of each entry below it, a digest of its system description and
one of each run. It is made by ``python -m tools.published_runs``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.io.data import blake2b
from mlsub.io.show import plural, several
from mlsub.review.cadence import round_numbers
from mlsub.review.cross import same_organisation
from mlsub.review.fingerprints import digest_times, encode_json
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry
from mlsub.systems.description import SystemDescription

FILE = Path(__file__).with_name("published_runs.json")
#: Bytes of a digest.
SIZE = 16
#: The first round in which a description has to be the same, and the committee to be told.
_EXACT_FROM = ("training", (5, 1))
#: No longer description is compared.
_LONGEST = 1 << 22


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
    return usage == _EXACT_FROM[0] and (round_numbers(name or "") or (0, 0)) >= _EXACT_FROM[1]


def audit_resubmission(entry: Entry, round_: Round) -> Iterator[Finding]:
    """Yield an entry with runs that were published in an earlier round."""
    before, known = round_numbers(round_.name) or (0, 0), published_runs()
    again: Counter[PublishedEntry] = Counter()
    for log in entry.logs:
        digest = digest_times(log.run)
        for one in known.get(digest, ()) if digest else ():
            again[one] += one.usage == round_.usage and (round_numbers(one.round) or (0, 0)) < before
    if not (earlier := [one for one, count in again.items() if count]):
        return
    others = [one for one in earlier if not same_organisation(one.path.partition("/")[0], entry.organisation)]
    exact, system = must_be_exact(round_.usage, round_.name), digest_description(entry.description)
    same = all(one.system == system for one in earlier)
    message = None
    if others:
        message = "Runs that another organisation published are submitted"
    elif exact and not same:
        message = "Runs of an earlier round are submitted again, with another system description"
    places = several([f"{again[one]} of v{one.round}, {one.path}" for one in others or earlier], 3)
    yield finding(
        "entry.resubmitted",
        entry.path,
        message,
        expected="the system description of the earlier round, and an issue for the committee" if exact else None,
        actual=f"{places}, in {plural(len(entry.logs), 'run')}; the description is {'' if same else 'not '}the same",
        severity=Severity.ERROR if message else None,
    )
