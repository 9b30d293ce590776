"""Charts of results, drawn from the data of the site: records, the fastest, scaling, chip-minutes, and rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from mlsub.commands.site.page import RESULTS_SCRIPT, Chart, Section, count_text, number_text
from mlsub.commands.site.results import DAGGER, DIVISIONS, NO_ACCELERATOR, Results, Site, SiteResult, fast, legend_of

_NONE = Results()
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
    """Return the record of a benchmark over its rounds, with results beside it.

    Args:
        site: all results.
        benchmark: those of the benchmark.
        shown: the results that are drawn; without any the best Closed one of each vendor in each round.

    Returns:
        The chart, None where the results are not of several rounds.
    """
    by, closed = "family" if shown else "vendor", benchmark.closed
    drawn = shown or closed.best(lambda one: (one.round_key, one.vendor))
    if len(drawn.rounds) < 2:
        return None
    steps = [step for records in benchmark.record_chains() for step in _record_steps(site, records, closed)]
    lines = drawn.by(lambda one: (getattr(one, by) or NO_ACCELERATOR, one.comparable_rounds))
    data = _over_rounds(site, lines, closed, by=by, more_lines=steps, small=True)
    chain = (shown or closed).record_chains()[-1]
    stands = chain[0].round_key != closed.rounds[-1] and not chain[1:]
    among = closed.beside(chain[-1])
    return Chart(
        kind="dots",
        script=RESULTS_SCRIPT,
        title=_headline(chain, among, stands=stands),
        about=_best_words(*(("Fastest", chain[-1], among.missing) if shown else ("Record", chain[-1], among.given))),
        href=closed[-1].benchmark_href,
        data=data,
        key=f"record-{closed[-1].benchmark_name}",
    )


def _record_steps(site: Site, chain: Results, closed: Results) -> Iterator[dict[str, Any]]:
    """Yield the record over rounds that may be compared as lines, without rounds of which it is not known."""
    bests = closed.beside(chain[0]).best(lambda one: one.round_key)
    # Beside the best of a round the record that stands then, in a list: none where nobody knows it.
    records = [(best, [one for one in chain if one.age <= best.age][-1:]) for best in bests]
    for partial, some in groupby(records, lambda pair: [one.partial for one in (pair[0], *pair[1])]):
        if partial == [False, False]:
            rounds = list(some)
            at = list(dict.fromkeys(site.places([record for _, (record,) in rounds])))
            yield {"at": at, "step": True, "from": rounds[0][0].round_key, "until": rounds[-1][0].round_key}


def _headline(chain: Results, among: Results, *, stands: bool = False) -> str:
    """Return what has become of the first of some records among results: how many times as fast the last is."""
    first, last = chain[0], chain[-1]
    if stands:
        said = f"{first.round_key} stays the fastest"
    elif first is last:
        said = f"{last.in_minutes} in {last.round_key}"
    else:
        said = f"{number_text(fast(first) / fast(last), 2)} times as fast as in {first.round_key}"
    return f"{last.benchmark_title}: {said}{DAGGER if among.missing else ''}"


def _best_words(what: str, result: SiteResult, given: str = "") -> str:
    return f"{what}: {result.in_minutes} ({result.round_key}, {result.holder}){given and f', {given}'}."


def fastest_chart(site: Site, benchmark: Results) -> Chart | None:
    """Return the fastest Closed result of each accelerator family in the newest round as bars, None without results.

    A mark is the fastest of the same family in the round before, where all of that is given and may be compared.
    """
    if not (closed := benchmark.closed):
        return None
    rounds = closed.beside(closed[-1]).rounds[-2:]
    shown = [one for one in closed if one.round_key == rounds[-1] or not one.partial]
    best = {
        name: Results(one for one in shown if one.round_key == name)
        .best(lambda one: one.family or NO_ACCELERATOR)
        .ordered(fast)
        for name in rounds
    }
    now = best.pop(rounds[-1])
    before = {one.family: one for some in best.values() for one in some}
    marks = [site.places([before[one.family]])[0] if one.family in before else None for one in now]
    record = Results(min(some, key=fast) for some in (*best.values(), now) if some)
    lead, given = record[-1], Results(one for one in closed if one.round_key == rounds[-1])
    return Chart(
        kind="bars",
        script=RESULTS_SCRIPT,
        title=_headline(record if fast(record[0]) > fast(lead) else Results([lead]), given),
        about=_best_words("Fastest", lead, given.given),
        href=lead.benchmark_href,
        data=_data("family", now, site, before=marks),
        key=f"fastest-{lead.benchmark_name}",
    )


def records_over_time(site: Site, results: Results, words: str) -> Iterator[Section]:
    """Yield small charts, one a benchmark of several rounds: the fastest Closed results beside the record of all.

    Args:
        site: all results.
        results: whose fastest of each round and family are drawn.
        words: what the charts show.
    """
    own = {some[0].benchmark_href: some for some in results.closed.by(lambda one: one.benchmark_href)}
    shown = [
        (some, own[href].best(lambda one: (one.round_key, one.family or NO_ACCELERATOR)))
        for some in site.benchmarks
        if (href := some[0].benchmark_href) in own
    ]
    charts = tuple(chart for some, best in shown if (chart := record_chart(site, some, best)) is not None)
    if charts:
        title = f"Minutes to train over rounds, {count_text(len(charts), 'benchmark')}"
        yield Section(key="time", title=title, words=(words,), charts=charts, small=True)


def scaling_chart(site: Site, results: Results, title: str = "", **more: Any) -> Chart:
    """Return accelerators against minutes, with lines of ideal scaling; without a title small, of the newest rounds."""
    small = not title
    counted = Results(result for result in results.timed if result.accelerators_count)
    fastest = min(counted, key=fast, default=None)
    lines = [line for line in _ideal_lines(site, counted) if line["newest"] or not small]
    return Chart(
        kind="dots",
        script=RESULTS_SCRIPT,
        title=title or results[-1].benchmark_title,
        about=_SCALING if title else _best_words("Fastest", fastest, counted.missing) if fastest else "",
        href=results[0].benchmark_href if small else "",
        data=_data("family", counted, site, x="accelerators_count", ideal=lines, small=small, **more),
        key=f"scaling-{results[-1].benchmark_name}" if small else "",
    )


def _ideal_lines(site: Site, results: Results) -> list[dict[str, Any]]:
    """Return lines of ideal scaling, older rounds first: twice the accelerators take half the minutes.

    A line goes from the place ``at`` of the fastest result of the fewest accelerators of one kind to the ``most`` of
    them, in one round and division; a kind of one size has none. ``newest``: no later round has such a line.
    """
    named = Results(one for one in results.complete if one.accelerator_name)
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


def chip_minutes_chart(site: Site, benchmark: Results) -> Chart | None:
    """Return the fewest chip-minutes of each accelerator family, division and round; None of less than two rounds."""
    counted = Results(one for one in benchmark.timed if one.chip_minutes and one.family)
    best = counted.best(lambda one: (one.family, one.division_name, one.round_key), lambda one: one.chip_minutes or 0.0)
    # A line joins the rounds of one family and division that may be compared.
    lines = best.by(lambda one: (one.family, one.division_name, one.comparable_rounds))
    if len(best.rounds) < 2:
        return None
    data = _over_rounds(site, lines, benchmark, y="chip_minutes")
    title = "Chip-minutes over rounds"
    return Chart(kind="dots", title=title, about=_CHIP_MINUTES, data=data, script=RESULTS_SCRIPT)


def _over_rounds(
    site: Site, lines: Sequence[Results], results: Results, *, by: str = "family", **more: Any
) -> dict[str, Any]:
    """Return the data of lines of results over the rounds that ``results`` are of."""
    drawn = Results(result for line in lines for result in line)
    # No line leads through a round of which folders have no logs.
    parts = [list(part) for line in lines for partial, part in groupby(line, lambda one: one.partial) if not partial]
    joined = [{"at": site.places(part), "own": True} for part in parts if len(part) > 1]
    joined = [*more.pop("more_lines", ()), *joined]
    return _data(by, drawn, site, x="round_key", rounds=results.rounds, lines=joined, **more)


def _data(by: str, results: Results, site: Site, **more: Any) -> dict[str, Any]:
    keys, at = legend_of(by, results), site.places(results)
    return {"by": by, "keys": keys, "none": NO_ACCELERATOR, "at": at, "y": "published_minutes", **more}


def round_charts(site: Site, results: Results) -> tuple[Chart, ...]:
    """Return results of a round as dots, a chart for each benchmark and division that has a time to draw."""
    groups = results.by(
        lambda one: (one.benchmark_title.casefold(), one.benchmark_name, one.scaling_type or "", one.division_name)
    )
    return tuple(
        Chart(
            kind="round",
            script=RESULTS_SCRIPT,
            title=title,
            about=words,
            data=_data("family", some, site, round=some[0].round_key),
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
    words += f" {results.missing} and no mark." if results.missing else ""
    yield f"{name}, {DIVISIONS[first.division_name]}", words
