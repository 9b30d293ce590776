"""Benchmarks over the rounds: their records, the best of each kind in each round, and lines of ideal scaling."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from mlsub.commands.site.places import benchmark_href
from mlsub.commands.site.results import Result, RoundResults, age_of
from mlsub.commands.site.tables import division_of, round_name
from mlsub.divisions import CLOSED

#: Usages in the order in which they are shown; others come after them.
_USAGES = ("training", "hpc")


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark with its results of all rounds, those of older rounds first.

    ``timed`` are those with a time, and ``closed`` those of them that are Closed, which records are among.
    """

    name: str
    title: str
    task: str | None
    usage: str
    href: str
    results: tuple[Result, ...]
    timed: tuple[Result, ...]
    closed: tuple[Result, ...]

    @property
    def rounds(self) -> tuple[str, ...]:
        """The rounds that have results, oldest first."""
        return tuple(dict.fromkeys(round_name(result) for result in self.results))


class Record(NamedTuple):
    """A result that was faster than all before it, and the record until then; None where nothing came before."""

    result: Result
    before: Result | None


def minutes_to_train(result: Result) -> float | None:
    """The published score in minutes; None where there is none.

    Results of weak scaling have the throughput of many models at a time as their score, and no time to train one.
    """
    return None if result.entry.scaling_type == "weak" else result.minutes


def time_of(result: Result) -> float:
    """Minutes to train of a result that has them."""
    minutes = minutes_to_train(result)
    assert minutes is not None  # noqa: S101  (asked of timed results only)
    return minutes


def histories(rounds: Sequence[RoundResults]) -> tuple[History, ...]:
    """The benchmarks in the order of interest: by usage, those of the newest rounds and with most results first."""
    found: dict[str, list[Result]] = {}
    for one in by_age(rounds):
        for result in one.results:
            found.setdefault(benchmark_href(result.named), []).append(result)
    made = [_history(href, results) for href, results in found.items()]
    return tuple(sorted(made, key=_interest))


def by_age(rounds: Sequence[RoundResults], *, newest_first: bool = False) -> list[RoundResults]:
    """The rounds of Training before those of HPC, and of each the oldest or the newest first."""
    sign = -1 if newest_first else 1
    return sorted(rounds, key=lambda one: (_age(one)[0], tuple(sign * part for part in _age(one)[1])))


def _history(href: str, results: Sequence[Result]) -> History:
    last = results[-1]
    timed = tuple(result for result in results if minutes_to_train(result) is not None)
    return History(
        name=last.named.benchmark,
        title=last.named.title,
        task=last.named.task,
        usage=last.round.usage,
        href=href,
        results=tuple(results),
        timed=timed,
        closed=tuple(result for result in timed if division_of(result) == CLOSED.name),
    )


def _age(one: RoundResults | Result) -> tuple[int, tuple[int, ...]]:
    usage = one.round.usage
    return _USAGES.index(usage) if usage in _USAGES else len(_USAGES), age_of(one.round.name)


def _interest(one: History) -> tuple[int, tuple[int, ...], int, str]:
    usage, age = _age(one.results[-1])
    last = sum(result.round.name == one.results[-1].round.name for result in one.results)
    return usage, tuple(-part for part in age), -last, one.title


def newest(rounds: Sequence[RoundResults]) -> RoundResults:
    """The round that came out last; one without a known date came out after those of its usage that have one."""
    last = {one.round.usage: one for one in by_age(rounds)}

    def day(one: RoundResults) -> tuple[bool, str]:
        published = one.results[0].named.published if one.results else None
        return one.round.usage in _USAGES, published.isoformat() if published else "9999"

    return max(last.values(), key=day)


def by_comparability(results: Iterable[Result]) -> list[list[Result]]:
    """Results in groups whose rounds may be compared; a round that is compatible with no other is alone."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        groups.setdefault(result.named.compatible or (result.round.name,), []).append(result)
    return list(groups.values())


def record_chains(history: History) -> list[list[Record]]:
    """The records of a benchmark, oldest first, of each group of rounds that may be compared with each other."""
    return [list(_records(group)) for group in by_comparability(history.closed)]


def _records(results: Sequence[Result]) -> Iterator[Record]:
    best: Result | None = None
    for fastest in best_of(results, round_name).values():
        if best is None or time_of(fastest) < time_of(best):
            yield Record(fastest, best)
            best = fastest


def best_of(
    results: Iterable[Result], key: Callable[[Result], Hashable], value: Callable[[Result], float] = time_of
) -> dict[Hashable, Result]:
    """The result with the lowest value of each key, in the order in which the keys come; of equals the first."""
    best: dict[Hashable, Result] = {}
    for result in results:
        found = key(result)
        if found not in best or value(result) < value(best[found]):
            best[found] = result
    return best


class Ideal(NamedTuple):
    """A line of ideal scaling: twice the accelerators take half the minutes.

    It goes through the fastest result of the fewest accelerators of one kind, up to the most of them, in one round
    and division. ``newest``: no later round has such a line for this kind.
    """

    through: Result
    most: int
    newest: bool


def ideal_lines(results: Sequence[Result]) -> list[Ideal]:
    """The lines of ideal scaling of timed results, older rounds first; a kind of one size has none."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.named.accelerator and result.row.accelerators_count:
            key = (result.named.accelerator, division_of(result), round_name(result))
            groups.setdefault(key, []).append(result)
    wide = {key: some for key, some in groups.items() if len({one.row.accelerators_count for one in some}) > 1}
    last = {key[:2]: key for key in wide}
    return [_ideal(some, newest=last[key[:2]] == key) for key, some in wide.items()]


def _ideal(results: Sequence[Result], *, newest: bool) -> Ideal:
    least = min(result.row.accelerators_count or 0 for result in results)
    most = max(result.row.accelerators_count or 0 for result in results)
    through = min((one for one in results if one.row.accelerators_count == least), key=time_of)
    return Ideal(through, most, newest)


def chip_minutes(result: Result) -> float:
    """Published minutes times accelerators of a result that has both."""
    return result.named.chip_minutes or 0.0


def best_chip_minutes(results: Iterable[Result]) -> list[list[Result]]:
    """The fewest chip-minutes of each accelerator family, division and round; a list for each line that joins them.

    A line joins the rounds of one family and division that may be compared.
    """
    counted = [result for result in results if result.named.chip_minutes and result.named.family]
    lines: dict[tuple[object, ...], list[Result]] = {}
    for group in by_comparability(counted):
        best = best_of(group, lambda one: (one.named.family, division_of(one), round_name(one)), chip_minutes)
        for result in best.values():
            key = (result.named.family, division_of(result), result.named.compatible or result.round.name)
            lines.setdefault(key, []).append(result)
    return list(lines.values())
