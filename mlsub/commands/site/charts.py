"""Charts of results, drawn from the data of the site: records, scaling, chip-minutes, and rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import cycle, groupby, pairwise
from math import ceil
from typing import Any

from mlsub.commands.site.page import ColumnOf, build_table, count_text, three_cell
from mlsub.commands.site.results import (
    DAGGER,
    DIVISIONS,
    NO_ACCELERATOR,
    Results,
    Site,
    SiteResult,
    chip_minutes_of,
    slug,
)
from mlsub.commands.site.views import ANY, PER_ACCELERATOR, SAME, View, compared_size, lead_words, views_of
from mlsub.present.document import Chart, Section, Span, Text
from mlsub.score.alike import ScalingStep, scaling_families
from mlsub.submission.result import CPU_ONLY
from mlsub.systems.names import registry

#: Shapes of marks, which tell families of a vendor apart as well; the shades of a colour, and that of vendors.
_SHAPES = ("circle", "diamond", "square", "triangle", "cross")
_SHADES, _VENDOR = 5, 2
#: Name, colour and shape of a mark. A colour is the name of a custom property of the style sheet.
Look = tuple[str, str, str]
_SCALING = (
    "Minutes to train over the number of accelerators, both axes logarithmic, one mark a result. Of ideal scaling, "
    "twice the accelerators take half the minutes."
)
_PER_SIZE = (
    "Chip-minutes (minutes × accelerators) over the number of accelerators, both axes logarithmic, one mark a result. "
    "Where scaling is ideal they stay the same; real systems need more of them the larger they are."
)
_STRIP = "One mark a result of this size, in a row for each accelerator."
_BEST = " of each accelerator family in each round. Lines join rounds whose results may be compared."
_OVER_ROUNDS = {
    SAME: f"The fastest result of this size{_BEST}",
    PER_ACCELERATOR: f"The fewest chip-minutes (minutes × accelerators){_BEST}",
    ANY: f"The fastest result, of any size,{_BEST} More accelerators are faster: what is shown is also how many came.",
}
_MISREAD = (
    "A line says nothing of the accelerators where only larger or only smaller systems came, as larger ones need more "
    "chip-minutes"
)
_EFFICIENCY = (
    "How much of ideal scaling is left of Closed results: the chip-minutes of the smallest size that a submitter has "
    "of an accelerator in a round, divided by those of a larger one. 100 means that twice the accelerators take half "
    "the minutes. Larger systems usually train with larger batches, which take more samples to converge: what else "
    "changed is beside it."
)


def record_chart(site: Site, benchmark: Results, shown: Results | None = None) -> Chart | None:
    """Return the record of a benchmark over its rounds, with results beside it, in each view.

    Args:
        site: all results.
        benchmark: those of the benchmark.
        shown: the Closed results whose best ones of each family in each round are drawn; without any those of each
            vendor.

    Returns:
        The chart, None where the results are not of several rounds.
    """
    by, closed, drawn = "family" if shown else "vendor", benchmark.closed, shown or benchmark.closed
    if len(drawn.rounds) < 2:
        return None
    views = {}
    for view in views_of(drawn):
        if some := view.of(drawn):
            alike = view.of(closed)
            steps = [step for one in alike.record_chains(view.value) for step in _record_steps(site, view, one, alike)]
            *_, chain = some.record_chains(view.value)
            chain = Results(one for one in chain if view.is_fair(one, chain[-1]))
            words = [f"{one.holder}, {one.result.round_key}" for one in (chain[-1], *chain[:-1][:1])]
            views[view.name] = {
                **_over_rounds(site, view, some, by, steps),
                "title": _headline(view, chain, some, alike) + DAGGER * bool(drawn.beside(chain[-1]).missing),
                "about": f"{'Best' if shown else 'Record'}: {'; first '.join(words)}.",
            }
    more = {"key": f"record-{drawn[-1].result.benchmark_name}", "link": drawn[-1].benchmark_href}
    return _chart_of_views(views, **more, by=by, x="round_key", rounds=closed.rounds, small=True)


def _record_steps(site: Site, view: View, chain: Results, closed: Results) -> Iterator[dict[str, Any]]:
    """Yield the record over rounds that may be compared as lines, without rounds of which it is not known."""
    bests = closed.beside(chain[0]).best(lambda one: one.result.round_key, view.value)
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


def _headline(view: View, chain: Results, shown: Results, closed: Results) -> str:
    """Return the newest record of what is shown, and how much better it is than the first one of its chain.

    Where it is of an earlier round than the last one shown: whether a Closed result of the benchmark beats it.
    """
    first, last = chain[0], chain[-1]
    best = min(closed.beside(last), key=view.value)
    said = f"{view.figure(last)}{f' ({_chips(view, last)})' if _chips(view, last) else ''}"
    if first is not last:
        said += f", {view.gain(first, last)} {first.result.round_key}"
    else:
        said += f" in {last.result.round_key}"
        if view.value(best) < view.value(last):
            chips = _chips(view, best) or best.accelerators
            said += f"; the record is {view.figure(best)} ({chips}, {best.result.round_key})"
        elif last.result.round_key != shown.rounds[-1]:
            said += ", not beaten since"
    return f"{last.result.benchmark_title}{view.where}: {said}"


def _chips(view: View, one: SiteResult) -> str | None:
    """Return the accelerators of a result: their name, and how many where the view is not of one size."""
    size, name = one.result.accelerators_count, one.result.accelerator_name
    return name if view.name == SAME or not (size and name) else f"{size:,} × {name}"


def _chart_of_views(views: dict[str, dict[str, Any]], link: str = "", key: str = "", **data: Any) -> Chart:
    """Return a chart that shows one of several views, the first at first; ``data`` is what they have in common."""
    first = next(iter(views.values()))
    return Chart(
        kind="dots",
        title=first["title"],
        about=first["about"],
        link=link,
        data={**data, "views": views},
        key=key,
    )


def records_over_time(site: Site, results: Results, words: str) -> Iterator[Section]:
    """Yield small charts, one a benchmark of several rounds: the fastest Closed results beside the record of all.

    Args:
        site: all results.
        results: whose fastest of each round and family are drawn.
        words: what the charts show.
    """
    own = {some[0].benchmark_href: some for some in results.closed.by(lambda one: one.benchmark_href)}
    shown = [(some, own[href]) for some in site.benchmarks if (href := some[0].benchmark_href) in own]
    charts = tuple(chart for some, mine in shown if (chart := record_chart(site, some, mine)) is not None)
    if charts:
        title = f"Over rounds, {count_text(len(charts), 'benchmark')}"
        yield Section(title, (Text(words), *charts), anchor="time")


def sizes_chart(site: Site, benchmark: Results, explore: dict[str, Any]) -> Chart:
    """Return results of a benchmark beside each other, in each view; ``explore`` is what its page chooses from."""
    counted = Results(one for one in benchmark.timed if one.result.accelerators_count)
    across = {"x": "accelerators_count"}
    views: dict[str, dict[str, Any]] = {
        SAME: {"kind": "strip", "title": "Minutes at one size", "about": _STRIP, "x": "published_minutes"},
        PER_ACCELERATOR: across | {"title": "Accelerators and chip-minutes", "about": _PER_SIZE, "y": "chip_minutes"},
        ANY: across | {"title": "Accelerators and minutes", "about": _SCALING},
    }
    data = _data("family", counted, site)
    return _chart_of_views(views, key="sizes", explore=explore, **data)


def rounds_chart(site: Site, benchmark: Results) -> Iterator[Chart]:
    """Yield the best result of each family, division and round, in each view, if there are several rounds."""
    if len(benchmark.timed.rounds) < 2:
        return
    views = {}
    for view in views_of(benchmark):
        is_each = view.name == PER_ACCELERATOR
        views[view.name] = {
            **_over_rounds(site, view, view.of(benchmark), "family"),
            "title": "Chip-minutes over rounds" if is_each else f"Minutes over rounds{view.where}",
            "about": f"{_OVER_ROUNDS[view.name]} {_misread(view.of(benchmark)) if is_each else ''}",
        }
    yield _chart_of_views(views, key="rounds", by="family", x="round_key", rounds=benchmark.rounds)


def _misread(results: Results) -> str:
    """Return where chip-minutes rise or fall because sizes changed; empty where they do so nowhere.

    So it is where the best of one round is of a smaller system than all of the other: larger ones need more of them.
    """
    least = {_line(some[0]): min(one.result.accelerators_count or 0 for one in some) for some in results.by(_line)}
    named = []
    for old, new in (pair for line in _lines(results, chip_minutes_of, "family") for pair in pairwise(line)):
        few, many = sorted((old, new), key=chip_minutes_of)
        if chip_minutes_of(few) < chip_minutes_of(many) and (few.result.accelerators_count or 0) < least[_line(many)]:
            sizes = f"{new.result.accelerators_count:,} accelerators after {old.result.accelerators_count:,}"
            rounds = f"from {old.result.round_key} to {new.result.round_key}"
            named.append(f"{old.called('family')} {rounds} ({sizes})")
    return f"{_MISREAD}: {'; '.join(named)}." if named else ""


def _line(one: SiteResult) -> tuple[str, str, str]:
    return one.called("family"), one.division_name, one.result.round_key


def _lines(results: Results, value: Callable[[SiteResult], float], by: str) -> list[Results]:
    """Return the best of each round of what is one line: of one vendor or family and division, and comparable."""
    best = results.best(lambda one: (one.called(by), one.division_name, one.result.round_key), value)
    return best.by(lambda one: (one.called(by), one.division_name, one.comparable_rounds))


def efficiency_section(site: Site, benchmark: Results) -> Iterator[Section]:
    """Yield the scaling efficiency of system families of several sizes, the newest round first."""
    of = {id(one.result): one for one in benchmark}
    families = scaling_families(one.result for one in benchmark.timed)[::-1]
    if families:
        steps = [(of[id(family[0].result)], of[id(step.result)], step) for family in families for step in family[1:]]
        lines = [
            {
                "at": site.places(of[id(step.result)] for step in family),
                "efficiency": [step.efficiency for step in family],
            }
            for family in families
        ]
        keys = legend_of("family", (step[1] for step in steps))
        chart = Chart(
            kind="efficiency",
            title="Scaling efficiency",
            data={"by": "family", "keys": keys, "families": lines},
        )
        table = build_table("Scaling efficiency, the newest round first", steps, _STEPS)
        yield Section("Scaling efficiency", (Text(_EFFICIENCY), chart, table), anchor="efficiency")


#: Columns of steps: the smallest result of a family, one of more accelerators, and what lies between them.
_STEPS: tuple[ColumnOf[tuple[SiteResult, SiteResult, ScalingStep]], ...] = (
    ("organisation", lambda it: Span(it[1].result.organisation_name, link=it[1].organisation_href)),
    ("accelerator", lambda it: Span(it[1].result.accelerator_name or "", link=it[1].accelerator_href)),
    ("round", lambda it: it[1].result.round_key),
    ("from", lambda it: it[0].result.accelerators_count),
    ("to", lambda it: it[1].result.accelerators_count),
    ("minutes", lambda it: three_cell(it[1].train_minutes, it[1].href)),
    ("efficiency in %", lambda it: three_cell(it[2].efficiency * 100)),
    ("what else changed", lambda it: Span("; ".join(it[2].changes) or "nothing")),
)


def _over_rounds(
    site: Site, view: View, results: Results, by: str, more_lines: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the data of the best results over rounds and their lines; ``more_lines`` lie behind them."""
    lines = _lines(results, view.value, by)
    drawn = Results(result for line in lines for result in line)
    # No line leads through a round of which folders have no logs.
    parts = [list(part) for line in lines for partial, part in groupby(line, lambda one: one.partial) if not partial]
    joined = [{"at": site.places(part), "own": True} for part in parts if len(part) > 1]
    return {**_data(by, drawn, site), "lines": [*more_lines, *joined], "y": view.field}


