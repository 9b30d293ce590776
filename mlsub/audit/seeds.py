"""Audit of seeds: a number used twice, whichever source line logged it."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.findings import Finding
from mlsub.log.report import LogReport
from mlsub.rules.catalogue import finding


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
            yield finding(
                "seed.reused",
                log.path,
                "The run uses a seed of another run of the entry",
                line=line,
                expected="a seed of its own",
                actual=f"seed {again[0]}, as in {users[again[0]].path}",
            )
        for value in values:
            users.setdefault(value, log)
