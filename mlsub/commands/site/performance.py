"""Performance pages: one organisation's MLPerf results with their IDs, and the figures of records beside them.

A page is of one organisation, as pages of performance are that organisations publish; figures of two of them are for
the pages of benchmarks. There are such pages only with records. ``performance.html`` is the page of the one
organisation whose records are given, or of the only one that has results. With several it lists them: those with
records have a page each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from mlsub.commands.db.records import Records
from mlsub.commands.site.gains import section_of_gains
from mlsub.commands.site.model import (
    Cell,
    Column,
    Live,
    Section,
    Table,
    cell_of,
    table_of,
    text_of,
)
from mlsub.commands.site.pages import MINUTES, Page
from mlsub.commands.site.places import organisation_href
from mlsub.commands.site.price import section_of_prices
from mlsub.commands.site.results import Result, RoundResults, slug_of
from mlsub.commands.site.stated import live, sections_of_records
from mlsub.commands.site.tables import (
    TITLES,
    count_of_accelerators,
    division_of,
    framework_name,
    linked_minutes,
    round_name,
    verdict_cell,
)
from mlsub.submission.organisations import organisation

#: The first page, and the folder of those of several organisations.
PERFORMANCE, FOLDER = "performance.html", "performance"


class House(NamedTuple):
    """An organisation: its name in one spelling, its results by round, the newest first, and records of its own."""

    name: str
    rounds: tuple[RoundResults, ...]
    records: tuple[Records, ...]

    @property
    def results(self) -> list[Result]:
        """Its results of all rounds."""
        return [result for one in self.rounds for result in one.results]


class _Line(NamedTuple):
    """A line of a table: what one system has in each division, by the division's name; at least in one of them."""

    label: str
    found: dict[str, Result]

    @property
    def first(self) -> Result:
        return next(iter(self.found.values()))


def performance(rounds: Sequence[RoundResults], records: Iterable[Records] = ()) -> tuple[Page, ...]:
    """The pages, of which the first is ``performance.html``; none without records.

    Args:
        rounds: all results of the site.
        records: figures of other sources.
    """
    records = tuple(records)
    if not records:
        return ()
    everyone = _houses(rounds, records)
    houses = [house for house in everyone if house.records] or everyone
    if len(houses) == 1:
        own = {id(file) for file in houses[0].records}
        rest = tuple(file for file in records if id(file) not in own)
        return (_page(houses[0]._replace(records=(*houses[0].records, *rest)), PERFORMANCE, rounds),)
    theirs = {id(file) for house in houses for file in house.records}
    pages = [_page(house, _place(house), rounds) for house in houses if house.records]
    rest = tuple(file for file in records if id(file) not in theirs)
    lead = (
        "A page of performance is of one organisation: its results with their IDs, and the figures that it published."
    )
    table = table_of("Organisations", houses, _HOUSES)
    sections = (Section(key="organisations", title="Organisations", tables=(table,)), *sections_of_records(rest))
    return (Page(path=PERFORMANCE, title="Performance", lead=(lead,), sections=sections), *pages)


def _houses(rounds: Sequence[RoundResults], records: Sequence[Records]) -> list[House]:
    """Organisations with results; those with records first, then by name."""
    found: dict[str, list[RoundResults]] = {}
    for one in reversed(rounds):
        for name in dict.fromkeys(result.named.organisation for result in one.results):
            some = tuple(result for result in one.results if result.named.organisation == name)
            found.setdefault(name, []).append(RoundResults(report=one.report, round=one.round, results=some, rest=()))
    houses = [House(name, tuple(some), tuple(_published(name, records))) for name, some in found.items()]
    return sorted(houses, key=lambda house: (not house.records, house.name.casefold(), house.name))


def _published(name: str, records: Sequence[Records]) -> Iterator[Records]:
    """The files with documents of an organisation."""
    for file in records:
        if any(organisation(document.publisher).casefold() == name.casefold() for document in file.documents.values()):
            yield file


def _place(house: House) -> str:
    return f"{FOLDER}/{slug_of(house.name)[:100]}.html"


def _house_cell(house: House) -> Cell:
    href = _place(house) if house.records else organisation_href(house.rounds[0].results[0].named)
    return Cell(text_of(house.name, 80), href=href)


_HOUSES: tuple[Column[House], ...] = (
    Column("organisation", _house_cell),
    Column("rounds", lambda house: cell_of(len(house.rounds)), True),
    Column("results", lambda house: cell_of(len(house.results)), True),
    Column("figures of other sources", lambda house: cell_of(sum(len(file.records) for file in house.records)), True),
)


def _page(house: House, path: str, rounds: Sequence[RoundResults]) -> Page:
    figures = " Figures from other sources have charts and tables of their own." if house.records else ""
    words = "Closed and Open stand side by side and are not ranked together: an Open result may use another model."
    sections = (
        *(_of_round(one) for one in house.rounds),
        *section_of_gains(house.results),
        *section_of_prices(house.name, [result for one in rounds for result in one.results], house.records),
        *sections_of_records(house.records),
    )
    root = "../" * path.count("/")
    alone, count = path == PERFORMANCE, sum(len(file.records) for file in house.records)
    return Page(
        path=path,
        title="Performance" if alone else f"Performance of {text_of(house.name, 60)}",
        lead=(MINUTES, f"{words}{figures}"),
        crumbs=() if alone else (("Performance", PERFORMANCE),),
        facts=(
            ("Organisation", Cell(text_of(house.name, 80), href=organisation_href(house.rounds[0].results[0].named))),
            ("Rounds", Cell(", ".join(round_name(one) for one in house.rounds))),
            ("MLPerf results", Cell(f"{len(house.results):,}")),
            *((("Figures of other sources", Cell(f"{count:,}")),) if count else ()),
        ),
        sections=tuple(_linked(section, root) for section in sections),
    )


