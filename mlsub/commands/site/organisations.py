"""The page of each organisation: its rounds, its accelerators, its fastest results over time, and all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.site.brief import brief_table, by_benchmark
from mlsub.commands.site.model import Cell, Column, Section, cell_of, table_of, text_of
from mlsub.commands.site.pages import OVERVIEW, Page, index_page
from mlsub.commands.site.places import organisation_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.sharing import Shared, counts_fact, names_fact, over_time, rehearsed, rounds_fact
from mlsub.commands.site.whole import Whole, grouped

INDEX = "organisations.html"
_TIME = (
    "The fastest Closed results of this organisation in each round, by accelerator family, on systems of any size. "
    "The grey line is the record of all organisations."
)


def organisation_pages(whole: Whole) -> Iterator[Page]:
    """The index of organisations, by name, and the page of each."""
    found = grouped(whole.in_order_of_age(), lambda one: organisation_href(one.named))
    known = [Shared(href, some[-1].named.organisation, tuple(some)) for href, some in found.items()]
    known.sort(key=lambda one: (one.title.casefold(), one.href))
    table = table_of("Organisations", known, _COLUMNS)
    words = "Each organisation has one spelling over all rounds; results of several together have a page of their own."
    yield index_page(INDEX, "Organisations", words, "All organisations", table)
    for one in known:
        yield _page(whole, one)


def _page(whole: Whole, one: Shared) -> Page:
    charts = over_time(whole, one.results, _TIME)
    table = brief_table("Results by benchmark, the newest round first", by_benchmark(one.results), "organisation")
    return Page(
        path=one.href,
        title=text_of(one.title, 100),
        lead=rehearsed(one.results),
        crumbs=(*OVERVIEW, ("Organisations", INDEX)),
        facts=(
            ("Rounds", rounds_fact(one.results)),
            ("Results", counts_fact(one.results)),
            ("Benchmarks", names_fact([text_of(result.named.title, 60) for result in one.results])),
            ("Accelerators", names_fact(_chips(one.results))),
        ),
        sections=(*charts, Section(key="results", title="All results", tables=(table,))),
        whole=bool(charts),
    )


def _chips(results: Sequence[Result]) -> list[str]:
    return sorted({result.named.accelerator for result in results if result.named.accelerator})


_COLUMNS: tuple[Column[Shared], ...] = (
    Column("organisation", lambda one: Cell(text_of(one.title, 100), href=one.href)),
    Column("rounds", lambda one: rounds_fact(one.results)),
    Column("results", lambda one: cell_of(len(one.results)), True),
    Column("benchmarks", lambda one: cell_of(len({result.named.benchmark for result in one.results})), True),
    Column("accelerators", lambda one: names_fact(_chips(one.results))),
)
