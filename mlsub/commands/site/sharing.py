"""What pages about an accelerator, an organisation and a system have in common: facts, charts over time, and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlsub.commands.site.dots import RECORD_KEY, record_chart
from mlsub.commands.site.history import best_of, minutes_to_train
from mlsub.commands.site.model import Cell, Live, Section, counted
from mlsub.commands.site.pages import REHEARSAL
from mlsub.commands.site.places import benchmark_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.tables import division_of, round_name
from mlsub.commands.site.whole import Whole, grouped
from mlsub.divisions import CLOSED

#: Names that a fact has room for.
_NAMES = 8


class Shared(NamedTuple):
    """Results that share something, and the page about it: its address from the root of the site, and its title."""

    href: str
    title: str
    results: tuple[Result, ...]


def rehearsed(results: Sequence[Result]) -> tuple[str, ...]:
    """What a page says of results that are no MLPerf results, if it has any."""
    return (REHEARSAL,) if any(result.round.usage == "rehearsal" for result in results) else ()


def closed(results: Sequence[Result]) -> list[Result]:
    """The Closed results that have a time."""
    return [one for one in results if division_of(one) == CLOSED.name and minutes_to_train(one) is not None]


def rounds_fact(results: Sequence[Result]) -> Cell:
    """The rounds of results, which come by age."""
    names = list(dict.fromkeys(map(round_name, results)))
    return Cell(names[0] if len(names) == 1 else f"{len(names)}, {names[0]} to {names[-1]}", float(len(names)))


def names_fact(names: Sequence[str]) -> Cell:
    """Names once each, the first of them, and how many more there are."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _NAMES} more" if len(found) > _NAMES else ""
    return Cell(", ".join(found[:_NAMES]) + more if found else "–", float(len(found)))


def counts_fact(results: Sequence[Result]) -> Cell:
    """How many results there are, and in which division."""
    inside = sum(division_of(result) == CLOSED.name for result in results)
    return Cell(
        f"{len(results):,}, {inside:,} of them Closed" if inside < len(results) else f"{len(results):,}, Closed"
    )


def over_time(whole: Whole, results: Sequence[Result], words: str) -> tuple[Section, ...]:
    """Small charts, one a benchmark of several rounds: the fastest Closed results in each, beside the record of all.

    Args:
        whole: the results of the site.
        results: whose fastest of each round and family are drawn.
        words: what the charts show.
    """
    own = grouped(closed(results), lambda one: benchmark_href(one.named))
    charts: list[Live] = []
    drawn: list[Result] = []
    for history in whole.histories:
        some = own.get(history.href, [])
        shown = list(best_of(some, lambda one: (round_name(one), one.named.family)).values())
        chart = record_chart(whole, history, f"time-{len(charts)}", "../", shown) if shown else None
        if chart is not None:
            charts.append(chart)
            drawn += shown
    if not charts:
        return ()
    legend = (*whole.keys("family", drawn), RECORD_KEY)
    key, title = "time", f"Minutes to train over time, {counted(len(charts), 'benchmark')}"
    return (Section(key=key, title=title, words=(words,), charts=tuple(charts), small=True, legend=legend),)
