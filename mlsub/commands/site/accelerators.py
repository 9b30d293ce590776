"""The page of each accelerator: what it is, its results by benchmark and round, and the best of each number of them."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.site.brief import brief_table, by_benchmark
from mlsub.commands.site.dots import scaling_chart
from mlsub.commands.site.history import best_of, time_of
from mlsub.commands.site.model import Cell, Column, Section, cell_of, number_of, table_of, text_of
from mlsub.commands.site.pages import OVERVIEW, Page, index_page
from mlsub.commands.site.places import accelerator_href, benchmark_href, organisation_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.sharing import Shared, closed, counts_fact, names_fact, over_time, rehearsed, rounds_fact
from mlsub.commands.site.tables import marked_cell, round_cell, words_of_missing
from mlsub.commands.site.whole import Whole, grouped
from mlsub.systems.chips import all_chips

INDEX = "accelerators.html"
_TIME = (
    "The fastest Closed results on this accelerator in each round, on systems of any size. The grey line is the "
    "record of all accelerators."
)
_SCALING = (
    "Closed results of all rounds, both axes logarithmic. The dotted line is ideal scaling in the newest round that "
    "has systems of several sizes: twice the accelerators take half the minutes."
)


def accelerator_pages(whole: Whole) -> Iterator[Page]:
    """The index of accelerators, those of a maker together, and the page of each that has results."""
    order = list(all_chips())
    found = grouped(whole.in_order_of_age(), lambda one: accelerator_href(one.named))
    known = [Shared(href, some[0].named.accelerator or "", tuple(some)) for href, some in found.items()]
    known.sort(key=lambda one: order.index(one.title))
    words = (
        "Systems whose description names no accelerator that is known here, such as those that train on processors "
        "alone, are on the page of systems."
    )
    table = table_of("Accelerators", known, _COLUMNS)
    yield index_page(INDEX, "Accelerators", words, "Accelerators with results", table)
    for one in known:
        yield _page(whole, one)


def _page(whole: Whole, one: Shared) -> Page:
    sections = [*_scaling(whole, one), *over_time(whole, one.results, _TIME), _best(one)]
    table = brief_table("Results by benchmark, the newest round first", by_benchmark(one.results), "chip-minutes")
    sections.append(Section(key="results", title="All results", tables=(table,)))
    return Page(
        path=one.href,
        title=text_of(one.title, 100),
        lead=rehearsed(one.results),
        crumbs=(*OVERVIEW, ("Accelerators", INDEX)),
        facts=tuple(_facts(one)),
        sections=tuple(sections),
        whole=any(section.charts for section in sections),
    )


def _facts(one: Shared) -> Iterator[tuple[str, Cell]]:
    chip = all_chips()[one.title]
    yield "Vendor", Cell(", ".join(chip.vendor))
    yield "Line", Cell(chip.line)
    yield "Generation", Cell(chip.generation)
    yield "Memory", _memory(one)
    yield "Rounds", rounds_fact(one.results)
    yield "Results", counts_fact(one.results)
    yield "Organisations", names_fact([text_of(result.named.organisation, 60) for result in one.results])


def _scaling(whole: Whole, one: Shared) -> Iterator[Section]:
    charts = []
    benchmarks = grouped(closed(one.results), lambda result: benchmark_href(result.named))
    for place, some in enumerate(benchmarks.values()):
        if len({result.row.accelerators_count for result in some if result.row.accelerators_count}) > 1:
            charts.append(scaling_chart(whole, some, f"scaling-{place}", text_of(some[-1].named.title, 80), small=True))
    if charts:
        title = f"Minutes over the number of {text_of(one.title, 60)}"
        yield Section(key="scaling", title=title, words=(_SCALING,), charts=tuple(charts), small=True)


def _best(one: Shared) -> Section:
    """The fastest Closed result of each benchmark and number of accelerators."""
    best = best_of(closed(one.results), lambda result: (benchmark_href(result.named), result.row.accelerators_count))
    rows = sorted(best.values(), key=lambda one: (one.named.title.casefold(), one.row.accelerators_count or 0))
    table = table_of("Fastest Closed result of each benchmark and number of accelerators, of all rounds", rows, _BEST)
    words = words_of_missing(rows) if rows else ("There are no Closed results with a time.",)
    return Section(key="best", title="Best by number", words=words, tables=(table,) if rows else ())


def _memory(one: Shared) -> Cell:
    sizes = all_chips()[one.title].memory_gb
    first = f"{', '.join(map(str, sizes[:-1]))} or " if len(sizes) > 1 else ""
    return Cell(f"{first}{sizes[-1]} GB", float(sizes[0])) if sizes else Cell("–")


_BEST: tuple[Column[Result], ...] = (
    Column("benchmark", lambda one: Cell(text_of(one.named.title, 100), href=benchmark_href(one.named))),
    Column("accelerators", lambda one: cell_of(one.row.accelerators_count), True),
    Column("minutes", lambda one: marked_cell(Cell(number_of(time_of(one)), time_of(one), href=one.href), one), True),
    Column("round", round_cell, True),
    Column("organisation", lambda one: Cell(text_of(one.named.organisation, 80), href=organisation_href(one.named))),
)
_COLUMNS: tuple[Column[Shared], ...] = (
    Column("accelerator", lambda one: Cell(text_of(one.title, 100), href=one.href)),
    Column("vendor", lambda one: Cell(", ".join(all_chips()[one.title].vendor))),
    Column("line", lambda one: Cell(all_chips()[one.title].line)),
    Column("generation", lambda one: Cell(all_chips()[one.title].generation)),
    Column("memory", _memory, True),
    Column("rounds", lambda one: rounds_fact(one.results)),
    Column("results", lambda one: cell_of(len(one.results)), True),
)
