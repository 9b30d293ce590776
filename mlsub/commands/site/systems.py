"""The page of each system: what it is made of, its results on all benchmarks, and how they changed over rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlsub.commands.site.brief import brief_table, by_benchmark
from mlsub.commands.site.model import Cell, Column, Section, cell_of, number_of, table_of, text_of
from mlsub.commands.site.pages import OVERVIEW, Page, index_page
from mlsub.commands.site.places import organisation_href, system_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.sharing import Shared, counts_fact, names_fact, over_time, rehearsed, rounds_fact
from mlsub.commands.site.whole import Whole, grouped
from mlsub.systems.values import is_unsaid

INDEX = "systems.html"
#: Systems that the index lists, so that it does not grow without end.
_MOST = 1200
_TIME = (
    "The Closed results of this system in each round, on benchmarks that it has results of in several. The grey line "
    "is the record of all systems."
)


def system_pages(whole: Whole) -> Iterator[Page]:
    """The index of systems, by organisation and name, and the page of each."""
    found = grouped(whole.in_order_of_age(), lambda one: system_href(one.named, one.row))
    known = [Shared(href, some[-1].row.system or some[-1].entry.system, tuple(some)) for href, some in found.items()]
    known.sort(key=lambda one: (one.results[0].named.organisation.casefold(), one.title.casefold(), one.href))
    words = "A system is known by its organisation and by the name that its description gives it."
    left = f" The first {_MOST:,} of {len(known):,} are listed; the pages of organisations lead to the others."
    words += left if len(known) > _MOST else ""
    yield index_page(INDEX, "Systems", words, "All systems", table_of("Systems", known[:_MOST], _COLUMNS))
    for one in known:
        yield _page(whole, one)


def _page(whole: Whole, one: Shared) -> Page:
    charts = over_time(whole, one.results, _TIME)
    table = brief_table("Results by benchmark, the newest round first", by_benchmark(one.results), *_SAME)
    organisation = one.results[-1].named
    return Page(
        path=one.href,
        title=f"{text_of(one.title, 120)}, {text_of(organisation.organisation, 60)}",
        lead=rehearsed(one.results),
        crumbs=(
            *OVERVIEW,
            ("Systems", INDEX),
            (text_of(organisation.organisation, 60), organisation_href(organisation)),
        ),
        facts=tuple(_facts(one)),
        sections=(*charts, Section(key="results", title="All results", tables=(table,))),
        whole=bool(charts),
    )


#: Columns that would say the same in each row.
_SAME = ("organisation", "system")


def _facts(one: Shared) -> Iterator[tuple[str, Cell]]:
    rows = [result.row for result in one.results]
    yield "Accelerators", Cell(accelerators_of(one.results[-1]))
    processors = _said(row.host_processor_model_name for row in rows)
    if processors:
        count = rows[-1].host_processors_count
        yield "Processors", Cell(f"{count:,} × {processors[-1]}" if count else processors[-1])
    if rows[-1].number_of_nodes is not None:
        yield "Nodes", Cell(number_of(rows[-1].number_of_nodes))
    for title, texts in (
        ("Framework", _said(row.framework for row in rows)),
        ("Availability", _said(row.availability for row in rows)),
    ):
        if texts:
            yield title, names_fact(texts)
    yield "Rounds", rounds_fact(one.results)
    yield "Results", counts_fact(one.results)


def _said(texts: Iterable[str | None]) -> list[str]:
    return [text_of(text, 120) for text in texts if text and not is_unsaid(text)]


def accelerators_of(result: Result) -> str:
    """How many of which accelerator, by the description where no table of names has it, and where that names it."""
    count, model = result.row.accelerators_count, result.named.accelerator or result.row.accelerator_model_name
    named = text_of(model, 100) if model and not is_unsaid(model) else None
    if not count:
        return named or "none"
    return f"{count:,} × {named}" if named else f"{count:,}, not named"


def _chips_cell(one: Shared) -> Cell:
    last = one.results[-1]
    return Cell(accelerators_of(last), float(last.row.accelerators_count or 0))


_COLUMNS: tuple[Column[Shared], ...] = (
    Column("system", lambda one: Cell(text_of(one.title, 120), href=one.href)),
    Column("organisation", lambda one: Cell(text_of(one.results[-1].named.organisation, 60))),
    Column("accelerators", _chips_cell),
    Column("rounds", lambda one: rounds_fact(one.results)),
    Column("results", lambda one: cell_of(len(one.results)), True),
)