def _linked(section: Section, root: str) -> Section:
    """A section whose charts know the way to the root of the site, from where the addresses of results are."""
    charts = (replace(one, data=one.data | {"root": root}) for one in section.charts if isinstance(one, Live))
    return replace(section, charts=tuple(charts))


def _of_round(one: RoundResults) -> Section:
    """The results of a round: a chart for each benchmark, and one table with Closed and Open beside each other."""
    divisions = [name for name in TITLES if any(division_of(result) == name for result in one.results)]
    by_benchmark: dict[str, list[Result]] = {}
    for result in sorted(one.results, key=lambda result: result.named.title.casefold()):
        by_benchmark.setdefault(result.named.title, []).append(result)
    lines = {title: _lines(some) for title, some in by_benchmark.items()}
    ids = sorted({name for result in one.results if result.ids for name in result.ids.ids})
    key = f"mlperf-{slug_of(one.round.usage, one.round.name).replace('_', '-').replace('.', '-')}"
    return Section(
        key=key,
        title=one.round.title,
        words=(f"{one.round.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else (),
        charts=tuple(
            chart
            for place, (title, some) in enumerate(lines.items())
            if (chart := _chart(f"{key}-{place}", one.round.title, title, divisions, some))
        ),
        tables=(_table(one.round.title, [line for some in lines.values() for line in some], divisions, ids=bool(ids)),),
    )


def _lines(results: Sequence[Result]) -> list[_Line]:
    """A line for each system, the smallest first: systems of one size, accelerator and software are one."""
    found: dict[tuple[float, str, str, int], dict[str, Result]] = {}
    for result in sorted(results, key=lambda one: one.entry.path):
        count = result.row.accelerators_count or 0
        size = (
            count,
            result.named.accelerator or result.row.accelerator_model_name or "",
            framework_name(result.row.framework),
        )
        division, place = division_of(result), 0
        while division in found.get((*size, place), {}):
            place += 1
        found.setdefault((*size, place), {})[division] = result
    return _labelled([line for _, line in sorted(found.items(), key=lambda item: item[0])])


def _labelled(lines: Sequence[dict[str, Result]]) -> list[_Line]:
    """The lines with names that tell them apart: the system, with the framework or the folder where it takes that."""
    first = [next(iter(line.values())) for line in lines]
    labels = [text_of(one.row.system or one.entry.system, 60) for one in first]
    for more in (lambda one: framework_name(one.row.framework), lambda one: one.entry.system):
        known = [re.sub(r"[\W_]", "", label.casefold()) for label in labels]
        labels = [
            f"{label}, {text_of(more(one), 60)}" if known.count(name) > 1 and more(one) else label
            for label, name, one in zip(labels, known, first, strict=True)
        ]
    return [_Line(label, line) for label, line in zip(labels, lines, strict=True)]


def _chart(key: str, round_title: str, title: str, divisions: Sequence[str], lines: Sequence[_Line]) -> Live | None:
    bars = [
        {
            "row": place,
            "division": divisions.index(division),
            "minutes": result.row.published_minutes,
            "verdict": result.entry.official.value,
            "id": result.id,
            "href": result.href,
        }
        for place, line in enumerate(lines)
        for division, result in line.found.items()
        if result.minutes is not None
    ]
    if not bars:
        return None
    about = (
        "Time to train by system and division, in minutes; less is better. A hollow bar is a result that the official "
        "checker does not accept."
    )
    data = {"form": "divisions", "rows": [line.label for line in lines], "bars": bars}
    names = [TITLES[name].removesuffix(" division") for name in divisions]
    colours = [list(TITLES).index(name) for name in divisions]
    return live(key, f"{round_title}: {text_of(title, 80)}", about, data | {"divisions": names, "colours": colours})


def _table(title: str, lines: Sequence[_Line], divisions: Sequence[str], *, ids: bool) -> Table:
    columns: list[Column[_Line]] = [
        Column("benchmark", lambda line: Cell(text_of(line.first.named.title, 80))),
        Column("system", lambda line: Cell(line.label, note=text_of(line.first.entry.system, 200))),
    ]
    for name in divisions:
        columns += _of_division(name, TITLES[name].removesuffix(" division"), ids=ids)
    columns += (
        Column("accelerators", lambda line: count_of_accelerators(line.first)),
        Column("software", lambda line: Cell(text_of(line.first.row.framework or "–", 200))),
    )
    return table_of(f"{title}: published minutes, by system and division", lines, columns)


def _of_division(name: str, title: str, *, ids: bool) -> Iterator[Column[_Line]]:
    def minutes(line: _Line) -> Cell:
        result = line.found.get(name)
        return linked_minutes(result) if result is not None else Cell("")

    def verdict(line: _Line) -> Cell:
        return verdict_cell(line.found[name].entry.official) if name in line.found else Cell("")

    yield Column(f"{title} minutes", minutes, True)
    yield Column(f"{title} verdict", verdict)
    if ids:
        yield Column(
            f"{title} MLPerf ID", lambda line: Cell((line.found[name].id or "–") if name in line.found else "")
        )
