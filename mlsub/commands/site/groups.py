"""Pages about what results share: benchmarks, accelerators, organisations and systems, each kind with an index."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator

import msgspec

from mlsub.commands.site.charts import chip_minutes_chart, records_over_time, scaling_chart
from mlsub.commands.site.history import best_of, by_comparability, holder, in_minutes, record_chains
from mlsub.commands.site.page import (
    OVERVIEW,
    REHEARSAL,
    Cell,
    Column,
    Page,
    Section,
    build_table,
    names_cell,
    number_cell,
)
from mlsub.commands.site.results import DIVISIONS, Results, Site, SiteResult, closed, group_by
from mlsub.commands.site.tables import accelerators_cell, by_benchmark, dagger_words, fast, results_table
from mlsub.divisions import CLOSED
from mlsub.systems.chips import Chip, all_chips
from mlsub.systems.values import is_unsaid

#: Things that an index lists, and rows of a benchmark without scripts; with them there are all.
_MOST, _STATIC_ROWS = 1200, 50
#: What tables of results say, but for the columns that would say the same in each row.
_COLUMNS = (
    *("benchmark", "system", "organisation", "accelerators", "minutes", "chip-minutes", "division", "round", "verdict"),
)
_SCALING = (
    "Closed results of all rounds, both axes logarithmic. The dotted line is ideal scaling in the newest round that "
    "has systems of several sizes: twice the accelerators take half the minutes."
)
_BEST = ("benchmark", "number", "best minutes", "round", "organisation")


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of things that results share.

    ``href`` is the page of the thing that a result has, ``name`` what it is called, by the results that have it, those
    of older rounds first. ``order`` is what the index is sorted by, ``columns`` what it says besides the name, rounds
    and results, ``facts`` what the page does. ``sections`` of the page;
    ``without`` are columns of its table, ``beside`` is what its title has after the name.
    """

    title: str
    words: str
    href: Callable[[SiteResult], str | None]
    name: Callable[[Results], str]
    order: Callable[[Results], tuple[Hashable, ...]]
    columns: tuple[Column[Results], ...]
    facts: Callable[[Results], Iterator[tuple[str, Cell]]]
    sections: Callable[[Site, Results], Iterator[Section]]
    without: tuple[str, ...] = ()
    beside: Callable[[Results], str] = lambda _: ""

    @property
    def index(self) -> str:
        """The page that lists them."""
        return f"{self.title.lower()}.html"

    def link(self, results: Results) -> Cell:
        """Return the name of a thing, which leads to its page."""
        return Cell(self.name(results), href=self.href(results[0]))


def group_pages(site: Site) -> Iterator[Page]:
    """Return the pages of benchmarks, accelerators, organisations and systems; the indexes lie in the root."""
    yield from _benchmark_pages(site)
    for kind in KINDS:
        groups = sorted(group_by(site.results, kind.href), key=kind.order)
        left = f" The first {_MOST:,} of {len(groups):,} are listed; the pages of organisations lead to the others."
        words = kind.words + (left if len(groups) > _MOST else "")
        first = Column(kind.title.lower().removesuffix("s"), kind.link)
        yield _index_page(kind.index, kind.title, words, groups[:_MOST], (first, *kind.columns, *_COUNTS))
        for some in groups:
            yield _group_page(site, kind, some)


def _index_page(path: str, title: str, words: str, groups: list[Results], columns: Iterable[Column[Results]]) -> Page:
    table = build_table(title, groups, tuple(columns))
    sections = (Section(key="all", title=f"All {title.lower()}", tables=(table,)),)
    return Page(path=path, title=title, lead=(words,), sections=sections)


def _group_page(site: Site, kind: Kind, results: Results) -> Page:
    columns = [title for title in _COLUMNS if title not in kind.without]
    table = results_table("Results by benchmark, the newest round first", by_benchmark(results), *columns)
    inside = sum(one.division_name == CLOSED.name for one in results)
    some_closed = f", {inside:,} of them Closed" if inside < len(results) else ", Closed"
    return Page(
        path=kind.href(results[0]) or "",
        title=f"{kind.name(results)}{kind.beside(results)}",
        lead=_rehearsal_words(results),
        crumbs=(*OVERVIEW, (kind.title, kind.index)),
        facts=(
            *kind.facts(results),
            ("Rounds", _rounds_cell(results)),
            ("Results", Cell(f"{len(results):,}{some_closed}")),
        ),
        sections=(*kind.sections(site, results), Section(key="results", title="All results", tables=(table,))),
    )


def _rehearsal_words(results: Results) -> tuple[str, ...]:
    """What a page says of results that are no MLPerf results, if it has any."""
    return (REHEARSAL,) if any(result.usage == "rehearsal" for result in results) else ()


def _rounds_cell(results: Results) -> Cell:
    names = list(dict.fromkeys(one.round_key for one in results))
    return Cell(names[0] if len(names) == 1 else f"{len(names)}, {names[0]} to {names[-1]}", float(len(names)))


