"""Charts of results, drawn from the data of the site: records over time, scaling, chip-minutes, and rounds."""

from __future__ import annotations

from typing import Any

from mlsub.commands.site.history import (
    best_chip_minutes,
    best_of,
    holder,
    ideal_lines,
    in_minutes,
    record_chains,
    time_of,
    timed,
)
from mlsub.commands.site.page import Chart, Section, count_text, number_text
from mlsub.commands.site.results import DIVISIONS, NO_ACCELERATOR, Results, Site, SiteResult, closed, group_by, slug

#: The line of the record in a legend.
RECORD_KEY = ("record", 7, "line")
_SCALING = (
    "Minutes to train over the number of accelerators, both axes logarithmic, one mark a result; pale marks are those "
    "of other rounds. A dotted line is ideal scaling: from the smallest system of an accelerator on, twice the "
    "accelerators take half the minutes."
)
_CHIP_MINUTES = (
    "The fewest chip-minutes (published minutes times accelerators) of each accelerator family in each round. "
    "Lines join rounds whose results may be compared."
)


def record_chart(site: Site, benchmark: Results, key: str, root: str = "", shown: Results = ()) -> Chart | None:
    """Return the record of a benchmark over the dates of publication, with results beside it.

    Args:
        site: all results.
        benchmark: those of the benchmark.
        key: what the chart is called on its page.
        root: the way from the page to the root of the site.
        shown: the results that are drawn; without any the best Closed one of each vendor in each round.

    Returns:
        The chart, None where the results are not of several rounds whose dates of publication are known.
    """
    dated = [result for result in closed(benchmark) if result.publication_date]
    drawn = shown or best_of(dated, lambda one: (one.round_key, one.vendor))
    drawn = [result for result in drawn if result.publication_date]
    if len({result.round for result in drawn}) < 2:
        return None
    best = min(shown, key=time_of) if shown else record_chains(benchmark)[-1][-1]
    last = {one.compatible_rounds or (one.round,): str(one.publication_date) for one in dated}
    chains = [[one for one in chain if one.publication_date] for chain in record_chains(benchmark)]
    steps = [
        {"at": site.places(chain), "step": True, "until": last[chain[0].compatible_rounds or (chain[0].round,)]}
        for chain in chains
        if chain
    ]
    years = sorted(result.publication_date.year for result in site.results if result.publication_date)
    more: dict[str, Any] = {"small": True, "span": [f"{years[0]}-01-01", f"{years[-1] + 1}-01-01"], "lines": steps}
    return Chart(
        kind="dots",
        key=key,
        title=benchmark[-1].benchmark_title,
        about=_best_words("Fastest" if shown else "Record", best),
        href=benchmark[-1].benchmark_href,
        data=_data(site, "family" if shown else "vendor", drawn, "publication_date", root=root, **more),
    )


def records_over_time(site: Site, results: Results, words: str) -> tuple[Section, ...]:
    """Return small charts, one a benchmark of several rounds: the fastest Closed results beside the record of all.

    Args:
        site: all results.
        results: whose fastest of each round and family are drawn.
        words: what the charts show.
    """
    charts: list[Chart] = []
    drawn: list[SiteResult] = []
    own = {some[0].benchmark_href: some for some in group_by(closed(results), lambda one: one.benchmark_href)}
    for benchmark in site.benchmarks:
        shown = best_of(own.get(benchmark[0].benchmark_href, ()), lambda one: (one.round_key, one.family))
        chart = record_chart(site, benchmark, f"time-{len(charts)}", "../", shown) if shown else None
        if chart is not None:
            charts.append(chart)
            drawn += shown
    if not charts:
        return ()
    title = f"Minutes to train over time, {count_text(len(charts), 'benchmark')}"
    legend = (*site.legend("family", drawn), RECORD_KEY)
    return (Section(key="time", title=title, words=(words,), charts=tuple(charts), small=True, legend=legend),)


def scaling_chart(site: Site, results: Results, key: str, title: str = "", **more: Any) -> Chart:
    """Return accelerators against minutes, with lines of ideal scaling; without a title small, of the newest rounds."""
    small = not title
    counted = [result for result in timed(results) if result.accelerators_count]
    lines = [
        {"at": site.places([line.through])[0], "most": line.most, "newest": line.newest}
        for line in ideal_lines(counted)
        if line.newest or not small
    ]
    fastest = min(counted, key=time_of, default=None)
    return Chart(
        kind="dots",
        key=key,
        title=title or results[-1].benchmark_title,
        about=_SCALING if title else _best_words("Fastest", fastest) if fastest else "",
        href=results[0].benchmark_href if small else "",
        data=_data(site, "family", counted, "accelerators_count", ideal=lines, small=small, **more),
    )


def chip_minutes_chart(site: Site, benchmark: Results) -> Chart:
    """Return the fewest chip-minutes of each family over the rounds."""
    lines = best_chip_minutes(timed(benchmark))
    drawn = [result for line in lines for result in line]
    more: dict[str, Any] = {
        "rounds": list(dict.fromkeys(result.round_key for result in benchmark)),
        "lines": [{"at": site.places(line), "own": True} for line in lines if len(line) > 1],
    }
    title = "Chip-minutes over rounds"
    data = _data(site, "family", drawn, "round_key", y="chip_minutes", **more)
    return Chart(kind="dots", key="chip-minutes", title=title, about=_CHIP_MINUTES, data=data)


def _best_words(what: str, result: SiteResult) -> str:
    return f"{what}: {in_minutes(result)} ({result.round_key}, {holder(result)})."


def _data(
    site: Site, by: str, results: Results, x: str, *, y: str = "published_minutes", root: str = "../", **more: Any
) -> dict[str, Any]:
    keys = site.legend(by, results)
    known = {"by": by, "keys": keys, "none": NO_ACCELERATOR, "at": site.places(results), "root": root, "x": x, "y": y}
    return known | more


def round_chart(site: Site, results: Results, legend: list[tuple[str, int, str]]) -> Chart | None:
    """Return all results of a benchmark in one division of a round as dots; None where none has a time to draw."""
    first, scored = results[0], [result for result in results if result.score_minutes is not None]
    if not scored:
        return None
    minutes = sorted(result.score_minutes or 0.0 for result in scored)
    name = first.benchmark_title + (f", {first.scaling_type} scaling" if first.scaling_type else "")
    words = f"Minutes to train {name} of {count_text(len(scored), 'result')}, grouped by the number of accelerators"
    words += f": {number_text(minutes[0], 3)} to {number_text(minutes[-1], 3)}." if len(scored) > 1 else "."
    if not all(result.accepted for result in scored):
        words += " A ring is a result that does not meet the official checker."
    if without := len(results) - len(scored):
        words += f" {count_text(without, 'result')} without a time {'is' if without == 1 else 'are'} in the table only."
    kind = (first.scaling_type,) if first.scaling_type else ()
    return Chart(
        kind="round",
        key="-".join((first.division_name, slug(first.benchmark_name, *kind))),
        title=f"{name}, {DIVISIONS[first.division_name]}",
        about=words,
        data={"root": "../", "round": first.round_key, "at": site.places(results), "keys": legend},
    )
