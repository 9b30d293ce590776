"""When the runs of an entry began, beside the deadlines of the rounds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from mlsub.convergence.reference import history_of
from mlsub.divisions import DIVISIONS
from mlsub.findings import Finding, Severity
from mlsub.judge.keys import missing_key, rules_of
from mlsub.rounds import Round, get_round, known_rounds
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry

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
    begun = [_day_of(log.run.timeline.run_start) for log in entry.logs]
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


def _day_of(time_ms: float | None) -> date | None:
    """The day of a time in UTC; None for one that no calendar has."""
    try:
        return None if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


def _span(days: list[date]) -> str:
    return f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"


def _required_keys(round_: Round, benchmark: str) -> set[str]:
    """The keys that logs of either division had to have."""
    return {rule.key for name in DIVISIONS for rule, _ in rules_of(round_, name, benchmark) if rule.occurs.is_required}
