"""Audit of seeds: numbers used twice, whichever source line logged them, and numbers nobody drew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.divisions import CLOSED
from mlsub.findings import Finding
from mlsub.log.report import LogReport
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry

#: Seeds in common from which on chance is ruled out: one of many short numbers may fall twice.
SHARED = 2
#: Every pair of entries is compared, so hostile logs with thousands of seeds must not count with all of them.
SEEDS_OF_A_LOG = 16


def audit_seeds(logs: tuple[LogReport, ...], shared: frozenset[str]) -> Iterator[Finding]:
    """Runs of an entry that use the same seed value, whichever source line logged it.

    Args:
        logs: the entry's runs.
        shared: paths that already have a finding on a shared seed; they are passed over.
    """
    users: dict[int, LogReport] = {}
    for log in logs:
        values = dict.fromkeys(seed.value for seed in log.run.seeds if not seed.error)
        again = [value for value in values if value in users]
        if again and log.path not in shared:
            line = next(seed.line for seed in log.run.seeds if seed.value == again[0])
            yield finding("seed.reused", log.path, line=line, actual=f"seed {again[0]}, as in {users[again[0]].path}")
        for value in values:
            users.setdefault(value, log)


def audit_organisation_seeds(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Closed entries of an organisation that have several seeds in common with one of another system."""
    closed = [entry for entry in entries if entry.in_tree and entry.division == CLOSED.name]
    seeds = [_seeds(entry) for entry in closed]
    for entry, values in zip(closed, seeds, strict=True):
        for other, others in zip(closed, seeds, strict=True):
            common = values & others
            if other.files.system != entry.files.system and len(common) >= SHARED:
                yield _listed(entry, other, sorted(common), len(values))
                break


def _seeds(entry: Entry) -> set[int]:
    return {seed.value for log in entry.logs for seed in log.run.seeds[:SEEDS_OF_A_LOG] if not seed.error}


def _listed(entry: Entry, other: Entry, common: list[int], count: int) -> Finding:
    shown = ", ".join(str(value)[:24] for value in common[:5]) + (", …" if len(common) > 5 else "")
    return finding("seed.not-random", entry.path, actual=f"{len(common)} of {count} seeds ({shown}) as in {other.path}")
