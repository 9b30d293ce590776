"""The page of each benchmark: accelerators against minutes, chip-minutes over rounds, and a table that follows."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.commands.site.brief import brief_table, fast
from mlsub.commands.site.dots import chip_minutes_chart, scaling_chart
from mlsub.commands.site.history import History, by_comparability, record_chains, time_of
from mlsub.commands.site.model import Cell, Column, Live, Section, cell_of, number_of, table_of, text_of
from mlsub.commands.site.news import holder, in_minutes
from mlsub.commands.site.pages import OVERVIEW, Page, index_page
from mlsub.commands.site.places import accelerator_href, organisation_href, system_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.sharing import rehearsed
from mlsub.commands.site.tables import TITLES, division_of, round_name
from mlsub.commands.site.whole import Whole

INDEX = "benchmarks.html"
#: Rows without scripts; with them there are all.
_STATIC_ROWS = 50
_TABLE = "selection"
_DIVISIONS = {"other": "Not clear"}


def benchmark_pages(whole: Whole) -> Iterator[Page]:
    """The index of benchmarks, and the page of each."""
    table = table_of("Benchmarks", whole.histories, _INDEX)
    words = "The record is the shortest published time of a Closed result in the newest comparable rounds."
    yield index_page(INDEX, "Benchmarks", words, "All benchmarks", table)
    for one in whole.histories:
        yield _page(whole, one)


def _page(whole: Whole, history: History) -> Page:
    divisions = [name for name in TITLES if any(division_of(result) == name for result in history.results)]
    ordered = sorted(history.results, key=lambda result: (list(TITLES).index(division_of(result)), fast(result)))
    table = brief_table("Results, the fastest first", ordered, "benchmark", most=_STATIC_ROWS, key=_TABLE)
    explore = {
        "rounds": list(history.rounds),
        "divisions": [(name, _DIVISIONS.get(name, name.capitalize())) for name in divisions],
        "table": f"table-{_TABLE}",
        "results": whole.at(history.results),
        "pages": _pages_of(history),
    }
    scaling = scaling_chart(whole, history.timed, "scaling", "Accelerators and minutes")
    scaling = msgspec.structs.replace(scaling, data=scaling.data | {"explore": explore})
    charts: list[Live] = [scaling, chip_minutes_chart(whole, history, "chip-minutes")]
    return Page(
        path=history.href,
        title=text_of(history.title, 100),
        lead=rehearsed(history.results),
        crumbs=(*OVERVIEW, ("Benchmarks", INDEX)),
        facts=tuple(_facts(history)),
        sections=(Section(key="explore", title="Results", charts=tuple(charts), tables=(table,)),),
        scripts=("explore",),
        whole=True,
    )


def _pages_of(history: History) -> dict[str, dict[str, str]]:
    """The addresses of what the results name, for the table that a script makes: by the names that the dataset has."""
    chips = ((result.named.accelerator, accelerator_href(result.named)) for result in history.results)
    return {
        "organisation": {_organisation(result): organisation_href(result.named) for result in history.results},
        "accelerator": {name: href for name, href in chips if name and href},
        "system": {_system_key(result): system_href(result.named, result.row) for result in history.results},
    }


def _organisation(result: Result) -> str:
    return text_of(result.named.organisation, 200)


def _system_key(result: Result) -> str:
    return f"{_organisation(result)}\n{text_of(result.row.system or result.entry.system, 200)}"


def _facts(history: History) -> Iterator[tuple[str, Cell]]:
    if history.task:
        yield "Task", Cell(history.task)
    first, last = history.rounds[0], history.rounds[-1]
    yield "Rounds with results", Cell(first if first == last else f"{len(history.rounds)}, {first} to {last}")
    groups = [list(dict.fromkeys(map(round_name, group))) for group in by_comparability(history.results)]
    spans = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in groups]
    yield "Rounds that may be compared", Cell("; ".join(spans))
    yield "Results", Cell(f"{len(history.results):,}, {len(history.closed):,} of them Closed with a time")
    record = _record(history)
    if record is not None:
        yield "Record", Cell(f"{in_minutes(record)}: {holder(record)}, {round_name(record)}")


def _record(history: History) -> Result | None:
    chains = record_chains(history)
    return chains[-1][-1].result if chains else None


def _record_cell(history: History) -> Cell:
    record = _record(history)
    return Cell("–") if record is None else Cell(number_of(time_of(record)), time_of(record), href=record.href)


def _held_by(history: History) -> Cell:
    record = _record(history)
    return Cell("–" if record is None else f"{holder(record)}, {round_name(record)}")


_INDEX: tuple[Column[History], ...] = (
    Column("benchmark", lambda one: Cell(text_of(one.title, 100), href=one.href)),
    Column("task", lambda one: Cell(one.task or "–")),
    Column("rounds", lambda one: Cell(", ".join(one.rounds), float(len(one.rounds)))),
    Column("results", lambda one: cell_of(len(one.results)), True),
    Column("record in minutes", _record_cell, True),
    Column("held by", _held_by),
)
