"""Price and performance: published results of systems whose list price a source states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mlsub.commands.db.records import Fact, Records
from mlsub.commands.site.model import Cell, Column, Live, Section, number_of, table_of, text_of
from mlsub.commands.site.results import Result
from mlsub.commands.site.stated import BOUNDS, live, source_cell, words
from mlsub.commands.site.tables import TITLES, division_of, linked_minutes, round_name, verdict_cell

_CURRENCY = "USD"


class _Priced(NamedTuple):
    """A result of a system with a price, and the first one of the house in its group."""

    result: Result
    name: str
    price: Fact
    file: Records

    @property
    def per_million(self) -> float:
        """Trainings an hour for a million dollars."""
        return 60e6 / (self.result.minutes or 1) / self.price.value

    @property
    def shown(self) -> str:
        """The figure, about that where the price is."""
        return f"{_about(self.price)}{number_of(self.per_million, 3)}"


def _about(price: Fact) -> str:
    return BOUNDS["about"] if price.bound != "exact" else ""


def section_of_prices(house: str, results: Sequence[Result], records: Sequence[Records]) -> Iterator[Section]:
    """The section: the house's results with a price beside those of other systems; none without any.

    Results of one round, benchmark and division stand beside each other.

    Args:
        house: the organisation, in one spelling.
        results: all results of the site.
        records: of the house.
    """
    by_folder: dict[tuple[str, ...], list[Result]] = {}
    groups: dict[tuple[str, str, str], list[_Priced]] = {}
    for result in results:
        folder = (result.row.usage, result.row.round, result.row.organisation, result.entry.system)
        by_folder.setdefault(folder, []).append(result)
    for file in records:
        for name, system in file.systems.items():
            price = next((fact for fact in system.facts if fact.fact == "list-price" and fact.unit == _CURRENCY), None)
            for of in system.results if price else ():
                for result in by_folder.get(("training", of.round, of.organisation, of.system), ()):
                    if price and result.minutes is not None:
                        key = (round_name(result), result.named.title, division_of(result))
                        groups.setdefault(key, []).append(_Priced(result, name, price, file))
    own = [some for _, some in sorted(groups.items()) if any(one.result.named.organisation == house for one in some)]
    if own:
        priced = [(one, some) for some in own for one in sorted(some, key=lambda one: -one.per_million)]
        charts = (_chart(own),)
        tables = (table_of("Published minutes and list prices", priced, _COLUMNS),)
        title = "Price and performance"
        yield Section(key="price-performance", title=title, words=words().prices, charts=charts, tables=tables)


def _chart(groups: Sequence[Sequence[_Priced]]) -> Live:
    sources = list(dict.fromkeys(text_of(one.name, 80) for some in groups for one in some))
    bars = [
        {
            "label": f"{_group(one.result)}: {text_of(one.name, 80)}",
            "value": one.per_million,
            "shown": one.shown,
            "source": sources.index(text_of(one.name, 80)),
            "place": f"{number_of(one.result.row.published_minutes)} minutes, {_price(one.price)}",
            "href": one.result.href,
        }
        for some in groups
        for one in sorted(some, key=lambda one: -one.per_million)
    ]
    unit = "trainings an hour for a million dollars of list price"
    about = f"Derived from published minutes and stated list prices: {unit}; more is better."
    data = {"form": "figures", "ratios": False, "unit": unit, "bars": bars, "sources": sources}
    return live("price-performance-bars", "Trainings an hour for a million dollars", about, data)


def _group(result: Result) -> str:
    division = TITLES[division_of(result)].removesuffix(" division")
    return f"{text_of(result.named.title, 80)}, {round_name(result)} {division}"


def _price(price: Fact) -> str:
    return f"{BOUNDS.get(price.bound, '')}{number_of(price.value)} {_CURRENCY}"


def _others(one: _Priced, group: Sequence[_Priced]) -> str:
    """How many times that of each other system it has, to two decimals."""
    parts = []
    for other in group:
        if other is not one and other.name != one.name:
            about = _about(one.price) or _about(other.price)
            parts.append(f"{about}{one.per_million / other.per_million:.2f}× {text_of(other.name, 80)}")
    return "; ".join(parts) or "–"


_Pair = tuple[_Priced, list[_Priced]]
_COLUMNS: tuple[Column[_Pair], ...] = (
    Column("benchmark", lambda one: Cell(text_of(one[0].result.named.title, 80))),
    Column("round", lambda one: Cell(round_name(one[0].result)), True),
    Column("division", lambda one: Cell(TITLES[division_of(one[0].result)].removesuffix(" division"))),
    Column("system", lambda one: Cell(text_of(one[0].name, 100), note=text_of(one[0].result.entry.system, 200))),
    Column(
        "minutes",
        lambda one: linked_minutes(one[0].result),
        True,
    ),
    Column("verdict", lambda one: verdict_cell(one[0].result.entry.official)),
    Column("MLPerf ID", lambda one: Cell(one[0].result.id or "–")),
    Column("list price", lambda one: Cell(_price(one[0].price), one[0].price.value), True),
    Column("trainings/h a million", lambda one: Cell(one[0].shown, one[0].per_million), True),
    Column("compared", lambda one: Cell(_others(*one))),
    Column("source of the price", lambda one: source_cell(one[0].file, one[0].price.source)),
)
