"""Charts of results, for all pages over many of them: records over time, chips against minutes, chip-minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlsub.commands.site.history import History, best_chip_minutes, best_of, ideal_lines, record_chains, time_of
from mlsub.commands.site.model import Live, text_of
from mlsub.commands.site.news import holder, in_minutes
from mlsub.commands.site.places import benchmark_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.tables import round_name
from mlsub.commands.site.whole import NO_ACCELERATOR, Whole

_KIND = "dots"
#: The line of the record in a legend.
RECORD_KEY = ("record", 7, "line")
#: Rounds from which on there is a change to draw.
_SEVERAL = 2
_SCALING = (
    "Minutes to train over the number of accelerators, both axes logarithmic, one mark a result; pale marks are those "
    "of other rounds. A dotted line is ideal scaling: from the smallest system of an accelerator on, twice the "
    "accelerators take half the minutes."
)
_CHIP_MINUTES = (
    "The fewest chip-minutes (published minutes times accelerators) of each accelerator family in each round. "
    "Lines join rounds whose results may be compared."
)


def record_chart(whole: Whole, history: History, key: str, root: str = "", shown: Sequence[Result] = ()) -> Live | None:
    """The record of a benchmark over the dates of publication, with results beside it.

    Args:
        whole: the results of the site.
        history: the benchmark.
        key: what the chart is called on its page.
        root: the way from the page to the root of the site.
        shown: the results that are drawn; without any the best Closed one of each vendor in each round.

    Returns:
        The chart, None where the results are not of several rounds whose dates of publication are known.
    """
    dated = [result for result in history.closed if result.named.published]
    drawn = list(shown) or list(best_of(dated, lambda one: (round_name(one), one.named.vendor)).values())
    drawn = [result for result in drawn if result.named.published]
    if len({round_name(result) for result in drawn}) < _SEVERAL:
        return None
    by = "family" if shown else "vendor"
    return Live(
        kind=_KIND,
        key=key,
        title=text_of(history.title, 80),
        about=_record_words(history, shown),
        href=history.href,
        data=_data(whole, by, drawn, root)
        | {"x": "published", "y": "minutes", "small": True, "span": span_of(whole), "lines": _steps(whole, history)},
    )


def _record_words(history: History, shown: Sequence[Result]) -> str:
    if shown:
        return _said("Fastest", min(shown, key=time_of))
    return _said("Record", record_chains(history)[-1][-1].result)


def _said(what: str, result: Result) -> str:
    return f"{what}: {in_minutes(result)} ({round_name(result)}, {holder(result)})."


def _steps(whole: Whole, history: History) -> list[dict[str, Any]]:
    """The record as a line of steps for each group of rounds, up to the last round of the group."""
    last: dict[tuple[str, ...], str] = {}
    for result in history.closed:
        if result.named.published:
            last[result.named.compatible or (result.round.name,)] = result.named.published.isoformat()
    chains = [[record.result for record in chain if record.result.named.published] for chain in record_chains(history)]
    return [
        {"at": whole.at(chain), "step": True, "until": last[chain[0].named.compatible or (chain[0].round.name,)]}
        for chain in chains
        if chain
    ]


def span_of(whole: Whole) -> list[str]:
    """The years in which results were published: the axis of all charts over time, so that they can be compared."""
    days = [result.named.published for result in whole.results if result.named.published]
    first, last = min(days), max(days)
    return [f"{first.year}-01-01", f"{last.year + 1}-01-01"]


def scaling_chart(whole: Whole, results: Sequence[Result], key: str, title: str, *, small: bool = False) -> Live:
    """Accelerators against minutes, with lines of ideal scaling; small with those of the newest rounds alone."""
    counted = [result for result in results if result.row.accelerators_count]
    lines = [line for line in ideal_lines(counted) if line.newest or not small]
    fastest = min(counted, key=time_of, default=None)
    words = _said("Fastest", fastest) if fastest else ""
    return Live(
        kind=_KIND,
        key=key,
        title=title,
        about=words if small else _SCALING,
        href=benchmark_href(results[0].named) if small else "",
        data=_data(whole, "family", counted, "../")
        | {"x": "accelerators", "y": "minutes", "ideal": whole.ideal(lines), "small": small},
    )


def chip_minutes_chart(whole: Whole, history: History, key: str) -> Live:
    """The fewest chip-minutes of each family over the rounds."""
    lines = best_chip_minutes(history.timed)
    return Live(
        kind=_KIND,
        key=key,
        title="Chip-minutes over rounds",
        about=_CHIP_MINUTES,
        data=_data(whole, "family", [result for line in lines for result in line], "../")
        | {
            "x": "round",
            "y": "chip_minutes",
            "rounds": list(history.rounds),
            "lines": [{"at": whole.at(line), "own": True} for line in lines if len(line) > 1],
        },
    )


def _data(whole: Whole, by: str, results: Sequence[Result], root: str) -> dict[str, Any]:
    return {
        "by": by,
        "keys": whole.keys(by, results),
        "none": NO_ACCELERATOR,
        "at": whole.at(results),
        "root": root,
    }
