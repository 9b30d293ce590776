"""The runs of an entry beside each other and the calendar: a seed for each, none twice, and when they began."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

from mlsub.convergence.reference import history_of
from mlsub.divisions import DIVISIONS, division_of
from mlsub.findings import Finding, Severity
from mlsub.io.show import plural, show, utc
from mlsub.judge.keys import missing_key, rules_of
from mlsub.log.event import Seed
from mlsub.log.run import MAX_SEEDS
from mlsub.review.cross import audit_seeds
from mlsub.review.fingerprints import digest_log
from mlsub.rounds import Round, get_round, known_rounds
from mlsub.rules.catalogue import finding, reviewed
from mlsub.submission.model import Entry, LogReport
from mlsub.submission.params import Flags


class JudgedSeeds(NamedTuple):
    """Findings on the seeds of an entry, the logs with a seed of an earlier run, and those that are copies of that run.

    Logs are named by their paths.
    """

    findings: tuple[Finding, ...] = ()
    shared: frozenset[str] = frozenset()
    copies: frozenset[str] = frozenset()


def judge_seeds(entry: Entry, round_: Round, flags: Flags) -> JudgedSeeds:
    """Return what the official seed check finds, where it binds the entry, and what a reviewer asks."""
    division = division_of(entry.division)
    judged = JudgedSeeds()
    if division is not None and division.seeds and round_.seeds != "unchecked":
        judged = check_seeds(entry.logs, required=round_.seeds == "required")
        if flags.seed_bypass is not None:
            count = len(judged.findings)
            bypass = finding(
                "seed.bypass",
                entry.path,
                f"{flags.seed_bypass} turns off the seed check",
                actual=f"not shown: {plural(count, 'finding')} on seeds" if count else "the seeds would pass",
            )
            judged = judged._replace(findings=(bypass,), copies=frozenset())
    reused = reviewed("seed.reused", entry.path, lambda: audit_seeds(entry.logs, judged.shared))
    return judged._replace(findings=(*judged.findings, *reused))


def check_seeds(logs: tuple[LogReport, ...], *, required: bool = False) -> JudgedSeeds:
    """Return what the official seed check finds in an entry's runs, in the order of their file names.

    From round 4.1 every run must log one (``required``). Before, an entry without any seed passes, and so do runs
    without one that sort before the first run with one; a later run without a seed does not. A seed is known by its
    value and the source line that logged it.
    """
    users: dict[tuple[Any, Any, Any], tuple[LogReport, Seed]] = {}
    findings: list[Finding] = []
    shared, copies = set(), set()
    some_seed = False
    for log in logs:
        if log.without_run:
            continue  # The missing run has its own finding.
        if log.undecodable:
            findings.append(finding("seed.log-undecodable", log.path))
            continue
        unusable = next((seed for seed in log.run.seeds if seed.error), None)
        if unusable is not None:
            findings.append(finding("seed.unusable", log.path, line=unusable.line, actual=unusable.error))
            continue
        some_seed = some_seed or bool(log.run.seeds)
        if required and not log.run.seeds:
            expected = "a different seed for each run"
            findings.append(finding("seed.missing", log.path, expected=expected, actual="none"))
        elif some_seed and not log.run.seeds:
            message = "The run does not log its seed, but an earlier run of the entry does"
            findings.append(finding("seed.missing", log.path, message))
        again = []
        for seed in log.run.seeds:
            first = users.setdefault((seed.file, seed.lineno, seed.value), (log, seed))
            if first[1] is not seed:
                again.append((seed, first[0]))
        if again:
            seed, owner = again[0]
            copied = owner is not log and digest_log(log) == digest_log(owner)
            findings.append(_shared(log, seed, owner, len(again), copied=copied))
            shared.add(log.path)
            copies.update([log.path] if copied else [])
        if log.run.seeds_left_out:
            count = len(log.run.seeds) + log.run.seeds_left_out
            expected = f"at most {MAX_SEEDS:,}"
            findings.append(finding("seed.too-many", log.path, expected=expected, actual=f"{count:,}"))
    return JudgedSeeds(tuple(findings), frozenset(shared), frozenset(copies))


def _shared(log: LogReport, seed: Seed, owner: LogReport, count: int, *, copied: bool) -> Finding:
    """The finding on the first of ``count`` seeds that were used before; ``copied`` if all of the log was."""
    more = f", and {count - 1} more" if count > 1 else ""
    return finding(
        "seed.shared",
        log.path,
        "The log is a copy of another run's, with the same seed" if copied else None,
        line=seed.line,
        actual=f"seed {seed.value} of {show(seed.file)}:{show(seed.lineno)}, as in {owner.path}{more}",
        fix="Remove it, or put another run in its place." if copied else None,
    )


#: Runs are of a round from so long before the deadline of the round before, and are made again in its review.
MARGIN = timedelta(days=60)
#: Runs are of MLPerf from the year of its first round to a year after the last deadline; other clocks are wrong.
_BEGIN, _YEAR = date(2018, 1, 1), timedelta(days=366)


def audit_dates(entry: Entry, round_: Round, benchmark: str) -> Iterator[Finding]:
    """Yield an entry whose runs began at the time of another round.

    Where its logs lack just the keys that the round added since then, the finding explains these.
    """
    histories = ((name, history_of(round_.usage, name)) for name in known_rounds(round_.usage))
    deadlines = {name: history.deadline.last for name, history in histories if history is not None}
    if round_.name not in deadlines:
        return
    place, days = list(deadlines).index(round_.name), list(deadlines.values())
    first = days[place - 1] - MARGIN if place else date.min
    begun = [time.date() if (time := utc(log.run.timeline.run_start)) else None for log in entry.logs]
    known = [day for day in begun if day is not None and _BEGIN <= day <= days[-1] + _YEAR]
    odd = sorted(day for day in known if not first <= day <= days[place])
    if not odd:
        return
    span = f"from {first} to" if place else "by"
    expected = f"runs that began {span} {days[place]}, the deadline of v{round_.name}"
    actual = f"{len(odd)} of {len(begun)} began {_span(odd)}"
    if odd[0] >= first and odd[-1] <= days[place] + MARGIN:
        yield finding(
            "cross.round",
            entry.path,
            "Runs were made after the round's deadline, in its review",
            expected=expected,
            actual=actual,
            fix="Nothing, if the review committee knows why they were made again.",
            severity=Severity.NOTE,
        )
        return
    # Of the rounds before the first one whose deadline is known, nobody can say which fits.
    fits = next((name for name, last in deadlines.items() if days[0] - 3 * MARGIN <= odd[0] <= last), None)
    if fits is None or benchmark not in get_round(round_.usage, fits).benchmarks:
        yield finding("cross.round", entry.path, expected=expected, actual=actual)
        return
    missing = {missing_key(one) for log in entry.logs for one in log.findings if one.rejects} - {None}
    added = missing and not missing & _required_keys(get_round(round_.usage, fits), benchmark)
    actual += f", in time for v{fits} (deadline {deadlines[fits]})"
    yield finding("cross.round-rules" if added else "cross.round", entry.path, expected=expected, actual=actual)


def _span(days: list[date]) -> str:
    return f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"


def _required_keys(round_: Round, benchmark: str) -> set[str]:
    """The keys that logs of either division had to have."""
    return {rule.key for name in DIVISIONS for rule in rules_of(round_, name, benchmark) if rule.occurs.is_required}