def _data(by: str, results: Results, site: Site) -> dict[str, Any]:
    return {"by": by, "keys": legend_of(by, results), "at": site.places(results), "y": "published_minutes"}


@cache
def looks() -> dict[str, Look]:
    """Return how charts show each vendor and each family, by the table of names: the same on all pages of all sites."""
    found = [(NO_ACCELERATOR, "c5", _SHAPES[0]), (CPU_ONLY, "c5", _SHAPES[2])]
    for vendor, shades in registry().shades.items():
        colour = slug(vendor)
        found.append((vendor, f"{colour}-{_VENDOR}", _SHAPES[0]))
        # The newest generation is the furthest from the paper, the others as far from each other as there are shades.
        apart = (_SHADES - 1) / max(1, len(shades) - 1)
        # Families of neighbouring generations, whose shades are near to each other, have different shapes.
        families = [(age, name) for age, some in enumerate(reversed(shades)) for name in some]
        for (age, name), shape in zip(families, cycle(_SHAPES), strict=False):
            found.append((name, f"{colour}-{_SHADES - 1 - ceil(age * apart)}", shape))
    return {look[0]: look for look in found}


def legend_of(by: str, results: Iterable[SiteResult]) -> list[Look]:
    """Return the looks of what results have as ``vendor`` or ``family``, the most frequent first."""
    counts = Counter(one.called(by) for one in results)
    return [looks()[name] for name in sorted(counts, key=lambda name: (looks()[name][1] == "c5", -counts[name], name))]


def round_charts(site: Site, results: Results) -> Iterator[Chart]:
    """Yield results of a round and division as dots, a chart for each benchmark that has a time to draw."""
    for some in results.by(lambda one: (one.result.benchmark_name, one.result.scaling_type)):
        first, timed = some[0], [one for one in some if one.score_minutes is not None]
        if timed:
            words, without = "", len(some) - len(timed)
            if without:
                are = "is" if without == 1 else "are"
                words = f"{count_text(without, 'result')} without a time {are} in the table only."
            views = {view.name: {"about": f"{lead_words(view, some)} {words}".strip()} for view in views_of(some)}
            yield Chart(
                kind="round",
                title=f"{first.benchmark}, {DIVISIONS[first.division_name]}",
                about=views[SAME]["about"],
                link=first.benchmark_href,
                data={
                    **_data("family", some, site),
                    **{"round": first.result.round_key, "size": str(compared_size(some) or ""), "views": views},
                },
            )
