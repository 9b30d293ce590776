"""The seed check of a Closed entry, as the official checker of the round's day does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.log.report import LogReport
from mlsub.log.run import MAX_SEED_DIGESTS, MAX_SEEDS, SEED_DIGEST_BYTES, Run, Seed, seed_digest
from mlsub.rules.catalogue import finding

#: Digests compared in one entry; what is beyond is refused, never passed.
MAX_COMPARED = 2_000_000


def check_seeds(logs: tuple[LogReport, ...], *, required: bool = False) -> Iterator[Finding]:
    """Findings on the seeds of an entry's runs, in the order of their file names.

    From round 4.1 every run must log one (``required``). Before, an entry without any seed passes, and so do runs
    without one that sort before the first run with one; a later run without a seed does not. A seed is known by its
    value and the source line that logged it.
    """
    users: dict[tuple[Any, Any, Any], tuple[LogReport, Seed]] = {}
    some_seed = False
    digests = _Digests(logs)
    for log in logs:
        if log.without_run:
            continue  # The missing run has its own finding.
        if log.undecodable:
            yield finding("seed.log-undecodable", log.path)
            continue
        unusable = next((seed for seed in log.run.seeds if seed.error), None)
        if unusable is not None:
            yield finding("seed.unusable", log.path, line=unusable.line, actual=unusable.error)
            continue
        some_seed = some_seed or bool(log.run.seeds)
        if required and not log.run.seeds:
            yield finding("seed.missing", log.path, expected="a different seed for each run", actual="none")
        elif some_seed and not log.run.seeds:
            yield finding(
                "seed.missing", log.path, "The run does not log its seed, but an earlier run of the entry does"
            )
        again = []
        for seed in log.run.seeds:
            first = users.setdefault((seed.file, seed.lineno, seed.value), (log, seed))
            if first[1] is not seed:
                again.append((seed, first[0]))
        behind = digests.again(log.run)
        if again:
            seed, owner = again[0]
            more = f", and {len(again) - 1} more" if len(again) > 1 else ""
            yield finding(
                "seed.shared",
                log.path,
                line=seed.line,
                actual=f"seed {seed.value} of {show(seed.file)}:{show(seed.lineno)}, as in {owner.path}{more}",
            )
        elif behind:
            yield finding(
                "seed.shared",
                log.path,
                actual=f"{behind:,} of more than {MAX_SEEDS:,} seeds, of which only digests are kept",
            )
        if log.run.seeds_left_out or digests.full:
            yield finding(
                "seed.too-many",
                log.path,
                expected=f"at most {MAX_SEED_DIGESTS:,} in a log and {MAX_COMPARED:,} in an entry",
                actual=f"{len(log.run.seeds) + _kept_digests(log.run) + log.run.seeds_left_out:,}",
            )


class _Digests:
    """Digests of the seeds of an entry's runs so far, kept where a run logs more seeds than are kept whole."""

    def __init__(self, logs: tuple[LogReport, ...]) -> None:
        self.full = False
        self._needed = any(log.run.more_seeds for log in logs)
        self._seen: set[bytes] = set()

    def again(self, run: Run) -> int:
        """How many of a run's seeds were seen before, in another run or in this one."""
        again = 0
        for digest in _all_digests(run) if self._needed else ():
            if digest in self._seen:
                again += 1
            elif len(self._seen) < MAX_COMPARED:
                self._seen.add(digest)
            else:
                self.full = True
                break
        return again


def _all_digests(run: Run) -> Iterator[bytes]:
    yield from map(seed_digest, run.seeds)
    for start in range(0, len(run.more_seeds), SEED_DIGEST_BYTES):
        yield run.more_seeds[start : start + SEED_DIGEST_BYTES]


def _kept_digests(run: Run) -> int:
    return len(run.more_seeds) // SEED_DIGEST_BYTES