_COUNTS: tuple[Column[Results], ...] = (
    Column("rounds", _rounds_cell),
    Column("results", lambda some: number_cell(len(some))),
)


# ---- Accelerators


def _chip(results: Results) -> Chip:
    return all_chips()[results[0].accelerator_name or ""]


def _memory_cell(results: Results) -> Cell:
    sizes = _chip(results).memory_gb
    first = f"{', '.join(map(str, sizes[:-1]))} or " if len(sizes) > 1 else ""
    return Cell(f"{first}{sizes[-1]} GB", float(sizes[0])) if sizes else Cell("–")


_ACCELERATOR: tuple[Column[Results], ...] = (
    Column("vendor", lambda some: Cell(", ".join(_chip(some).vendor))),
    Column("line", lambda some: Cell(_chip(some).line)),
    Column("generation", lambda some: Cell(_chip(some).generation)),
    Column("memory", _memory_cell),
)


def _accelerator_facts(results: Results) -> Iterator[tuple[str, Cell]]:
    yield from ((column.title.capitalize(), column.cell(results)) for column in _ACCELERATOR)
    yield "Organisations", names_cell(one.organisation_name for one in results)


def _accelerator_sections(site: Site, results: Results) -> Iterator[Section]:
    timed = closed(results)
    sized = [
        some
        for some in group_by(timed, lambda one: one.benchmark_href)
        if len({one.accelerators_count for one in some if one.accelerators_count}) > 1
    ]
    if sized:
        charts = tuple(scaling_chart(site, some, f"scaling-{place}") for place, some in enumerate(sized))
        title = f"Minutes over the number of {results[0].accelerator_name}"
        yield Section(key="scaling", title=title, words=(_SCALING,), charts=charts, small=True)
    yield from records_over_time(
        site,
        results,
        "The fastest Closed results on this accelerator in each round, on systems of any size. The grey line is the "
        "record of all accelerators.",
    )
    best = best_of(timed, lambda one: (one.benchmark_href, one.accelerators_count))
    best.sort(key=lambda one: (one.benchmark_title.casefold(), one.accelerators_count or 0))
    caption = "Fastest Closed result of each benchmark and number of accelerators, of all rounds"
    words = dagger_words(best) if best else ("There are no Closed results with a time.",)
    tables = (results_table(caption, best, *_BEST),) if best else ()
    yield Section(key="best", title="Best by number", words=words, tables=tables)


# ---- Organisations


def _accelerators_cell(results: Results) -> Cell:
    return names_cell(sorted({one.accelerator_name for one in results if one.accelerator_name}))


def _organisation_facts(results: Results) -> Iterator[tuple[str, Cell]]:
    yield "Benchmarks", names_cell(one.benchmark_title for one in results)
    yield "Accelerators", _accelerators_cell(results)


def _organisation_sections(site: Site, results: Results) -> Iterator[Section]:
    yield from records_over_time(
        site,
        results,
        "The fastest Closed results of this organisation in each round, by accelerator family, on systems of any size. "
        "The grey line is the record of all organisations.",
    )


# ---- Systems


def _chips_cell(results: Results) -> Cell:
    """How many of which accelerator, where the description or a table names it."""
    last = results[-1]
    count, name = last.accelerators_count, last.accelerator
    if name and is_unsaid(name):
        name = None
    if not count:
        return Cell(name or "none", 0.0)
    return Cell(f"{count:,} × {name}" if name else f"{count:,}, not named", float(count))


def _system_facts(results: Results) -> Iterator[tuple[str, Cell]]:
    last = results[-1]
    yield "Organisation", Cell(last.organisation_name, href=last.organisation_href)
    yield "Accelerators", accelerators_cell(last) if last.accelerator_href else _chips_cell(results)
    processors = [name for one in results if (name := one.host_processor_model_name) and not is_unsaid(name)]
    if processors:
        count = last.host_processors_count
        yield "Processors", Cell(f"{count:,} × {processors[-1]}" if count else processors[-1])
    if last.number_of_nodes is not None:
        yield "Nodes", number_cell(last.number_of_nodes)
    for title, texts in (
        ("Framework", [one.framework for one in results]),
        ("Availability", [one.availability for one in results]),
    ):
        if known := [text for text in texts if text and not is_unsaid(text)]:
            yield title, names_cell(known)


def _system_sections(site: Site, results: Results) -> Iterator[Section]:
    yield from records_over_time(
        site,
        results,
        "The Closed results of this system in each round, on benchmarks that it has results of in several. The grey "
        "line is the record of all systems.",
    )


