"""What is new, in three sentences: the newest round, the records that fell in it, and what it has first results of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlsub.commands.site.history import (
    History,
    by_comparability,
    histories,
    minutes_to_train,
    newest,
    record_chains,
    time_of,
)
from mlsub.commands.site.model import counted, number_of, text_of
from mlsub.commands.site.results import Result, RoundResults
from mlsub.commands.site.tables import division_of
from mlsub.divisions import CLOSED, OPEN
from mlsub.rounds.publication import published

#: Records that are named; the greatest gains come first.
_NAMED = 3
#: Things that are named before the rest is counted.
_LISTED = 6


class Fall(NamedTuple):
    """A record that fell: the benchmark, the result that holds it now, and the one that held it before."""

    history: History
    result: Result
    before: Result

    @property
    def gain(self) -> float:
        """How many times as fast it is now."""
        return time_of(self.before) / time_of(self.result)


def news(rounds: Sequence[RoundResults]) -> tuple[str, ...]:
    """Three sentences about the newest round; none where no round has results."""
    if not any(one.results for one in rounds):
        return ()
    latest = newest([one for one in rounds if one.results])
    benchmarks = histories([one for one in rounds if one.round.usage == latest.round.usage])
    return _size(latest, len(rounds)), _fallen(latest, benchmarks), _firsts(latest, rounds, benchmarks)


def _size(latest: RoundResults, rounds: int) -> str:
    came_out = published(latest.round.usage, latest.round.name)
    when = f", published {'on ' if came_out.date else 'in '}{came_out.shown}," if came_out else ""
    among = f"is the newest of the {rounds} rounds here" if rounds > 1 else "is the only round here"
    organisations = len({result.named.organisation for result in latest.results})
    divisions = [division_of(result) for result in latest.results]
    parts = [f"{divisions.count(one.name)} {one.name.capitalize()}" for one in (CLOSED, OPEN) if one.name in divisions]
    split = "all Closed" if divisions.count(CLOSED.name) == len(divisions) else " and ".join(parts) or "of no division"
    return (
        f"{latest.round.title}{when} {among}: {counted(len(latest.results), 'result')} from "
        f"{counted(organisations, 'organisation')}, {split}."
    )


def falls_in(round_name: str, benchmarks: Sequence[History]) -> list[Fall]:
    """The records that fell in a round, the greatest gain first."""
    falls = [
        Fall(history, record.result, record.before)
        for history in benchmarks
        for chain in record_chains(history)
        for record in chain
        if record.before is not None and record.result.round.name == round_name
    ]
    return sorted(falls, key=lambda fall: -fall.gain)


def contested(round_name: str, benchmarks: Sequence[History]) -> int:
    """How many benchmarks have Closed times in a round and in one before it that may be compared with it."""
    groups = [[one.round.name for one in group] for history in benchmarks for group in by_comparability(history.closed)]
    return sum(round_name in names and names[0] != round_name for names in groups)


def _fallen(latest: RoundResults, benchmarks: Sequence[History]) -> str:
    falls = falls_in(latest.round.name, benchmarks)
    count = contested(latest.round.name, benchmarks)
    if not count:
        return "None of its benchmarks has Closed results of an earlier round to compare with, so no record could fall."
    comparable = f"{'benchmark' if count == 1 else 'benchmarks'} with comparable results of earlier rounds"
    if not falls:
        return f"No record fell: its {count} {comparable} had a faster one."
    more = f", and {len(falls) - _NAMED} more" if len(falls) > _NAMED else ""
    verb = "Records fell" if len(falls) > 1 else "A record fell"
    return (
        f"{verb} on {f'{len(falls)} of ' if count > 1 else ''}its {count} {comparable}: "
        f"{'; '.join(map(_fell, falls[:_NAMED]))}{more}."
    )


def _fell(fall: Fall) -> str:
    before, gain = number_of(time_of(fall.before), 3), number_of(fall.gain, 3)
    now = f"{in_minutes(fall.result)}, {gain} times as fast"
    return f"{fall.history.title} from {before} to {now} ({holder(fall.result)})"


def in_minutes(result: Result) -> str:
    """The time of a result, to three digits."""
    shown = number_of(time_of(result), 3)
    return f"{shown} minute{'s' * (shown != '1')}"


def holder(result: Result) -> str:
    """Whose result it is, on how many of what, and whether others of its benchmark and round are missing."""
    chips, name = result.row.accelerators_count, result.named.accelerator
    system = f"{chips:,} × {name}" if chips and name else text_of(result.row.system or result.entry.system, 60)
    given = f", of the results given ({result.missing} without logs)" if result.missing else ""
    return f"{text_of(result.named.organisation, 60)}, {system}{given}"


def _firsts(latest: RoundResults, rounds: Sequence[RoundResults], benchmarks: Sequence[History]) -> str:
    before = [result for one in rounds if one is not latest and not _after(one, latest) for result in one.results]
    if not before:
        best = [history for history in benchmarks if history.closed]
        leaders = [min(history.closed, key=time_of).named.organisation for history in best]
        leader = max(dict.fromkeys(leaders), key=leaders.count, default=None)
        return (
            f"{text_of(leader, 60)} is the fastest on {leaders.count(leader)} of {counted(len(leaders), 'benchmark')}."
            if leader
            else "It has no Closed result with a time."
        )
    found = (
        ("on", [_fastest(title, latest.results) for title in _new(latest, before, lambda one: one.named.title)]),
        ("with", _new(latest, before, lambda one: one.named.accelerator)),
        ("from", _new(latest, before, lambda one: one.named.organisation)),
    )
    parts = [f"{word} {_list(names)}" for word, names in found if names]
    if not parts:
        return "Its benchmarks, accelerators and organisations all had results in earlier rounds."
    first, *others = parts
    more = [f"the first {one}" for one in others]
    return f"It has the first results {', '.join([first, *more[:-1]])}{f', and {more[-1]}' if more else ''}."


def _after(one: RoundResults, latest: RoundResults) -> bool:
    """Whether results came out after those of the newest round, as those of another usage may have."""
    days = [found.results[0].named.published if found.results else None for found in (one, latest)]
    return days[0] is not None and days[1] is not None and days[0] > days[1]


def _new(latest: RoundResults, before: Sequence[Result], name: Callable[[Result], str | None]) -> list[str]:
    known = {name(result) for result in before}
    found = {text_of(one, 60) for one in map(name, latest.results) if one is not None and one not in known}
    return sorted(found, key=str.casefold)


def _fastest(title: str, results: Sequence[Result]) -> str:
    of_it = [one for one in results if one.named.title == title and division_of(one) == CLOSED.name]
    timed = [one for one in of_it if minutes_to_train(one) is not None]
    if not timed:
        return title
    best = min(timed, key=time_of)
    return f"{title} ({in_minutes(best)}: {holder(best)})"


def _list(names: Sequence[str]) -> str:
    shown = [*names[:_LISTED], f"{len(names) - _LISTED} more"] if len(names) > _LISTED else list(names)
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
