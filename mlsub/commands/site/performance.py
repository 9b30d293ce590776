"""Performance pages: one organisation's MLPerf results with their IDs, and the figures of records beside them.

There are such pages only with records. ``performance.html`` is the page of the one organisation whose records are
given, or of the only one that has results. With several it lists them: those with records have a page each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from mlsub.commands.site.charts import gains_chart, round_charts
from mlsub.commands.site.page import MINUTES, Cell, Column, Page, Section, Table, build_table, number_cell, number_text
from mlsub.commands.site.records import WORDS, bars_chart, fact_text, records_sections, source_cell
from mlsub.commands.site.results import Results, Site, SiteResult, slug
from mlsub.commands.site.tables import columns, results_table
from mlsub.score.records import Fact, Records
from mlsub.submission.find import organisation

PERFORMANCE = "performance.html"
_CURRENCY = "USD"
#: The name of a framework: what comes before numbers, parentheses and the like.
_FRAMEWORK = re.compile(r"[A-Za-z][A-Za-z +/_-]*[A-Za-z]")


def performance_pages(site: Site, records: Sequence[Records]) -> list[Page]:
    """Return the pages, of which the first is ``performance.html``; none without records."""
    if not records:
        return []
    newest_first = Results(result for one in reversed(site.rounds) for result in one.results)
    by_name = {some[0].organisation_name: some for some in newest_first.by(lambda one: one.organisation_name)}
    own = {name: [file for file in records if name.casefold() in _publishers(file)] for name in by_name}
    names = sorted([name for name in own if own[name]] or own, key=lambda name: (name.casefold(), name))
    rest = [file for file in records if not any(file in own[name] for name in names)]
    if len(names) == 1:
        return [_page(site, by_name[names[0]], [*own[names[0]], *rest], PERFORMANCE)]
    hrefs = {name: f"performance/{slug(name)[:100]}.html" for name in names if own[name]}
    lead = (
        "A page of performance is of one organisation: its results with their IDs, and the figures that it published."
    )
    table = build_table(
        "Organisations",
        names,
        (
            Column("organisation", lambda name: Cell(name, href=hrefs.get(name, by_name[name][0].organisation_href))),
            Column("rounds", lambda name: len({one.round_key for one in by_name[name]})),
            Column("results", lambda name: len(by_name[name])),
            Column("figures of other sources", lambda name: _count(own[name])),
        ),
    )
    sections = (Section(key="organisations", title="Organisations", tables=(table,)), *records_sections(rest))
    first = Page(path=PERFORMANCE, title="Performance", lead=(lead,), sections=sections)
    return [first, *(_page(site, by_name[name], own[name], href) for name, href in hrefs.items())]


def _publishers(file: Records) -> set[str]:
    return {organisation(document.publisher).casefold() for document in file.documents.values()}


def _count(records: Iterable[Records]) -> int:
    return sum(len(file.records) for file in records)


def _page(site: Site, results: Results, records: Sequence[Records], path: str) -> Page:
    figures = " Figures from other sources have charts and tables of their own." if records else ""
    words = "Closed and Open stand side by side and are not ranked together: an Open result may use another model."
    name, alone = results[0].organisation_name, path == PERFORMANCE
    rounds = results.by(lambda result: result.round_key)
    return Page(
        path=path,
        title="Performance" if alone else f"Performance of {name}",
        lead=(MINUTES, f"{words}{figures}"),
        crumbs=() if alone else (("Performance", PERFORMANCE),),
        facts=(
            ("Organisation", Cell(name, href=results[0].organisation_href)),
            ("Rounds", Cell(", ".join(some[0].round_key for some in rounds))),
            ("MLPerf results", Cell(f"{len(results):,}")),
            *((("Figures of other sources", number_cell(_count(records))),) if records else ()),
        ),
        sections=(
            *(_round_section(site, some) for some in rounds),
            *_gains_section(site, results),
            *_prices_section(site, name, records),
            *records_sections(records),
        ),
    )


def _round_section(site: Site, results: Results) -> Section:
    """Return the results of a round: a chart for each benchmark and division, and one table."""
    rules = results[0].rules
    ordered = results.ordered(_in_order)
    ids = sorted({name for one in results if one.ids for name in one.ids.ids})
    heads = ("benchmark", "system", "division", "exact minutes", "verdict", *(("id",) if ids else ()))
    return Section(
        key=f"mlperf-{slug(rules.usage, rules.name).replace('_', '-').replace('.', '-')}",
        title=rules.title,
        words=(f"{rules.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else (),
        charts=round_charts(site, ordered, site.legend("family", ordered)),
        tables=(results_table(f"{rules.title}: published minutes", ordered, *heads, "accelerators", "software"),),
    )


def _in_order(result: SiteResult) -> tuple[str, int, str, str, str, str]:
    """Return what the results of a round stand in order by: the benchmark, the size, the software, the division."""
    size = result.accelerators_count or 0, result.accelerator or "", framework_name(result)
    return result.benchmark_title.casefold(), *size, result.division_name, result.path


def framework_name(result: SiteResult) -> str:
    """Return a framework by its name alone, without its version and what else a description says of it."""
    name = _FRAMEWORK.match((result.framework or "").strip())
    return name[0] if name else ""


# ---- Gains from round to round


def _gains_section(site: Site, results: Results) -> Iterator[Section]:
    """Yield the section; none where no system has results in two rounds that may be compared."""
    chains = _chains(results)
    if chains:
        by_chart: dict[str, list[Results]] = {}
        for chain in chains:
            by_chart.setdefault(f"{chain[0].benchmark_title}, {chain[0].division_title}", []).append(chain)
        charts = tuple(gains_chart(site, some, f"{name}: from round to round") for name, some in by_chart.items())
        title = "Gains from round to round"
        yield Section(key="gains", title=title, words=WORDS.gains, charts=charts, tables=(_gains(title, chains),))


def _chains(results: Results) -> list[Results]:
    """Return the fastest result of each round of one benchmark, division, size and framework, oldest first."""

    def size(one: SiteResult) -> tuple[str, str, int, str]:
        name = one.benchmark_title.casefold()
        return name, one.division_name, one.accelerators_count or 0, framework_name(one)

    counted = Results(one for one in results if one.score_minutes is not None and one.accelerators_count)
    groups = counted.ordered(lambda one: one.age).by(lambda one: (size(one), one.usage, one.comparable_rounds))
    chains = (group.best(lambda one: one.round, lambda one: one.score_minutes or 0.0) for group in groups)
    return sorted((chain for chain in chains if len(chain) > 1), key=lambda chain: size(chain[0]))


def _gains(title: str, chains: Sequence[Results]) -> Table:
    before = {now.href: then for chain in chains for then, now in pairwise(chain)}
    first = {one.href: chain[0] for chain in chains for one in chain}
    gains: tuple[Column[SiteResult], ...] = (
        *columns("plain benchmark", "division title", "accelerators", "round", "minutes"),
        Column("× the round before", lambda one: _times_cell(one, before.get(one.href))),
        Column("× the first", lambda one: _times_cell(one, first[one.href])),
        *columns("verdict"),
        Column("what changed", lambda one: _changed(one, before.get(one.href))),
        *columns("system", "software", "batch size"),
    )
    return build_table(title, [one for chain in chains for one in chain], gains)


def _times_cell(result: SiteResult, other: SiteResult | None) -> Cell | None:
    """Return how many times as fast as another a result is; both have a score."""
    if other is None:
        return None
    times = (other.score_minutes or 0.0) / (result.score_minutes or 1.0)
    return number_cell(times, f"{times:.2f}×")


def _changed(result: SiteResult, before: SiteResult | None) -> str | None:
    """Return what differs from the round before, of what may have made it faster."""
    if before is None:
        return None
    now, then = (
        {
            "accelerator": one.accelerator_name,
            "software": one.framework,
            "batch size": one.rcp.batch_size,
            "hosts": (one.host_processor_model_name, one.host_processors_count),
        }
        for one in (result, before)
    )
    return ", ".join(name for name in now if now[name] != then[name]) or "none of these"


# ---- Prices


class _Priced(NamedTuple):
    """A result of a system with a price, what records call the system, and where the price is stated."""

    result: SiteResult
    name: str
    price: Fact
    file: Records

    @property
    def key(self) -> tuple[str, str, str]:
        """What results that are compared have in common."""
        return self.result.round_key, self.result.benchmark_title, self.result.division_name

    @property
    def per_million(self) -> float:
        """Trainings an hour for a million dollars."""
        return 60e6 / (self.result.score_minutes or 1) / self.price.value

    @property
    def text(self) -> str:
        """The figure, about that where the price is."""
        return f"{_about(self)}{number_text(self.per_million, 3)}"


def _about(*priced: _Priced) -> str:
    return "about " if any(one.price.bound != "exact" for one in priced) else ""


def _prices_section(site: Site, name: str, records: Sequence[Records]) -> Iterator[Section]:
    """Yield the section: results of the organisation with a price beside those of others; none without any."""
    groups: dict[tuple[str, str, str], list[_Priced]] = {}
    for one in _priced(site, records):
        groups.setdefault(one.key, []).append(one)
    own = [some for _, some in sorted(groups.items()) if any(it.result.organisation_name == name for it in some)]
    priced = [it for some in own for it in sorted(some, key=lambda it: -it.per_million)]
    if priced:
        unit = "trainings an hour for a million dollars of list price"
        bars = [
            {
                "label": f"{one.result.benchmark_title}, {one.result.round_key} {one.result.division_name}: {one.name}",
                "value": one.per_million,
                "shown": one.text,
                "source": one.name,
                "place": f"{number_text(one.result.published_minutes)} minutes, {fact_text(one.price)} {_CURRENCY}",
                "href": one.result.href,
            }
            for one in priced
        ]
        about = f"Derived from published minutes and stated list prices: {unit}; more is better."
        chart = bars_chart("Trainings an hour for a million dollars", about, unit, bars)
        table = _prices(priced, groups)
        title, words = "Price and performance", WORDS.prices
        yield Section(key="price-performance", title=title, words=words, charts=(chart,), tables=(table,))


def _priced(site: Site, records: Sequence[Records]) -> Iterator[_Priced]:
    groups = site.results.by(lambda one: (one.usage, one.round, one.organisation, one.system))
    by_folder = {(some[0].usage, some[0].round, some[0].organisation, some[0].system): some for some in groups}
    for file in records:
        for name, system in file.systems.items():
            price = next((fact for fact in system.facts if fact.fact == "list-price" and fact.unit == _CURRENCY), None)
            for of in system.results if price else ():
                for result in by_folder.get(("training", of.round, of.organisation, of.system), ()):
                    if price and result.score_minutes is not None:
                        yield _Priced(result, name, price, file)


def _prices(priced: Sequence[_Priced], groups: Mapping[tuple[str, str, str], Sequence[_Priced]]) -> Table:
    def of_result(*names: str) -> list[Column[_Priced]]:
        return [Column(one.title, lambda it, of=one.value: of(it.result)) for one in columns(*names)]  # type: ignore[misc]

    def compared(one: _Priced) -> str:
        """Return how many times that of each other system it has, to two decimals."""
        others = [other for other in groups[one.key] if other.name != one.name]
        return "; ".join(f"{_about(one, it)}{one.per_million / it.per_million:.2f}× {it.name}" for it in others)

    prices: tuple[Column[_Priced], ...] = (
        *of_result("plain benchmark", "round", "division title"),
        Column("system", lambda one: Cell(one.name, note=one.result.system)),
        *of_result("minutes", "verdict", "id"),
        Column("list price", lambda one: number_cell(one.price.value, f"{fact_text(one.price)} {_CURRENCY}")),
        Column("trainings/h a million", lambda one: number_cell(one.per_million, one.text)),
        Column("compared", compared),
        Column("source of the price", lambda one: source_cell(one.file, one.price.source)),
    )
    return build_table("Published minutes and list prices", priced, prices)