KINDS = (
    Kind(
        title="Accelerators",
        words=(
            "Systems whose description names no accelerator that is known here, such as those that train on processors "
            "alone, are on the page of systems."
        ),
        href=lambda one: one.accelerator_href,
        name=lambda some: some[0].accelerator_name or "",
        order=lambda some: (list(all_chips()).index(some[0].accelerator_name or ""),),
        columns=_ACCELERATOR,
        facts=_accelerator_facts,
        sections=_accelerator_sections,
        without=("chip-minutes",),
    ),
    Kind(
        title="Organisations",
        words="Each organisation has one spelling over all rounds; results of several together have a page.",
        href=lambda one: one.organisation_href,
        name=lambda some: some[-1].organisation_name,
        order=lambda some: (some[-1].organisation_name.casefold(), some[0].organisation_href),
        columns=(
            Column("benchmarks", lambda some: number_cell(len({one.benchmark_name for one in some}))),
            Column("accelerators", _accelerators_cell),
        ),
        facts=_organisation_facts,
        sections=_organisation_sections,
        without=("organisation",),
    ),
    Kind(
        title="Systems",
        words="A system is known by its organisation and by the name that its description gives it.",
        href=lambda one: one.system_href,
        name=lambda some: some[-1].system_name,
        order=lambda some: (
            *(name.casefold() for name in (some[0].organisation_name, some[-1].system_name)),
            some[0].system_href,
        ),
        columns=(
            Column("organisation", lambda some: Cell(some[-1].organisation_name)),
            Column("accelerators", _chips_cell),
        ),
        facts=_system_facts,
        sections=_system_sections,
        without=("organisation", "system"),
        beside=lambda some: f", {some[-1].organisation_name}",
    ),
)


# ---- Benchmarks


def _benchmark_pages(site: Site) -> Iterator[Page]:
    words = "The record is the shortest published time of a Closed result in the newest comparable rounds."
    yield _index_page("benchmarks.html", "Benchmarks", words, site.benchmarks, _BENCHMARK)
    for results in site.benchmarks:
        last = results[-1]
        yield Page(
            path=last.benchmark_href,
            title=last.benchmark_title,
            lead=_rehearsal_words(results),
            crumbs=(*OVERVIEW, ("Benchmarks", "benchmarks.html")),
            facts=tuple(_benchmark_facts(results)),
            sections=(_benchmark_section(site, results),),
            scripts=("explore",),
        )


def _benchmark_section(site: Site, results: Results) -> Section:
    """Charts and a table of which a script shows a round and a division."""
    divisions = [name for name in DIVISIONS if any(one.division_name == name for one in results)]
    ordered = sorted(results, key=lambda one: (list(DIVISIONS).index(one.division_name), fast(one)))
    caption = "Results, the fastest first"
    table = results_table(caption, ordered, *_COLUMNS[1:], most=_STATIC_ROWS, key="selection")
    explore = {
        "rounds": list(dict.fromkeys(one.round_key for one in results)),
        "divisions": [(name, "Not clear" if name == "other" else name.capitalize()) for name in divisions],
        "table": "table-selection",
        "results": site.places(results),
        # The addresses of what the results name, by the names that the data of the site have.
        "pages": {
            "organisation": {one.organisation_name: one.organisation_href for one in results},
            "accelerator": {one.accelerator_name: one.accelerator_href for one in results if one.accelerator_href},
            "system": {f"{one.organisation_name}\n{one.system_name}": one.system_href for one in results},
        },
    }
    scaling = scaling_chart(site, results, "scaling", "Accelerators and minutes", explore=explore)
    return Section(key="explore", title="Results", charts=(scaling, chip_minutes_chart(site, results)), tables=(table,))


def _benchmark_facts(results: Results) -> Iterator[tuple[str, Cell]]:
    if results[-1].task:
        yield "Task", Cell(results[-1].task)
    yield "Rounds with results", _rounds_cell(results)
    groups = [list(dict.fromkeys(one.round_key for one in group)) for group in by_comparability(results)]
    spans = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in groups]
    yield "Rounds that may be compared", Cell("; ".join(spans))
    yield "Results", Cell(f"{len(results):,}, {len(closed(results)):,} of them Closed with a time")
    record = _record(results)
    if record is not None:
        yield "Record", Cell(f"{in_minutes(record)}: {holder(record)}, {record.round_key}")


def _record(results: Results) -> SiteResult | None:
    chains = record_chains(results)
    return chains[-1][-1] if chains else None


def _record_cell(results: Results) -> Cell:
    record = _record(results)
    return Cell("–") if record is None else number_cell(record.published_minutes, href=record.href)


def _holder_cell(results: Results) -> Cell:
    record = _record(results)
    return Cell("–" if record is None else f"{holder(record)}, {record.round_key}")


_BENCHMARK: tuple[Column[Results], ...] = (
    Column("benchmark", lambda some: Cell(some[-1].benchmark_title, href=some[-1].benchmark_href)),
    Column("task", lambda some: Cell(some[-1].task or "–")),
    Column("rounds", lambda some: names_cell((one.round_key for one in some), most=99)),
    Column("results", lambda some: number_cell(len(some))),
    Column("record in minutes", _record_cell),
    Column("held by", _holder_cell),
)
