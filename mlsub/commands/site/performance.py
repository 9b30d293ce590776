"""Performance pages: one organisation's MLPerf results with their IDs, and the figures of records beside them.

A page is of one organisation, as pages of performance are that organisations publish; figures of two of them are for
the pages of benchmarks. There are such pages only with records. ``performance.html`` is the page of the one
organisation whose records are given, or of the only one that has results. With several it lists them: those with
records have a page each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from mlsub.commands.db.records import Fact, Records
from mlsub.commands.site.history import best_of
from mlsub.commands.site.page import (
    MINUTES,
    Cell,
    Chart,
    Column,
    Page,
    Section,
    build_table,
    number_cell,
    number_text,
)
from mlsub.commands.site.records import BOUNDS, load_words, performance_chart, records_sections, source_cell
from mlsub.commands.site.results import DIVISIONS, Results, Site, SiteResult, group_by, round_age, slug
from mlsub.commands.site.tables import columns, results_table
from mlsub.submission.organisations import organisation

PERFORMANCE = "performance.html"
_CURRENCY = "USD"
#: The name of a framework: what comes before numbers, parentheses and the like.
_FRAMEWORK = re.compile(r"[A-Za-z][A-Za-z +/_-]*[A-Za-z]")


class Organisation(NamedTuple):
    """An organisation: its name in one spelling, its results, the newest round first, and records of its own."""

    name: str
    results: Results
    records: tuple[Records, ...]


class _Step(NamedTuple):
    """A result, that of the round before, and the first."""

    result: SiteResult
    before: SiteResult | None
    first: SiteResult


class _Priced(NamedTuple):
    """A result of a system with a price, all of its round, benchmark and division, and where the price is stated."""

    result: SiteResult
    name: str
    price: Fact
    file: Records
    group: list[_Priced]

    @property
    def per_million(self) -> float:
        """Trainings an hour for a million dollars."""
        return 60e6 / (self.result.score_minutes or 1) / self.price.value

    @property
    def text(self) -> str:
        """The figure, about that where the price is."""
        return f"{_about(self.price)}{number_text(self.per_million, 3)}"


def performance_pages(site: Site, records: Sequence[Records]) -> list[Page]:
    """Return the pages, of which the first is ``performance.html``; none without records."""
    if not records:
        return []
    everyone = _organisations(site, records)
    some = [one for one in everyone if one.records] or everyone
    if len(some) == 1:
        others = tuple(file for file in records if file not in some[0].records)
        return [_page(site, some[0]._replace(records=some[0].records + others), PERFORMANCE)]
    lead = (
        "A page of performance is of one organisation: its results with their IDs, and the figures that it published."
    )
    pages = [_page(site, one, _place(one)) for one in some if one.records]
    rest = [file for file in records if not any(file in one.records for one in some)]
    table = build_table("Organisations", some, _ORGANISATIONS)
    sections = (Section(key="organisations", title="Organisations", tables=(table,)), *records_sections(rest))
    return [Page(path=PERFORMANCE, title="Performance", lead=(lead,), sections=sections), *pages]


def _organisations(site: Site, records: Sequence[Records]) -> list[Organisation]:
    """Organisations with results; those with records first, then by name."""
    results = [result for one in reversed(site.rounds) for result in one.results]
    found = [
        Organisation(some[0].organisation_name, some, tuple(_published_by(some[0].organisation_name, records)))
        for some in group_by(results, lambda one: one.organisation_name)
    ]
    return sorted(found, key=lambda one: (not one.records, one.name.casefold(), one.name))


def _published_by(name: str, records: Sequence[Records]) -> Iterator[Records]:
    """The files with documents of an organisation."""
    for file in records:
        if any(organisation(document.publisher).casefold() == name.casefold() for document in file.documents.values()):
            yield file


def _place(one: Organisation) -> str:
    return f"performance/{slug(one.name)[:100]}.html"


_ORGANISATIONS: tuple[Column[Organisation], ...] = (
    Column(
        "organisation", lambda it: Cell(it.name, href=_place(it) if it.records else it.results[0].organisation_href)
    ),
    Column("rounds", lambda it: number_cell(len({one.round_key for one in it.results}))),
    Column("results", lambda it: number_cell(len(it.results))),
    Column("figures of other sources", lambda it: number_cell(sum(len(file.records) for file in it.records))),
)


def _page(site: Site, one: Organisation, path: str) -> Page:
    figures = " Figures from other sources have charts and tables of their own." if one.records else ""
    words = "Closed and Open stand side by side and are not ranked together: an Open result may use another model."
    root = "../" * path.count("/")
    alone, count = path == PERFORMANCE, sum(len(file.records) for file in one.records)
    rounds = group_by(one.results, lambda result: result.round_key)
    return Page(
        path=path,
        title="Performance" if alone else f"Performance of {one.name}",
        lead=(MINUTES, f"{words}{figures}"),
        crumbs=() if alone else (("Performance", PERFORMANCE),),
        facts=(
            ("Organisation", Cell(one.name, href=one.results[0].organisation_href)),
            ("Rounds", Cell(", ".join(some[0].round_key for some in rounds))),
            ("MLPerf results", Cell(f"{len(one.results):,}")),
            *((("Figures of other sources", Cell(f"{count:,}")),) if count else ()),
        ),
        sections=(
            *(_round_section(some, root) for some in rounds),
            *_gains_section(one.results, root),
            *_prices_section(site, one, root),
            *records_sections(one.records),
        ),
    )


# ---- The results of a round


def _round_section(results: Results, root: str) -> Section:
    """The results of a round: a chart for each benchmark with Closed and Open side by side, and one table."""
    rules = results[0].rules
    divisions = [name for name in DIVISIONS if any(one.division_name == name for one in results)]
    ordered = sorted(
        results, key=lambda one: (one.benchmark_title.casefold(), *_size(one), one.division_name, one.path)
    )
    ids = sorted({name for one in results if one.ids for name in one.ids.ids})
    key = f"mlperf-{slug(rules.usage, rules.name).replace('_', '-').replace('.', '-')}"
    by_title = group_by(ordered, lambda one: one.benchmark_title)
    charts = [_round_chart(f"{key}-{place}", some, divisions, root) for place, some in enumerate(by_title)]
    heads = ("benchmark", "system", "division", "exact minutes", "verdict", *(("id",) if ids else ()))
    table = results_table(f"{rules.title}: published minutes", ordered, *heads, "accelerators", "software")
    return Section(
        key=key,
        title=rules.title,
        words=(f"{rules.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else (),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(table,),
    )


def _size(result: SiteResult) -> tuple[int, str, str]:
    """What systems of one size have in common: how many of which accelerator, and the framework."""
    name = _FRAMEWORK.match((result.framework or "").strip())
    return result.accelerators_count or 0, result.accelerator or "", name[0] if name else ""


def _round_chart(key: str, results: Results, divisions: Sequence[str], root: str) -> Chart | None:
    """Bars of the results of a benchmark, a row for each system, as far as these have a score."""
    rows = _rows(results)
    names = [row[0].system_name for row in rows]
    labels = [
        f"{row[0].system_name}, {_size(row[0])[2]}" if _is_twice(row[0].system_name, names) else row[0].system_name
        for row in rows
    ]
    bars = [
        {
            "row": place,
            "division": divisions.index(one.division_name),
            "minutes": one.published_minutes,
            "verdict": one.verdict,
            "id": one.id,
            "href": one.href,
        }
        for place, row in enumerate(rows)
        for one in row
        if one.score_minutes is not None
    ]
    if not bars:
        return None
    about = (
        "Time to train by system and division, in minutes; less is better. A hollow bar is a result that the official "
        "checker does not accept."
    )
    data = {
        "rows": labels,
        "bars": bars,
        "divisions": [DIVISIONS[name].removesuffix(" division") for name in divisions],
        "colours": [list(DIVISIONS).index(name) for name in divisions],
        "root": root,
    }
    return performance_chart("divisions", key, f"{results[0].rules.title}: {results[0].benchmark_title}", about, data)


def _rows(results: Results) -> list[Results]:
    """The results of a benchmark by system, one of each division: systems of one size and software are one."""
    rows: list[Results] = []
    for some in group_by(results, _size):
        by_division = group_by(some, lambda one: one.division_name)
        rows += [[one for one in row if one is not None] for row in zip_longest(*by_division)]
    return rows


def _is_twice(name: str, names: Sequence[str]) -> bool:
    """Whether a name is there several times, however it is written."""
    plain = [re.sub(r"[\W_]", "", one.casefold()) for one in names]
    return plain.count(re.sub(r"[\W_]", "", name.casefold())) > 1


def _columns_of(*names: str) -> list[Column[Any]]:
    """Columns of the result that a step or a price is of."""
    return [Column(one.title, lambda it, of=one.cell: of(it.result)) for one in columns(*names)]  # type: ignore[misc]


# ---- Gains from round to round


def _gains_section(results: Results, root: str) -> Iterator[Section]:
    """The section; none where no system has results in two rounds that may be compared."""
    chains = _chains(results)
    if chains:
        by_chart: dict[tuple[str, str], list[list[SiteResult]]] = {}
        for chain in chains:
            by_chart.setdefault((chain[0].benchmark_title, chain[0].division_title), []).append(chain)
        charts = tuple(
            _gains_chart(f"gains-{place}", f"{title}, {division}", some, root)
            for place, ((title, division), some) in enumerate(by_chart.items())
        )
        steps = [
            _Step(now, before, chain[0])
            for chain in chains
            for before, now in pairwise((None, *chain))
            if now is not None
        ]
        title = "Gains from round to round"
        tables = (build_table(title, steps, _GAINS),)
        yield Section(key="gains", title=title, words=load_words().gains, charts=charts, tables=tables)


def _chains(results: Results) -> list[list[SiteResult]]:
    """The fastest result of each round of one benchmark, division, size and framework, oldest first."""
    scored = sorted((one for one in results if one.score_minutes is not None and one.accelerators_count), key=round_age)
    groups = group_by(
        scored,
        lambda one: (
            *(one.benchmark_title.casefold(), one.division_name, one.accelerators_count, _size(one)[2], one.usage),
            one.compatible_rounds or (one.round,),
        ),
    )
    chains = [best_of(group, lambda one: one.round, lambda one: one.score_minutes or 0.0) for group in groups]
    several = [chain for chain in chains if len(chain) > 1]
    return sorted(
        several, key=lambda chain: (chain[0].benchmark_title.casefold(), chain[0].division_name, *_size(chain[0]))
    )


def _gains_chart(key: str, title: str, chains: Sequence[Sequence[SiteResult]], root: str) -> Chart:
    rounds = sorted((result for chain in chains for result in chain), key=round_age)
    lines = []
    for chain in chains:
        first, count = chain[0], number_text(chain[0].accelerators_count)
        name = ", ".join(filter(None, (f"{count} × {first.accelerator}", _size(first)[2])))
        lines.append({"name": name, "end": count, "points": [_point(result, first) for result in chain]})
    about = "How many times as fast as in its first round a system is; a hollow dot has another accelerator than then."
    data = {"rounds": list(dict.fromkeys(one.round_key for one in rounds)), "lines": lines, "root": root}
    return performance_chart("gains", key, f"{title}: gains from round to round", about, data)


def _point(result: SiteResult, first: SiteResult) -> dict[str, Any]:
    return {
        "round": result.round_key,
        "times": _times(result, first),
        "minutes": result.published_minutes,
        "system": result.system_name,
        "software": result.framework or "",
        "verdict": result.verdict,
        "other": result.accelerator_name != first.accelerator_name,
        "href": result.href,
    }


def _times(result: SiteResult, other: SiteResult) -> float:
    """How many times as fast as another a result is; both have a score."""
    return (other.score_minutes or 0.0) / (result.score_minutes or 1.0)


def _times_cell(result: SiteResult, other: SiteResult | None) -> Cell:
    return Cell("–") if other is None else number_cell(_times(result, other), f"{_times(result, other):.2f}×")


def _changed(step: _Step) -> str:
    """What differs from the round before, of what may have made it faster."""
    if step.before is None:
        return "–"
    sides = [
        {
            "accelerator": one.accelerator_name,
            "software": one.framework,
            "batch size": one.rcp.batch_size,
            "hosts": (one.host_processor_model_name, one.host_processors_count),
        }
        for one in (step.result, step.before)
    ]
    return ", ".join(name for name in sides[0] if sides[0][name] != sides[1][name]) or "none of these"


_GAINS: tuple[Column[_Step], ...] = (
    Column("benchmark", lambda step: Cell(step.result.benchmark_title)),
    Column("division", lambda step: Cell(step.result.division_title)),
    *_columns_of("accelerators", "round", "minutes"),
    Column("× the round before", lambda step: _times_cell(step.result, step.before)),
    Column("× the first", lambda step: _times_cell(step.result, step.first)),
    *_columns_of("verdict"),
    Column("what changed", lambda step: Cell(_changed(step))),
    *_columns_of("system", "software", "batch size"),
)


# ---- Prices


def _about(price: Fact) -> str:
    return BOUNDS["about"] if price.bound != "exact" else ""


def _prices_section(site: Site, one: Organisation, root: str) -> Iterator[Section]:
    """The section: results of the organisation with a list price beside those of other systems; none without any."""
    groups: dict[tuple[str, str, str], list[_Priced]] = {}
    by_folder: dict[tuple[str, ...], list[SiteResult]] = {}
    for result in site.results:
        by_folder.setdefault((result.usage, result.round, result.organisation, result.system), []).append(result)
    for file in one.records:
        for name, system in file.systems.items():
            price = next((fact for fact in system.facts if fact.fact == "list-price" and fact.unit == _CURRENCY), None)
            for of in system.results if price else ():
                for result in by_folder.get(("training", of.round, of.organisation, of.system), ()):
                    if price and result.score_minutes is not None:
                        key = (result.round_key, result.benchmark_title, result.division_name)
                        group = groups.setdefault(key, [])
                        group.append(_Priced(result, name, price, file, group))
    own = [some for _, some in sorted(groups.items()) if any(it.result.organisation_name == one.name for it in some)]
    priced = [it for some in own for it in sorted(some, key=lambda it: -it.per_million)]
    if priced:
        tables = (build_table("Published minutes and list prices", priced, _PRICES),)
        title, charts = "Price and performance", (_price_chart(priced, root),)
        yield Section(key="price-performance", title=title, words=load_words().prices, charts=charts, tables=tables)


def _price_chart(priced: Sequence[_Priced], root: str) -> Chart:
    sources = list(dict.fromkeys(one.name for one in priced))
    bars = [
        {
            "label": f"{result.benchmark_title}, {result.round_key} {result.division_title}: {one.name}",
            "value": one.per_million,
            "shown": one.text,
            "source": sources.index(one.name),
            "place": f"{number_text(result.published_minutes)} minutes, {_price(one.price)}",
            "href": result.href,
        }
        for one in priced
        for result in (one.result,)
    ]
    unit = "trainings an hour for a million dollars of list price"
    about = f"Derived from published minutes and stated list prices: {unit}; more is better."
    data = {"ratios": False, "unit": unit, "bars": bars, "sources": sources, "root": root}
    title = "Trainings an hour for a million dollars"
    return performance_chart("figures", "price-performance-bars", title, about, data)


def _price(price: Fact) -> str:
    return f"{BOUNDS.get(price.bound, '')}{number_text(price.value)} {_CURRENCY}"


def _others(one: _Priced) -> str:
    """How many times that of each other system it has, to two decimals."""
    parts = []
    for other in one.group:
        if other.name != one.name:
            about = _about(one.price) or _about(other.price)
            parts.append(f"{about}{one.per_million / other.per_million:.2f}× {other.name}")
    return "; ".join(parts) or "–"


_PRICES: tuple[Column[_Priced], ...] = (
    Column("benchmark", lambda one: Cell(one.result.benchmark_title)),
    *_columns_of("round"),
    Column("division", lambda one: Cell(one.result.division_title)),
    Column("system", lambda one: Cell(one.name, note=one.result.system)),
    *_columns_of("minutes", "verdict", "id"),
    Column("list price", lambda one: number_cell(one.price.value, _price(one.price))),
    Column("trainings/h a million", lambda one: number_cell(one.per_million, one.text)),
    Column("compared", lambda one: Cell(_others(one))),
    Column("source of the price", lambda one: source_cell(one.file, one.price.source)),
)
