"""Charts of results, drawn from the data of the site: records, scaling, chip-minutes, and rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from mlsub.commands.site.page import RESULTS_SCRIPT, count_text, number_text
from mlsub.commands.site.results import DAGGER, DIVISIONS, Results, Site, SiteResult, fast, slug
from mlsub.present.document import Chart, Section, Text
from mlsub.systems.names import registry

#: Shapes of marks, which tell families of a vendor apart as well; the shades of a colour, and that of vendors.
_SHAPES = ("circle", "diamond", "square", "triangle")
_SHADES, _VENDOR = 4, 2
#: What those are called in legends whose description names no accelerator that is known.
NO_ACCELERATOR = "no known accelerator"
#: Name, colour and shape of a mark. A colour is the name of a custom property of the style sheet.
Look = tuple[str, str, str]
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
    drawn = shown or closed.best(lambda one: (one.result.round_key, one.result.vendor))
    if len(drawn.rounds) < 2:
        return None
    steps = [step for records in benchmark.record_chains() for step in _record_steps(site, records, closed)]
    lines = drawn.by(lambda one: (getattr(one.result, by) or NO_ACCELERATOR, one.comparable_rounds))
    data = _over_rounds(site, lines, closed, by=by, more_lines=steps, small=True)
    last = (shown or closed).record_chains()[-1][-1]
    among = closed.beside(last)
    what, given = ("Fastest", among.missing) if shown else ("Record", among.given)
    return Chart(
        kind="dots",
        script=RESULTS_SCRIPT,
        title=_headline(shown or closed, closed),
        about=_best_words(what, last, given),
        link=closed[-1].benchmark_href,
        data=data,
        key=f"record-{closed[-1].result.benchmark_name}",
    )


def _record_steps(site: Site, chain: Results, closed: Results) -> Iterator[dict[str, Any]]:
    """Yield the record over rounds that may be compared as lines, without rounds of which it is not known."""
    bests = closed.beside(chain[0]).best(lambda one: one.result.round_key)
    # Beside the best of a round the record that stands then, in a list: none where nobody knows it.
    records = [(best, [one for one in chain if one.result.age <= best.result.age][-1:]) for best in bests]
    for partial, some in groupby(records, lambda pair: [one.partial for one in (pair[0], *pair[1])]):
        if partial == [False, False]:
            rounds = list(some)
            at = list(dict.fromkeys(site.places([record for _, (record,) in rounds])))
            yield {
                "at": at,
                "step": True,
                "from": rounds[0][0].result.round_key,
                "until": rounds[-1][0].result.round_key,
            }


def _headline(shown: Results, closed: Results) -> str:
    """Return what has become of the newest record of results: how many times as fast the last one is as the first.

    ``closed`` are all Closed results of the benchmark.
    """
    chain = shown.record_chains()[-1]
    first, last = chain[0], chain[-1]
    if first is not last:
        said = f"{number_text(fast(first) / fast(last), 2)} times as fast as in {first.result.round_key}"
    elif first.result.round_key != closed.rounds[-1]:
        said = f"{first.result.round_key} stays the fastest"
    else:
        said = f"{last.in_minutes} in {last.result.round_key}"
    return f"{last.result.benchmark_title}: {said}{DAGGER if closed.beside(last).missing else ''}"


def _best_words(what: str, one: SiteResult, given: str = "") -> str:
    return f"{what}: {one.in_minutes} ({one.result.round_key}, {one.holder}){given and f', {given}'}."


def records_over_time(site: Site, results: Results, words: str) -> Iterator[Section]:
    """Yield small charts, one a benchmark of several rounds: the fastest Closed results beside the record of all.

    Args:
        site: all results.
        results: whose fastest of each round and family are drawn.
        words: what the charts show.
    """
    own = {some[0].benchmark_href: some for some in results.closed.by(lambda one: one.benchmark_href)}
    shown = [
        (some, own[href].best(lambda one: (one.result.round_key, one.result.family or NO_ACCELERATOR)))
        for some in site.benchmarks
        if (href := some[0].benchmark_href) in own
    ]
    charts = tuple(chart for some, best in shown if (chart := record_chart(site, some, best)) is not None)
    if charts:
        title = f"Minutes to train over rounds, {count_text(len(charts), 'benchmark')}"
        yield Section(title, (Text(words), *charts), anchor="time")


def scaling_chart(site: Site, results: Results, title: str = "", **more: Any) -> Chart:
    """Return accelerators against minutes, with lines of ideal scaling; without a title small, of the newest rounds."""
    small = not title
    counted = Results(one for one in results.timed if one.result.accelerators_count)
    fastest = min(counted, key=fast, default=None)
    lines = [line for line in _ideal_lines(site, counted) if line["newest"] or not small]
    return Chart(
        kind="dots",
        script=RESULTS_SCRIPT,
        title=title or results[-1].result.benchmark_title,
        about=_SCALING if title else _best_words("Fastest", fastest, counted.missing) if fastest else "",
        link=results[0].benchmark_href if small else "",
        data=_data("family", counted, site, x="accelerators_count", ideal=lines, small=small, **more),
        key=f"scaling-{results[-1].result.benchmark_name}" if small else "",
    )


def _ideal_lines(site: Site, results: Results) -> list[dict[str, Any]]:
    """Return lines of ideal scaling, older rounds first: twice the accelerators take half the minutes.

    A line goes from the place ``at`` of the fastest result of the fewest accelerators of one kind to the ``most`` of
    them, in one round and division; a kind of one size has none. ``newest``: no later round has such a line.
    """
    named = Results(one for one in results.complete if one.result.accelerator_name)
    kinds = named.by(lambda one: (one.result.accelerator_name, one.division_name, one.result.round_key))
    wide = [some for some in kinds if len({one.result.accelerators_count for one in some}) > 1]
    last = {(some[0].result.accelerator_name, some[0].division_name): some for some in wide}
    lines = []
    for some in wide:
        through = min(some, key=lambda one: (one.result.accelerators_count or 0, fast(one)))
        newest = last[through.result.accelerator_name, through.division_name] is some
        most = max(one.result.accelerators_count or 0 for one in some)
        lines.append({"at": site.places([through])[0], "most": most, "newest": newest})
    return lines


def chip_minutes_chart(site: Site, benchmark: Results) -> Chart | None:
    """Return the fewest chip-minutes of each accelerator family, division and round; None of less than two rounds."""
    counted = Results(one for one in benchmark.timed if one.result.chip_minutes and one.result.family)
    best = counted.best(
        lambda one: (one.result.family, one.division_name, one.result.round_key),
        lambda one: one.result.chip_minutes or 0.0,
    )
    # A line joins the rounds of one family and division that may be compared.
    lines = best.by(lambda one: (one.result.family, one.division_name, one.comparable_rounds))
    if len(best.rounds) < 2:
        return None
    return Chart(
        kind="dots",
        script=RESULTS_SCRIPT,
        title="Chip-minutes over rounds",
        about=_CHIP_MINUTES,
        data=_over_rounds(site, lines, benchmark, y="chip_minutes"),
    )


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


@cache
def looks() -> dict[str, Look]:
    """Return how charts show each vendor and each family, by the table of names: the same on all pages of all sites."""
    found = [(NO_ACCELERATOR, "c7", _SHAPES[0])]
    for vendor, shades in registry().shades.items():
        colour = slug(vendor)
        found.append((vendor, f"{colour}-{_VENDOR}", _SHAPES[0]))
        for shade, families in enumerate(shades, _SHADES - len(shades)):
            for place, name in enumerate(families, _SHADES - 1 - shade):
                found.append((name, f"{colour}-{shade}", _SHAPES[place % len(_SHAPES)]))
    return {look[0]: look for look in found}


def legend_of(by: str, results: Iterable[SiteResult]) -> list[Look]:
    """Return the looks of what results have as ``vendor`` or ``family``, the most frequent first."""
    counts = Counter(getattr(one.result, by) for one in results)
    names = sorted((name for name in counts if name), key=lambda name: (-counts[name], name))
    return [looks()[name] for name in (*names, *([NO_ACCELERATOR] if None in counts else []))]


def round_charts(site: Site, results: Results) -> Iterator[Chart]:
    """Yield results of a round as dots, a chart for each benchmark and division that has a time to draw."""
    groups = results.by(
        lambda one: (
            one.result.benchmark_title.casefold(),
            one.result.benchmark_name,
            one.result.scaling_type or "",
            one.division_name,
        )
    )
    for some in groups:
        first, minutes = some[0], sorted(one.score_minutes for one in some if one.score_minutes is not None)
        if minutes:
            yield Chart(
                kind="round",
                script=RESULTS_SCRIPT,
                title=f"{first.benchmark}, {DIVISIONS[first.division_name]}",
                about=_round_words(some, minutes),
                data=_data("family", some, site, round=first.result.round_key),
            )


def _round_words(results: Results, minutes: Sequence[float]) -> str:
    """Return what a chart of a round shows; ``minutes`` are those of the results that have a time, in their order."""
    count = count_text(len(minutes), "result")
    words = f"Minutes to train {results[0].benchmark} of {count}, grouped by the number of accelerators"
    words += f": {number_text(minutes[0], 3)} to {number_text(minutes[-1], 3)}." if len(minutes) > 1 else "."
    if not all(one.result.accepted for one in results if one.score_minutes is not None):
        words += " A ring is a result that does not meet the official checker."
    if without := len(results) - len(minutes):
        words += f" {count_text(without, 'result')} without a time {'is' if without == 1 else 'are'} in the table only."
    return words + (f" {results.missing} and no mark." if results.missing else "")
