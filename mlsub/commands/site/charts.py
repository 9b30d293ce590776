"""Charts of results, drawn from the data of the site: records over time, scaling, chip-minutes, and rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mlsub.commands.site.page import Chart, Section, count_text, number_text
from mlsub.commands.site.results import DIVISIONS, NO_ACCELERATOR, Results, Site, SiteResult, fast

_NONE = Results()
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


def record_chart(site: Site, benchmark: Results, shown: Results = _NONE) -> Chart | None:
    """Return the record of a benchmark over the dates of publication, with results beside it.

    Args:
        site: all results.
        benchmark: those of the benchmark.
        shown: the results that are drawn; without any the best Closed one of each vendor in each round.

    Returns:
        The chart, None where the results are not of several rounds whose dates of publication are known.
    """
    drawn = (shown or benchmark.closed.best(lambda one: (one.round_key, one.vendor))).dated
    if len({result.round for result in drawn}) < 2:
        return None
    chains = benchmark.record_chains()
    best = min(shown, key=fast) if shown else chains[-1][-1]
    last = {one.comparable_rounds: str(one.publication_date) for one in benchmark.closed.dated}
    steps = [
        {"at": site.places(chain), "step": True, "until": last[chain[0].comparable_rounds]}
        for chain in (chain.dated for chain in chains)
        if chain
    ]
    years = sorted(result.publication_date.year for result in site.results if result.publication_date)
    more: dict[str, Any] = {"small": True, "span": [f"{years[0]}-01-01", f"{years[-1] + 1}-01-01"], "lines": steps}
    return Chart(
        kind="dots",
        title=benchmark[-1].benchmark_title,
        about=_best_words("Fastest" if shown else "Record", best),
        href=benchmark[-1].benchmark_href,
        data=_data(site, "family" if shown else "vendor", drawn, "publication_date", **more),
    )


def records_over_time(site: Site, results: Results, words: str) -> Iterator[Section]:
    """Yield small charts, one a benchmark of several rounds: the fastest Closed results beside the record of all.

    Args:
        site: all results.
        results: whose fastest of each round and family are drawn.
        words: what the charts show.
    """
    charts: list[Chart] = []
    drawn: list[SiteResult] = []
    own = {some[0].benchmark_href: some for some in results.closed.by(lambda one: one.benchmark_href)}
    for benchmark in site.benchmarks:
        shown = own.get(benchmark[0].benchmark_href, _NONE).best(lambda one: (one.round_key, one.family))
        chart = record_chart(site, benchmark, shown) if shown else None
        if chart is not None:
            charts.append(chart)
            drawn += shown
    if charts:
        title = f"Minutes to train over time, {count_text(len(charts), 'benchmark')}"
        legend = (*site.legend("family", drawn), RECORD_KEY)
        yield Section(key="time", title=title, words=(words,), charts=tuple(charts), small=True, legend=legend)


def scaling_chart(site: Site, results: Results, title: str = "", **more: Any) -> Chart:
    """Return accelerators against minutes, with lines of ideal scaling; without a title small, of the newest rounds."""
    small = not title
    counted = Results(result for result in results.timed if result.accelerators_count)
    fastest = min(counted, key=fast, default=None)
    lines = [line for line in _ideal_lines(site, counted) if line["newest"] or not small]
    return Chart(
        kind="dots",
        title=title or results[-1].benchmark_title,
        about=_SCALING if title else _best_words("Fastest", fastest) if fastest else "",
        href=results[0].benchmark_href if small else "",
        data=_data(site, "family", counted, "accelerators_count", ideal=lines, small=small, **more),
    )


def _ideal_lines(site: Site, results: Results) -> list[dict[str, Any]]:
    """Return lines of ideal scaling, older rounds first: twice the accelerators take half the minutes.

    A line goes from the place ``at`` of the fastest result of the fewest accelerators of one kind to the ``most`` of
    them, in one round and division; a kind of one size has none. ``newest``: no later round has such a line.
    """
    named = Results(one for one in results if one.accelerator_name)
    kinds = named.by(lambda one: (one.accelerator_name, one.division_name, one.round_key))
    wide = [some for some in kinds if len({one.accelerators_count for one in some}) > 1]
    last = {(some[0].accelerator_name, some[0].division_name): some for some in wide}
    lines = []
    for some in wide:
        through = min(some, key=lambda one: (one.accelerators_count or 0, fast(one)))
        newest = last[through.accelerator_name, through.division_name] is some
        most = max(one.accelerators_count or 0 for one in some)
        lines.append({"at": site.places([through])[0], "most": most, "newest": newest})
    return lines


def chip_minutes_chart(site: Site, benchmark: Results) -> Chart:
    """Return the fewest chip-minutes of each accelerator family, division and round."""
    counted = Results(one for one in benchmark.timed if one.chip_minutes and one.family)
    best = counted.best(lambda one: (one.family, one.division_name, one.round_key), lambda one: one.chip_minutes or 0.0)
    # A line joins the rounds of one family and division that may be compared.
    lines = best.by(lambda one: (one.family, one.division_name, one.comparable_rounds))
    data = _over_rounds(site, lines, benchmark, y="chip_minutes")
    return Chart(kind="dots", title="Chip-minutes over rounds", about=_CHIP_MINUTES, data=data)


def _over_rounds(site: Site, lines: Sequence[Results], results: Results, **more: Any) -> dict[str, Any]:
    """Return the data of lines of results over the rounds that ``results`` are of."""
    drawn = Results(result for line in lines for result in line)
    joined = [{"at": site.places(line), "own": True} for line in lines if len(line) > 1]
    rounds = list(dict.fromkeys(result.round_key for result in results))
    return _data(site, "family", drawn, "round_key", rounds=rounds, lines=joined, **more)


def _best_words(what: str, result: SiteResult) -> str:
    return f"{what}: {result.in_minutes} ({result.round_key}, {result.holder})."


def _data(
    site: Site, by: str, results: Results, x: str, *, y: str = "published_minutes", **more: Any
) -> dict[str, Any]:
    keys = site.legend(by, results)
    return {"by": by, "keys": keys, "none": NO_ACCELERATOR, "at": site.places(results), "x": x, "y": y, **more}


def round_charts(site: Site, results: Results, legend: list[tuple[str, int, str]]) -> tuple[Chart, ...]:
    """Return results of a round as dots, a chart for each benchmark and division that has a time to draw."""
    groups = results.by(
        lambda one: (one.benchmark_title.casefold(), one.benchmark_name, one.scaling_type or "", one.division_name)
    )
    return tuple(
        Chart(
            kind="round",
            title=title,
            about=words,
            data={"round": some[0].round_key, "keys": legend, "at": site.places(some)},
        )
        for some in groups
        for title, words in _round_words(some)
    )


def _round_words(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the title of a chart of a round, and what it shows; nothing without a time."""
    first, scored = results[0], [result for result in results if result.score_minutes is not None]
    if not scored:
        return
    minutes = sorted(result.score_minutes or 0.0 for result in scored)
    name = first.benchmark_title + (f", {first.scaling_type} scaling" if first.scaling_type else "")
    words = f"Minutes to train {name} of {count_text(len(scored), 'result')}, grouped by the number of accelerators"
    words += f": {number_text(minutes[0], 3)} to {number_text(minutes[-1], 3)}." if len(scored) > 1 else "."
    if not all(result.accepted for result in scored):
        words += " A ring is a result that does not meet the official checker."
    if without := len(results) - len(scored):
        words += f" {count_text(without, 'result')} without a time {'is' if without == 1 else 'are'} in the table only."
    yield f"{name}, {DIVISIONS[first.division_name]}", words
