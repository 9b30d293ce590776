"""What a performance page derives from results: gains from round to round, and performance for the price."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mlsub.commands.db.records import Fact, Records
from mlsub.commands.site.page import Cell, Chart, Column, Section, build_table, number_cell, number_text
from mlsub.commands.site.records import BOUNDS, load_words, performance_chart, source_cell
from mlsub.commands.site.results import Results, Site, SiteResult, group_by, round_age
from mlsub.commands.site.tables import columns

_CURRENCY = "USD"
#: The name of a framework: what comes before numbers, parentheses and the like.
_FRAMEWORK = re.compile(r"[A-Za-z][A-Za-z +/_-]*[A-Za-z]")


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


def framework_name(result: SiteResult) -> str:
    """A framework by its name alone, without its version and what else a description says of it."""
    name = _FRAMEWORK.match((result.framework or "").strip())
    return name[0] if name else ""


def _columns_of(*titles: str) -> list[Column[Any]]:
    """Columns of the result that a step or a price is of."""
    return [Column(one.title, lambda it, of=one.cell: of(it.result)) for one in columns(*titles)]  # type: ignore[misc]


# ---- Gains from round to round


def gains_section(results: Results, root: str) -> Iterator[Section]:
    """Return the section; none where no system has results in two rounds that may be compared."""
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
    groups = group_by(
        (one for one in results if one.score_minutes is not None and one.accelerators_count),
        lambda one: (
            one.benchmark_title.casefold(),
            one.division_name,
            one.accelerators_count,
            framework_name(one),
            one.usage,
            one.compatible_rounds or (one.round,),
        ),
    )
    chains = []
    for group in groups:
        rounds = group_by(sorted(group, key=round_age), lambda one: one.round)
        chains.append([min(some, key=lambda one: one.score_minutes or 0.0) for some in rounds])
    several = [chain for chain in chains if len(chain) > 1]
    return sorted(
        several, key=lambda chain: (chain[0].benchmark_title.casefold(), chain[0].division_name, _size(chain))
    )


def _size(chain: Sequence[SiteResult]) -> tuple[int, str]:
    return chain[0].accelerators_count or 0, framework_name(chain[0])


def _gains_chart(key: str, title: str, chains: Sequence[Sequence[SiteResult]], root: str) -> Chart:
    rounds = sorted((result for chain in chains for result in chain), key=round_age)
    lines = []
    for chain in chains:
        first, count = chain[0], number_text(chain[0].accelerators_count)
        name = f"{count} × {first.accelerator_model_name}" if first.accelerator_model_name else count
        name = ", ".join(filter(None, (name, framework_name(first))))
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


def prices_section(site: Site, name: str, records: Sequence[Records], root: str) -> Iterator[Section]:
    """Return the section: results of the organisation with a price beside those of others; none without any."""
    groups: dict[tuple[str, str, str], list[_Priced]] = {}
    by_folder: dict[tuple[str, ...], list[SiteResult]] = {}
    for result in site.results:
        by_folder.setdefault((result.usage, result.round, result.organisation, result.system), []).append(result)
    for file in records:
        for box, system in file.systems.items():
            price = next((fact for fact in system.facts if fact.fact == "list-price" and fact.unit == _CURRENCY), None)
            for of in system.results if price else ():
                for result in by_folder.get(("training", of.round, of.organisation, of.system), ()):
                    if price and result.score_minutes is not None:
                        key = (result.round_key, result.benchmark_title, result.division_name)
                        group = groups.setdefault(key, [])
                        group.append(_Priced(result, box, price, file, group))
    own = [some for _, some in sorted(groups.items()) if any(it.result.organisation_name == name for it in some)]
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
